"""The estimate orders schedules as their work does; it need not be right in seconds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ingot.compiler.analysis.schedule import ContractionShape, KernelShape, select_schedule
from ingot.targets.profiles import PROFILES
from ingot.tuning.estimate import estimate
from ingot.tuning.space import tilings

from .shapes import DIFFERENT, MATMUL, ROW, SHAPES

GPU, CPU = PROFILES["metal:apple7"], PROFILES["vulkan:lavapipe"]


@pytest.mark.parametrize("profile", DIFFERENT, ids=lambda p: p.name)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_it_is_a_positive_number(shape, profile):
    for schedule in tilings(shape, profile, select_schedule(shape, profile)):
        assert estimate(schedule, shape, profile) > 0


@pytest.mark.parametrize("profile", [GPU, CPU], ids=lambda p: p.name)
def test_work_past_the_edge_costs(profile):
    def time(n):
        shape = KernelShape(
            "pointwise", (n, n), has_reduction=True, contraction=ContractionShape(n, n, 512)
        )
        return estimate(replace(select_schedule(MATMUL, profile), swizzle=1), shape, profile)

    assert time(513) > 1.1 * time(512)


def test_larger_tiles_of_a_thread_load_less():
    base = select_schedule(MATMUL, CPU)
    small = replace(base, threadgroup=(4, 32), thread=(4, 4))
    assert estimate(small, MATMUL, CPU) > estimate(base, MATMUL, CPU)


def test_a_row_that_does_not_stay_in_registers_is_read_again():
    base = select_schedule(ROW, CPU)
    assert estimate(replace(base, unroll=1), ROW, CPU) > estimate(base, ROW, CPU)


def test_too_few_threads_leave_a_gpu_idle():
    one = replace(select_schedule(MATMUL, GPU), subgroup=(), unit=(), reduction=16, swizzle=1)
    few = replace(one, threadgroup=(128, 128), thread=(16, 8), threads=128, vector=4)
    many = replace(one, threadgroup=(32, 32), thread=(4, 4), threads=64, vector=4)
    assert estimate(few, MATMUL, GPU) > estimate(many, MATMUL, GPU)
