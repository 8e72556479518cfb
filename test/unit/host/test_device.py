"""The HAL device: orders, guards, faults through semaphores, wrapped memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from ingot.runtime.devices.host.commands import Execution, WrappedBuffer
from ingot.runtime.devices.host.device import HostDevice
from ingot.runtime.devices.host.errors import OutOfBoundsError
from ingot.runtime.devices.host.kernel import Order, Schedule
from ingot.runtime.errors import DeviceUnavailableError, HalUsageError, KernelError
from ingot.runtime.hal import BufferRange
from ingot.targets.bundle.model import Access, Binding, DType, Kernel

from .launch import HEADER

SHIFT = HEADER + (
    "kernel void shift(device const float* a [[buffer(0)]], device float* b [[buffer(1)]], "
    "constant uint& by [[buffer(2)]], uint i [[thread_position_in_grid]]) { b[i] = a[i + by]; }"
)


def kernel(msl: str = SHIFT) -> Kernel:
    return Kernel(
        name="shift_rows",
        entry_point="shift",
        threadgroup_size=(16, 1, 1),
        bindings=(
            Binding("input", DType.F32, Access.READ),
            Binding("output", DType.F32, Access.WRITE),
        ),
        spirv=b"",
        msl=msl,
        push_constant_size=4,
        location="model.mlir:7:3",
    )


@pytest.fixture
def device() -> Iterator[HostDevice]:
    opened = HostDevice.open("")
    yield opened
    opened.close()


def shift(device: HostDevice, by: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Shift 16 floats inside of one arena: the input lies before the output."""
    pipeline = device.load([kernel()], "safe", (3, 1)).lookup("shift_rows")
    arena = device.allocate(256)
    arena.write(0, np.arange(64, dtype="f4").tobytes())
    commands = device.create_command_buffer(profiling=True)
    commands.begin()
    parts = [BufferRange(arena, 0, 64), BufferRange(arena, 128, 64)]
    commands.dispatch(pipeline, (1, 1, 1), parts, by.to_bytes(4, "little"))
    commands.end()
    done = device.create_semaphore()
    device.queue.submit([commands], signal=[(done, 1)])
    done.wait(1, 60)
    (timing,) = commands.timings()
    assert timing.label == "shift_rows" and timing.end >= timing.start
    return np.frombuffer(arena.read(128, 64), "f4")


def test_a_dispatch_on_parts_of_one_buffer(device: HostDevice) -> None:
    np.testing.assert_array_equal(shift(device, 0), np.arange(16))


def test_reading_past_a_part_is_caught_though_the_buffer_goes_on(device: HostDevice) -> None:
    with pytest.raises(OutOfBoundsError) as caught:
        shift(device, 1)
    error = caught.value
    assert (error.name, error.offset, error.size) == ("input", 64, 64)
    assert str(error).endswith("(from model.mlir:7:3)")


def test_without_guards_only_the_whole_buffer_counts() -> None:
    device = HostDevice(Execution(guard=False))
    np.testing.assert_array_equal(shift(device, 1), np.arange(1, 17))
    device.close()


@pytest.mark.parametrize(
    ("selector", "schedule"),
    [
        ("reverse", Schedule(Order.REVERSE, workers=1)),
        ("random:7", Schedule(Order.RANDOM, 7, 1)),
        ("simdgroups-reverse", Schedule(Order.SIMDGROUPS_REVERSE, workers=1)),
    ],
)
def test_selectors_choose_an_order(selector: str, schedule: Schedule) -> None:
    device = HostDevice.open(selector)
    assert device.execution.schedule == schedule
    np.testing.assert_array_equal(shift(device, 0), np.arange(16))
    device.close()


def test_unknown_order_lists_the_known_ones() -> None:
    with pytest.raises(DeviceUnavailableError, match="'upwards'; there are: forward, reverse"):
        HostDevice.open("upwards")


def test_kernel_without_text(device: HostDevice) -> None:
    with pytest.raises(KernelError, match="comes as a metallib only"):
        device.load([kernel(msl="")], "safe", (3, 1))


def test_wrapped_memory_is_used_in_place(device: HostDevice) -> None:
    storage = np.zeros(24, "f4")
    start = -storage.ctypes.data % 16 // 4
    data = storage[start : start + 16]
    buffer = device.wrap_host_memory(memoryview(data))
    commands = device.create_command_buffer()
    commands.begin()
    commands.fill(BufferRange(buffer, 4, 9), b"\x01\x02")
    commands.end()
    done = device.create_semaphore()
    device.queue.submit([commands], signal=[(done, 1)])
    done.wait(1, 60)
    assert data.tobytes()[3:14] == b"\x00" + b"\x01\x02" * 4 + b"\x01\x00"
    with pytest.raises(HalUsageError, match="must be aligned to 16 bytes"):
        device.wrap_host_memory(memoryview(data[1:]))


def test_large_constants_are_used_in_place(device: HostDevice) -> None:
    data = memoryview(np.zeros(1 << 18, "f4")).toreadonly()
    held = device.hold(data)
    assert isinstance(held, WrappedBuffer) and held.view is not None and held.view.readonly
    assert not isinstance(device.hold(data[1:]), WrappedBuffer)
    assert not isinstance(device.hold(data[:16]), WrappedBuffer)
    assert not isinstance(HostDevice.open("reverse").hold(data), WrappedBuffer)


def test_work_may_be_submitted_before_what_it_waits_for(device: HostDevice) -> None:
    buffer = device.allocate(4)
    recorded = []
    for pattern in (b"\x01", b"\x02"):
        commands = device.create_command_buffer()
        commands.begin()
        commands.fill(BufferRange(buffer, 0, 4), pattern)
        commands.end()
        recorded.append(commands)
    order = device.create_semaphore()
    device.queue.submit([recorded[1]], wait=[(order, 1)], signal=[(order, 2)])
    device.queue.submit([recorded[0]], signal=[(order, 1)])
    order.wait(2, 60)
    assert buffer.read() == b"\x02" * 4
