"""From what each iteration adds to kernels in which each element gathers what is added to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from ingot.compiler.analysis.affine_maps import dims_given, plain_dims, rename_dims, simplify
from ingot.compiler.analysis.generics import (
    Emitter,
    all_of,
    clamp,
    elementwise,
    empty,
    erase,
    fill,
    make_generic,
    materialize,
)
from ingot.compiler.analysis.map_inversion import (
    Form,
    Inversion,
    invert,
    linear_forms,
    reads_whole,
    span,
)
from ingot.compiler.analysis.structured import shape_of, through_casts
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.linalg import IndexOp, IteratorTypeAttr, YieldOp

from .drafts import Draft, reading_draft
from .formulas import constant, convert
from .hoisting import factor_out, scaled


def zeros(emit: Emitter, type_: TensorType[Attribute]) -> SSAValue:
    """A tensor of zeros."""
    return fill(emit, constant(emit, 0.0, type_.element_type), type_)


def gathered(
    emit: Emitter, draft: Draft, map_: AffineMap, type_: TensorType[Attribute]
) -> SSAValue | None:
    """For each element of `type_` the sum over the iterations that `map_` leads to it.

    None when the map has divisions or remainders, so that it cannot be solved.
    """
    forms = linear_forms(map_)
    if forms is None:
        return None
    shape = type_.get_shape()
    if 0 in shape or 0 in draft.extents:
        return zeros(emit, type_)
    if reads_whole(map_, draft.extents, shape):
        return _summed(emit, draft, [d for d in plain_dims(map_) if d is not None], type_)
    if all(len(form.loops) <= 1 for form in forms):
        loops = sorted({loop for form in forms for loop in form.loops})
        element = type_.element_type
        part = TensorType(element, [draft.extents[loop] for loop in loops])
        compact = _summed(emit, draft, loops, part)
        draft, map_ = _copying(emit, compact, map_, loops)
        forms = linear_forms(map_)
        assert forms is not None
    inversion = invert(forms, draft.extents, range(len(draft.extents)))
    padded = _as_padded_contraction(emit, draft, inversion, type_)
    return _guarded(emit, draft, map_, inversion, type_) if padded is None else padded


def summed_over_all(emit: Emitter, draft: Draft) -> SSAValue:
    """The sum over all iterations, as a tensor of rank 0."""
    return _summed(emit, draft, [], TensorType(draft.type, []))


def per_iteration(
    emit: Emitter, draft: Draft, loops: Sequence[int], element: Attribute
) -> SSAValue:
    """A tensor over `loops`, summed over the others."""
    type_ = TensorType(element, [draft.extents[loop] for loop in loops])
    return _summed(emit, draft, loops, type_)


def _copying(
    emit: Emitter, compact: SSAValue, map_: AffineMap, loops: Sequence[int]
) -> tuple[Draft, AffineMap]:
    """A draft over `loops` alone, whose contribution is an element of `compact`."""
    draft = reading_draft(emit, compact)
    places: list[AffineExpr] = [AffineConstantExpr(0)] * map_.num_dims
    for i, loop in enumerate(loops):
        places[loop] = AffineDimExpr(i)
    results = (e.replace_dims_and_symbols(places, ()) for e in map_.results)
    return draft, AffineMap(len(loops), 0, tuple(simplify(e, len(loops)) for e in results))


def _summed(
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
class _Turned:
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
        count = self.rank + len(self.inversion.reduced)
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


def _as_padded_contraction(
    emit: Emitter, draft: Draft, inversion: Inversion, type_: TensorType[Attribute]
) -> SSAValue | None:
    """A sum of products stays one: the factor that is read at computed places gets zeros around it
    and between its elements, so that every place exists.

        dx[p] = sum over k of padded[p - k + 2] * w[k]     for y[i] = sum over k of x[i + k] * w[k]
    """
    product = draft.value.owner
    if not isinstance(product, arith.MulfOp) or len(draft.operands) != 2:
        return None
    sides = [through_casts(v) for v in product.operands]
    if {id(s) for s in sides} != {id(a) for a in draft.block.args} or None in inversion.pivots:
        return None
    turned = _Turned(inversion, type_.get_shape(), draft.extents)
    pivots = turned.computed
    if any(len(pivots & set(form.loops)) > 1 for form in inversion.forms):
        return None
    users = [i for i, m in enumerate(draft.maps) if pivots & set(m.used_dims())]
    if len(users) != 1:
        return None
    (which,) = users
    summed = [e.used_dims() for e in draft.maps[which].results if not isinstance(e, AffineDimExpr)]
    if any(pivots & set(dims) for dims in summed):
        return None
    other = turned.map(draft.maps[1 - which])
    assert other is not None
    padded, map_ = _padded(emit, draft, inversion, which, turned, type_)
    draft.operands[which] = padded
    draft.maps[which], draft.maps[1 - which] = map_, other
    draft.extents = (*type_.get_shape(), *(draft.extents[i] for i in inversion.reduced))
    return finish(emit, draft, type_)


def _padded(
    emit: Emitter,
    draft: Draft,
    inversion: Inversion,
    which: int,
    turned: _Turned,
    type_: TensorType[Attribute],
) -> tuple[SSAValue, AffineMap]:
    """Operand `which` with zeros wherever the turned kernel asks for no iteration, and its map."""
    source, map_ = draft.operands[which], draft.maps[which]
    count = turned.rank + len(inversion.reduced)
    shape = list(shape_of(source))
    offsets, strides = [0] * len(shape), [1] * len(shape)
    exprs: list[AffineExpr] = []
    for dim, loop in enumerate(plain_dims(map_)):
        if loop is None or loop not in turned.computed:
            (expr,) = _over_new_loops([map_.results[dim]], turned, map_.num_dims)
            exprs.append(expr)
            continue
        place = inversion.pivots.index(loop)
        form = inversion.forms[place]
        scale = form.coefficients[loop]
        sign = 1 if scale > 0 else -1
        low, high = span(form, loop, type_.get_shape()[place], draft.extents)
        shape[dim], offsets[dim], strides[dim] = high - low + 1, -low, abs(scale)
        expr = AffineDimExpr(place) * sign - sign * form.offset - low
        for k in form.loops:
            if k != loop:
                new = turned.expr(k)
                assert new is not None
                expr = expr + new * (-sign * form.coefficients[k])
        exprs.append(simplify(expr, count))
    sizes = list(shape_of(source))
    if shape != sizes:
        whole = zeros(emit, TensorType(draft.block.args[which].type, shape))
        insert = tensor.InsertSliceOp.get(source, whole, sizes, offsets, strides)
        source = emit.add(insert).result
    return source, AffineMap(count, 0, tuple(exprs))


def _over_new_loops(
    exprs: Sequence[AffineExpr], turned: _Turned, num_dims: int
) -> tuple[AffineExpr, ...]:
    new = turned.map(AffineMap(num_dims, 0, tuple(exprs)))
    assert new is not None
    return new.results


def _guarded(
    emit: Emitter,
    draft: Draft,
    map_: AffineMap,
    inversion: Inversion,
    type_: TensorType[Attribute],
) -> SSAValue:
    """Each element computes which iterations read it, and adds those that exist."""
    turned = _Turned(inversion, type_.get_shape(), draft.extents)
    first = draft.block.first_op
    start = Emitter.at_end(draft.block, emit.location) if first is None else Emitter.before(first)
    start.location = emit.location
    before = [o for o in draft.block.ops if isinstance(o, IndexOp)]
    loops, guards = _loop_values(start, draft, inversion, type_.get_shape())
    if draft.block.first_op is not first:
        draft.emit = Emitter.at_end(draft.block, draft.emit.location)
    operands, maps = draft.operands, draft.maps
    draft.operands, draft.maps = [], []
    for argument, operand, read in list(zip(draft.block.args, operands, maps, strict=True)):
        is_alike = shape_of(operand) == type_.get_shape()
        new_map = turned.map(read, map_ if is_alike else None)
        if new_map is not None:
            draft.operands.append(operand)
            draft.maps.append(new_map)
            continue
        indices = [materialize(start, e, loops) for e in read.results]
        element = start.add(tensor.ExtractOp(operand, indices, argument.type)).result
        _replace(draft, argument, element)
        draft.block.erase_arg(argument)
    for index in before:
        value = loops[index.dim.value.data]
        draft.values = [value if v is index.result else v for v in draft.values]
        index.result.replace_all_uses_with(value)
        erase(index)
    if guards:
        zero = constant(draft.emit, 0.0, draft.type)
        guard = all_of(draft.emit, guards)
        draft.values[0] = draft.emit.add(arith.SelectOp(guard, draft.value, zero)).result
    draft.extents = (*type_.get_shape(), *(draft.extents[i] for i in inversion.reduced))
    draft.prune()
    return finish(emit, draft, type_)


def _replace(draft: Draft, old: BlockArgument, new: SSAValue) -> None:
    old.replace_all_uses_with(new)
    draft.values = [new if v is old else v for v in draft.values]


def _loop_values(
    emit: Emitter, draft: Draft, inversion: Inversion, shape: Sequence[int]
) -> tuple[list[SSAValue], list[SSAValue]]:
    """The forward loops as values of the turned kernel, and when such an iteration exists."""
    positions = [emit.add(IndexOp(i)).result for i in range(len(shape))]
    loops: dict[int, SSAValue] = {}
    for i, loop in enumerate(inversion.reduced):
        loops[loop] = emit.add(IndexOp(len(shape) + i)).result
    guards: list[SSAValue] = []
    for dim in inversion.order:
        form, pivot = inversion.forms[dim], inversion.pivots[dim]
        rest = _linear(emit, form, pivot, loops)
        distance = positions[dim]
        if rest is not None:
            distance = emit.add(arith.SubiOp(distance, rest)).result
        if pivot is None:
            guards.append(emit.add(arith.CmpiOp(distance, emit.index(0), "eq")).result)
            continue
        bounds = span(form, pivot, shape[dim], draft.extents)
        scale, extent = form.coefficients[pivot], draft.extents[pivot]
        loops[pivot] = _divided(emit, distance, scale, extent, bounds, guards)
    return [loops[i] for i in range(len(draft.extents))], guards


def _linear(
    emit: Emitter, form: Form, pivot: int | None, loops: dict[int, SSAValue]
) -> SSAValue | None:
    """The offset and the loops of a form other than `pivot`; None for 0."""
    total = emit.index(form.offset) if form.offset else None
    for loop in form.loops:
        if loop == pivot:
            continue
        term, scale = loops[loop], form.coefficients[loop]
        if scale != 1:
            term = emit.add(arith.MuliOp(term, emit.index(scale))).result
        total = term if total is None else emit.add(arith.AddiOp(total, term)).result
    return total


def _divided(
    emit: Emitter,
    distance: SSAValue,
    scale: int,
    extent: int,
    bounds: tuple[int, int],
    guards: list[SSAValue],
) -> SSAValue:
    """`distance / scale` moved into a loop's range; `guards` gains when that is the iteration.

    `bounds` are those of the distance, with the sign of the scale taken off.
    """
    if scale < 0:
        distance = emit.add(arith.SubiOp(emit.index(0), distance)).result
    reach = abs(scale) * (extent - 1)
    low, high = bounds
    if low < 0:
        guards.append(emit.add(arith.CmpiOp(distance, emit.index(0), "sge")).result)
    if high > reach:
        guards.append(emit.add(arith.CmpiOp(distance, emit.index(reach), "sle")).result)
    inside = clamp(emit, distance, 0 if low < 0 else None, reach if high > reach else None)
    if abs(scale) == 1:
        return inside
    step = emit.index(abs(scale))
    rest = emit.add(arith.RemUIOp(inside, step)).result
    guards.append(emit.add(arith.CmpiOp(rest, emit.index(0), "eq")).result)
    return emit.add(arith.DivUIOp(inside, step)).result
