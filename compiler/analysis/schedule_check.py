"""Whether a schedule that was written by hand, or found by a search, fits a kernel and a profile.

What the passes take for granted of a schedule is checked here, so that one from a file cannot make
a kernel that computes something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ingot.compiler.analysis.attention_schedule import attention_problem
from ingot.compiler.analysis.schedule import (
    ColumnsShape,
    ContractionShape,
    KernelShape,
    Schedule,
    select_schedule,
)
from ingot.targets.profiles import TargetProfile

_MOST_ROWS = 16
"""Rows of a threadgroup that are emitted one after the other."""
_BYTES = {"f16": 2, "bf16": 2, "f32": 4}


def schedule_problem(schedule: Schedule, shape: KernelShape, profile: TargetProfile) -> str | None:
    """The first thing that is wrong with a schedule, as a sentence; None when it fits."""
    if schedule == select_schedule(shape, profile):
        return None
    return next(_problems(schedule, shape, profile), None)


def _problems(s: Schedule, shape: KernelShape, profile: TargetProfile) -> Iterator[str]:
    kinds = _kinds(shape)
    if s.kind not in kinds:
        yield f"kind is '{s.kind}'; this kernel is {' or '.join(kinds)}"
        return
    loops = len(shape.parallel)
    for name in ("threadgroup", "thread"):
        tile: tuple[int, ...] = getattr(s, name)
        if len(tile) != loops or min(tile, default=1) < 1:
            yield f"{name} must be {loops} positive numbers, one for each shared loop"
            return
    if not 1 <= s.threads <= profile.max_threads_per_threadgroup:
        most = profile.max_threads_per_threadgroup
        yield f"threads is {s.threads}; {profile.name} runs 1 to {most} in a threadgroup"
        return
    if s.vector not in (1, 2, 4) or s.vector * shape.element_bytes > 16:
        yield f"vector is {s.vector}; it must be 1, 2 or 4 elements of at most 16 bytes together"
    if s.vector > 1 and not shape.vectorizable:
        yield "vector must be 1: the body of this kernel has control flow"
    if any(g % t for g, t in zip(s.threadgroup, s.thread, strict=True)):
        yield "each number of threadgroup must be a multiple of that of thread"
        return
    match s.kind:
        case "pointwise":
            yield from _pointwise(s, shape, profile)
        case "row":
            yield from _row(s, shape)
        case "column":
            assert shape.columns is not None
            yield from _column(s, shape, shape.columns, profile)
        case "contraction":
            assert shape.contraction is not None
            yield from _contraction(s, shape, shape.contraction, profile)
        case "attention":
            assert shape.attention is not None
            problem = attention_problem(s, shape.attention, profile)
            if problem is not None:
                yield problem


def _kinds(shape: KernelShape) -> list[str]:
    if shape.kind != "pointwise":
        return [shape.kind]
    others = {"contraction": shape.contraction, "column": shape.columns}
    return ["pointwise", *(kind for kind, described in others.items() if described is not None)]


def _pointwise(s: Schedule, shape: KernelShape, profile: TargetProfile) -> Iterator[str]:
    parts = prod(g // t for g, t in zip(s.threadgroup, s.thread, strict=True))
    if parts != s.threads:
        yield f"threads is {s.threads}; threadgroup holds {parts} tiles of one thread"
    if s.vector > 1 and (not s.thread or s.thread[-1] % s.vector or shape.parallel[-1] % s.vector):
        yield "vector must divide the last number of thread and the innermost loop"
    if s.unroll not in (1, 2, 4) or s.unroll * shape.element_bytes > 16:
        yield f"unroll is {s.unroll}; it must be 1, 2 or 4 elements of at most 16 bytes together"
    if s.promote and (s.promote != shape.transposed or not shape.vectorizable):
        wanted = list(shape.transposed) if shape.vectorizable else []
        yield f"promote is {list(s.promote)}; inputs of this kernel to stage are {wanted}"
    if s.promote and s.threads < 2:
        yield "threads is 1; staging inputs needs several threads that share them"
    if s.promote:
        rows, columns = s.threadgroup[shape.transposed_loop], s.threadgroup[-1]
        if prod(s.threadgroup) != rows * columns:
            yield "threadgroup must be 1 in all loops but the two that the transposition swaps"
        staged = len(s.promote) * columns * (rows + 1) * shape.element_bytes
        yield from _memory(staged, profile)


def _row(s: Schedule, shape: KernelShape) -> Iterator[str]:
    if s.threads & (s.threads - 1):
        yield f"threads is {s.threads}; the threads of a row must be a power of two"
    if prod(s.threadgroup[:-1]) != 1 or s.thread != s.threadgroup:
        yield "threadgroup and thread must be equal, and 1 but for the last number, that of rows"
        return
    rows = s.threadgroup[-1] if s.threadgroup else 1
    if rows > _MOST_ROWS or (rows > 1 and shape.parallel[-1] % rows):
        yield f"a threadgroup takes 1 to {_MOST_ROWS} rows, as many as divide the loop over rows"
    if not 1 <= s.unroll <= 64:
        yield f"unroll is {s.unroll}; a thread takes 1 to 64 vectors of a row without a loop"


def _column(
    s: Schedule, shape: KernelShape, columns: ColumnsShape, profile: TargetProfile
) -> Iterator[str]:
    if prod(s.threadgroup) != s.threadgroup[-1] or prod(s.thread) != s.vector:
        yield "threadgroup must be 1 in all loops but the last one, thread too and end in vector"
        return
    if shape.parallel[-1] % s.vector:
        yield "vector must divide the innermost loop"
    parts = s.threadgroup[-1] // s.vector * s.splits
    if s.splits < 1 or s.threads != parts:
        yield f"threads is {s.threads}; {s.splits} splits of a threadgroup's vectors are {parts}"
    if not 1 <= s.unroll <= 64:
        yield f"unroll is {s.unroll}; 1 to 64 rows are emitted together"
    yield from _memory(s.splits * s.threadgroup[-1] * columns.bytes, profile)


def _contraction(
    s: Schedule, shape: KernelShape, contraction: ContractionShape, profile: TargetProfile
) -> Iterator[str]:
    if contraction.others(s.threadgroup) != 1 or contraction.others(s.thread) != 1:
        yield "threadgroup and thread must be 1 in all loops but those of rows and columns"
    if s.promote != (0, 1) or s.stages not in (1, 2):
        yield "promote must be [0, 1] and stages 1 or 2: both inputs are staged"
    if not 1 <= s.reduction <= 128:
        yield f"reduction is {s.reduction}; 1 to 128 elements are staged at once"
        return
    group, thread = contraction.sides(s.threadgroup), contraction.sides(s.thread)
    if s.unit:
        yield from _on_units(s, contraction, profile)
    else:
        if thread[0] % min(4, thread[0]) or thread[1] % s.vector:
            yield "rows of thread must be 1 to 4 or a multiple of 4, columns a multiple of vector"
        if s.reduction % s.unroll or s.unroll < 1:
            yield f"unroll is {s.unroll}; it must divide reduction, {s.reduction}"
        parts = group[0] // thread[0] * (group[1] // thread[1])
        if parts != s.threads:
            yield f"threads is {s.threads}; threadgroup holds {parts} tiles of one thread"
        if contraction.n % s.vector:
            yield "vector must divide the columns of the result"
    element = _BYTES.get(contraction.element, shape.element_bytes)
    lines = max(*group, s.reduction)
    staged = s.stages * (sum(group) * s.reduction * element + 2 * 16 * lines)
    exchange = s.threads // max(1, profile.simd_width) * 16 * 20 * 4 if s.unit else 0
    yield from _memory(staged + exchange, profile)


def _on_units(s: Schedule, contraction: ContractionShape, profile: TargetProfile) -> Iterator[str]:
    units = [(u.m, u.n, u.k) for u in profile.matrix_units if u.element == contraction.element]
    if s.unit not in units:
        known = ", ".join(str(list(u)) for u in units) or "none"
        yield f"unit is {list(s.unit)}; {profile.name} has {known} for {contraction.element}"
        return
    if len(s.subgroup) != len(s.threadgroup) or contraction.others(s.subgroup) != 1:
        yield "subgroup must have the length of threadgroup, and 1 where that has to be 1"
        return
    (m, n, k), part = s.unit, contraction.sides(s.subgroup)
    group, thread = contraction.sides(s.threadgroup), contraction.sides(s.thread)
    if part[0] % m or part[1] % n or group[0] % part[0] or group[1] % part[1]:
        yield "subgroup must be made of units, and threadgroup of subgroups"
        return
    if s.reduction % k:
        yield f"reduction is {s.reduction}; it must be a multiple of the unit's depth, {k}"
    if s.unit == (8, 8, 8) and (thread != (8, 2) or s.vector != 2):
        yield "with 8x8 units thread must end in [8, 2] and vector be 2"
    if s.unit != (8, 8, 8) and (
        any(extent % 8 for extent in contraction.contiguous) or thread != (m, n)
    ):
        yield "these units need inputs whose lines are multiples of 8, and thread to end in [m, n]"
    parts = group[0] // part[0] * (group[1] // part[1])
    if s.threads != parts * profile.simd_width:
        yield f"threads is {s.threads}; {parts} subgroups have {parts * profile.simd_width}"


def _memory(staged: int, profile: TargetProfile) -> Iterator[str]:
    if staged > profile.threadgroup_memory:
        yield (
            f"its tiles take up to {staged} bytes of threadgroup memory; {profile.name} has "
            f"{profile.threadgroup_memory}"
        )
