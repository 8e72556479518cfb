"""Products: `dot_general` and `dot` as a generic that multiplies and adds."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ComplexType, TensorType, f32
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, elementwise, fill, make_generic, sizes_by_maps
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.linalg import IteratorTypeAttr, YieldOp
from ingot.compiler.dialects.stablehlo.attributes import DotAttr
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.lowering import Lower, Lowering, is_unsigned
from ingot.passes.stablehlo.scalar import Scalar, literal


def contract(
    emit: Emitter,
    inputs: Sequence[SSAValue],
    unsigned: Sequence[bool],
    maps: Sequence[AffineMap],
    type_: TensorType[Attribute],
) -> SSAValue:
    """The sum of products of two inputs, converted to the result's type before they are multiplied.

    `maps` are those of the inputs and the result; loops that the result's lacks are summed over.
    """
    element = type_.element_type
    if isinstance(element, ComplexType):
        return _contract_complex(emit, inputs, maps, type_)
    sizes = sizes_by_maps(emit, type_.get_shape(), inputs, maps[:2], maps[2])
    init = fill(emit, literal(emit, 0, element).ssa, type_, sizes)
    elements = [tensor_type(value).element_type for value in inputs]
    block = Block(arg_types=[*elements, element])
    inner = Emitter.at_end(block, emit.location)
    left, right = (
        Scalar(inner, arg, sign).to(element)
        for arg, sign in zip(block.args[:2], unsigned, strict=True)
    )
    total = Scalar(inner, block.args[2])
    if total.is_bool:
        inner.add(YieldOp((total | (left & right)).ssa))
    else:
        inner.add(YieldOp((total + left * right).ssa))
    kept = maps[2].used_dims()
    iterators = [
        IteratorTypeAttr.parallel() if dim in kept else IteratorTypeAttr.reduction()
        for dim in range(maps[2].num_dims)
    ]
    return make_generic(emit, inputs, [init], maps, iterators, Region(block)).results[0]


def _contract_complex(
    emit: Emitter,
    inputs: Sequence[SSAValue],
    maps: Sequence[AffineMap],
    type_: TensorType[Attribute],
) -> SSAValue:
    """Four products of real and imaginary parts, which run as fast as any."""
    part: TensorType[Attribute] = TensorType(f32, type_.get_shape())

    def parts(value: SSAValue) -> list[SSAValue]:
        old = tensor_type(value)
        if not isinstance(old.element_type, ComplexType):
            return [value]
        real: TensorType[Attribute] = TensorType(f32, old.get_shape())
        identity = [AffineMap.identity(old.get_num_dims())]
        return [
            elementwise(emit, real, [value], identity, lambda e, a: [Scalar(e, a[0]).real.ssa]),
            elementwise(
                emit, real, [value], identity, lambda e, a: [Scalar(e, a[0]).imaginary.ssa]
            ),
        ]

    left, right = map(parts, inputs)
    products = [[contract(emit, [a, b], (False, False), maps, part) for b in right] for a in left]

    def combined(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        terms = [Scalar(inner, arg) for arg in args]
        if len(terms) == 2:
            return [terms[0].with_imaginary(terms[1]).ssa]
        rr, ri, ir, ii = terms
        return [(rr - ii).with_imaginary(ri + ir).ssa]

    flat = [value for row in products for value in row]
    identity = [AffineMap.identity(type_.get_num_dims())] * len(flat)
    return elementwise(emit, type_, flat, identity, combined)


def lower_dot_general(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """Loops: batch, rows of the left, columns of the right, then the contracted dimensions."""
    numbers = op.properties.get("dot_dimension_numbers")
    if not isinstance(numbers, DotAttr):
        raise refuse(op, "stablehlo.dot_general without dimension numbers")
    batch_l, batch_r, sum_l, sum_r = (numbers.list_of(name) for name in DotAttr.LISTS)
    return _dot(low, op, (batch_l, batch_r), (sum_l, sum_r))


def lower_dot(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """The last dimension of the left with the first of the right."""
    rank = len(shape_of(low.value(op.ins[0])))
    summed = ((rank - 1,), (0,))
    return _dot(low, op, ((), ()), summed)


def _dot(
    low: Lowering,
    op: StableHLOOp,
    batch: tuple[Sequence[int], Sequence[int]],
    summed: tuple[Sequence[int], Sequence[int]],
) -> Sequence[SSAValue]:
    inputs = low.operands(op)
    ranks = [len(shape_of(value)) for value in inputs]
    free = [
        [dim for dim in range(ranks[side]) if dim not in (*batch[side], *summed[side])]
        for side in range(2)
    ]
    count = len(batch[0])
    first_free = (count, count + len(free[0]))
    first_sum = count + len(free[0]) + len(free[1])
    total = first_sum + len(summed[0])
    maps: list[AffineMap] = []
    for side in range(2):
        loop_of = {dim: i for i, dim in enumerate(batch[side])}
        loop_of |= {dim: first_free[side] + i for i, dim in enumerate(free[side])}
        loop_of |= {dim: first_sum + i for i, dim in enumerate(summed[side])}
        exprs = tuple(AffineExpr.dimension(loop_of[dim]) for dim in range(ranks[side]))
        maps.append(AffineMap(total, 0, exprs))
    maps.append(AffineMap(total, 0, tuple(AffineExpr.dimension(i) for i in range(first_sum))))
    unsigned = [is_unsigned(operand.type) for operand in op.ins]
    return [contract(low.emit, inputs, unsigned, maps, low.result_type(op))]


LOWERINGS: dict[str, Lower] = {
    "stablehlo.dot_general": lower_dot_general,
    "stablehlo.dot": lower_dot,
}
