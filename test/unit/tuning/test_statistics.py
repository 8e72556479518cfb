"""Ratios of paired times: a median, and bounds that are honest about few rounds."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from ingot.tuning.statistics import paired_ratio


def test_what_slows_both_of_a_round_does_not_count():
    base = [1.0, 10.0, 2.0, 5.0, 1.5, 3.0, 8.0]
    ratio = paired_ratio([b / 2 for b in base], base)
    assert (ratio.median, ratio.low, ratio.high, ratio.rounds) == (0.5, 0.5, 0.5, 7)


def test_few_rounds_say_nothing_for_sure():
    ratio = paired_ratio([1.0, 2.0], [1.0, 1.0])
    assert (ratio.median, ratio.low, ratio.high) == (1.5, 0.0, inf)


def test_more_confidence_wants_wider_bounds():
    times = np.random.default_rng(0).uniform(1, 2, 40)
    narrow, wide = (paired_ratio(times, np.ones(40), c) for c in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_the_bounds_hold_as_often_as_they_say():
    source = np.random.default_rng(1)
    held = 0
    for _ in range(500):
        times = source.exponential(size=15) + 1
        ratio = paired_ratio(times, np.ones(15), 0.9)
        held += ratio.low <= 1 + np.log(2) <= ratio.high
    assert held / 500 > 0.88


def test_without_times_there_is_no_ratio():
    with pytest.raises(ValueError, match="nothing was measured"):
        paired_ratio([], [])
