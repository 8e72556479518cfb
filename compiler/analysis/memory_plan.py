"""Offsets of intermediates in one arena: best-fit packing of live intervals.

The problem is dynamic storage allocation with known lifetimes (NP-hard in general). Values are
placed one by one, each into the smallest gap that fits among the values that live at the same time:
from the largest to the smallest, which is what the literature calls greedy by size (Pisarchyk and
Lee, "Efficient memory management for deep neural net inference", 2020), and where that needs more
than what is live at once, in a few other orders. The best plan counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

ALIGNMENT = 256
"""Bytes; what every device accepts as an offset of a buffer binding."""


@dataclass(frozen=True)
class Interval:
    """`size` bytes that are live from step `first` to step `last`, both included."""

    size: int
    first: int
    last: int

    def meets(self, other: Interval) -> bool:
        """Whether both are live at some step."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class MemoryPlan:
    """Where each interval lies, in the order in which they were given; sizes in bytes."""

    offsets: tuple[int, ...]
    peak: int
    """Size of the arena."""
    lower_bound: int
    """What no plan can do with less than; see the function of this name."""


_TRIES = 32
"""Orders that are made from the last one by placing earlier what ended highest."""


def plan_memory(intervals: Sequence[Interval], alignment: int = ALIGNMENT) -> MemoryPlan:
    """Give each interval an aligned offset so that no two live ones share a byte.

    Deterministic: ties are broken by the position in `intervals`. Empty intervals get offset 0.
    """
    bound = lower_bound(intervals, alignment)
    best: MemoryPlan | None = None
    order: list[int] = []
    for order in _orders(intervals):
        best = _better(best, _placed(intervals, order, alignment, bound))
        if best.peak == bound:
            return best
    assert best is not None
    for _ in range(_TRIES):
        plan = _placed(intervals, order, alignment, bound)
        best = _better(best, plan)
        if best.peak == bound:
            break
        highest = max(order, key=lambda i: plan.offsets[i] + intervals[i].size)
        order = [highest, *(i for i in order if i != highest)]
    return best


def _orders(intervals: Sequence[Interval]) -> Iterator[list[int]]:
    """By size; by the first step, then by size; by the time that they live; by size again."""
    numbers = range(len(intervals))
    by_size = sorted(numbers, key=lambda i: (-intervals[i].size, i))
    yield by_size
    yield sorted(numbers, key=lambda i: (intervals[i].first, -intervals[i].size, i))
    yield sorted(numbers, key=lambda i: (intervals[i].first - intervals[i].last, i))
    yield by_size


def _better(best: MemoryPlan | None, other: MemoryPlan) -> MemoryPlan:
    return other if best is None or other.peak < best.peak else best


def _placed(
    intervals: Sequence[Interval], order: Sequence[int], alignment: int, bound: int
) -> MemoryPlan:
    """The plan that comes of placing the intervals in an order."""
    offsets = [0] * len(intervals)
    placed: list[int] = []
    peak = 0
    for i in order:
        interval = intervals[i]
        if interval.size == 0:
            continue
        busy = sorted(
            (offsets[j], offsets[j] + intervals[j].size)
            for j in placed
            if intervals[j].meets(interval)
        )
        offsets[i] = _best_gap(busy, interval.size, alignment)
        peak = max(peak, offsets[i] + interval.size)
        placed.append(i)
    return MemoryPlan(tuple(offsets), peak, bound)


def _best_gap(busy: Sequence[tuple[int, int]], size: int, alignment: int) -> int:
    """The start of the smallest aligned gap of at least `size` between the sorted ranges `busy`."""
    best: tuple[int, int] | None = None
    end = 0
    for low, high in busy:
        start = _align(end, alignment)
        if start + size <= low and (best is None or low - start < best[0]):
            best = (low - start, start)
        end = max(end, high)
    return best[1] if best is not None else _align(end, alignment)


def _align(value: int, alignment: int) -> int:
    return -(-value // alignment) * alignment


def lower_bound(intervals: Sequence[Interval], alignment: int = ALIGNMENT) -> int:
    """The most bytes that are live at one step, where all values but the highest one take whole
    units of the alignment: no plan needs less."""
    starts: dict[int, list[Interval]] = {}
    for interval in intervals:
        if interval.size:
            starts.setdefault(interval.first, []).append(interval)
    live: list[Interval] = []
    peak = 0
    for step in sorted(starts):
        live = [i for i in live if i.last >= step] + starts[step]
        slack = max(_align(i.size, alignment) - i.size for i in live)
        peak = max(peak, sum(_align(i.size, alignment) for i in live) - slack)
    return peak
