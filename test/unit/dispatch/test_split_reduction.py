"""How long reductions of few lines are split."""

from __future__ import annotations

from ingot.passes.tensor.linalg_split_reduction import Split, choose_split


def test_chunks_leave_no_rest_where_about_as_many_divide_the_line() -> None:
    assert choose_split((4, 100_000), [1], 1) == Split(loop=1, chunks=20, size=5000, rest=0)
    assert choose_split((1 << 22,), [0], 0) == Split(loop=0, chunks=256, size=16384, rest=0)


def test_a_prime_length_leaves_a_rest() -> None:
    split = choose_split((100_003,), [0], 0)
    assert split == Split(loop=0, chunks=24, size=4166, rest=100_003 - 24 * 4166)


def test_many_lines_and_short_ones_stay_whole() -> None:
    assert choose_split((32, 100_000), [1], 1) is None
    assert choose_split((4, 1000), [1], 1) is None
