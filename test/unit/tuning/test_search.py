"""The search: the same questions to the same answers, never one twice, and good ones soon."""

from __future__ import annotations

from math import inf, log2

import pytest

from ingot.compiler.analysis.schedule import select_schedule
from ingot.targets.profiles import PROFILES
from ingot.tuning.search import Search

from .shapes import MATMUL, ROW, SHAPES

PROFILE = PROFILES["vulkan:lavapipe"]


def search(shape, seed=0):
    return Search(shape, PROFILE, select_schedule(shape, PROFILE), seed)


def ratio_of(schedule):
    """A made-up device that likes threadgroups of 64 x 64, threads of 8 x 4, and vectors of 2."""
    wanted = (64, 64, 8, 4, 2)
    sizes = (*schedule.threadgroup[-2:], *schedule.thread[-2:], schedule.vector)
    off = sum(abs(log2(a / b)) for a, b in zip(sizes, wanted, strict=True))
    return 0.5 + 0.1 * off + (0.2 if schedule.kind == "contraction" else 0.0)


def run(one, trials):
    asked = []
    for _ in range(trials):
        schedule = one.ask()
        if schedule is None:
            break
        one.tell(schedule, ratio_of(schedule))
        asked.append(schedule)
    return asked


def test_the_same_seed_asks_the_same():
    assert run(search(MATMUL), 40) == run(search(MATMUL), 40)
    assert run(search(MATMUL), 40) != run(search(MATMUL, seed=1), 40)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_nothing_is_asked_twice_nor_the_compilers_choice(shape):
    one = search(shape)
    asked = []
    while len(asked) < 60 and (schedule := one.ask()) is not None:
        one.tell(schedule, 1.0)
        asked.append(schedule)
    assert len(set(asked)) == len(asked)
    assert one.builtin not in asked
    assert bool(asked) == bool(shape.parallel)


def test_it_ends_when_all_was_tried():
    one = search(ROW)
    asked = []
    while (schedule := one.ask()) is not None:
        one.tell(schedule, inf)
        asked.append(schedule)
    assert 10 < len(asked) == len(set(asked)) < 1000


@pytest.mark.parametrize("seed", range(3))
def test_it_comes_close_to_the_best_in_few_trials(seed):
    one = search(MATMUL, seed)
    run(one, 100)
    assert one.least_ratio <= 0.71
    assert one.best(2)[0] != one.builtin


def test_what_was_found_before_is_tried_first():
    one = search(MATMUL)
    hint = run(search(MATMUL, seed=3), 5)[-1]
    one.hint([hint, one.builtin])
    assert one.ask() == hint
    assert one.ask() != one.builtin


def test_the_estimate_leaves_out_what_is_hopeless():
    assert search(MATMUL).pruned > 0
