"""Elementwise ops: each becomes a `linalg.generic` whose body is the op's rule for scalars."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap

from ingot.compiler.analysis.generics import Emitter, elementwise
from ingot.compiler.analysis.sizes import is_dynamic
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.lowering import Lower, Lowering, ScalarRule, is_unsigned
from ingot.passes.stablehlo.scalar import Scalar


def operand_map(shape: Sequence[int], rank: int, dims: Sequence[int] | None = None) -> AffineMap:
    """How an operand of `shape` is read by loops over `rank` dimensions.

    Dimension i of the operand is dimension `dims[i]` of the loops, by default the last ones; of
    rank 0 every element reads the same.
    """
    if dims is None:
        dims = range(rank - len(shape), rank)
    return AffineMap(rank, 0, tuple(AffineExpr.dimension(dim) for dim in dims))


def lower_elementwise(rule: ScalarRule) -> Lower:
    """The lowering of an op by its rule; operands of rank 0 are read by every element."""

    def lower(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
        type_ = low.result_type(op)
        rank = type_.get_num_dims()
        inputs = low.operands(op)
        unsigned = [is_unsigned(operand.type) for operand in op.ins]

        def body(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
            scalars = [Scalar(emit, arg, u) for arg, u in zip(args, unsigned, strict=True)]
            return [rule(op, scalars).ssa]

        maps = [operand_map(shape_of(value), rank) for value in inputs]
        return [elementwise(low.emit, type_, inputs, maps, body)]

    return lower


def lower_broadcasting(rule: ScalarRule) -> Lower:
    """The lowering of a chlo op whose operands are broadcast against each other as in NumPy."""

    def lower(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
        type_ = low.result_type(op)
        rank = type_.get_num_dims()
        inputs = low.operands(op)
        dims = op.ints("broadcast_dimensions")
        unsigned = [is_unsigned(operand.type) for operand in op.ins]

        def body(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
            scalars = [Scalar(emit, arg, u) for arg, u in zip(args, unsigned, strict=True)]
            return [rule(op, scalars).ssa]

        if any(map(is_dynamic, (*op.ins, *op.outs))):
            from ingot.passes.stablehlo.dynamic import broadcast_together

            wide = broadcast_together(low, op, inputs)
            return [
                elementwise(low.emit, type_, wide, [AffineMap.identity(rank)] * len(wide), body)
            ]
        maps = [
            broadcast_map(
                shape_of(value),
                type_.get_shape(),
                dims if dims is not None and len(shape_of(value)) < rank else None,
            )
            for value in inputs
        ]
        return [elementwise(low.emit, type_, inputs, maps, body)]

    return lower


def broadcast_map(
    shape: Sequence[int], result: Sequence[int], dims: Sequence[int] | None = None
) -> AffineMap:
    """`operand_map` of an operand whose dimensions of size 1 are repeated."""
    rank = len(result)
    if dims is None:
        dims = range(rank - len(shape), rank)
    exprs = [
        AffineConstantExpr(0) if size == 1 and result[dim] != 1 else AffineExpr.dimension(dim)
        for size, dim in zip(shape, dims, strict=True)
    ]
    return AffineMap(rank, 0, tuple(exprs))


def unary(compute: Callable[[Scalar], Scalar]) -> ScalarRule:
    """The rule of an op on one operand that needs nothing else."""
    return lambda op, args: compute(args[0])


def binary(compute: Callable[[Scalar, Scalar], Scalar]) -> ScalarRule:
    """The rule of an op on two operands that needs nothing else."""
    return lambda op, args: compute(args[0], args[1])
