"""Kernels of the kinds that the compiler emits, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from ingot.runtime.devices.host.kernel import RACE_SCHEDULES, Schedule

from .launch import launch

ALL_ORDERS = pytest.mark.parametrize(
    "schedule", RACE_SCHEDULES, ids=lambda s: f"{s.order.name.lower()}-{s.seed}"
)

COPY = """
kernel void copy(device const float* a [[buffer(0)]], device float* b [[buffer(1)]],
                 constant uint& n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  if (i < n) b[i] = a[i];
}
"""

MATMUL = """
struct Size { uint m, n, k; };
kernel void matmul(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
                   device float* c [[buffer(2)]], constant Size& s [[buffer(3)]],
                   uint2 local [[thread_position_in_threadgroup]],
                   uint2 global [[thread_position_in_grid]]) {
  threadgroup float left[16][16], right[16][16];
  float sum = 0.0;
  for (uint k = 0; k < s.k; k += 16) {
    uint x = k + local.x, y = k + local.y;
    left[local.y][local.x] = global.y < s.m && x < s.k ? a[global.y * s.k + x] : 0.0;
    right[local.y][local.x] = y < s.k && global.x < s.n ? b[y * s.n + global.x] : 0.0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < 16; i++) sum += left[local.y][i] * right[i][local.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (global.y < s.m && global.x < s.n) c[global.y * s.n + global.x] = sum;
}
"""

SOFTMAX = """
kernel void softmax(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                    constant uint& columns [[buffer(2)]],
                    uint row [[threadgroup_position_in_grid]],
                    uint local [[thread_index_in_threadgroup]],
                    uint threads [[threads_per_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                    uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float part[32];
  device const float* in = x + row * columns;
  float m = -INFINITY;
  for (uint i = local; i < columns; i += threads) m = max(m, in[i]);
  m = simd_max(m);
  if (lane == 0) part[simdgroup] = m;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  m = simd_max(lane < simdgroups ? part[lane] : -INFINITY);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float s = 0;
  for (uint i = local; i < columns; i += threads) s += exp(in[i] - m);
  s = simd_sum(s);
  if (lane == 0) part[simdgroup] = s;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  s = simd_sum(lane < simdgroups ? part[lane] : 0);
  for (uint i = local; i < columns; i += threads) y[row * columns + i] = exp(in[i] - m) / s;
}
"""

HISTOGRAM = """
kernel void histogram(device const uchar* data [[buffer(0)]],
                      device atomic_uint* bins [[buffer(1)]],
                      constant uint& n [[buffer(2)]], uint local [[thread_index_in_threadgroup]],
                      uint i [[thread_position_in_grid]]) {
  threadgroup atomic_uint mine[256];
  atomic_store_explicit(&mine[local], 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < n) atomic_fetch_add_explicit(&mine[data[i]], 1u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint count = atomic_load_explicit(&mine[local], memory_order_relaxed);
  atomic_fetch_add_explicit(&bins[local], count, memory_order_relaxed);
}
"""

ATOMICS = """
kernel void atomics(device atomic_float* sum [[buffer(0)]], device atomic_uint* most [[buffer(1)]],
                    device atomic_int* least [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(sum, 0.5f, memory_order_relaxed);
  atomic_fetch_max_explicit(most, i * 7u % 1001u, memory_order_relaxed);
  atomic_fetch_min_explicit(least, -int(i), memory_order_relaxed);
}
"""

ARGUMENT_BUFFER = """
struct Arguments { device const float* a [[id(0)]]; device const float* b [[id(1)]];
                   device float* c [[id(2)]]; };
kernel void add(constant Arguments& arguments [[buffer(0)]], constant float& scale [[buffer(1)]],
                uint i [[thread_position_in_grid]]) {
  arguments.c[i] = arguments.a[i] + scale * arguments.b[i];
}
"""

POSITIONS = """
kernel void positions(device uint4* out [[buffer(0)]], ushort3 grid [[thread_position_in_grid]],
                      uint2 size [[threads_per_threadgroup]], uint2 all [[threads_per_grid]],
                      ushort2 group [[threadgroup_position_in_grid]],
                      uint3 groups [[threadgroups_per_grid]],
                      uint simdgroup [[simdgroup_index_in_threadgroup]],
                      ushort local [[thread_index_in_threadgroup]]) {
  out[grid.y * all.x + grid.x] =
      uint4(grid.x + 1000u * grid.y, size.x + 1000u * size.y, group.x + groups.x * group.y,
            simdgroup + 1000u * local);
}
"""

DYNAMIC = """
kernel void reduce(device float* data [[buffer(0)]], threadgroup float* shared [[threadgroup(0)]],
                   uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
  shared[i] = data[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = n / 2; step > 0; step >>= 1) {
    if (i < step) shared[i] += shared[i + step];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  data[i] = shared[0];
}
"""

RNG = np.random.default_rng(7)


def uint(value: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.array([value], np.uint32)


@pytest.mark.parametrize("n", [1, 31, 33, 1000, 4097])
def test_copy_of_any_length(n: int) -> None:
    a, b = RNG.standard_normal(n).astype("f4"), np.zeros(n, "f4")
    launch(COPY, "copy", {"a": a, "b": b, "n": uint(n)}, groups=-(-n // 64), threads=64)
    np.testing.assert_array_equal(a, b)


@ALL_ORDERS
def test_tiled_matmul(schedule: Schedule) -> None:
    m, n, k = 33, 17, 40
    a, b = RNG.standard_normal((m, k)).astype("f4"), RNG.standard_normal((k, n)).astype("f4")
    c = np.zeros((m, n), "f4")
    arrays = {"a": a, "b": b, "c": c, "size": np.array([m, n, k], "u4")}
    launch(MATMUL, "matmul", arrays, (2, 3, 1), (16, 16, 1), schedule)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-5)


@ALL_ORDERS
def test_softmax_over_simdgroups(schedule: Schedule) -> None:
    x = RNG.standard_normal((5, 1000)).astype("f4")
    y = np.zeros_like(x)
    launch(SOFTMAX, "softmax", {"x": x, "y": y, "n": uint(1000)}, 5, 128, schedule)
    expected = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, expected / expected.sum(1, keepdims=True), rtol=1e-5)


@ALL_ORDERS
def test_histogram_with_atomics(schedule: Schedule) -> None:
    data = RNG.integers(0, 256, 5000).astype("u1")
    bins = np.zeros(256, "u4")
    arrays = {"data": data, "bins": bins, "n": uint(5000)}
    launch(HISTOGRAM, "histogram", arrays, 20, 256, schedule)
    np.testing.assert_array_equal(bins, np.bincount(data, minlength=256))


def test_float_and_integer_atomics_across_threadgroups() -> None:
    total, most, least = np.zeros(1, "f4"), uint(0), np.zeros(1, "i4")
    launch(ATOMICS, "atomics", {"sum": total, "most": most, "least": least}, 100, 64)
    assert (total[0], most[0], least[0]) == (3200.0, 994, -6399)


def test_argument_buffer_with_push_constants() -> None:
    a, b = RNG.standard_normal(64).astype("f4"), RNG.standard_normal(64).astype("f4")
    c = np.zeros(64, "f4")
    launch(
        ARGUMENT_BUFFER,
        "add",
        {"a": a, "b": b, "c": c},
        2,
        argument_buffer=True,
        push_constants=np.float32(2).tobytes(),
    )
    np.testing.assert_array_equal(c, a + 2 * b)


def test_positions_in_two_dimensions() -> None:
    out = np.zeros((9, 16, 4), "u4")
    launch(POSITIONS, "positions", {"out": out}, (2, 3, 1), (8, 3, 1))
    y, x = np.mgrid[0:9, 0:16]
    np.testing.assert_array_equal(out[..., 0], x + 1000 * y)
    np.testing.assert_array_equal(out[..., 1], 3008)
    np.testing.assert_array_equal(out[..., 2], x // 8 + 2 * (y // 3))
    np.testing.assert_array_equal(out[..., 3], 1000 * (x % 8 + 8 * (y % 3)))


def test_threadgroup_argument() -> None:
    data = RNG.standard_normal(256).astype("f4")
    total = data.sum()
    launch(DYNAMIC, "reduce", {"data": data}, 1, 256, threadgroup_lengths={0: 1024})
    np.testing.assert_allclose(data, total, rtol=1e-4)


def test_bindings_that_overlap_stay_one_memory() -> None:
    data = np.arange(64, dtype="f4")
    shifted = data[16:]
    source = (
        "kernel void k(device float* a [[buffer(0)]], device float* b [[buffer(1)]], "
        "uint i [[thread_position_in_grid]]) { if (i < 16) a[i + 16] = -1; else if (i < 32) "
        "b[i] = -2; }"
    )
    launch(source, "k", {"a": data[:48], "b": shifted})
    expected = np.arange(64, dtype="f4")
    expected[16:32], expected[32:48] = -1, -2
    np.testing.assert_array_equal(data, expected)
