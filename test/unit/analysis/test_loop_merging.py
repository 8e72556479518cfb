"""Loops over contiguous elements, and maps over merged loops."""

from __future__ import annotations

from xdsl.ir.affine import AffineMap

from ingot.compiler.analysis.loop_merging import (
    MergeProblem,
    merge_groups,
    merge_map,
    merge_verdict,
)


def test_adjacent_results_merge() -> None:
    assert merge_verdict(AffineMap.from_callable(lambda i, j, k: (k, i, j)), 0, 4) == 1


def test_absent_loops_are_free_to_merge() -> None:
    assert merge_verdict(AffineMap.from_callable(lambda i, j, k: (k,)), 0, 4) == "free"


def test_transposed_or_broadcast_loops_stay_apart() -> None:
    assert merge_verdict(AffineMap.from_callable(lambda i, j: (j, i)), 0, 4) == "blocked"
    assert merge_verdict(AffineMap.from_callable(lambda i, j: (i,)), 0, 4) == "blocked"
    assert merge_verdict(AffineMap.from_callable(lambda i, j: (i, 0, j)), 0, 4) == "blocked"


def test_a_sum_merges_when_its_steps_fit() -> None:
    assert merge_verdict(AffineMap.from_callable(lambda i, j: (i * 4 + j + 3,)), 0, 4) == "free"
    assert merge_verdict(AffineMap.from_callable(lambda i, j: (i * 5 + j,)), 0, 4) == "blocked"


def test_a_map_over_merged_loops_reads_the_same_elements() -> None:
    map_ = AffineMap.from_callable(lambda i, j, k: (k, i, j, i * 4 + j + 3))
    merged, results = merge_map(map_, merge_groups(3, [True, False]))
    assert results == [[0], [1, 2], [3]]
    for i in range(3):
        for j in range(4):
            for k in range(2):
                first, second, third, fourth = map_.eval([i, j, k], [])
                assert merged.eval([i * 4 + j, k], []) == (first, second * 4 + third, fourth)


def test_what_is_joined_is_blocked_together() -> None:
    problem = MergeProblem()
    problem.join("a", "b")
    problem.block("b")
    problem.join("c", "a")
    assert not problem.allowed("c")
    assert problem.allowed("d")
