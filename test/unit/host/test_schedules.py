"""Missing barriers and order dependence show under some schedule; right kernels never change."""

from __future__ import annotations

import numpy as np
import pytest

from ingot.runtime.devices.host.kernel import RACE_SCHEDULES, Order, Schedule

from .launch import launch
from .test_kernels import MATMUL, SOFTMAX, uint

BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"
RNG = np.random.default_rng(11)


def without_barrier(source: str, number: int) -> str:
    parts = source.split(BARRIER)
    return BARRIER.join(parts[: number + 1]) + ";" + BARRIER.join(parts[number + 1 :])


def differs(results: list[np.ndarray]) -> bool:  # pyright: ignore[reportMissingTypeArgument]
    return any(not np.array_equal(results[0], r, equal_nan=True) for r in results[1:])


@pytest.mark.parametrize("number", [0, 1])
def test_matmul_needs_both_barriers(number: int) -> None:
    a, b = RNG.standard_normal((32, 48)).astype("f4"), RNG.standard_normal((48, 32)).astype("f4")
    source, wrong = without_barrier(MATMUL, number), 0
    for schedule in RACE_SCHEDULES:
        c = np.zeros((32, 32), "f4")
        arrays = {"a": a, "b": b, "c": c, "size": np.array([32, 32, 48], "u4")}
        launch(source, "matmul", arrays, (2, 2, 1), (16, 16, 1), schedule)
        wrong += not np.allclose(c, a @ b, atol=1e-3)
    assert wrong > 0


@pytest.mark.parametrize("number", [0, 1, 2])
def test_softmax_needs_all_barriers(number: int) -> None:
    x = RNG.standard_normal((4, 1000)).astype("f4") * 20
    expected = np.exp(x - x.max(1, keepdims=True))
    expected /= expected.sum(1, keepdims=True)
    source, wrong = without_barrier(SOFTMAX, number), 0
    for schedule in RACE_SCHEDULES:
        y = np.zeros_like(x)
        launch(source, "softmax", {"x": x, "y": y, "n": uint(1000)}, 4, 256, schedule)
        wrong += not np.allclose(y, expected, rtol=1e-3)
    assert wrong > 0


def test_order_of_threadgroups_shows() -> None:
    source = """
    kernel void append(device uint* log [[buffer(0)]], device atomic_uint* next [[buffer(1)]],
                       uint group [[threadgroup_position_in_grid]]) {
      log[atomic_fetch_add_explicit(next, 1u, memory_order_relaxed)] = group;
    }
    """
    orders: dict[Order, list[int]] = {}
    for order in Order:
        log = np.zeros(12, "u4")
        launch(source, "append", {"log": log, "next": uint(0)}, 12, 1, Schedule(order, 3, 1))
        orders[order] = log.tolist()
    assert orders[Order.FORWARD] == list(range(12))
    assert orders[Order.REVERSE] == list(range(11, -1, -1))
    assert sorted(orders[Order.RANDOM]) == list(range(12)) != orders[Order.RANDOM]


def test_one_worker_repeats_and_seeds_differ() -> None:
    source = """
    kernel void racy(device uint* out [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
      threadgroup uint last;
      simdgroup_barrier(mem_flags::mem_none);
      last = i;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (i == 0) out[0] = last;
    }
    """
    seen: list[int] = []
    for seed in (1, 1, 2, 3, 4, 5):
        out = uint(0)
        launch(source, "racy", {"out": out}, 1, 256, Schedule(Order.RANDOM, seed, workers=1))
        seen.append(int(out[0]))
    assert seen[0] == seen[1]
    assert len(set(seen)) > 2


@pytest.mark.parametrize(("poison", "expected"), [(0xFF, 0xFFFFFFFF), (0x7F, 0x7F7F7F7F)])
def test_threadgroup_memory_starts_poisoned(poison: int, expected: int) -> None:
    source = """
    kernel void uninitialized(device uint* out [[buffer(0)]],
                              uint group [[threadgroup_position_in_grid]]) {
      threadgroup uint t[4];
      out[group] = t[3];
      t[3] = 5;
    }
    """
    out = np.zeros(8, "u4")
    launch(source, "uninitialized", {"out": out}, 8, 1, Schedule(workers=1, poison=poison))
    np.testing.assert_array_equal(out, expected)
