"""Reads at computed places, backwards: a scatter, which combines in the order of its entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import tensor
from xdsl.dialects.builtin import TensorType, i32
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import (
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from ingot.compiler.analysis.generics import (
    Body,
    Emitter,
    clamp,
    loop_indices,
    materialize,
    reshape,
)
from ingot.compiler.analysis.map_inversion import linear_forms
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.ingot import ScatterOp, YieldOp

from .drafts import Draft
from .hoisting import hoist, over_loops
from .indices import affine_of
from .kernels import per_iteration, zeros
from .turning import gathered


def scattered(emit: Emitter, draft: Draft, type_: TensorType[Attribute]) -> SSAValue:
    """The sum over the iterations of the draft's contribution, each at the indices that it gives.

    Indices that are linear in the loops, or remainders of that, are solved instead.
    """
    kept = {loop for index in draft.values[1:] for loop in draft.loops_of(index)}
    hoist(emit, draft, kept)
    extents = draft.extents
    exprs = [affine_of(index, extents) for index in draft.values[1:]]
    known = [e for e in draft.places if e is not None]
    map_ = AffineMap(len(extents), 0, tuple(known))
    if len(known) == len(exprs) and linear_forms(map_, type_.get_shape()) is not None:
        draft.values = draft.values[:1]
        draft.prune()
        result = gathered(emit, draft, map_, type_)
        assert result is not None
        return result
    return _by_scatter(emit, draft, exprs, type_)


def gathered_or_scattered(
    emit: Emitter, draft: Draft, map_: AffineMap, type_: TensorType[Attribute]
) -> SSAValue:
    """`gathered`, also by maps that cannot be solved."""
    hoist(emit, draft, set(map_.used_dims()))
    if linear_forms(map_, type_.get_shape()) is None:
        loops = loop_indices(draft.emit, len(draft.extents))
        draft.values += [materialize(draft.emit, e, loops) for e in map_.results]
        draft.prune()
        return _by_scatter(emit, draft, list(map_.results), type_)
    result = gathered(emit, draft, map_, type_)
    assert result is not None
    return result


@dataclass(frozen=True)
class _Places:
    """How the dimensions of a tensor are indexed: by a loop of their own, or computed."""

    windows: dict[int, int]
    """Dimension to the loop that runs over all of it, and gives nothing else."""
    computed: list[int]
    entries: list[int]
    """The loops that the computed indices depend on."""


def _places(draft: Draft, exprs: Sequence[AffineExpr | None], shape: Sequence[int]) -> _Places:
    indices = draft.values[1:]
    used = [draft.loops_of(index) for index in indices]
    windows: dict[int, int] = {}
    for dim, expr in enumerate(exprs):
        if not isinstance(expr, AffineDimExpr) or draft.extents[expr.position] != shape[dim]:
            continue
        if not any(expr.position in loops for d, loops in enumerate(used) if d != dim):
            windows[dim] = expr.position
    computed = [dim for dim in range(len(shape)) if dim not in windows]
    entries = sorted({loop for dim in computed for loop in used[dim]})
    return _Places(windows, computed, entries)


def _by_scatter(
    emit: Emitter,
    draft: Draft,
    exprs: Sequence[AffineExpr | None],
    type_: TensorType[Attribute],
) -> SSAValue:
    """Contributions and places as tensors over the loops that the places depend on.

    An index outside of the tensor counts for the element that the device reads there: the nearest.
    """
    shape = type_.get_shape()
    if 0 in shape or 0 in draft.extents:
        return zeros(emit, type_)
    places = _places(draft, exprs, shape)
    if not places.computed:
        places.computed.append(0)
        places.entries.append(places.windows.pop(0))
    loops = [*places.entries, *(places.windows[d] for d in sorted(places.windows))]
    indices = [draft.values[1 + dim] for dim in places.computed]
    entry_tensor = _indices(emit, draft, indices, places, shape)
    draft.values = draft.values[:1]
    draft.prune()
    updates = per_iteration(emit, draft, loops, type_.element_type)
    block = Block(arg_types=[type_.element_type] * 2)
    inner = Emitter.at_end(block, emit.location)
    inner.add(YieldOp(inner.add(arith.AddfOp(block.args[0], block.args[1])).result))
    scatter = ScatterOp(
        entry_tensor, [updates], [zeros(emit, type_)], places.computed, Region(block)
    )
    return emit.add(scatter).results[0]


def _indices(
    emit: Emitter,
    draft: Draft,
    indices: Sequence[SSAValue],
    places: _Places,
    shape: Sequence[int],
) -> SSAValue:
    """The coordinates of each entry: entries x computed dimensions of i32."""
    extents = [draft.extents[loop] for loop in places.entries]
    columns: list[SSAValue] = []
    for index, dim in zip(indices, places.computed, strict=True):
        column = over_loops(emit, draft, index, places.entries, i32, _as_i32(shape[dim]))
        columns.append(reshape(emit, column, [*extents, 1]))
    if len(columns) == 1:
        return columns[0]
    whole: TensorType[Attribute] = TensorType(i32, [*extents, len(columns)])
    return emit.add(tensor.ConcatOp(columns, len(extents), whole)).result


def _as_i32(size: int) -> Body:
    """An index, moved to the nearest of `size` elements."""

    def body(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        inside = clamp(emit, args[0], 0, size - 1)
        return [emit.add(arith.IndexCastOp(inside, i32)).result]

    return body
