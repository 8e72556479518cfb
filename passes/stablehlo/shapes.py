"""Ops that move elements without looking at them: broadcasts, reshapes, transposes, reversals."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    i64,
)
from xdsl.dialects.tensor import ConcatOp, ExtractOp
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, elementwise, fill, loop_indices, reshape
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.analysis.types import as_integer
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.elementwise import broadcast_map
from ingot.passes.stablehlo.lowering import (
    Lower,
    Lowering,
    element_of,
    is_complex,
    is_unsigned,
)
from ingot.passes.stablehlo.scalar import Scalar
from ingot.passes.stablehlo.sizes import Index, open_only, sizes_of
from ingot.passes.stablehlo.sizes import scalar as as_scalar


def lower_constant(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """The same bytes with a signless type."""
    literal = op.properties["value"]
    assert isinstance(literal, DenseIntOrFPElementsAttr)
    value = DenseIntOrFPElementsAttr(
        low.result_type(op),  # pyright: ignore[reportArgumentType]
        literal.data,
    )
    return [low.emit.add(arith.ConstantOp(value)).result]


def lower_broadcast_in_dim(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """A map that leaves out the new dimensions, and stays at 0 in those of size 1."""
    type_ = low.result_type(op)
    splat = low.splat(op.ins[0])
    if splat is not None:
        scalar = low.emit.add(arith.ConstantOp(splat)).result
        return [fill(low.emit, scalar, type_)]
    (value,) = low.operands(op)
    dims = op.ints("broadcast_dimensions") or ()
    map_ = broadcast_map(shape_of(value), type_.get_shape(), dims)
    return [elementwise(low.emit, type_, [value], [map_], lambda _, args: args)]


def lower_broadcast(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """New dimensions in front."""
    (value,) = low.operands(op)
    type_ = low.result_type(op)
    map_ = broadcast_map(shape_of(value), type_.get_shape())
    return [elementwise(low.emit, type_, [value], [map_], lambda _, args: args)]


def lower_reshape(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """The same elements in row-major order."""
    return [reshape(low.emit, low.value(op.ins[0]), low.result_type(op).get_shape())]


def transpose(emit: Emitter, value: SSAValue, permutation: Sequence[int]) -> SSAValue:
    """Dimension i of the result is dimension `permutation[i]` of the value."""
    old = tensor_type(value)
    rank = len(permutation)
    shape = [old.get_shape()[dim] for dim in permutation]
    type_ = type(old)(old.element_type, shape)
    map_ = AffineMap(
        rank, 0, tuple(AffineExpr.dimension(permutation.index(dim)) for dim in range(rank))
    )
    return elementwise(emit, type_, [value], [map_], lambda _, args: args)


def lower_transpose(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """A permuted map."""
    permutation = op.ints("permutation") or ()
    if list(permutation) == sorted(permutation):
        return low.operands(op)
    return [transpose(low.emit, low.value(op.ins[0]), permutation)]


def reverse(emit: Emitter, value: SSAValue, dims: Sequence[int]) -> SSAValue:
    """The elements in opposite order along `dims`."""
    type_ = tensor_type(value)
    shape = type_.get_shape()
    rank = len(shape)
    if any(shape[dim] < 0 for dim in dims):
        return _reverse_by_index(emit, value, dims)
    exprs = [
        AffineExpr.dimension(dim) * -1 + (shape[dim] - 1)
        if dim in dims and shape[dim] > 1
        else AffineExpr.dimension(dim)
        for dim in range(rank)
    ]
    map_ = AffineMap(rank, 0, tuple(exprs))
    return elementwise(emit, type_, [value], [map_], lambda _, args: args)


def _reverse_by_index(emit: Emitter, value: SSAValue, dims: Sequence[int]) -> SSAValue:
    """`reverse` along sizes that a call decides."""
    type_ = tensor_type(value)
    sizes = sizes_of(emit, value)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        at = [Scalar(inner, loop) for loop in loop_indices(inner, len(sizes))]
        for dim in dims:
            at[dim] = as_scalar(inner, sizes[dim]) - 1 - at[dim]
        element = type_.element_type
        return [inner.add(ExtractOp(value, [i.ssa for i in at], element)).result]

    return elementwise(emit, type_, [], [], body, open_only(emit, type_, sizes))


def lower_reverse(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """A map that counts down."""
    return [reverse(low.emit, low.value(op.ins[0]), op.ints("dimensions") or ())]


def lower_concatenate(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """`tensor.concat`."""
    inputs = low.operands(op)
    if len(inputs) == 1:
        return inputs
    concat = ConcatOp.create(
        operands=inputs,
        result_types=[low.result_type(op)],
        properties={"dim": IntegerAttr(op.int("dimension"), i64)},
    )
    return low.emit.add(concat).results


def iota(low: Lowering, op: StableHLOOp, sizes: Sequence[SSAValue] = ()) -> SSAValue:
    """The index along a dimension as a number; `sizes` are those that the type leaves open."""
    type_ = low.result_type(op)
    dim = op.int("iota_dimension")
    unsigned = is_unsigned(op.outs[0].type)

    def body(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        index = Scalar(emit, loop_indices(emit, type_.get_num_dims())[dim])
        element = type_.element_type
        if as_integer(element) is not None:
            return [index.to(element, unsigned).ssa]
        return [index.to(IntegerType(32)).to(element).ssa]

    return elementwise(low.emit, type_, [], [], body, sizes)


def lower_iota(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """`iota` of a known shape."""
    return [iota(low, op)]


def lower_bitcast_convert(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """The same bits; a wider element is a row of narrower ones, the lowest bits first."""
    (value,) = low.operands(op)
    type_ = low.result_type(op)
    if is_complex(value.type) or is_complex(type_):
        if value.type == type_:
            return [value]
        raise refuse(op, "stablehlo.bitcast_convert of complex numbers is not supported")
    source, target = _width(element_of(value.type)), _width(type_.element_type)
    rank = type_.get_num_dims()
    element = type_.element_type

    def same(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        return [Scalar(emit, args[0]).bitcast(element).ssa]

    if source == target:
        if value.type == type_:
            return [value]
        return [elementwise(low.emit, type_, [value], [AffineMap.identity(rank)], same)]

    if source > target:

        def narrow(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
            bits = Scalar(emit, args[0]).bits()
            part = Scalar(emit, loop_indices(emit, rank)[-1]).to(bits.type) * target
            low_bits = bits.shift_right(part, arithmetic=False).to(IntegerType(target))
            return [low_bits.bitcast(element).ssa]

        map_ = AffineMap(rank, 0, tuple(AffineExpr.dimension(dim) for dim in range(rank - 1)))
        return [elementwise(low.emit, type_, [value], [map_], narrow)]

    parts = target // source

    def widen(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        total: Scalar | None = None
        for i, arg in enumerate(args):
            part = Scalar(emit, arg).bits().as_unsigned().to(IntegerType(target))
            part = part.shift_left(i * source) if i else part
            total = part if total is None else total | part
        assert total is not None
        return [total.bitcast(element).ssa]

    loops = [AffineExpr.dimension(dim) for dim in range(rank)]
    maps = [AffineMap(rank, 0, (*loops, AffineConstantExpr(i))) for i in range(parts)]
    return [elementwise(low.emit, type_, [value] * parts, maps, widen)]


def _width(element: Attribute) -> int:
    assert isinstance(element, AnyFloat | IntegerType)
    return element.bitwidth


def lower_barrier(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """Nothing: no pass of ours moves what a barrier holds."""
    return low.operands(op)


def index_of(emit: Emitter, value: SSAValue, unsigned: bool, most: Index) -> SSAValue:
    """A start index of any integer type as `index`, moved into 0..most.

    It is limited in its own type: an index on the device has 32 bits.
    """
    scalar = Scalar(emit, value, unsigned)
    if not isinstance(most, int):
        scalar = scalar.to(i64) if scalar.width < 32 or unsigned else scalar
        limited = scalar.as_signed().maximum(0).minimum(Scalar(emit, most).to(scalar.type))
        return limited.to(IndexType()).ssa
    if not unsigned:
        scalar = scalar.maximum(0)
    if most < 1 << (scalar.width - (0 if unsigned else 1)):
        scalar = scalar.minimum(most)
    return scalar.as_unsigned().to(IndexType()).ssa


LOWERINGS: dict[str, Lower] = {
    "stablehlo.constant": lower_constant,
    "stablehlo.broadcast_in_dim": lower_broadcast_in_dim,
    "stablehlo.broadcast": lower_broadcast,
    "stablehlo.reshape": lower_reshape,
    "stablehlo.transpose": lower_transpose,
    "stablehlo.reverse": lower_reverse,
    "stablehlo.concatenate": lower_concatenate,
    "stablehlo.iota": lower_iota,
    "stablehlo.bitcast_convert": lower_bitcast_convert,
    "stablehlo.optimization_barrier": lower_barrier,
}
