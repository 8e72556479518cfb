"""What one thread of a kernel computes whose sizes a call decides: decided without the sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ingot.compiler.analysis.neutral import neutral_element
from ingot.compiler.analysis.structured import (
    Combiner,
    element_type,
    indexing_maps,
    is_parallel,
    match_combiner,
    reduction_loops,
)
from ingot.compiler.analysis.tensor_types import integer_width
from ingot.compiler.dialects.linalg import GenericOp

TILE = 4
"""Elements of a thread along a loop."""

LARGE_BODY = 24
"""Ops from which more than one run of them in a thread makes kernels too long."""

LANES_FROM = 128
"""Elements of a line from which all threads of a threadgroup reduce it together."""

UNROLLED = 8
"""Turns of a reduction that are written out: loops cost less, and end later where a driver ends
every loop after 65,535 turns (Mesa's lavapipe)."""

UNROLLED_IN_TILE = 4

Size = int | SSAValue
"""A size that is known, or its value in the host program."""


@dataclass(frozen=True)
class SizedSchedule:
    """How the loops of a kernel's root are given to threads."""

    factors: tuple[int, ...]
    """Elements of a thread along each parallel loop."""
    lanes: bool
    """Whether the threads of a threadgroup may share the reduction of one element."""

    @property
    def points(self) -> int:
        """Elements of a thread."""
        count = 1
        for factor in self.factors:
            count *= factor
        return count

    @property
    def unrolled(self) -> int:
        """Turns of a reduction that are written out."""
        return UNROLLED if self.points == 1 else UNROLLED_IN_TILE


def reductions_in(root: Operation, inlined: Mapping[Operation, None]) -> list[GenericOp]:
    """The reductions of a kernel."""
    return [op for op, _ in _reductions(root, {}, inlined)] if isinstance(root, GenericOp) else []


def lane_combiner(op: GenericOp) -> Combiner | None:
    """How the partial results of lanes are combined, if they may be: f32 and i32, also sums of
    narrow floats, which are kept in f32."""
    combiner = match_combiner(op)
    if combiner is None or neutral_element(combiner.op.name, element_type(op.results[0])) is None:
        return None
    type_ = element_type(op.results[0])
    narrow = combiner.name == "add" and type_.name in ("f16", "bf16")
    is_word = isinstance(type_, Float32Type) or integer_width(type_) == 32
    return combiner if narrow or is_word else None


def reduction_below(
    root: Operation, inlined: Mapping[Operation, None]
) -> tuple[GenericOp, dict[int, int]] | None:
    """The one reduction of a kernel, and the root's loop for each of its parallel loops."""
    if not isinstance(root, GenericOp):
        return None
    found = list(_reductions(root, {i: i for i in range(len(is_parallel(root)))}, inlined))
    return found[0] if len(found) == 1 else None


def _reductions(
    op: GenericOp, loops: dict[int, int], inlined: Mapping[Operation, None]
) -> list[tuple[GenericOp, dict[int, int]]]:
    found = [(op, loops)] if reduction_loops(op) else []
    for operand, map_ in zip(op.inputs, indexing_maps(op), strict=False):
        owner = operand.owner
        if not isinstance(owner, GenericOp) or owner not in inlined:
            continue
        below: dict[int, int] = {}
        for expr, out in zip(map_.results, indexing_maps(owner)[-1].results, strict=True):
            assert isinstance(out, AffineDimExpr)
            if isinstance(expr, AffineDimExpr) and expr.position in loops:
                below[out.position] = loops[expr.position]
        found += _reductions(owner, below, inlined)
    return found


def choose(
    root: Operation,
    loops: Sequence[int],
    extents: Sequence[Size],
    inlined: Mapping[Operation, None],
) -> SizedSchedule:
    """The schedule of a kernel whose root has the parallel `loops`, of the sizes `extents`.

    A product reuses what it reads in tiles of two loops; a reduction without such loops is shared
    by a threadgroup; everything else computes a few elements along the last loop.
    """
    single = SizedSchedule((1,) * len(loops), lanes=False)
    if not isinstance(root, GenericOp):
        return _along_last(loops, extents)
    below = reduction_below(root, inlined)
    large = len(_bodies(root, inlined)) > LARGE_BODY
    if below is None:
        several = reductions_in(root, inlined)
        return single if large or several else _along_last(loops, extents)
    op, loop_of = below
    reused = [
        loop_of[loop]
        for loop in _reused_loops(op)
        if loop in loop_of and loop_of[loop] in loops and _is_long(extents[loop_of[loop]])
    ]
    if len(reused) >= 2 and not large:
        chosen = sorted(reused)[-2:]
        return SizedSchedule(tuple(TILE if loop in chosen else 1 for loop in loops), lanes=False)
    if lane_combiner(op) is not None:
        return SizedSchedule(single.factors, lanes=True)
    return single


def _along_last(loops: Sequence[int], extents: Sequence[Size]) -> SizedSchedule:
    factors = [1] * len(loops)
    if loops and _is_long(extents[loops[-1]]):
        factors[-1] = TILE
    return SizedSchedule(tuple(factors), lanes=False)


def _is_long(extent: Size) -> bool:
    return not isinstance(extent, int) or extent >= TILE


def _reused_loops(op: GenericOp) -> list[int]:
    """Parallel loops that some input does not depend on: what is read of it serves many of them."""
    used = [map_.used_dims() for map_ in indexing_maps(op)[: len(op.inputs)]]
    parallel = is_parallel(op)
    return [
        loop
        for loop in range(len(parallel))
        if parallel[loop] and any(loop not in dims for dims in used)
    ]


def _bodies(root: GenericOp, inlined: Mapping[Operation, None]) -> list[Operation]:
    ops = list(root.body.walk())
    for operand in root.inputs:
        owner = operand.owner
        if isinstance(owner, GenericOp) and owner in inlined:
            ops += _bodies(owner, inlined)
    return ops
