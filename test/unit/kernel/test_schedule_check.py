"""A schedule from a file is used only where the passes can obey it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ingot.compiler.analysis.attention_schedule import AttentionShape
from ingot.compiler.analysis.schedule import (
    ColumnsShape,
    ContractionShape,
    KernelShape,
    select_schedule,
)
from ingot.compiler.analysis.schedule_check import schedule_problem
from ingot.targets.profiles import PROFILES

ROW = KernelShape("row", (64,), 1000, 1000)
ELEMENTWISE = KernelShape("pointwise", (64, 256))
TRANSPOSE = KernelShape("pointwise", (64, 64), transposed=(0,), transposed_loop=0)
MATMUL = KernelShape(
    "pointwise", (256, 256), has_reduction=True, contraction=ContractionShape(256, 256, 256)
)

COLUMNS = KernelShape(
    "pointwise", (1024,), has_reduction=True, columns=ColumnsShape(longest=1024, bytes=4)
)

ATTENTION = KernelShape(
    "attention",
    (2, 200, 64),
    attention=AttentionShape((2, 200, 64), 1, 2, keys=300, head=48, staged_bytes=448),
)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda p: p.name)
@pytest.mark.parametrize("shape", [ROW, ELEMENTWISE, TRANSPOSE, MATMUL, COLUMNS])
def test_what_the_compiler_chooses_fits_without_being_known_as_its_choice(shape, profile):
    chosen = select_schedule(shape, profile)
    fewer = replace(shape, parallel=tuple(2 * n for n in shape.parallel))
    assert schedule_problem(chosen, fewer, profile) is None


def test_threads_that_cannot_shuffle_share_no_row_of_an_attention():
    profile = PROFILES["vulkan:lavapipe"]
    schedule = replace(select_schedule(ATTENTION, profile), splits=2)
    problem = schedule_problem(schedule, ATTENTION, profile)
    assert problem is not None and problem.startswith("splits must be 1 where SIMD-groups")


@pytest.mark.parametrize(
    ("shape", "changes", "sentence"),
    [
        (ROW, {"kind": "pointwise"}, "kind is 'pointwise'; this kernel is row"),
        (ROW, {"threads": 96}, "threads is 96; the threads of a row must be a power of two"),
        (ROW, {"threads": 4096}, "threads is 4096; metal:apple7 runs 1 to 1024"),
        (ROW, {"vector": 8}, "vector is 8; it must be 1, 2 or 4 elements"),
        (ROW, {"threadgroup": (2,)}, "threadgroup and thread must be equal"),
        (ROW, {"threadgroup": (3,), "thread": (3,)}, "a threadgroup takes 1 to 16 rows"),
        (ROW, {"threadgroup": (32,), "thread": (32,)}, "a threadgroup takes 1 to 16 rows"),
        (ROW, {"unroll": 0}, "unroll is 0; a thread takes 1 to 64 vectors"),
        (ELEMENTWISE, {"thread": (1,)}, "thread must be 2 positive numbers"),
        (ELEMENTWISE, {"threads": 8}, "threads is 8; threadgroup holds 256 tiles of one thread"),
        (ELEMENTWISE, {"unroll": 8}, "unroll is 8; it must be 1, 2 or 4 elements"),
        (ELEMENTWISE, {"promote": (0,)}, "promote is [0]; inputs of this kernel to stage are []"),
        (
            TRANSPOSE,
            {"threadgroup": (128, 128), "thread": (16, 16), "threads": 64},
            "its tiles take up to 66048 bytes of threadgroup memory; metal:apple7 has 32768",
        ),
        (TRANSPOSE, {"thread": (32, 32), "threads": 1}, "threads is 1; staging inputs needs"),
        (MATMUL, {"unit": (16, 16, 16)}, "unit is [16, 16, 16]; metal:apple7 has [8, 8, 8]"),
        (MATMUL, {"subgroup": (30, 32)}, "subgroup must be made of units"),
        (MATMUL, {"reduction": 12}, "reduction is 12; it must be a multiple of the unit's depth"),
        (MATMUL, {"unit": (), "thread": (8, 8), "vector": 4, "unroll": 3}, "unroll is 3"),
        (MATMUL, {"threads": 64}, "threads is 64; 1 subgroups have 32"),
        (ELEMENTWISE, {"kind": "column"}, "kind is 'column'; this kernel is pointwise"),
        (COLUMNS, {"thread": (1,)}, "threadgroup must be 1 in all loops but the last one"),
        (COLUMNS, {"splits": 16}, "threads is 512; 16 splits of a threadgroup's vectors are 128"),
        (COLUMNS, {"unroll": 0}, "unroll is 0; 1 to 64 rows are emitted together"),
        (ATTENTION, {"splits": 3}, "threads must be a power of two, and splits 1, 2, 4 or 8"),
        (ATTENTION, {"threads": 8}, "threads is 8; with splits it must be a multiple of 32"),
        (ATTENTION, {"rows": 9}, "rows is 9; a thread computes 1 to 8 rows"),
        (ATTENTION, {"reduction": 6}, "reduction is 6; 4 to 256 keys are staged, by fours"),
        (ATTENTION, {"reduction": 128}, "its keys and values take 57344 bytes; metal:apple7 has"),
        (ATTENTION, {"rows": 2}, "threadgroup must be [1, 16, 64], thread [1, 2, 64] and vector 4"),
        (MATMUL, {"stages": 3}, "promote must be [0, 1] and stages 1 or 2"),
    ],
)
def test_each_sentence(shape, changes, sentence):
    profile = PROFILES["metal:apple7"]
    schedule = replace(select_schedule(shape, profile), **changes)
    assert (schedule_problem(schedule, shape, profile) or "").startswith(sentence)
