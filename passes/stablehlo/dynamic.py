"""Ops whose result has sizes that operands say: forms of static ops for programs of open sizes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import (
    Emitter,
    collapse,
    elementwise,
    expand,
    fill,
    loop_indices,
    reshape,
)
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo import gather, shapes
from ingot.passes.stablehlo.lowering import Lower, Lowering, is_unsigned
from ingot.passes.stablehlo.sizes import (
    Index,
    as_index,
    broadcast_size,
    computed,
    elements,
    open_only,
    room,
    same,
    scalar,
    sizes_of,
)
from ingot.passes.stablehlo.slices import extract_slice, pad


def _numbers(low: Lowering, op: StableHLOOp, index: int) -> list[Index | None]:
    """The integers of an operand, None for those that only the device knows."""
    numbers = elements(low, op.ins[index])
    if numbers is None:
        return [None] * shape_of(low.value(op.ins[index]))[0]
    return [None if n is None else as_index(low.emit, n) for n in numbers.reshape(-1)]


def _known(op: StableHLOOp, numbers: Sequence[Index | None]) -> list[Index]:
    """Integers that the host has to know."""
    known = [number for number in numbers if number is not None]
    if len(known) != len(numbers):
        raise refuse(
            op,
            f"{op.name} by numbers that the device computes is not supported",
            "compute sizes from the sizes of arguments alone",
        )
    return known


def _sizes(low: Lowering, op: StableHLOOp, index: int) -> list[Index]:
    """The sizes of the result, those that its type leaves open by an operand."""
    shape = low.result_type(op).get_shape()
    if DYNAMIC_INDEX not in shape:
        return list(shape)
    given = [
        size if known < 0 else known
        for known, size in zip(shape, _numbers(low, op, index), strict=True)
    ]
    return _known(op, given)


def cast(emit: Emitter, value: SSAValue, type_: TensorType[Attribute]) -> SSAValue:
    """A tensor whose type says more or less of its sizes."""
    return value if value.type == type_ else emit.add(tensor.CastOp(value, type_)).dest


def broadcast(
    emit: Emitter,
    value: SSAValue,
    dims: Sequence[int],
    type_: TensorType[Attribute],
    sizes: Sequence[Index],
    fixed: Sequence[int] = (),
) -> SSAValue:
    """Dimension i of `value` along dimension `dims[i]` of the result, repeated if it is 1.

    Those of `fixed` are known not to be repeated; which of the others are, a call may decide.
    """
    own = sizes_of(emit, value)
    exprs: list[AffineExpr] = []
    either: list[int] = []
    for i, dim in enumerate(dims):
        exprs.append(AffineExpr.dimension(dim))
        if own[i] == 1 and sizes[dim] != 1:
            exprs[i] = AffineConstantExpr(0)
        elif not (isinstance(own[i], int) or i in fixed or same(own[i], sizes[dim])):
            either.append(i)
    rank = len(sizes)
    map_ = AffineMap(rank, 0, tuple(exprs))
    if not either and map_ == AffineMap.identity(rank):
        return cast(emit, value, type_)
    open_sizes = open_only(emit, type_, sizes)
    if not either:
        return elementwise(emit, type_, [value], [map_], lambda _, args: args, open_sizes)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        loops = loop_indices(inner, rank)
        at: list[SSAValue] = []
        for i, dim in enumerate(dims):
            if isinstance(exprs[i], AffineConstantExpr):
                at.append(inner.index(0))
            elif i in either:
                at.append(
                    scalar(inner, own[i])
                    .eq(1)
                    .select(scalar(inner, 0), scalar(inner, loops[dim]))
                    .ssa
                )
            else:
                at.append(loops[dim])
        return [inner.add(tensor.ExtractOp(value, at, type_.element_type)).result]

    return elementwise(emit, type_, [], [], body, open_sizes)


def lower_dynamic_broadcast_in_dim(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """`broadcast` to the sizes that the second operand holds."""
    type_ = low.result_type(op)
    sizes = _sizes(low, op, 1)
    splat = low.splat(op.ins[0])
    if splat is not None:
        element = low.emit.add(arith.ConstantOp(splat)).result
        return [fill(low.emit, element, type_, open_only(low.emit, type_, sizes))]
    dims = op.ints("broadcast_dimensions") or ()
    fixed = op.ints("known_nonexpanding_dimensions") or ()
    return [broadcast(low.emit, low.value(op.ins[0]), dims, type_, sizes, fixed)]


def broadcast_together(
    low: Lowering, op: StableHLOOp, values: Sequence[SSAValue]
) -> list[SSAValue]:
    """The operands of an op that broadcasts them as NumPy does, each with the result's sizes."""
    emit = low.emit
    shape = low.result_type(op).get_shape()
    rank = len(shape)
    given = op.ints("broadcast_dimensions")
    sizes: list[Index] = [1] * rank
    places: list[Sequence[int]] = []
    for value in values:
        own = sizes_of(emit, value)
        short = given is not None and len(own) < rank
        dims = given if short and given is not None else range(rank - len(own), rank)
        places.append(dims)
        for size, dim in zip(own, dims, strict=True):
            sizes[dim] = broadcast_size(emit, sizes[dim], size)
    result: list[SSAValue] = []
    for value, dims in zip(values, places, strict=True):
        type_: TensorType[Attribute] = TensorType(tensor_type(value).element_type, shape)
        result.append(broadcast(emit, value, dims, type_, sizes))
    return result


def lower_dynamic_reshape(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """The same elements in row-major order: by a line of all of them where sizes are open."""
    emit, value, type_ = low.emit, low.value(op.ins[0]), low.result_type(op)
    source, target = shape_of(value), type_.get_shape()
    if DYNAMIC_INDEX not in (*source, *target):
        return [reshape(emit, value, target)]
    sizes = _sizes(low, op, 1)
    own = sizes_of(emit, value)
    if len(own) == len(sizes) and all(map(same, own, sizes)):
        return [cast(emit, value, type_)]
    if not source:
        value = reshape(emit, value, [1])
    elif len(source) > 1:
        value = collapse(emit, value, (tuple(range(len(source))),))
    if len(target) > 1:
        groups = (tuple(range(len(target))),)
        value = expand(emit, value, groups, target, open_only(emit, type_, sizes))
    elif not target:
        one: TensorType[Attribute] = TensorType(type_.element_type, [1])
        value = reshape(emit, cast(emit, value, one), [])
    return [cast(emit, value, type_)]


def lower_dynamic_iota(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """`iota` of the sizes that the operand holds."""
    return [shapes.iota(low, op, open_only(low.emit, low.result_type(op), _sizes(low, op, 0)))]


def lower_dynamic_pad(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """`stablehlo.pad` by amounts that the host computes."""
    amounts = [_known(op, _numbers(low, op, index)) for index in (2, 3, 4)]
    value, padding = low.value(op.ins[0]), low.scalar(op.ins[1])
    return [cast(low.emit, pad(low.emit, value, padding, *amounts), low.result_type(op))]


def lower_real_dynamic_slice(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """`stablehlo.slice` from and to positions that the host computes.

    Where a slice of known size begins, the device may say.
    """
    emit, type_ = low.emit, low.result_type(op)
    starts, limits, strides = (_numbers(low, op, index) for index in (1, 2, 3))
    steps = _known(op, strides)
    sizes: list[Index] = []
    rows = zip(type_.get_shape(), starts, limits, steps, strict=True)
    for known, start, limit, stride in rows:
        if known >= 0:
            sizes.append(known)
            continue
        first, last = _known(op, [start, limit])
        count = scalar(emit, last) if first == 0 else scalar(emit, last) - scalar(emit, first)
        if stride != 1:
            step = scalar(emit, stride)
            count = (count + step - 1) / step
        sizes.append(computed(count))
    if None not in starts:
        value = extract_slice(emit, low.value(op.ins[0]), _known(op, starts), sizes, steps)
        return [cast(emit, value, type_)]
    if any(step != 1 for step in steps):
        _known(op, starts)
    return [_slice_by_device(low, op, starts, sizes)]


def _slice_by_device(
    low: Lowering, op: StableHLOOp, starts: Sequence[Index | None], sizes: Sequence[Index]
) -> SSAValue:
    """A slice, some of whose starts the device computes: moved so that it fits."""
    value, begins = low.value(op.ins[0]), low.value(op.ins[1])
    type_, extents = low.result_type(op), sizes_of(low.emit, value)
    unsigned = is_unsigned(op.ins[1].type)
    rank = len(sizes)

    def body(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        at: list[SSAValue] = []
        for dim, loop in enumerate(loop_indices(emit, rank)):
            start = starts[dim]
            if start is None:
                most = room(emit, extents[dim], sizes[dim])
                start = shapes.index_of(emit, args[dim], unsigned, most)
            at.append((scalar(emit, loop) + scalar(emit, start)).ssa)
        return [emit.add(tensor.ExtractOp(value, at, type_.element_type)).result]

    maps = [AffineMap(rank, 0, (AffineConstantExpr(dim),)) for dim in range(rank)]
    open_sizes = open_only(low.emit, type_, sizes)
    return elementwise(low.emit, type_, [begins] * rank, maps, body, open_sizes)


def lower_dynamic_gather(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """`stablehlo.gather` of slices whose sizes the host computes."""
    return [gather.gather(low, op, _known(op, _numbers(low, op, 2)))]


LOWERINGS: dict[str, Lower] = {
    "stablehlo.dynamic_broadcast_in_dim": lower_dynamic_broadcast_in_dim,
    "stablehlo.dynamic_reshape": lower_dynamic_reshape,
    "stablehlo.dynamic_iota": lower_dynamic_iota,
    "stablehlo.dynamic_pad": lower_dynamic_pad,
    "stablehlo.real_dynamic_slice": lower_real_dynamic_slice,
    "stablehlo.dynamic_gather": lower_dynamic_gather,
}
