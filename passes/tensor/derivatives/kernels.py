"""Backward kernels from drafts: the order of their loops, their sums, where loops are found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from ingot.compiler.analysis.affine_maps import dims_given, rename_dims, simplify
from ingot.compiler.analysis.generics import Emitter, elementwise, empty, erase, fill, make_generic
from ingot.compiler.analysis.map_inversion import Inversion
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.linalg import IndexOp, IteratorTypeAttr, YieldOp

from .drafts import Draft
from .formulas import constant, convert
from .hoisting import factor_out, scaled


def zeros(emit: Emitter, type_: TensorType[Attribute]) -> SSAValue:
    """A tensor of zeros."""
    return fill(emit, constant(emit, 0.0, type_.element_type), type_)


def summed_over_all(emit: Emitter, draft: Draft) -> SSAValue:
    """The sum over all iterations, as a tensor of rank 0."""
    return summed(emit, draft, [], TensorType(draft.type, []))


def per_iteration(
    emit: Emitter, draft: Draft, loops: Sequence[int], element: Attribute
) -> SSAValue:
    """A tensor over `loops`, summed over the others."""
    type_ = TensorType(element, [draft.extents[loop] for loop in loops])
    return summed(emit, draft, loops, type_)


def summed(
    emit: Emitter, draft: Draft, kept: Sequence[int], type_: TensorType[Attribute]
) -> SSAValue:
    """The kernel over the draft's loops: those `kept` are the result's dimensions, in order."""
    arrange(draft, kept)
    return finish(emit, draft, type_)


def arrange(draft: Draft, kept: Sequence[int]) -> None:
    """Let the loops `kept` be the first ones, in this order."""
    rank = len(draft.extents)
    order = [*kept, *(loop for loop in range(rank) if loop not in kept)]
    position = [0] * rank
    for new, old in enumerate(order):
        position[old] = new
    draft.maps = [rename_dims(m, position) for m in draft.maps]
    for inner in draft.block.ops:
        if isinstance(inner, IndexOp):
            inner.properties["dim"] = IndexOp(position[inner.dim.value.data]).dim
    draft.extents = tuple(draft.extents[loop] for loop in order)


def finish(emit: Emitter, draft: Draft, type_: TensorType[Attribute]) -> SSAValue:
    """The generic whose first loops are the dimensions of `type_`, and which sums over the rest.

    What is rounded to the type of the result in each iteration is summed first where that is
    wider, and rounded once.
    """
    rank, kept = len(draft.extents), type_.get_num_dims()
    reduces = rank > kept
    if reduces and isinstance(rounding := draft.value.owner, arith.TruncFOp):
        draft.values[0] = rounding.operands[0]
        erase(rounding)
    summed: TensorType[Attribute] = TensorType(draft.type, type_.get_shape())
    if reduces:
        factors = factor_out(emit, draft, kept)
        (total,) = close(
            emit,
            draft,
            [zeros(emit, summed)],
            lambda e, values, sums: [e.add(arith.AddfOp(sums[0], values[0])).result],
        )
        made = scaled(emit, total, factors)
    else:
        (made,) = close(emit, draft, [empty(emit, summed)], lambda _, values, __: values)
    if summed == type_:
        return made
    identity = AffineMap.identity(kept)
    return elementwise(
        emit, type_, [made], [identity], lambda e, a: [convert(e, a[0], type_.element_type)]
    )


Combine = Callable[[Emitter, Sequence[SSAValue], Sequence[SSAValue]], Sequence[SSAValue]]
"""From the values of an iteration and what there was before to what there is after it."""


def close(
    emit: Emitter, draft: Draft, inits: Sequence[SSAValue], combine: Combine
) -> list[SSAValue]:
    """The generic of a draft. Its first loops are the dimensions of `inits`, the others reduce."""
    rank, kept = len(draft.extents), len(shape_of(inits[0]))
    out = AffineMap(rank, 0, tuple(AffineDimExpr(i) for i in range(kept)))
    missing = sorted(set(range(rank)) - dims_given([*draft.maps, out]))
    if missing:
        # No operand says how far these loops run.
        shape = TensorType(draft.type, [draft.extents[loop] for loop in missing])
        exprs = tuple(AffineDimExpr(loop) for loop in missing)
        draft.read(empty(emit, shape), AffineMap(rank, 0, exprs))
    accumulators = [
        draft.block.insert_arg(tensor_type(init).element_type, len(draft.block.args))
        for init in inits
    ]
    draft.emit.add(YieldOp(*combine(draft.emit, draft.values, accumulators)))
    iterators = [IteratorTypeAttr.parallel()] * kept
    iterators += [IteratorTypeAttr.reduction()] * (rank - kept)
    region = draft.block.parent_region()
    assert region is not None
    maps = [*draft.maps, *([out] * len(inits))]
    return list(make_generic(emit, draft.operands, inits, maps, iterators, region).results)


@dataclass(frozen=True)
class Turned:
    """Where the loops of a draft are in the turned kernel, whose first loops are the dimensions of
    its result, of `shape`."""

    inversion: Inversion
    shape: tuple[int, ...]
    extents: tuple[int, ...]

    @property
    def rank(self) -> int:
        """Dimensions of the result."""
        return len(self.shape)

    @property
    def loops(self) -> int:
        """Loops of the turned kernel: dimensions, loops that stayed loops, rounds."""
        return self.rank + len(self.inversion.reduced) + len(self.inversion.repeated)

    @property
    def loop_extents(self) -> tuple[int, ...]:
        """How far they run."""
        inversion = self.inversion
        reduced = (self.extents[loop] for loop in inversion.reduced)
        return (*self.shape, *reduced, *(inversion.rounds[dim] for dim in inversion.repeated))

    @property
    def computed(self) -> set[int]:
        """The loops that are no loops of the turned kernel, but follow from its loops."""
        pivots = {pivot for pivot in self.inversion.pivots if pivot is not None}
        return {loop for loop in pivots if self.expr(loop) is None}

    def expr(self, loop: int) -> AffineExpr | None:
        """The new loop that is this loop, if one is."""
        inversion = self.inversion
        if loop in inversion.reduced:
            return AffineDimExpr(self.rank + inversion.reduced.index(loop))
        if loop in inversion.pivots:
            dim = inversion.pivots.index(loop)
            form = inversion.forms[dim]
            is_plain = form.loops == (loop,) and form.coefficients[loop] == 1 and not form.offset
            if is_plain and self.extents[loop] == self.shape[dim]:
                return AffineDimExpr(dim)
        return None

    def map(self, map_: AffineMap, same: AffineMap | None = None) -> AffineMap | None:
        """A map over the new loops; None when it needs a loop that has to be computed.

        `same` is the map by which the forward op reads the element that a thread computes.
        """
        count = self.loops
        if map_ == same:
            return AffineMap(count, 0, tuple(AffineDimExpr(i) for i in range(self.rank)))
        dims: list[AffineExpr] = []
        for loop in range(map_.num_dims):
            expr = self.expr(loop)
            if expr is None and loop in map_.used_dims():
                return None
            dims.append(AffineConstantExpr(0) if expr is None else expr)
        results = (e.replace_dims_and_symbols(dims, ()) for e in map_.results)
        return AffineMap(count, 0, tuple(simplify(e, count) for e in results))
