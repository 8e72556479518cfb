"""How much faster one thing is than another when both were measured in turn: a median with bounds.

What slows a machine for a while slows both measurements of a round, so the ratio of each round
counts. Bounds of the median come from order statistics, without a guess about the distribution
(B. Arnold, N. Balakrishnan, H. Nagaraja, "A First Course in Order Statistics", section 7.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, inf
from statistics import median


@dataclass(frozen=True)
class Ratio:
    """Time of a candidate by time of what it is held against: below 1 it is faster."""

    median: float
    low: float
    high: float
    """The median of many more rounds lies in between with the confidence asked for; 0 and infinity
    where there are too few rounds to say."""
    rounds: int


def paired_ratio(
    candidate: Sequence[float], base: Sequence[float], confidence: float = 0.95
) -> Ratio:
    """The ratio of times in seconds that were taken in the same rounds; raises ValueError for
    none, or when the rounds differ."""
    ratios = sorted(c / b for c, b in zip(candidate, base, strict=True))
    if not ratios:
        raise ValueError("nothing was measured")
    rank = _rank(len(ratios), confidence)
    low, high = (ratios[rank], ratios[-1 - rank]) if rank is not None else (0.0, inf)
    return Ratio(median(ratios), low, high, len(ratios))


def _rank(count: int, confidence: float) -> int | None:
    """The position from either end whose values enclose the median; None where no two do."""
    outside, rank = 0.0, None
    for k in range(count // 2):
        outside += 2 * comb(count, k) / 2**count
        if outside > 1 - confidence:
            break
        rank = k
    return rank
