"""Dispatches: constants, bindings and their ranges, grids, threadgroup ids."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import ingot.runtime as rt
from ingot.runtime.hal import CommandBuffer, Device, Pipeline

from .work import filled, part, record, run


def test_constants_and_bindings(device: Device, axpy: Pipeline) -> None:
    n = 1000
    x = np.arange(n, dtype=np.float32)
    inputs = [filled(device, x.tobytes()).whole, filled(device, (x + 1).tobytes()).whole]
    out = filled(device, b"\xff" * 4 * n)
    constants = struct.pack("<If", n - 1, 3.0)
    run(device, lambda c: c.dispatch(axpy, (16, 1, 1), [*inputs, out.whole], constants))
    got = np.frombuffer(out.read(), np.float32)
    assert np.array_equal(got[:-1], (3 * x + x + 1)[:-1])
    assert np.isnan(got[-1])


def test_bindings_are_ranges(device: Device, axpy: Pipeline) -> None:
    x = np.arange(128, dtype=np.float32)
    area, out = filled(device, x.tobytes()), filled(device, bytes(256))
    bindings = [part(area, 0, 256), part(area, 256, 256), out.whole]
    constants = struct.pack("<If", 64, 1.0)
    run(device, lambda c: c.dispatch(axpy, (1, 1, 1), bindings, constants))
    assert np.array_equal(np.frombuffer(out.read(), np.float32), x[:64] + x[64:])


@pytest.mark.parametrize("grid", [(1, 1, 1), (7, 1, 1), (3, 5, 7), (4, 20_000, 1)])
def test_threadgroups_know_where_they_are(
    device: Device, ids: Pipeline, grid: tuple[int, int, int]
) -> None:
    """The last grid has more than 65,535 threadgroups."""
    z, y, x = np.indices(grid[::-1])
    out = filled(device, bytes(4 * x.size))
    run(device, lambda c: c.dispatch(ids, grid, [out.whole]))
    expected = (x | y << 8 | z << 24).astype(np.uint32)
    assert np.array_equal(np.frombuffer(out.read(), np.uint32), expected.ravel())


def test_more_threadgroups_in_one_axis_than_16_bits_count(device: Device, ids: Pipeline) -> None:
    """Where the device has so many; others refuse them."""
    count = 70_000
    out = filled(device, bytes(4 * count))
    if device.limits.max_grid[0] < count:
        with pytest.raises(rt.HalUsageError, match="70000 threadgroups in x; this device runs 0 "):
            record(device, lambda c: c.dispatch(ids, (count, 1, 1), [out.whole]))
        return
    run(device, lambda c: c.dispatch(ids, (count, 1, 1), [out.whole]))
    assert np.array_equal(np.frombuffer(out.read(), np.uint32), np.arange(count))


def test_zero_grids_and_empty_bindings_run_nothing(device: Device, axpy: Pipeline) -> None:
    out, empty = filled(device, b"\x11" * 256), device.allocate(0)
    constants = struct.pack("<If", 0, 1.0)

    def write(commands: CommandBuffer) -> None:
        commands.dispatch(axpy, (0, 1, 1), [out.whole] * 3, constants)
        commands.dispatch(axpy, (1, 1, 1), [empty.whole] * 3, constants)

    run(device, write)
    assert out.read() == b"\x11" * 256


def test_misuse_is_refused(device: Device, axpy: Pipeline) -> None:
    area = filled(device, bytes(256))
    bindings, constants = [area.whole] * 3, bytes(8)
    shifted = [part(area, 2, 4)] * 3
    too_many = (device.limits.max_grid[0] + 1, 1, 1)
    for call, sentence in [
        (lambda c: c.dispatch(axpy, (1, 1, 1), bindings[:2], constants), "3 bindings, got 2"),
        (lambda c: c.dispatch(axpy, (1, 1, 1), bindings, b""), "8 bytes of push constants"),
        (lambda c: c.dispatch(axpy, too_many, bindings, constants), "threadgroups in x"),
        (lambda c: c.dispatch(axpy, (1, 1, -1), bindings, constants), "-1 threadgroups in z"),
        (lambda c: c.dispatch(axpy, (1, 1, 1), shifted, constants), "not a multiple"),
    ]:
        with pytest.raises(rt.HalUsageError, match=sentence):
            record(device, call)
