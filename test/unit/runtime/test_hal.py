"""The HAL's contract, on every device that is here."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable

import numpy as np
import pytest

import ingot.runtime as rt
from ingot.runtime.hal import BufferRange, CommandBuffer, Device, Memory, Pipeline

from .kernels import axpy

OFFSETS = (0, 1, 2, 3, 4, 7)
LENGTHS = (0, 1, 2, 3, 4, 5, 8, 31, 33, 65_535)
PATTERNS = (b"\xa5", b"\x01\x02", b"\x01\x02\x03\x04")
AREA = 65_536 + 64


def record(device: Device, write: Callable[[CommandBuffer], None]) -> CommandBuffer:
    commands = device.create_command_buffer()
    commands.begin()
    write(commands)
    commands.end()
    return commands


def run(device: Device, write: Callable[[CommandBuffer], None]) -> None:
    done = device.create_semaphore()
    device.queue.submit([record(device, write)], signal=[(done, 1)])
    done.wait(1, timeout=60)


def filled(device: Device, content: bytes, memory: Memory = Memory.DEVICE) -> BufferRange:
    buffer = device.allocate(len(content), memory)
    buffer.write(0, content)
    return BufferRange(buffer, 0, len(content))


@pytest.fixture(scope="module")
def kernel(device: Device) -> Pipeline:
    return device.load([axpy()], "safe", (3, 1)).lookup("axpy")


class TestBuffers:
    @pytest.mark.parametrize("memory", list(Memory))
    def test_bytes_come_back(self, device: Device, memory: Memory) -> None:
        buffer = device.allocate(1000, memory)
        data = bytes(i % 251 for i in range(1000))
        buffer.write(0, data)
        buffer.write(7, b"abc")
        assert buffer.read() == data[:7] + b"abc" + data[10:]
        assert buffer.read(999, 1) == data[999:]

    def test_host_memory_is_mapped(self, device: Device) -> None:
        buffer = device.allocate(64, Memory.HOST)
        buffer.map(8, 4)[:] = b"wxyz"
        assert buffer.read(8, 4) == b"wxyz"
        assert buffer.view is not None and len(buffer.view) == 64

    def test_empty_buffers_exist(self, device: Device) -> None:
        buffer = device.allocate(0)
        buffer.write(0, b"")
        assert buffer.read() == b""

    def test_ranges_end_with_the_buffer(self, device: Device) -> None:
        buffer = device.allocate(16)
        with pytest.raises(rt.HalUsageError, match="bytes 8 to 17 are not inside a buffer of 16"):
            BufferRange(buffer, 8, 9)
        with pytest.raises(rt.HalUsageError):
            buffer.read(-1, 2)

    def test_too_large_is_an_error(self, device: Device) -> None:
        with pytest.raises(rt.DeviceMemoryError, match="bytes"):
            device.allocate(device.limits.max_buffer_size + 1)

    def test_release_twice_is_harmless(self, device: Device) -> None:
        buffer = device.allocate(16)
        buffer.release()
        buffer.release()


class TestTransfers:
    @pytest.mark.parametrize("pattern", PATTERNS, ids=len)
    def test_fill_any_offset_and_length(self, device: Device, pattern: bytes) -> None:
        for offset in OFFSETS:
            for length in LENGTHS:
                area = filled(device, b"\xee" * AREA)
                target = BufferRange(area.buffer, offset, length)
                run(device, lambda c, target=target: c.fill(target, pattern))
                expected = (pattern * (length // len(pattern) + 1))[:length]
                got = area.buffer.read()
                assert got[offset : offset + length] == expected, (offset, length)
                assert set(got[:offset] + got[offset + length :]) == {0xEE}, (offset, length)
                area.buffer.release()

    @pytest.mark.parametrize("target_offset", OFFSETS)
    def test_copy_any_offset_and_length(self, device: Device, target_offset: int) -> None:
        content = np.random.default_rng(0).bytes(AREA)
        source = filled(device, content)
        for offset in OFFSETS:
            for length in LENGTHS:
                area = filled(device, bytes(AREA))
                part = BufferRange(source.buffer, offset, length)
                target = BufferRange(area.buffer, target_offset, length)
                run(device, lambda c, part=part, target=target: c.copy(part, target))
                expected = bytes(target_offset) + content[offset : offset + length]
                assert area.buffer.read() == expected.ljust(AREA, b"\0"), (offset, length)
                area.buffer.release()

    def test_copies_within_a_buffer_do_not_overlap(self, device: Device) -> None:
        area = filled(device, b"abcdefgh")
        run(
            device,
            lambda c: c.copy(BufferRange(area.buffer, 0, 4), BufferRange(area.buffer, 4, 4)),
        )
        assert area.buffer.read() == b"abcdabcd"
        with pytest.raises(rt.HalUsageError, match="overlap"):
            record(
                device,
                lambda c: c.copy(BufferRange(area.buffer, 0, 4), BufferRange(area.buffer, 3, 4)),
            )

    def test_fill_then_copy_then_fill_across_barriers(self, device: Device) -> None:
        first, second = filled(device, bytes(64)), filled(device, bytes(64))

        def write(commands: CommandBuffer) -> None:
            commands.fill(first, b"a")
            commands.barrier()
            commands.copy(first, second)
            commands.barrier()
            commands.fill(first, b"b")

        run(device, write)
        assert first.buffer.read() == b"b" * 64
        assert second.buffer.read() == b"a" * 64


class TestDispatch:
    def test_push_constants_and_bindings(self, device: Device, kernel: Pipeline) -> None:
        n = 1000
        x = np.arange(n, dtype=np.float32)
        parts = [filled(device, x.tobytes()), filled(device, (x + 1).tobytes())]
        out = filled(device, b"\xff" * 4 * n)
        constants = struct.pack("<If", n - 1, 3.0)
        run(device, lambda c: c.dispatch(kernel, (16, 1, 1), [*parts, out], constants))
        got = np.frombuffer(out.buffer.read(), np.float32)
        assert np.array_equal(got[:-1], (3 * x + x + 1)[:-1])
        assert np.isnan(got[-1])

    def test_bindings_have_offsets(self, device: Device, kernel: Pipeline) -> None:
        x = np.arange(128, dtype=np.float32)
        area = filled(device, x.tobytes())
        first, second = BufferRange(area.buffer, 0, 256), BufferRange(area.buffer, 256, 256)
        out = filled(device, bytes(256))
        constants = struct.pack("<If", 64, 1.0)
        run(device, lambda c: c.dispatch(kernel, (1, 1, 1), [first, second, out], constants))
        assert np.array_equal(np.frombuffer(out.buffer.read(), np.float32), x[:64] + x[64:])

    def test_zero_grids_and_empty_bindings_run_nothing(
        self, device: Device, kernel: Pipeline
    ) -> None:
        out = filled(device, b"\x11" * 256)
        empty = BufferRange(device.allocate(0), 0, 0)
        constants = struct.pack("<If", 0, 1.0)

        def write(commands: CommandBuffer) -> None:
            commands.dispatch(kernel, (0, 1, 1), [out, out, out], constants)
            commands.dispatch(kernel, (1, 1, 1), [empty, empty, empty], constants)

        run(device, write)
        assert out.buffer.read() == b"\x11" * 256

    def test_dispatches_see_each_other_across_barriers(
        self, device: Device, kernel: Pipeline
    ) -> None:
        one = filled(device, np.ones(64, np.float32).tobytes())
        areas = [filled(device, bytes(256)) for _ in range(2)]
        constants = struct.pack("<If", 64, 1.0)

        def write(commands: CommandBuffer) -> None:
            for step in range(20):
                source, target = areas[step % 2], areas[(step + 1) % 2]
                commands.dispatch(kernel, (1, 1, 1), [one, source, target], constants)
                commands.barrier()

        run(device, write)
        assert set(np.frombuffer(areas[0].buffer.read(), np.float32)) == {20.0}

    def test_misuse_is_refused(self, device: Device, kernel: Pipeline) -> None:
        area = filled(device, bytes(256))
        parts, constants = [area] * 3, bytes(8)
        shifted = [BufferRange(area.buffer, 2, 4)] * 3
        too_many = (device.limits.max_grid[0] + 1, 1, 1)
        for call, sentence in [
            (lambda c: c.dispatch(kernel, (1, 1, 1), parts[:2], constants), "3 bindings, got 2"),
            (lambda c: c.dispatch(kernel, (1, 1, 1), parts, b""), "8 bytes of push constants"),
            (lambda c: c.dispatch(kernel, too_many, parts, constants), "threadgroups in x"),
            (lambda c: c.dispatch(kernel, (1, 1, 1), shifted, constants), "not a multiple"),
            (lambda c: c.fill(area, b"abc"), "1, 2 or 4 bytes"),
            (lambda c: c.begin(), "begin was called"),
        ]:
            with pytest.raises(rt.HalUsageError, match=sentence):
                record(device, call)
        with pytest.raises(rt.HalUsageError, match="not being recorded"):
            device.create_command_buffer().barrier()
        with pytest.raises(rt.HalUsageError, match="only recorded"):
            device.queue.submit([device.create_command_buffer()])

    def test_unknown_kernels_are_refused(self, device: Device) -> None:
        with pytest.raises(rt.HalUsageError, match="no kernel is named 'gone'"):
            device.load([axpy()], "safe", (3, 1)).lookup("gone")

    def test_command_buffers_run_again_and_are_recorded_again(self, device: Device) -> None:
        area = filled(device, bytes(8))
        commands = record(device, lambda c: c.fill(area, b"a"))
        done = device.create_semaphore()
        for turn in range(1, 50):
            area.buffer.write(0, bytes(8))
            device.queue.submit([commands], signal=[(done, turn)])
            done.wait(turn)
            assert area.buffer.read() == b"a" * 8
        commands.begin()
        commands.fill(area, b"b")
        commands.end()
        device.queue.submit([commands], signal=[(done, 100)])
        done.wait(100)
        assert area.buffer.read() == b"b" * 8

    def test_timings_name_what_ran(self, device: Device, kernel: Pipeline) -> None:
        if "timestamps" not in device.features:
            with pytest.raises(rt.HalUsageError):
                device.create_command_buffer(profiling=True)
            return
        area = filled(device, bytes(256))
        commands = device.create_command_buffer(profiling=True)
        commands.begin()
        commands.fill(area, b"a")
        commands.barrier()
        out = filled(device, bytes(256))
        commands.dispatch(kernel, (1, 1, 1), [area, area, out], struct.pack("<If", 64, 1.0))
        commands.end()
        done = device.create_semaphore()
        device.queue.submit([commands], signal=[(done, 1)])
        done.wait(1)
        timings = commands.timings()
        assert [timing.label for timing in timings] == ["fill", "axpy"]
        assert all(timing.start <= timing.end for timing in timings)


class TestSemaphores:
    def test_host_signals(self, device: Device) -> None:
        semaphore = device.create_semaphore(5)
        assert semaphore.value == 5
        semaphore.signal(7)
        semaphore.wait(6, timeout=0)
        assert semaphore.value == 7
        with pytest.raises(rt.HalUsageError, match="7"):
            semaphore.signal(7)

    def test_a_wait_ends_in_time(self, device: Device) -> None:
        with pytest.raises(rt.DeviceTimeoutError, match="seconds"):
            device.create_semaphore().wait(1, timeout=0.01)

    def test_the_first_failure_wins(self, device: Device) -> None:
        semaphore = device.create_semaphore()
        semaphore.fail(rt.DeviceError("first"))
        semaphore.fail(rt.DeviceError("second"))
        for wait in (lambda: semaphore.wait(1), lambda: semaphore.value):
            with pytest.raises(rt.DeviceError, match="first"):
                wait()

    def test_failure_wakes_a_waiting_thread(self, device: Device) -> None:
        semaphore = device.create_semaphore()
        seen: list[BaseException] = []

        def wait() -> None:
            try:
                semaphore.wait(1, timeout=30)
            except rt.DeviceError as error:
                seen.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        semaphore.fail(rt.DeviceError("gone"))
        thread.join(30)
        assert [str(error) for error in seen] == ["gone"]

    def test_work_waits_for_the_host(self, device: Device) -> None:
        area = filled(device, bytes(8))
        commands = record(device, lambda c: c.fill(area, b"a"))
        go, done = device.create_semaphore(), device.create_semaphore()
        device.queue.submit([commands], wait=[(go, 1)], signal=[(done, 1)])
        with pytest.raises(rt.DeviceTimeoutError):
            done.wait(1, timeout=0.02)
        assert area.buffer.read() == bytes(8) if device.unified_memory else True
        go.signal(1)
        done.wait(1, timeout=30)
        assert area.buffer.read() == b"a" * 8

    def test_submissions_are_ordered_by_semaphores(self, device: Device) -> None:
        area, copied = filled(device, bytes(8)), filled(device, bytes(8))
        fill = record(device, lambda c: c.fill(area, b"a"))
        copy = record(device, lambda c: c.copy(area, copied))
        steps = device.create_semaphore()
        device.queue.submit([fill], signal=[(steps, 1)])
        device.queue.submit([copy], wait=[(steps, 1)], signal=[(steps, 2)])
        steps.wait(2, timeout=30)
        assert copied.buffer.read() == b"a" * 8

    def test_work_fails_when_what_it_waits_for_fails_later(self, device: Device) -> None:
        go, middle, done = (device.create_semaphore() for _ in range(3))
        device.queue.submit([], wait=[(go, 1)], signal=[(middle, 1)])
        device.queue.submit([], wait=[(middle, 1)], signal=[(done, 1)])
        go.fail(rt.DeviceError("cause"))
        with pytest.raises(rt.DeviceError, match="cause"):
            done.wait(1, timeout=30)
        after = device.create_semaphore()
        device.queue.submit([], signal=[(after, 1)])
        after.wait(1, timeout=30)

    def test_semaphores_order_threads_and_the_device(self, device: Device) -> None:
        area = filled(device, bytes(4))
        commands = record(device, lambda c: c.fill(area, b"abcd"))
        ping, pong = device.create_semaphore(), device.create_semaphore()

        def answer() -> None:
            for turn in range(1, 101):
                ping.wait(turn, timeout=30)
                device.queue.submit([commands], wait=[(ping, turn)], signal=[(pong, turn)])

        thread = threading.Thread(target=answer)
        thread.start()
        for turn in range(1, 101):
            ping.signal(turn)
            pong.wait(turn, timeout=30)
        thread.join(30)
        assert area.buffer.read() == b"abcd"
        assert (ping.value, pong.value) == (100, 100)

    def test_work_that_waits_for_a_failure_fails(self, device: Device) -> None:
        failed, done = device.create_semaphore(), device.create_semaphore()
        failed.fail(rt.DeviceError("cause"))
        device.queue.submit([], wait=[(failed, 1)], signal=[(done, 1)])
        with pytest.raises(rt.DeviceError, match="cause"):
            done.wait(1, timeout=30)
