"""Offsets of intermediates in one arena: best-fit packing of live intervals.

The problem is dynamic storage allocation with known lifetimes (NP-hard in general). Values are
placed from the largest to the smallest, each into the smallest gap that fits among the values that
live at the same time, which is what the literature calls greedy by size
(Pisarchyk and Lee, "Efficient memory management for deep neural net inference", 2020).
"""

from __future__ import annotations

from collections.abc import Sequence
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
    """The most bytes that are live at one step."""


def plan_memory(intervals: Sequence[Interval], alignment: int = ALIGNMENT) -> MemoryPlan:
    """Give each interval an aligned offset so that no two live ones share a byte.

    Deterministic: ties are broken by the position in `intervals`. Empty intervals get offset 0.
    """
    order = sorted(range(len(intervals)), key=lambda i: (-intervals[i].size, i))
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
    return MemoryPlan(tuple(offsets), peak, lower_bound(intervals))


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


def lower_bound(intervals: Sequence[Interval]) -> int:
    """The most bytes that are live at one step: no plan needs less."""
    events: dict[int, int] = {}
    for interval in intervals:
        events[interval.first] = events.get(interval.first, 0) + interval.size
        events[interval.last + 1] = events.get(interval.last + 1, 0) - interval.size
    live = peak = 0
    for step in sorted(events):
        live += events[step]
        peak = max(peak, live)
    return peak
