"""Command buffers: their life, their reuse, other bindings, timings."""

from __future__ import annotations

import gc
import struct

import numpy as np
import pytest

import ingot.runtime as rt
from ingot.runtime.hal import Buffer, CommandBuffer, Device, Pipeline

from .work import SOON, filled, part, record, run, submit_and_wait

CONSTANTS = struct.pack("<If", 64, 1.0)


def test_life(device: Device) -> None:
    commands = device.create_command_buffer()
    for misuse in (commands.barrier, commands.end):
        with pytest.raises(rt.HalUsageError, match="not being recorded"):
            misuse()
    with pytest.raises(rt.HalUsageError, match="only recorded"):
        device.queue.submit([commands])
    with pytest.raises(rt.HalUsageError, match="only a recorded command buffer"):
        commands.rebound({})
    commands.begin()
    with pytest.raises(rt.HalUsageError, match="begin was called"):
        commands.begin()
    commands.end()
    submit_and_wait(device, commands)


def test_runs_again_and_is_recorded_again(device: Device) -> None:
    area = filled(device, bytes(8))
    commands = record(device, lambda c: c.fill(area.whole, b"a"))
    done = device.create_semaphore()
    for turn in range(1, 50):
        area.write(0, bytes(8))
        device.queue.submit([commands], signal=[(done, turn)])
        done.wait(turn, SOON)
        assert area.read() == b"a" * 8
    commands.begin()
    commands.fill(part(area, 1, 6), b"bc")
    commands.end()
    submit_and_wait(device, commands)
    assert area.read() == b"abcbcbca"


def test_keeps_what_it_names_alive(device: Device) -> None:
    copied = filled(device, bytes(1 << 16))
    source = filled(device, b"x" * (1 << 16))
    commands = device.create_command_buffer()
    commands.begin()
    commands.copy(source.whole, copied.whole)
    commands.end()
    del source
    gc.collect()
    filled(device, b"y" * (1 << 16))
    submit_and_wait(device, commands)
    assert copied.read() == b"x" * (1 << 16)


def test_other_bindings(device: Device, axpy: Pipeline) -> None:
    """The same commands, of all kinds, on two more sets of buffers, all in flight together."""
    one = filled(device, np.ones(64, np.float32).tobytes())

    def buffers(start: int) -> tuple[Buffer, ...]:
        y = np.arange(start, start + 64, dtype=np.float32)
        grid = struct.pack("<3I", 1, 1, 1)
        return tuple(filled(device, d) for d in (y.tobytes(), bytes(256), bytes(257), grid))

    sets = [buffers(start) for start in (0, 100, 200)]
    y, out, moved, grid = sets[0]

    def write(commands: CommandBuffer) -> None:
        commands.dispatch(axpy, (1, 1, 1), [one.whole, y.whole, out.whole], CONSTANTS)
        commands.barrier()
        commands.dispatch_indirect(axpy, grid.whole, [one.whole, out.whole, y.whole], CONSTANTS)
        commands.barrier()
        commands.copy(y.whole, part(moved, 1, 256))
        commands.barrier()
        commands.fill(part(moved, 1, 4), b"\0")
        commands.update(part(moved, 5, 4), struct.pack("<f", -1.0))

    recorded = record(device, write)
    bound = [recorded.rebound(dict(zip(sets[0], other, strict=True))) for other in sets[1:]]
    submit_and_wait(device, recorded, *bound)
    for start, (_, _, result, _) in zip((0, 100, 200), sets, strict=True):
        got = np.frombuffer(result.read(1), np.float32)
        assert np.array_equal(got, [0, -1, *range(start + 4, start + 66)])
    again = bound[0].rebound(dict(zip(sets[1], sets[0], strict=True)))
    submit_and_wait(device, again)
    assert np.frombuffer(moved.read(9, 4), np.float32) == 6


def test_other_bindings_need_the_bytes(device: Device) -> None:
    area, small = device.allocate(16), device.allocate(8)
    commands = record(device, lambda c: c.fill(part(area, 8, 8), b"a"))
    with pytest.raises(rt.HalUsageError, match="bytes 8 to 16 are not inside a buffer of 8"):
        commands.rebound({area: small})


def test_things_of_another_device_are_refused(device: Device) -> None:
    other = rt.open_device("host")
    with pytest.raises(rt.HalUsageError, match="something of another device"):
        record(device, lambda c: c.fill(other.allocate(8).whole, b"a"))
    with pytest.raises(rt.HalUsageError, match="semaphore of another device"):
        device.queue.submit([], signal=[(other.create_semaphore(), 1)])
    other.close()


def test_timings_name_what_ran(device: Device, axpy: Pipeline) -> None:
    if "timestamps" not in device.features:
        with pytest.raises(rt.HalUsageError):
            device.create_command_buffer(profiling=True)
        return
    area, out = filled(device, bytes(256)), filled(device, bytes(256))

    def write(commands: CommandBuffer) -> None:
        commands.fill(area.whole, b"a")
        commands.fill(part(area, 0, 0), b"a")
        commands.update(part(out, 0, 3), b"abc")
        commands.barrier()
        commands.dispatch(axpy, (1, 1, 1), [area.whole, area.whole, out.whole], CONSTANTS)

    commands = record(device, write, profiling=True)
    submit_and_wait(device, commands)
    timings = commands.timings()
    assert [timing.label for timing in timings] == ["fill", "update", "axpy"]
    assert all(timing.start <= timing.end for timing in timings)
    with pytest.raises(rt.HalUsageError, match="with profiling"):
        record(device, write).timings()
    run(device, write)
