"""How long reductions of few lines are split."""

from __future__ import annotations

from ingot.passes.tensor.linalg_split_reduction import (
    Split,
    choose_column_split,
    choose_split,
)


def test_chunks_leave_no_rest_where_about_as_many_divide_the_line() -> None:
    assert choose_split((4, 100_000), [1], 1) == Split(loop=1, chunks=20, size=5000, rest=0)
    assert choose_split((1 << 22,), [0], 0) == Split(loop=0, chunks=256, size=16384, rest=0)


def test_a_prime_length_leaves_a_rest() -> None:
    split = choose_split((100_003,), [0], 0)
    assert split == Split(loop=0, chunks=24, size=4166, rest=100_003 - 24 * 4166)


def test_many_lines_and_short_ones_stay_whole() -> None:
    assert choose_split((32, 100_000), [1], 1) is None
    assert choose_split((4, 1000), [1], 1) is None


def test_long_columns_are_split_where_they_are_few() -> None:
    assert choose_column_split((64, 1 << 16), [1]) == Split(loop=1, chunks=64, size=1024, rest=0)
    assert choose_column_split((8, 1 << 14, 8, 4), [0, 1]) == Split(1, chunks=128, size=128, rest=0)
    assert choose_column_split((1024, 1 << 16), [1]) is None, "enough columns"
    assert choose_column_split((64, 1024), [1]) is None, "few elements"


def test_no_chunk_is_longer_than_a_loop_may_be() -> None:
    split = choose_column_split((512, 1 << 20), [1])
    assert split is not None and split.chunks == 32 and split.size == 32768
