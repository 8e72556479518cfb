"""Fills, copies, updates and dispatches that need each other's results, in one command buffer."""

from __future__ import annotations

import struct

import numpy as np

from ingot.runtime.hal import CommandBuffer, Device, Pipeline

from .work import filled, part, record, run, submit_and_wait

CONSTANTS = struct.pack("<If", 64, 1.0)


def test_fill_copy_fill(device: Device) -> None:
    first, second = filled(device, bytes(64)), filled(device, bytes(64))

    def write(commands: CommandBuffer) -> None:
        commands.fill(first.whole, b"a")
        commands.barrier()
        commands.copy(first.whole, second.whole)
        commands.barrier()
        commands.fill(first.whole, b"b")

    run(device, write)
    assert (first.read(), second.read()) == (b"b" * 64, b"a" * 64)


def test_dispatches_see_each_other_across_barriers(device: Device, axpy: Pipeline) -> None:
    one = filled(device, np.ones(64, np.float32).tobytes())
    areas = [filled(device, bytes(256)) for _ in range(2)]

    def write(commands: CommandBuffer) -> None:
        for step in range(20):
            source, target = areas[step % 2], areas[(step + 1) % 2]
            bindings = [one.whole, source.whole, target.whole]
            commands.dispatch(axpy, (1, 1, 1), bindings, CONSTANTS)
            commands.barrier()

    run(device, write)
    assert set(np.frombuffer(areas[0].read(), np.float32)) == {20.0}


def test_every_kind_of_command_feeds_the_next(device: Device, axpy: Pipeline) -> None:
    """x is filled, y updated at an odd place, their sum copied at an odd place and filled over."""
    x, y, out = (filled(device, bytes(256)) for _ in range(3))
    moved = filled(device, bytes(259))

    def write(commands: CommandBuffer) -> None:
        commands.fill(x.whole, struct.pack("<f", 2.0))
        commands.update(part(y, 4, 8), struct.pack("<2f", 1.0, 5.0))
        commands.barrier()
        bindings = [x.whole, y.whole, out.whole]
        commands.dispatch(axpy, (1, 1, 1), bindings, CONSTANTS)
        commands.barrier()
        commands.copy(out.whole, part(moved, 3, 256))
        commands.barrier()
        commands.fill(part(moved, 3, 4), b"\0")

    commands = record(device, write)
    for _ in range(3):
        submit_and_wait(device, commands)
        got = np.frombuffer(moved.read(3), np.float32)
        assert np.array_equal(got, [0, 3, 7] + [2] * 61)


def test_command_buffers_of_one_submission_are_ordered_by_barriers(device: Device) -> None:
    first, second = filled(device, bytes(8)), filled(device, bytes(8))

    def copy(commands: CommandBuffer) -> None:
        commands.barrier()
        commands.copy(first.whole, second.whole)

    submit_and_wait(
        device, record(device, lambda c: c.fill(first.whole, b"a")), record(device, copy)
    )
    assert second.read() == b"a" * 8
