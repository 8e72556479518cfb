"""Buffers: allocation, mapping, ranges, the caller's memory."""

from __future__ import annotations

import gc
import mmap

import pytest

import ingot.runtime as rt
from ingot.runtime.hal import BufferRange, CommandBuffer, Device, Memory

from .work import filled, part, run


@pytest.mark.parametrize("memory", list(Memory))
def test_bytes_come_back(device: Device, memory: Memory) -> None:
    data = bytes(i % 251 for i in range(1000))
    buffer = filled(device, data, memory)
    buffer.write(7, b"abc")
    assert buffer.read() == data[:7] + b"abc" + data[10:]
    assert buffer.read(999, 1) == data[999:]
    assert buffer.memory is memory and buffer.device is device


def test_host_memory_is_mapped(device: Device) -> None:
    buffer = device.allocate(64, Memory.HOST)
    buffer.map(8, 4)[:] = b"wxyz"
    assert buffer.read(8, 4) == b"wxyz"
    assert buffer.view is not None and len(buffer.view) == 64
    assert buffer.view is buffer.view


def test_parts_are_mapped_where_they_are(device: Device) -> None:
    buffer = device.allocate(256, Memory.HOST)
    buffer.map()[:] = bytes(range(256))
    for offset, length in ((0, 1), (1, 3), (31, 33), (255, 1), (256, 0), (64, 192)):
        view = buffer.map(offset, length)
        assert bytes(view) == bytes(range(256))[offset : offset + length]
    buffer.map(3, 2)[:] = b"ab"
    assert buffer.read(2, 4) == b"\x02ab\x05"
    assert bytes(buffer.map(250)) == bytes(range(250, 256))
    for offset, length in ((257, 0), (200, 57), (-1, 1), (0, -1)):
        with pytest.raises(rt.HalUsageError, match="not inside a buffer of 256 bytes"):
            buffer.map(offset, length)


def test_device_memory_is_mapped_where_it_is_unified(device: Device) -> None:
    buffer = filled(device, b"abcd")
    if device.unified_memory:
        assert bytes(buffer.map(1, 2)) == b"bc"
    else:
        with pytest.raises(rt.HalUsageError, match="cannot map"):
            buffer.map()


def test_empty_buffers_exist(device: Device) -> None:
    buffer = filled(device, b"")
    assert buffer.read() == b""
    assert buffer.whole.length == 0


@pytest.mark.parametrize(("offset", "length"), [(8, 9), (-1, 2), (17, 0), (0, -1)])
def test_ranges_are_inside_the_buffer(device: Device, offset: int, length: int) -> None:
    buffer = device.allocate(16)
    with pytest.raises(rt.HalUsageError, match="are not inside a buffer of 16 bytes"):
        BufferRange(buffer, offset, length)
    with pytest.raises(rt.HalUsageError, match="not inside"):
        buffer.read(offset, length)


def test_ranges_know_what_they_share(device: Device) -> None:
    buffer, other = device.allocate(16), device.allocate(16)
    assert part(buffer, 0, 8).overlaps(part(buffer, 7, 1))
    assert not part(buffer, 0, 8).overlaps(part(buffer, 8, 8))
    assert not part(buffer, 0, 8).overlaps(part(other, 0, 8))
    assert not part(buffer, 4, 0).overlaps(buffer.whole)


def test_impossible_sizes_are_refused(device: Device) -> None:
    with pytest.raises(rt.DeviceMemoryError, match="has buffers of at most"):
        device.allocate(device.limits.max_buffer_size + 1)
    with pytest.raises(rt.HalUsageError, match="a buffer of -1 bytes"):
        device.allocate(-1)


def test_a_view_keeps_its_memory(device: Device) -> None:
    view = device.allocate(1 << 20, Memory.HOST).map()
    gc.collect()
    view[:] = bytes(1 << 20)
    assert view[-1] == 0


def test_release_twice_is_harmless(device: Device) -> None:
    buffer = device.allocate(16)
    buffer.release()
    buffer.release()


def test_the_callers_memory_is_used_without_a_copy(device: Device) -> None:
    memory = memoryview(mmap.mmap(-1, 1 << 16))
    memory[:4] = b"abcd"
    if "wrap-host-memory" not in device.features:
        with pytest.raises(rt.HalUsageError, match="cannot wrap host memory"):
            device.wrap_host_memory(memory)
        return
    wrapped, copied = device.wrap_host_memory(memory), device.allocate(4)

    def write(commands: CommandBuffer) -> None:
        commands.copy(part(wrapped, 0, 4), copied.whole)
        commands.fill(part(wrapped, 5, 3), b"x")

    run(device, write)
    assert copied.read() == b"abcd"
    assert bytes(memory[:9]) == b"abcd\0xxx\0"
    with pytest.raises(rt.HalUsageError, match="writable"):
        device.wrap_host_memory(memory.toreadonly())
    with pytest.raises(rt.HalUsageError, match="aligned to"):
        device.wrap_host_memory(memory[1:])
