"""The space of schedules: legal everywhere, without doubles, and wide enough."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest

from ingot.compiler.analysis.schedule import select_schedule
from ingot.compiler.analysis.schedule_check import schedule_problem
from ingot.targets.profiles import PROFILES
from ingot.tuning.space import neighbours, tilings

from .shapes import DIFFERENT, MATMUL, ROW, SHAPES


@pytest.mark.parametrize("profile", DIFFERENT, ids=lambda p: p.name)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_every_candidate_is_legal_and_there_once(shape, profile):
    builtin = select_schedule(shape, profile)
    listed = tilings(shape, profile, builtin)
    assert listed[0] == builtin
    assert len(set(listed)) == len(listed)
    others = [n for s in islice(listed, 0, None, 200) for n in neighbours(s, shape, profile)]
    for schedule in (*listed, *others):
        assert schedule_problem(schedule, shape, profile) is None


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_both_are_the_same_every_time(shape):
    profile = PROFILES["metal:apple9"]
    builtin = select_schedule(shape, profile)
    assert tilings(shape, profile, builtin) == tilings(shape, profile, builtin)
    assert neighbours(builtin, shape, profile) == neighbours(builtin, shape, profile)


def test_a_step_changes_one_thing():
    profile = PROFILES["vulkan:lavapipe"]
    builtin = select_schedule(ROW, profile)
    steps = neighbours(builtin, ROW, profile)
    assert replace(builtin, threads=builtin.threads * 2) in steps
    assert replace(builtin, vector=2) in steps
    assert builtin not in steps


def test_tiles_trade_work_for_threads():
    profile = PROFILES["vulkan:lavapipe"]
    builtin = select_schedule(MATMUL, profile)
    assert (builtin.threadgroup, builtin.thread) == ((16, 128), (16, 16))
    tiles = {(s.threadgroup, s.thread, s.threads) for s in neighbours(builtin, MATMUL, profile)}
    assert ((16, 128), (8, 16), 16) in tiles  # less work for more threads
    assert ((32, 64), (16, 16), 8) in tiles  # threads elsewhere
    assert ((32, 128), (16, 16), 16) in tiles  # a larger threadgroup


def test_matrix_units_and_tiles_without_them_are_both_there():
    profile = PROFILES["metal:apple7"]
    listed = tilings(MATMUL, profile, select_schedule(MATMUL, profile))
    assert {(s.kind, s.unit) for s in listed} == {
        ("contraction", (8, 8, 8)),
        ("contraction", ()),
        ("pointwise", ()),
    }
    depths = {s.reduction for s in neighbours(listed[0], MATMUL, profile)}
    assert len(depths) > 1
