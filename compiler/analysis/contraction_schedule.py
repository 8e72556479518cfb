"""The schedule of a contraction that is tiled through threadgroup memory: a pure choice."""

from __future__ import annotations

from dataclasses import dataclass

from ingot.compiler.analysis.schedule import (
    ContractionShape,
    KernelShape,
    Schedule,
    pow2_at_least,
    product,
    vector_width,
)
from ingot.targets.profiles import MatrixUnit, TargetProfile

_BITS = {"f16": 16, "bf16": 16, "f32": 32}

_ENOUGH_THREADGROUPS = 128
"""Of these a device keeps all its cores busy, and larger tiles load less for a flop."""


@dataclass(frozen=True)
class _Tiles:
    """Rows and columns that a threadgroup, and one thread or SIMD-group of it, computes."""

    group: tuple[int, int]
    part: tuple[int, int]

    @property
    def parts(self) -> int:
        """Threads or SIMD-groups of the threadgroup."""
        return (self.group[0] // self.part[0]) * (self.group[1] // self.part[1])


_REGISTER_TILES = (
    _Tiles((128, 256), (8, 16)),
    _Tiles((128, 128), (8, 16)),
    _Tiles((64, 128), (8, 8)),
    _Tiles((64, 64), (8, 4)),
    _Tiles((64, 32), (4, 4)),
    _Tiles((32, 64), (4, 4)),
    _Tiles((32, 32), (4, 4)),
    _Tiles((16, 64), (4, 4)),
    _Tiles((64, 16), (4, 4)),
    _Tiles((16, 32), (4, 4)),
    _Tiles((32, 16), (4, 4)),
    _Tiles((16, 16), (4, 4)),
)
_FRAGMENT_TILES = (
    _Tiles((64, 64), (32, 32)),
    _Tiles((64, 32), (32, 32)),
    _Tiles((32, 64), (32, 32)),
    _Tiles((32, 32), (32, 32)),
)
_MATRIX_TILES = (
    _Tiles((128, 256), (64, 64)),
    _Tiles((128, 128), (64, 32)),
    _Tiles((64, 128), (32, 64)),
    _Tiles((64, 64), (32, 32)),
)
"""In each table larger tiles come first."""

_CPU_TILES = ((1 << 27, 16, 16), (1 << 23, 16, 8), (1 << 18, 8, 8), (0, 4, 4))
"""From how many multiply-adds on a thread computes that many rows and columns."""

_FEW_ROWS, _FEW_ROWS_THREADS = 16, 64
"""Rows up to which a thread computes all of its columns, and threads of such a threadgroup."""

_SWIZZLES = (16, 8, 4)
"""Of so many rows and columns a GPU runs the threadgroups at once."""

_DEPTH, _MOST_UNROLLED = 16, 64
"""Depth of a tile that is staged for registers, and the elements of a thread up to which all of it
is emitted as one step."""

_CPU_ROWS = 8
"""Rows of a matrix that a thread multiplies by a vector."""

_MOST_CONVERTED = 128
"""Elements of a thread that are rounded to 16 bits, which takes a CPU many instructions."""


def contraction_schedule(
    shape: KernelShape, contraction: ContractionShape, profile: TargetProfile
) -> Schedule | None:
    """Choose tiles and the unit that computes them; None where staging tiles does not pay."""
    if profile.is_cpu and min(contraction.n, contraction.k) >= 8:
        return _on_cpu(shape, contraction, profile)
    if contraction.m <= _FEW_ROWS and min(contraction.n, contraction.k) >= 8:
        return _of_few_rows(shape, contraction)
    if min(contraction.m, contraction.n, contraction.k) < 8:
        return None
    unit = _matrix_unit(contraction, profile)
    if unit is not None:
        on_unit = _on_fragments if profile.api == "metal" else _on_matrices
        if schedule := on_unit(shape, contraction, unit, profile):
            return schedule
    return _on_registers(shape, contraction, profile)


def _on_cpu(shape: KernelShape, contraction: ContractionShape, profile: TargetProfile) -> Schedule:
    """Each thread reads its rows and columns from memory, which is as near as any staged copy.

    A load costs a CPU that runs threads as lanes several times a multiply-add, so a thread computes
    as much as possible for what it loads. Larger tiles are also longer to compile.
    """
    work = contraction.m * contraction.n * contraction.k * contraction.others(shape.parallel)
    rows_at_most = pow2_at_least(contraction.m)
    converts = "f32" not in (contraction.element, contraction.accumulator)
    tile = next(
        (min(rows, rows_at_most), columns)
        for least, rows, columns in _CPU_TILES
        if work >= least and not (converts and rows * columns > _MOST_CONVERTED)
    )
    lanes = min(profile.simd_width, pow2_at_least(-(-contraction.n // tile[1])))
    down = profile.simd_width // lanes
    loops = len(shape.parallel)
    return Schedule(
        kind="pointwise",
        threadgroup=contraction.tile(loops, down * tile[0], lanes * tile[1]),
        thread=contraction.tile(loops, *tile),
        threads=profile.simd_width,
        vector=vector_width(shape, contraction.n),
        unroll=4,
    )


def rows_on_cpu(shape: KernelShape, profile: TargetProfile) -> Schedule | None:
    """Products of a matrix and a vector on a CPU: each thread has rows of its own, and reads the
    vector once for all of them, without a barrier. None for other rows, and for too long ones."""
    if not (shape.products and shape.parallel and profile.is_cpu):
        return None
    if shape.inner > profile.most_turns:
        return None
    lead = (1,) * len(shape.parallel[:-1])
    rows = min(_CPU_ROWS, pow2_at_least(shape.parallel[-1]))
    return Schedule(
        kind="pointwise",
        threadgroup=(*lead, profile.simd_width * rows),
        thread=(*lead, rows),
        threads=profile.simd_width,
        unroll=4,
    )


def _of_few_rows(shape: KernelShape, contraction: ContractionShape) -> Schedule:
    """Each thread computes all rows of a few columns, so that the right input is read once."""
    vector = vector_width(shape, contraction.n)
    loops = len(shape.parallel)
    return Schedule(
        kind="pointwise",
        threadgroup=contraction.tile(loops, contraction.m, _FEW_ROWS_THREADS * vector),
        thread=contraction.tile(loops, contraction.m, vector),
        threads=_FEW_ROWS_THREADS,
        vector=vector,
        unroll=4,
    )


def _matrix_unit(contraction: ContractionShape, profile: TargetProfile) -> MatrixUnit | None:
    """The unit for the contraction's types, where the result is large enough for its tiles."""
    if min(contraction.m, contraction.n) < 32 or contraction.k < 16:
        return None
    return next((u for u in profile.matrix_units if u.element == contraction.element), None)


def _on_fragments(
    shape: KernelShape, contraction: ContractionShape, unit: MatrixUnit, profile: TargetProfile
) -> Schedule | None:
    """A SIMD-group computes 4x4 fragments of 8x8: two products for each fragment that it loads."""
    element_bytes = _BITS[contraction.element] // 8
    reduction = 32 if element_bytes == 2 and contraction.k >= 32 else 16
    tiles = _choose(_FRAGMENT_TILES, shape, contraction)
    rows, columns = tiles.group
    row = 16 + reduction * element_bytes, 16 + columns * element_bytes
    staged = rows * row[0] + reduction * row[1]
    threads = tiles.parts * profile.simd_width
    if threads > profile.max_threads_per_threadgroup or staged > profile.threadgroup_memory:
        return None
    stages = 2 if contraction.k > reduction and 2 * staged <= profile.threadgroup_memory else 1
    loops = len(shape.parallel)
    return Schedule(
        kind="contraction",
        threadgroup=contraction.tile(loops, *tiles.group),
        thread=contraction.tile(loops, unit.m, 2),
        threads=threads,
        vector=2,
        reduction=reduction,
        promote=(0, 1),
        stages=stages,
        subgroup=contraction.tile(loops, *tiles.part),
        unit=(unit.m, unit.n, unit.k),
        swizzle=_swizzle(tiles, contraction),
    )


def _on_matrices(
    shape: KernelShape, contraction: ContractionShape, unit: MatrixUnit, profile: TargetProfile
) -> Schedule | None:
    """A SIMD-group computes up to 4x4 matrices, whose lines have to be aligned in memory.

    One stage: more threadgroups beside each other hide more than a second one does.
    """
    if any(extent % 8 for extent in contraction.contiguous) or contraction.k < 2 * unit.k:
        return None
    reduction = 2 * unit.k
    tiles = _choose(_MATRIX_TILES, shape, contraction, 2 * _ENOUGH_THREADGROUPS)
    element_bytes = _BITS[contraction.element] // 8
    # Lines are padded by 16 bytes; the more lines, the more padding.
    lines = (max(side, reduction) for side in tiles.group)
    staged = sum(tiles.group) * reduction * element_bytes + sum(16 * n for n in lines)
    exchange = tiles.parts * unit.m * (unit.n + 4) * 4
    if staged + exchange > profile.threadgroup_memory:
        return None
    loops = len(shape.parallel)
    return Schedule(
        kind="contraction",
        threadgroup=contraction.tile(loops, *tiles.group),
        thread=contraction.tile(loops, unit.m, unit.n),
        threads=tiles.parts * profile.simd_width,
        vector=vector_width(shape, contraction.n),
        reduction=reduction,
        promote=(0, 1),
        subgroup=contraction.tile(loops, *tiles.part),
        unit=(unit.m, unit.n, unit.k),
        swizzle=_swizzle(tiles, contraction),
    )


def _choose(
    table: tuple[_Tiles, ...],
    shape: KernelShape,
    contraction: ContractionShape,
    enough: int = _ENOUGH_THREADGROUPS,
) -> _Tiles:
    """The largest tiles that make enough threadgroups, or the smallest of those that fit."""
    batch = contraction.others(shape.parallel)
    fitting = [
        tiles
        for tiles in table
        if tiles.group[0] < 2 * pow2_at_least(contraction.m)
        and tiles.group[1] < 2 * pow2_at_least(contraction.n)
    ] or [table[-1]]
    for tiles in fitting:
        groups = -(-contraction.m // tiles.group[0]) * -(-contraction.n // tiles.group[1])
        if batch * groups >= enough:
            return tiles
    return fitting[-1]


def _swizzle(tiles: _Tiles, contraction: ContractionShape) -> int:
    """Rows of threadgroups that follow each other: as many as columns run beside each other."""
    rows = -(-contraction.m // tiles.group[0])
    columns = -(-contraction.n // tiles.group[1])
    if columns < 2 * _SWIZZLES[0] or contraction.row_loop != -2:
        return 1
    return next((count for count in _SWIZZLES if rows % count == 0), 1)


def _on_registers(
    shape: KernelShape, contraction: ContractionShape, profile: TargetProfile
) -> Schedule | None:
    """Each thread computes its elements by multiply and add, from one stage: what it holds and
    loads ahead leaves few threads for a core, and a second stage fewer."""
    m, n = contraction.m, contraction.n
    table = tuple(
        tiles
        for tiles in _REGISTER_TILES
        if not ((tiles.group[0] < 32 and m > 16) or (tiles.group[1] < 32 and n > 16))
        and tiles.parts <= profile.max_threads_per_threadgroup
        and _staged(tiles, shape.element_bytes) <= profile.threadgroup_memory
    )
    if not table:
        return None
    tiles = _choose(table, shape, contraction)
    loops = len(shape.parallel)
    return Schedule(
        kind="contraction",
        threadgroup=contraction.tile(loops, *tiles.group),
        thread=contraction.tile(loops, *tiles.part),
        threads=tiles.parts,
        vector=vector_width(shape, n),
        reduction=_DEPTH,
        promote=(0, 1),
        unroll=_DEPTH if product(tiles.part) <= _MOST_UNROLLED else _DEPTH // 2,
        swizzle=_swizzle(tiles, contraction),
    )


def _staged(tiles: _Tiles, element_bytes: int) -> int:
    """Bytes of threadgroup memory for one stage of both inputs, with their padding."""
    return _DEPTH * (sum(tiles.group) * element_bytes + 2 * 16)
