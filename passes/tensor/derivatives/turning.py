"""From what each iteration adds to kernels in which each element gathers what is added to it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from ingot.compiler.analysis.affine_maps import plain_dims
from ingot.compiler.analysis.generics import Emitter, all_of, clamp, erase, materialize
from ingot.compiler.analysis.map_inversion import (
    Form,
    invert,
    linear_forms,
    reads_whole,
    span,
)
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.linalg import IndexOp

from .drafts import Draft, reading_draft
from .formulas import constant
from .kernels import Turned, finish, summed, zeros
from .windows import as_padded_contraction


def gathered(
    emit: Emitter, draft: Draft, map_: AffineMap, type_: TensorType[Attribute]
) -> SSAValue | None:
    """For each element of `type_` the sum over the iterations that `map_` leads to it.

    None when the map cannot be solved.
    """
    shape = type_.get_shape()
    forms = linear_forms(map_, shape)
    if forms is None:
        return None
    if 0 in shape or 0 in draft.extents:
        return zeros(emit, type_)
    if reads_whole(map_, draft.extents, shape):
        return summed(emit, draft, [d for d in plain_dims(map_) if d is not None], type_)
    if all(len(form.loops) <= 1 for form in forms):
        loops = sorted({loop for form in forms for loop in form.loops})
        element = type_.element_type
        part = TensorType(element, [draft.extents[loop] for loop in loops])
        compact = summed(emit, draft, loops, part)
        draft, map_ = _copying(emit, compact, map_, loops)
        forms = linear_forms(map_, shape)
        assert forms is not None
    inversion = invert(forms, draft.extents, range(len(draft.extents)))
    turned = Turned(inversion, shape, draft.extents)
    padded = as_padded_contraction(emit, draft, turned, type_)
    return _guarded(emit, draft, map_, turned, type_) if padded is None else padded


def _copying(
    emit: Emitter, compact: SSAValue, map_: AffineMap, loops: Sequence[int]
) -> tuple[Draft, AffineMap]:
    """A draft over `loops` alone, whose contribution is an element of `compact`."""
    draft = reading_draft(emit, compact)
    places: list[AffineExpr] = [AffineConstantExpr(0)] * map_.num_dims
    for i, loop in enumerate(loops):
        places[loop] = AffineDimExpr(i)
    results = tuple(e.replace_dims_and_symbols(places, ()) for e in map_.results)
    return draft, AffineMap(len(loops), 0, results)


def _guarded(
    emit: Emitter,
    draft: Draft,
    map_: AffineMap,
    turned: Turned,
    type_: TensorType[Attribute],
) -> SSAValue:
    """Each element computes which iterations read it, and adds those that exist."""
    first = draft.block.first_op
    start = Emitter.at_end(draft.block, emit.location) if first is None else Emitter.before(first)
    start.location = emit.location
    before = [o for o in draft.block.ops if isinstance(o, IndexOp)]
    loops, guards = _loop_values(start, turned)
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
    draft.extents = turned.loop_extents
    draft.prune()
    return finish(emit, draft, type_)


def _replace(draft: Draft, old: BlockArgument, new: SSAValue) -> None:
    old.replace_all_uses_with(new)
    draft.values = [new if v is old else v for v in draft.values]


def _loop_values(emit: Emitter, turned: Turned) -> tuple[list[SSAValue], list[SSAValue]]:
    """The forward loops as values of the turned kernel, and when such an iteration exists."""
    inversion, extents = turned.inversion, turned.extents
    indices = [emit.add(IndexOp(i)).result for i in range(turned.loops)]
    positions, rest = indices[: turned.rank], indices[turned.rank :]
    loops: dict[int, SSAValue] = dict(zip(inversion.reduced, rest, strict=False))
    rounds = dict(zip(inversion.repeated, rest[len(inversion.reduced) :], strict=True))
    guards: list[SSAValue] = []
    for dim in inversion.order:
        form, pivot = inversion.forms[dim], inversion.pivots[dim]
        others = _linear(emit, form, pivot, loops)
        distance = positions[dim]
        if others is not None:
            distance = emit.add(arith.SubiOp(distance, others)).result
        bounds = span(form, pivot, turned.shape[dim], extents)
        if pivot is not None and form.coefficients[pivot] < 0:
            distance = emit.add(arith.SubiOp(emit.index(0), distance)).result
        if form.modulus is not None:
            distance = _remainder(emit, distance, form.modulus, bounds)
            bounds = (0, form.modulus - 1)
        if pivot is None:
            guards.append(emit.add(arith.CmpiOp(distance, emit.index(0), "eq")).result)
            continue
        if dim in rounds and form.modulus is not None:
            further = emit.add(arith.MuliOp(rounds[dim], emit.index(form.modulus))).result
            distance = emit.add(arith.AddiOp(distance, further)).result
            bounds = (0, inversion.rounds[dim] * form.modulus - 1)
        step = abs(form.coefficients[pivot])
        loops[pivot] = _divided(emit, distance, step, extents[pivot], bounds, guards)
    return [loops[i] for i in range(len(extents))], guards


def _remainder(
    emit: Emitter, distance: SSAValue, modulus: int, bounds: tuple[int, int]
) -> SSAValue:
    """`distance mod modulus`, which is not negative."""
    low, high = bounds
    if low < 0:
        shift = -(low // modulus) * modulus
        distance = emit.add(arith.AddiOp(distance, emit.index(shift))).result
    if low >= 0 and high < modulus:
        return distance
    return emit.add(arith.RemUIOp(distance, emit.index(modulus))).result


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
    step: int,
    extent: int,
    bounds: tuple[int, int],
    guards: list[SSAValue],
) -> SSAValue:
    """`distance / step` moved into a loop's range; `guards` gains when that is the iteration.

    `bounds` are those of the distance.
    """
    reach = step * (extent - 1)
    low, high = bounds
    if low < 0:
        guards.append(emit.add(arith.CmpiOp(distance, emit.index(0), "sge")).result)
    if high > reach:
        guards.append(emit.add(arith.CmpiOp(distance, emit.index(reach), "sle")).result)
    inside = clamp(emit, distance, 0 if low < 0 else None, reach if high > reach else None)
    if step == 1:
        return inside
    divisor = emit.index(step)
    rest = emit.add(arith.RemUIOp(inside, divisor)).result
    guards.append(emit.add(arith.CmpiOp(rest, emit.index(0), "eq")).result)
    return emit.add(arith.DivUIOp(inside, divisor)).result
