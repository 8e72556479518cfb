"""SIMD-group operations: 32 lanes, also when they diverge."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from ingot.runtime.devices.host.compile import KernelSource, compile_kernels
from ingot.runtime.devices.host.kernel import RACE_SCHEDULES, Schedule

from .launch import HEADER, Array, launch

LANE = np.arange(32)
OPERATIONS: dict[str, Array] = {
    "simd_sum(l)": np.full(32, 496),
    "simd_product(l % 4 == 0 ? 2u : 1u)": np.full(32, 256),
    "simd_min(l + 5)": np.full(32, 5),
    "simd_max(l)": np.full(32, 31),
    "simd_or(1u << l)": np.full(32, 0xFFFFFFFF),
    "simd_and(~(1u << l))": np.full(32, 0),
    "simd_xor(l)": np.full(32, 0),
    "simd_prefix_inclusive_sum(l)": np.cumsum(LANE),
    "simd_prefix_exclusive_sum(l)": np.cumsum(LANE) - LANE,
    "simd_broadcast(l * 2, 7)": np.full(32, 14),
    "simd_broadcast_first(l + 3)": np.full(32, 3),
    "simd_shuffle(l, ushort(31 - l))": 31 - LANE,
    "simd_shuffle_xor(l, 5)": LANE ^ 5,
    "simd_shuffle_down(l, 4)": np.where(LANE < 28, LANE + 4, LANE),
    "simd_shuffle_up(l, 4)": np.where(LANE >= 4, LANE - 4, LANE),
    "simd_shuffle_rotate_down(l, 9)": (LANE + 9) % 32,
    "simd_shuffle_rotate_up(l, 9)": (LANE - 9) % 32,
    "simd_shuffle_and_fill_down(l, l + 100, 3)": np.where(LANE < 29, LANE + 3, LANE + 71),
    "uint(ulong(simd_ballot(l % 3 == 0)))": np.full(32, sum(1 << i for i in range(0, 32, 3))),
    "uint(simd_any(l == 9))": np.full(32, 1),
    "uint(simd_all(l < 31))": np.full(32, 0),
    "uint(simd_is_first())": LANE == 0,
    "quad_sum(l)": LANE // 4 * 16 + 6,
    "quad_broadcast(l, 2)": LANE // 4 * 4 + 2,
    "quad_shuffle_xor(l, 1)": LANE ^ 1,
}
SOURCE = "".join(
    f"kernel void op{i}(device uint* o [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) "
    f"{{ o[l] = {expression}; }}\n"
    for i, expression in enumerate(OPERATIONS)
)

DIVERGENT = """
kernel void branches(device uint* o [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
  uint r = 0;
  if (l < 16) r = simd_sum(1u); else r = 100u + simd_sum(2u);
  o[l] = r + 1000u * simd_sum(1u);
}
kernel void trip_counts(device uint* o [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
  uint sum = 0;
  for (uint i = 0; i <= l % 4; i++) sum += simd_sum(1u);
  o[l] = sum + 10000u * simd_sum(1u);
}
"""

MATRIX = """
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;
template <typename T> void product(device const T* a, device const T* b, device float* c,
                                   uint2 group) {
  simdgroup_matrix<float, 8, 8> sum = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);
  for (uint k = 0; k < 24; k += 8) {
    simdgroup_matrix<T, 8, 8> left, right;
    simdgroup_load(left, a + group.y * 8 * 24 + k, 24);
    simdgroup_load(right, b, 24, ulong2(k, group.x * 8), true);
    simdgroup_multiply_accumulate(sum, left, right, sum);
  }
  simdgroup_store(sum, c + group.y * 8 * 16 + group.x * 8, 16);
}
kernel void layout(device float2* o [[buffer(0)]], device const float* m [[buffer(1)]],
                   uint l [[thread_index_in_simdgroup]]) {
  threadgroup float shared[64];
  simdgroup_float8x8 x;
  simdgroup_load(x, m);
  simdgroup_store(x, shared);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(x, shared);
  x.thread_elements() *= 2.0f;
  o[l] = x.thread_elements();
}
kernel void diagonal(device half* o [[buffer(0)]]) {
  simdgroup_half8x8 d(3.0h), e = make_filled_simdgroup_matrix<half, 8, 8>(2.0h), p;
  simdgroup_multiply(p, d, e);
  simdgroup_store(p, o);
}
"""

MATRIX += "".join(
    f"kernel void product_{kind}(device const {kind}* a [[buffer(0)]], device const {kind}* b "
    "[[buffer(1)]], device float* c [[buffer(2)]], uint2 group [[threadgroup_position_in_grid]]) "
    "{ product(a, b, c, group); }\n"
    for kind in ("float", "half", "bfloat")
)

ORDERS = pytest.mark.parametrize("schedule", RACE_SCHEDULES, ids=lambda s: s.order.name)


@pytest.fixture(scope="module", autouse=True)
def compiled_together() -> None:
    """Fill the cache at once; the tests then take their kernels from it."""
    compile_kernels([KernelSource(HEADER + SOURCE, f"op{i}") for i in range(len(OPERATIONS))])


@pytest.mark.parametrize("index", range(len(OPERATIONS)), ids=list(OPERATIONS))
def test_operation(index: int) -> None:
    out = np.zeros(32, "u4")
    launch(SOURCE, f"op{index}", {"out": out})
    np.testing.assert_array_equal(out, list(OPERATIONS.values())[index])


@ORDERS
def test_lanes_of_one_branch_act_together(schedule: Schedule) -> None:
    out = np.zeros(32, "u4")
    launch(DIVERGENT, "branches", {"out": out}, schedule=schedule)
    np.testing.assert_array_equal(out, np.where(LANE < 16, 16, 132) + 32000)


@ORDERS
def test_lanes_leave_a_loop_one_after_the_other(schedule: Schedule) -> None:
    out = np.zeros(32, "u4")
    launch(DIVERGENT, "trip_counts", {"out": out}, schedule=schedule)
    counts = np.array([32, 32 + 24, 32 + 24 + 16, 32 + 24 + 16 + 8])
    np.testing.assert_array_equal(out, counts[LANE % 4] + 320000)


@ORDERS
@pytest.mark.parametrize("kind", ["float", "half", "bfloat"])
def test_matrix_product(kind: str, schedule: Schedule) -> None:
    dtype = {"float": np.float32, "half": np.float16, "bfloat": ml_dtypes.bfloat16}[kind]
    rng = np.random.default_rng(3)
    a = rng.standard_normal((16, 24)).astype(dtype)
    b = rng.standard_normal((16, 24)).astype(dtype)
    c = np.zeros((16, 16), "f4")
    launch(MATRIX, f"product_{kind}", {"a": a, "b": b, "c": c}, (2, 2, 1), schedule=schedule)
    expected = 1 + a.astype("f8") @ b.astype("f8").T
    np.testing.assert_allclose(c, expected, rtol=1e-5, atol=1e-5)


def test_matrix_elements_of_a_lane() -> None:
    m, out = np.arange(64, dtype="f4").reshape(8, 8), np.zeros((32, 2), "f4")
    launch(MATRIX, "layout", {"out": out, "m": m})
    quad = LANE // 4
    row, column = (quad & 4) + LANE // 2 % 4, (quad & 2) * 2 + LANE % 2 * 2
    np.testing.assert_array_equal(out, 2 * np.stack([m[row, column], m[row, column + 1]], 1))


def test_diagonal_matrix() -> None:
    out = np.zeros((8, 8), "f2")
    launch(MATRIX, "diagonal", {"out": out})
    np.testing.assert_array_equal(out, 6)
