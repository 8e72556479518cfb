"""The schedules that a search looks at: tilings to begin with, and steps from one to the next.

`tilings` lists every way to share a kernel's loops out, with the compiler's taste in all else;
`neighbours` changes one thing of a schedule at a time and so leads from them to the rest. Both give
only what is legal by `schedule_problem`, which knows the kernel and the limits of the profile, so
that nothing is compiled in vain; and both give the same in every process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from ingot.compiler.analysis.attention_schedule import (
    AttentionShape,
    AttentionTiles,
    tiled_attention,
)
from ingot.compiler.analysis.schedule import (
    ContractionShape,
    KernelShape,
    Kind,
    Schedule,
    vector_width,
)
from ingot.compiler.analysis.schedule_check import schedule_problem
from ingot.targets.profiles import MatrixUnit, TargetProfile

_SIDES = (1, 2, 4, 8, 16, 32)
"""Rows or columns of one thread."""
_GROUP_SIDES = (8, 16, 32, 64, 128, 256)
_SPREADS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""Threads of a threadgroup along one loop."""
_ROW_THREADS = (8, 16, 32, 64, 128, 256, 512, 1024)
_HEAD_ROWS, _HEAD_THREADS, _HEAD_KEYS = (1, 2, 4, 8), (8, 16, 32, 64, 128), (8, 16, 32, 64, 128)
"""Of an attention: rows of a thread, or threads of a row; threads; keys that are staged at once."""
_ROWS = (1, 2, 4, 8, 16)
_ROW_UNROLLS = (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64)
_TRANSPOSE_SIDES = (8, 16, 32, 64)

_WIDTHS = (1, 2, 4)
_DEPTHS = (4, 8, 16, 32, 64, 128)
"""Elements of a contraction's reduction that are staged at once."""
_UNROLLS = (1, 2, 4, 8, 16)
_SWIZZLES = (1, 2, 4, 8, 16)

_MOST_ELEMENTS_CPU, _MOST_ELEMENTS_GPU, _MOST_ELEMENTS_UNIT = 256, 128, 64 * 64
"""Elements of one thread: the registers of a GPU, and what a CPU's compiler takes in seconds. And
those of a SIMD-group on matrix units."""
_FEWEST_GPU_THREADS = 32


def tilings(shape: KernelShape, profile: TargetProfile, builtin: Schedule) -> list[Schedule]:
    """Schedules to begin a search with; the compiler's choice comes first."""
    return _legal([builtin, *_proposed(shape, profile)], shape, profile)


def neighbours(schedule: Schedule, shape: KernelShape, profile: TargetProfile) -> list[Schedule]:
    """What one step leads to: a tile twice or half as large along one loop, more threads with less
    work each, another width, depth, number of stages, order of threadgroups."""
    found = _legal(_steps(schedule, shape, profile), shape, profile)
    return [other for other in found if other != schedule]


def _legal(
    proposed: Iterable[Schedule], shape: KernelShape, profile: TargetProfile
) -> list[Schedule]:
    """Without doubles, in order."""
    return [s for s in dict.fromkeys(proposed) if schedule_problem(s, shape, profile) is None]


# Tilings


def _proposed(shape: KernelShape, profile: TargetProfile) -> Iterator[Schedule]:
    if shape.attention is not None:
        yield from _attentions(shape.attention, profile)
        return
    if shape.kind == "row":
        yield from _rows(shape, profile)
        return
    if shape.contraction is not None:
        yield from _on_units(shape, shape.contraction, profile)
        yield from _on_registers(shape, shape.contraction, profile)
    if shape.columns is not None:
        yield from _columns(shape)
    if shape.transposed:
        yield from _transposes(shape)
    if shape.parallel:
        yield from _pointwise(shape, profile)


def _attentions(shape: AttentionShape, profile: TargetProfile) -> Iterator[Schedule]:
    """Rows of a thread, threads, those that share a row, and keys that are staged at once."""
    most = 8 * (_MOST_ELEMENTS_CPU if profile.is_cpu else _MOST_ELEMENTS_GPU)
    rows_of_result = prod(n for i, n in enumerate(shape.dims) if i != shape.value_dim)
    for rows, threads, splits, keys in product(_HEAD_ROWS, _HEAD_THREADS, _HEAD_ROWS, _HEAD_KEYS):
        held = rows * (shape.head + shape.dims[shape.value_dim])
        group = threads // splits * rows
        if (rows > 1 and held > most // 4) or threads < splits or group >= 2 * rows_of_result:
            continue
        yield tiled_attention(shape, AttentionTiles(group, rows, splits, keys))


def _rows(shape: KernelShape, profile: TargetProfile) -> Iterator[Schedule]:
    """Threadgroups of one or more rows, with as many unrolled steps as their threads take."""
    for vector, threads, rows in product(_WIDTHS, _ROW_THREADS, _ROWS):
        if threads == _ROW_THREADS[0] or threads * vector < 2 * shape.inner:
            chunks = -(-shape.inner // (vector * threads))
            unroll = next((n for n in _ROW_UNROLLS if n >= chunks), _ROW_UNROLLS[-1])
            tile = (*(1 for _ in shape.parallel[1:]), *((rows,) if shape.parallel else ()))
            schedule = Schedule("row", tile, tile, threads, vector=vector, unroll=unroll)
            if _is_sane(schedule, shape, profile):
                yield schedule


def _columns(shape: KernelShape) -> Iterator[Schedule]:
    """Threads beside each other that share the columns of each."""
    ones = (1,) * (len(shape.parallel) - 1)
    vector = vector_width(shape, shape.parallel[-1])
    for across, splits in product(_SPREADS, _SPREADS):
        if across * vector < 2 * shape.parallel[-1] and splits > 1:
            yield Schedule(
                "column",
                (*ones, across * vector),
                (*ones, vector),
                across * splits,
                vector=vector,
                unroll=8,
                splits=splits,
            )


def _pointwise(shape: KernelShape, profile: TargetProfile) -> Iterator[Schedule]:
    """Each thread computes a tile of two loops; threads lie beside each other along both."""
    loops, last = len(shape.parallel), len(shape.parallel) - 1
    row = last - 1 if shape.contraction is None else loops + shape.contraction.row_loop
    unroll = 4 if shape.contraction is not None else 1
    vector = vector_width(shape, shape.parallel[-1])
    one = (1,)
    for rows, columns, down, across in product(
        _SIDES if loops > 1 else one, _SIDES, _SPREADS if loops > 1 else one, _SPREADS
    ):
        group, thread = [1] * loops, [1] * loops
        if loops > 1:
            group[row], thread[row] = down * rows, rows
        group[last], thread[last] = across * columns, columns
        schedule = Schedule(
            "pointwise",
            tuple(group),
            tuple(thread),
            down * across,
            vector=min(vector, columns),
            unroll=unroll,
        )
        if _is_sane(schedule, shape, profile):
            yield schedule


def _transposes(shape: KernelShape) -> Iterator[Schedule]:
    """Square tiles through threadgroup memory, several elements to a thread."""
    loop, last = shape.transposed_loop, len(shape.parallel) - 1
    vector = vector_width(shape, shape.parallel[-1])
    for side, rows, columns in product(_TRANSPOSE_SIDES, _SIDES, _SIDES):
        if rows > side or columns > side:
            continue
        group, thread = [1] * (last + 1), [1] * (last + 1)
        group[loop] = group[last] = side
        thread[loop], thread[last] = rows, columns
        yield Schedule(
            "pointwise",
            tuple(group),
            tuple(thread),
            side * side // (rows * columns),
            vector=min(vector, columns),
            promote=shape.transposed,
        )


def _on_registers(
    shape: KernelShape, contraction: ContractionShape, profile: TargetProfile
) -> Iterator[Schedule]:
    """Tiles in threadgroup memory that threads multiply in registers."""
    loops = len(shape.parallel)
    vector = vector_width(shape, contraction.n)
    for height, width, rows, columns in product(_GROUP_SIDES, _GROUP_SIDES, _SIDES, _SIDES):
        if rows > height or columns > width:
            continue
        schedule = Schedule(
            "contraction",
            contraction.tile(loops, height, width),
            contraction.tile(loops, rows, columns),
            height // rows * (width // columns),
            vector=min(vector, columns),
            reduction=16,
            promote=(0, 1),
            unroll=8,
        )
        if _is_sane(schedule, shape, profile):
            yield schedule


def _on_units(
    shape: KernelShape, contraction: ContractionShape, profile: TargetProfile
) -> Iterator[Schedule]:
    """Tiles in threadgroup memory that SIMD-groups multiply on matrix units."""
    for unit in profile.matrix_units:
        if unit.element != contraction.element:
            continue
        for height, width, rows, columns in product(_GROUP_SIDES, repeat=4):
            if rows <= height and columns <= width:
                tiles = (height, width), (rows, columns)
                schedule = _unit_tile(shape, contraction, unit, tiles, profile)
                if _is_sane(schedule, shape, profile):
                    yield schedule


def _unit_tile(
    shape: KernelShape,
    contraction: ContractionShape,
    unit: MatrixUnit,
    tiles: tuple[tuple[int, int], tuple[int, int]],
    profile: TargetProfile,
) -> Schedule:
    """Rows and columns of a threadgroup and of a SIMD-group."""
    loops, fragments = len(shape.parallel), profile.api == "metal"
    group, part = tiles
    return Schedule(
        "contraction",
        contraction.tile(loops, *group),
        contraction.tile(loops, unit.m, 2 if fragments else unit.n),
        group[0] // part[0] * (group[1] // part[1]) * profile.simd_width,
        vector=2 if fragments else vector_width(shape, contraction.n),
        reduction=2 * unit.k,
        promote=(0, 1),
        subgroup=contraction.tile(loops, *part),
        unit=(unit.m, unit.n, unit.k),
    )


def _is_sane(s: Schedule, shape: KernelShape, profile: TargetProfile) -> bool:
    """Whether no tile is twice its loop or more, and no thread has too much or too little to do."""
    if s.threads > profile.max_threads_per_threadgroup:
        return False
    if any(g > 1 and g >= 2 * n for g, n in zip(s.threadgroup, shape.parallel, strict=True)):
        return False
    most = _MOST_ELEMENTS_CPU if profile.is_cpu else _MOST_ELEMENTS_GPU
    if s.kind == "row":
        chunks = min(s.unroll, -(-shape.inner // (s.threads * s.vector)))
        return prod(s.thread) == 1 or prod(s.thread) * chunks * s.vector <= 2 * most
    if s.unit:
        return prod(s.subgroup) <= _MOST_ELEMENTS_UNIT
    if not profile.is_cpu and s.threads < min(_FEWEST_GPU_THREADS, prod(shape.parallel)):
        return False
    return prod(s.thread) <= most


# Steps


@dataclass(frozen=True)
class _Axis:
    """A field of a schedule with the values that it may step through."""

    field: str
    values: tuple[int, ...]

    def steps(self, s: Schedule) -> Iterator[Schedule]:
        value = getattr(s, self.field)
        below = [v for v in self.values if v < value][-1:]
        above = [v for v in self.values if v > value][:1]
        for other in (*below, *above):
            yield replace(s, **{self.field: other})


_VECTOR = _Axis("vector", _WIDTHS)
_AXES: dict[Kind, tuple[_Axis, ...]] = {
    "row": (_Axis("threads", _ROW_THREADS), _VECTOR, _Axis("unroll", _ROW_UNROLLS)),
    "pointwise": (_VECTOR, _Axis("unroll", _UNROLLS)),
    "column": (_Axis("unroll", _ROW_UNROLLS),),
    "contraction": (
        _VECTOR,
        _Axis("unroll", _UNROLLS),
        _Axis("reduction", _DEPTHS),
        _Axis("stages", (1, 2)),
        _Axis("swizzle", _SWIZZLES),
    ),
}
"""What can be changed of a schedule besides its tiles."""


def _steps(s: Schedule, shape: KernelShape, profile: TargetProfile) -> Iterator[Schedule]:
    if shape.attention is not None:
        yield from _other_attentions(s, shape.attention, profile)
        return
    axes = _AXES[s.kind]
    for axis in axes:
        if axis.field != "unroll" or s.kind == "row" or shape.contraction is not None:
            yield from axis.steps(s)
    match s.kind:
        case "column":
            others = _other_splits(s)
        case "row":
            others = _other_rows(s)
        case _:
            others = _other_tiles(s, profile)
    yield from (other for other in others if _is_sane(other, shape, profile))


def _other_attentions(
    s: Schedule, shape: AttentionShape, profile: TargetProfile
) -> Iterator[Schedule]:
    """Those of which all but one number, or the product of two, are the same."""
    for other in _attentions(shape, profile):
        pairs = zip(_numbers(other), _numbers(s), strict=True)
        ratios = [a / b for a, b in pairs if a != b]
        is_exchange = len(ratios) == 2 and prod(ratios) == 1
        if set(ratios) <= {0.5, 2.0} and (len(ratios) == 1 or is_exchange):
            yield other


def _numbers(s: Schedule) -> tuple[int, int, int, int]:
    """What an attention's schedule is made of."""
    return s.rows, s.threads, s.splits, s.reduction


def _other_rows(s: Schedule) -> Iterator[Schedule]:
    """Twice or half as many rows of a threadgroup, and also with half or twice the threads."""
    rows = s.threadgroup[-1] if s.threadgroup else 1
    for number, threads in ((2 * rows, s.threads // 2), (rows // 2, s.threads * 2)):
        if number and s.threadgroup:
            tile = (*s.threadgroup[:-1], number)
            yield replace(s, threadgroup=tile, thread=tile)
            yield replace(s, threadgroup=tile, thread=tile, threads=threads)


def _other_splits(s: Schedule) -> Iterator[Schedule]:
    """Threads beside each other, and those that share a column, doubled or halved."""
    across = s.threadgroup[-1] // s.vector
    for wide, splits in ((2, 1), (1, 2)):
        for up in (True, False):
            a = across * wide if up else across // wide
            b = s.splits * splits if up else s.splits // splits
            group = (*s.threadgroup[:-1], a * s.vector)
            yield replace(s, threadgroup=group, threads=a * b, splits=b)


def _other_tiles(s: Schedule, profile: TargetProfile) -> Iterator[Schedule]:
    """Part and number of parts along each loop, doubled or halved: one of them, or one doubled and
    another one halved, which keeps the number of threads, the work of each, or the whole tile."""
    part = s.subgroup or s.thread
    sizes = [*part, *(g // p for g, p in zip(s.threadgroup, part, strict=True))]
    doubled = [_scaled(sizes, (i,), ()) for i in range(len(sizes))]
    halved = [_scaled(sizes, (), (i,)) for i in range(len(sizes))]
    pairs = product(range(len(sizes)), repeat=2)
    exchanged = [_scaled(sizes, (i,), (j,)) for i, j in pairs if i != j]
    for changed in (*doubled, *halved, *exchanged):
        if changed is not None:
            yield _retiled(s, changed[: len(part)], changed[len(part) :], profile)


def _scaled(sizes: list[int], up: tuple[int, ...], down: tuple[int, ...]) -> list[int] | None:
    """The sizes with some doubled and some halved; None where one is odd."""
    if any(sizes[i] % 2 for i in down):
        return None
    return [n * 2 if i in up else n // 2 if i in down else n for i, n in enumerate(sizes)]


def _retiled(s: Schedule, part: list[int], parts: list[int], profile: TargetProfile) -> Schedule:
    group = tuple(p * n for p, n in zip(part, parts, strict=True))
    if s.unit:
        threads = prod(parts) * profile.simd_width
        return replace(s, threadgroup=group, subgroup=tuple(part), threads=threads)
    return replace(s, threadgroup=group, thread=tuple(part), threads=prod(parts))
