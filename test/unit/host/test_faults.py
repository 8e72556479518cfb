"""What a kernel must not do ends in an exception that names the culprit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ingot.runtime.devices.host.errors import (
    ArithmeticFault,
    BarrierError,
    OutOfBoundsError,
    StackOverflowError,
)
from ingot.runtime.devices.host.kernel import Order, Schedule

from .launch import Array, launch

SOURCE = """
kernel void shift(device const float* a [[buffer(0)]], device float* b [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) { b[i] = a[i + 1]; }
kernel void before(device const float* a [[buffer(0)]], device float* b [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) { b[int(i) - 1] = a[i]; }
kernel void far(device const float* a [[buffer(0)]], device float* b [[buffer(1)]],
                uint i [[thread_position_in_grid]]) { b[i * 1000] = a[i]; }
kernel void fine(device const float* a [[buffer(0)]], device float* b [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) { b[i] = a[i]; }
kernel void bytes(device const uchar* a [[buffer(0)]], device uchar* b [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) { b[i + 1] = a[i]; }
kernel void wide(device const float4* a [[buffer(0)]], device float4* b [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) { b[i] = a[i + 1]; }
kernel void shared(device const float* a [[buffer(0)]], device float* b [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  threadgroup float unused[3], tile[60];
  unused[0] = 0;
  tile[i % 64] = a[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  b[i] = tile[i % 4];
}
kernel void argument(device const float* a [[buffer(0)]], device float* b [[buffer(1)]],
                     threadgroup float* scratch [[threadgroup(0)]],
                     uint i [[thread_position_in_grid]]) { b[i] = scratch[i] + a[i]; }
kernel void divide(device const int* a [[buffer(0)]], device int* b [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) { b[i] = 100 / a[i]; }
kernel void stack(device const uint* a [[buffer(0)]], device uint* b [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  uint big[100000];
  for (uint j = 0; j < 100000; j++) big[j * 7919u % 100000u] = a[j % 4];
  b[i] = big[a[i] % 100000u];
}
kernel void divergent(device const uint* a [[buffer(0)]], device uint* b [[buffer(1)]],
                      uint i [[thread_index_in_threadgroup]]) {
  if (i < 40) threadgroup_barrier(mem_flags::mem_threadgroup);
  else { b[i] = a[i]; threadgroup_barrier(mem_flags::mem_threadgroup); }
}
kernel void early(device const uint* a [[buffer(0)]], device uint* b [[buffer(1)]],
                  uint i [[thread_index_in_threadgroup]]) {
  if (i >= 40) return;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  b[i] = a[i];
}
"""

SCHEDULES = pytest.mark.parametrize(
    "schedule",
    [Schedule(), Schedule(Order.REVERSE, workers=1), Schedule(Order.RANDOM, seed=5, workers=1)],
    ids=["loop", "reverse", "random"],
)


def run(entry: str, schedule: Schedule = Schedule(), size: int = 256, dtype: str = "f4") -> Array:  # noqa: B008
    a, b = np.arange(size).astype(dtype), np.zeros(size, dtype)
    a.flags.writeable = False
    launch(SOURCE, entry, {"input": a, "output": b}, 4, 64, schedule, threadgroup_lengths={0: 256})
    return b


def fault(call: Callable[[], object]) -> OutOfBoundsError:
    with pytest.raises(OutOfBoundsError) as caught:
        call()
    return caught.value


@SCHEDULES
def test_read_past_the_end(schedule: Schedule) -> None:
    error = fault(lambda: run("shift", schedule))
    assert (error.name, error.offset, error.size, error.access) == ("input", 1024, 1024, "read")
    assert (error.thread, error.threadgroup) == ((63, 0, 0), (3, 0, 0))
    assert str(error) == (
        "kernel 'shift': read of buffer 'input' at byte offset 1024, outside of its 1024 bytes, "
        "by thread (63, 0, 0) of threadgroup (3, 0, 0)"
    )


@pytest.mark.parametrize("size", [255, 253, 129])
def test_end_that_is_no_multiple_of_a_vector(size: int) -> None:
    error = fault(lambda: run("fine", Schedule(workers=1), size))
    assert (error.name, error.offset, error.access) == ("input", 4 * size, "read")


def test_write_before_the_start() -> None:
    error = fault(lambda: run("before"))
    assert (error.name, error.offset, error.access) == ("output", -4, "write")


def test_write_far_past_the_end() -> None:
    error = fault(lambda: run("far", Schedule(workers=1)))
    assert (error.name, error.offset, error.access) == ("output", 4000, "write")
    assert error.thread == (1, 0, 0)


def test_single_bytes_are_told_apart() -> None:
    error = fault(lambda: run("bytes", size=256, dtype="u1"))
    assert (error.name, error.offset, error.access) == ("output", 256, "write")


def test_vectors() -> None:
    error = fault(lambda: run("wide", size=1024))
    assert (error.name, error.offset) == ("input", 4096)


def test_nothing_is_reported_without_a_fault() -> None:
    np.testing.assert_array_equal(run("fine"), np.arange(256))


def test_a_fault_does_not_harm_the_next_dispatch() -> None:
    for _ in range(3):
        fault(lambda: run("shared"))
        np.testing.assert_array_equal(run("fine"), np.arange(256))


def test_threadgroup_variable() -> None:
    error = fault(lambda: run("shared", Schedule(workers=1)))
    assert (error.name, error.offset, error.size, error.access) == ("tile", 240, 240, "write")
    assert error.thread == (60, 0, 0)


def test_threadgroup_argument() -> None:
    error = fault(lambda: run("argument", Schedule(workers=1)))
    assert (error.name, error.offset, error.size) == ("scratch", 256, 256)


@pytest.mark.skipif("x86_64" not in __import__("platform").machine(), reason="only x86 traps")
@SCHEDULES
def test_integer_division_by_zero(schedule: Schedule) -> None:
    with pytest.raises(ArithmeticFault, match=r"kernel 'divide': .* thread \(0, 0, 0\)"):
        run("divide", schedule, dtype="i4")


def test_stack_overflow() -> None:
    with pytest.raises(StackOverflowError, match="private memory of thread"):
        run("stack", dtype="u4")


def test_threads_at_different_barriers() -> None:
    with pytest.raises(BarrierError, match=r"waits at one barrier and thread .* at another"):
        run("divergent", dtype="u4")


@SCHEDULES
def test_thread_that_never_reaches_the_barrier(schedule: Schedule) -> None:
    with pytest.raises(BarrierError, match="never reaches: it has ended"):
        run("early", schedule, dtype="u4")
