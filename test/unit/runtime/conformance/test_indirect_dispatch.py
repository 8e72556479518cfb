"""Dispatches whose grid is in a buffer, and decided when they run."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import ingot.runtime as rt
from ingot.runtime.hal import CommandBuffer, Device, Pipeline

from ..kernels import ids as ids_kernel
from .work import filled, part, record, run, submit_and_wait


@pytest.mark.parametrize("offset", [0, 4, 20])
@pytest.mark.parametrize("grid", [(3, 2, 2), (4, 20_000, 1)])
def test_the_grid_is_read_from_a_part_of_a_buffer(
    device: Device, ids: Pipeline, grid: tuple[int, int, int], offset: int
) -> None:
    z, y, x = np.indices(grid[::-1])
    out = filled(device, bytes(4 * x.size))
    grids = filled(device, bytes(offset) + struct.pack("<3I", *grid) + b"\xff" * 8)
    parameters = part(grids, offset, 12)
    run(device, lambda c: c.dispatch_indirect(ids, parameters, [out.whole]))
    expected = (x | y << 8 | z << 24).astype(np.uint32)
    assert np.array_equal(np.frombuffer(out.read(), np.uint32), expected.ravel())


def test_earlier_commands_decide_the_grid(device: Device, axpy: Pipeline) -> None:
    """An update, a fill and a copy each write one of its numbers."""
    ones = filled(device, np.ones(256, np.float32).tobytes())
    out, grids = filled(device, bytes(1024)), filled(device, bytes(64))
    constants = struct.pack("<If", 256, 1.0)

    def write(commands: CommandBuffer) -> None:
        commands.update(part(grids, 16, 4), struct.pack("<I", 3))
        commands.fill(part(grids, 20, 4), struct.pack("<I", 1))
        commands.barrier()
        commands.copy(part(grids, 20, 4), part(grids, 24, 4))
        commands.barrier()
        bindings = [ones.whole, ones.whole, out.whole]
        commands.dispatch_indirect(axpy, part(grids, 16, 12), bindings, constants)

    run(device, write)
    got = np.frombuffer(out.read(), np.float32)
    assert np.array_equal(got, [2.0] * 192 + [0.0] * 64)


def test_a_recorded_dispatch_reads_the_grid_anew(device: Device, ids: Pipeline) -> None:
    out, grid = filled(device, b"\xff" * 16), filled(device, bytes(12))
    commands = record(device, lambda c: c.dispatch_indirect(ids, grid.whole, [out.whole]))
    submit_and_wait(device, commands)
    assert out.read() == b"\xff" * 16
    grid.write(0, struct.pack("<3I", 2, 1, 1))
    submit_and_wait(device, commands)
    assert out.read() == struct.pack("<2I", 0, 1) + b"\xff" * 8


def test_parameters_are_three_aligned_words(device: Device, ids: Pipeline) -> None:
    grids, out = device.allocate(64), device.allocate(4)
    for parameters in (part(grids, 2, 12), part(grids, 0, 8)):
        with pytest.raises(rt.HalUsageError, match="is 12 bytes at a multiple of 4"):
            record(device, lambda c, p=parameters: c.dispatch_indirect(ids, p, [out.whole]))


def test_the_host_device_reports_a_grid_that_it_cannot_run() -> None:
    device = rt.open_device("host")
    ids = device.load([ids_kernel()], "safe", (3, 1)).lookup("ids")
    grid, out = filled(device, struct.pack("<3I", 1, 2**31, 1)), device.allocate(4)
    with pytest.raises(rt.KernelError, match="dispatched indirectly with a grid of 1 x 2147"):
        run(device, lambda c: c.dispatch_indirect(ids, grid.whole, [out.whole]))
    device.close()
