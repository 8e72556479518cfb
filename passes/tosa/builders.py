"""Structured ops on tensors as TOSA's lowerings need them: broadcasts, reductions, padding."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerType, TensorType, i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from ingot.compiler.analysis.diagnostics import Refusal, refuse
from ingot.compiler.analysis.generics import (
    Body,
    Emitter,
    fill,
    loop_indices,
    make_generic,
)
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.linalg import FillOp, IteratorTypeAttr, YieldOp
from ingot.compiler.dialects.tensor import PadOp
from ingot.passes.tosa.scalars import constant


def element(value: SSAValue) -> Attribute:
    """The element type of a tensor."""
    return tensor_type(value).element_type


def is_integer(type_: Attribute) -> bool:
    """Whether a type is an integer of more than one bit."""
    return isinstance(type_, IntegerType) and type_ != i1


def not_defined(op: Operation) -> Refusal:
    """The refusal of an op whose types TOSA does not allow together."""
    operands = ", ".join(str(type_) for type_ in op.operand_types)
    results = ", ".join(str(type_) for type_ in op.result_types)
    return refuse(op, f"{op.name} of {operands} to {results} is not defined by TOSA")


def map_of(loops: int, exprs: Sequence[AffineExpr]) -> AffineMap:
    """The map from `loops` loops to `exprs`."""
    return AffineMap(loops, 0, tuple(exprs))


def dims_map(loops: int, dims: Sequence[int]) -> AffineMap:
    """The map that picks some loops."""
    return map_of(loops, [AffineDimExpr(dim) for dim in dims])


def broadcast_map(op: Operation, shape: Sequence[int], result: Sequence[int]) -> AffineMap:
    """How the elements of a result read an operand: a dimension of one element is repeated.

    Dimensions that the operand lacks are in front. Refuses shapes that do not fit.
    """
    missing = len(result) - len(shape)
    exprs: list[AffineExpr] = []
    for dim, size in enumerate(shape):
        wanted = result[dim + missing] if missing >= 0 else None
        if wanted is None or size not in (1, wanted):
            raise refuse(
                op,
                f"{op.name}: an operand of shape {_shape(shape)} cannot be broadcast to "
                f"{_shape(result)}",
            )
        exprs.append(AffineDimExpr(dim + missing) if size == wanted else AffineConstantExpr(0))
    return map_of(len(result), exprs)


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "()"


def broadcast_elementwise(
    op: Operation,
    emit: Emitter,
    type_: TensorType[Attribute],
    inputs: Sequence[SSAValue],
    body: Body,
) -> SSAValue:
    """Each element of `type_` computed from those of the inputs, broadcast to its shape."""
    maps = [broadcast_map(op, shape_of(value), type_.get_shape()) for value in inputs]
    return elementwise(emit, type_, inputs, maps, body)


Read = tuple[SSAValue, AffineMap]
"""A tensor and how the loops read it."""


def sized_empty(
    emit: Emitter, type_: TensorType[Attribute], out_map: AffineMap, reads: Sequence[Read]
) -> SSAValue:
    """A tensor without contents; a size that a call decides is that of what the same loop reads.

    Refuses a size that no tensor which is read has.
    """
    sizes: list[SSAValue] = []
    for size, expr in zip(type_.get_shape(), out_map.results, strict=True):
        if size != DYNAMIC_INDEX:
            continue
        places = [(v, dim) for v, map_ in reads for dim, e in enumerate(map_.results) if e == expr]
        if not places:
            raise refuse(emit.location, f"no operand has the unknown size of {type_}")
        value, dim = places[0]
        sizes.append(emit.add(tensor.DimOp(value, emit.index(dim))).result)
    return emit.add(tensor.EmptyOp(sizes, type_)).tensor


def elementwise(
    emit: Emitter,
    type_: TensorType[Attribute],
    inputs: Sequence[SSAValue],
    maps: Sequence[AffineMap],
    body: Body,
) -> SSAValue:
    """A generic that computes each element of `type_` on its own."""
    identity = AffineMap.identity(type_.get_num_dims())
    init = sized_empty(emit, type_, identity, list(zip(inputs, maps, strict=True)))
    count = len(inputs)
    return accumulate(
        emit, inputs, maps, [init], identity, lambda inner, args: body(inner, args[:count])
    )[0]


def filled(
    emit: Emitter, value: float | int, element_type: Attribute, shape: Sequence[int]
) -> SSAValue:
    """A tensor of one value."""
    return fill(emit, constant(emit, value, element_type), TensorType(element_type, shape))


def start(
    emit: Emitter,
    value: float | int,
    type_: TensorType[Attribute],
    out_map: AffineMap,
    reads: Sequence[Read],
) -> SSAValue:
    """What a reduction of `reads` by `out_map` starts from: a tensor of one value."""
    scalar = constant(emit, value, type_.element_type)
    init = sized_empty(emit, type_, out_map, reads)
    return emit.add(FillOp([scalar], [init], [type_])).results[0]


def accumulate(
    emit: Emitter,
    inputs: Sequence[SSAValue],
    maps: Sequence[AffineMap],
    inits: Sequence[SSAValue],
    out_map: AffineMap,
    body: Body,
) -> list[SSAValue]:
    """A generic that reduces over every loop that `out_map` leaves out.

    `body` takes the elements of the inputs, then those of the accumulators, and returns the new
    accumulators.
    """
    used = out_map.used_dims()
    block = Block(arg_types=[element(value) for value in (*inputs, *inits)])
    inner = Emitter.at_end(block, emit.location)
    inner.add(YieldOp(*body(inner, block.args)))
    iterators = [
        IteratorTypeAttr.parallel() if loop in used else IteratorTypeAttr.reduction()
        for loop in range(out_map.num_dims)
    ]
    all_maps = [*maps, *([out_map] * len(inits))]
    return list(make_generic(emit, inputs, inits, all_maps, iterators, Region(block)).results)


def padded(
    emit: Emitter,
    source: SSAValue,
    low: Sequence[int],
    high: Sequence[int],
    value: float | int | SSAValue,
) -> SSAValue:
    """`tensor.pad` by constant amounts; the source itself when they are all zero."""
    if not any((*low, *high)):
        return source
    type_ = tensor_type(source)
    if not isinstance(value, SSAValue):
        value = constant(emit, value, type_.element_type)
    shape = [a + s + b for a, s, b in zip(low, type_.get_shape(), high, strict=True)]
    block = Block(arg_types=[IndexType()] * len(shape))
    Emitter.at_end(block, emit.location).add(tensor.YieldOp(value))
    result = TensorType(type_.element_type, shape)
    return emit.add(PadOp(source, low, high, Region(block), result)).result


def reverse(emit: Emitter, source: SSAValue, axes: Sequence[int]) -> SSAValue:
    """`source` with the elements along some dimensions in reverse order."""
    type_ = tensor_type(source)
    shape = type_.get_shape()

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        indices = loop_indices(inner, len(shape))
        for axis in axes:
            last = inner.index(shape[axis] - 1)
            indices[axis] = inner.add(arith.SubiOp(last, indices[axis])).result
        return [inner.add(tensor.ExtractOp(source, indices, type_.element_type)).result]

    return elementwise(emit, type_, [], [], body)
