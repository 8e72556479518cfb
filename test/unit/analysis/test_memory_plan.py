"""The arena: live values never share a byte, and the peak is close to what cannot be avoided."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ingot.compiler.analysis.memory_plan import Interval, lower_bound, plan_memory


def _interval(size: int, first: int, length: int) -> Interval:
    return Interval(size, first, first + length)


intervals = st.lists(
    st.builds(_interval, st.integers(0, 5000), st.integers(0, 30), st.integers(0, 10)), max_size=40
)


@given(intervals)
def test_live_intervals_never_overlap(values: list[Interval]) -> None:
    plan = plan_memory(values)
    placed = list(zip(values, plan.offsets, strict=True))
    for i, (a, at) in enumerate(placed):
        assert (at % 256 == 0 and at + a.size <= plan.peak) or a.size == 0
        for b, other in placed[:i]:
            if a.meets(b) and a.size and b.size:
                assert at + a.size <= other or other + b.size <= at


@given(intervals)
def test_peak_is_at_least_the_lower_bound(values: list[Interval]) -> None:
    plan = plan_memory(values)
    assert plan.peak >= plan.lower_bound == lower_bound(values)


@given(intervals)
def test_peak_is_at_most_all_sizes_rounded_up(values: list[Interval]) -> None:
    assert plan_memory(values).peak <= sum(-(-v.size // 256) * 256 for v in values)


def test_values_that_are_never_live_together_share_memory() -> None:
    plan = plan_memory([Interval(1000, 0, 1), Interval(1000, 2, 3)])
    assert plan.offsets == (0, 0)
    assert plan.peak == plan.lower_bound == 1000


def test_smallest_gap_that_fits_is_taken() -> None:
    # Gaps of 1024 and 256 bytes are left between the large values; the small one takes the second.
    plan = plan_memory(
        [
            Interval(4096, 0, 9),
            Interval(3072, 0, 1),
            Interval(2048, 0, 9),
            Interval(256, 0, 1),
            Interval(1024, 0, 9),
            Interval(256, 5, 6),
        ]
    )
    assert plan.peak == 4096 + 3072 + 2048 + 1024 + 256


def test_equal_inputs_give_equal_plans() -> None:
    values = [Interval(512, i % 3, i % 3 + 2) for i in range(10)]
    assert plan_memory(values) == plan_memory(list(values))


def test_other_orders_are_tried_where_the_largest_first_needs_more() -> None:
    # The residual stream of a transformer lives across the layers' larger values.
    sizes = [(64, 0, 4), (64, 0, 1), (192, 1, 2), (64, 2, 3), (64, 3, 4), (64, 4, 6), (64, 4, 5)]
    sizes += [(256, 5, 6), (64, 6, 11), (64, 7, 8), (192, 8, 9), (64, 9, 10), (64, 10, 11)]
    sizes += [(64, 11, 13), (64, 11, 12), (256, 12, 13), (64, 13, 14), (64, 14, 15)]
    plan = plan_memory([Interval(256 * size, first, last) for size, first, last in sizes])
    assert plan.peak == plan.lower_bound == 256 * 384


def test_the_lower_bound_counts_what_alignment_takes() -> None:
    assert lower_bound([Interval(4, 0, 1), Interval(300, 0, 1)]) == 512 + 4
