"""`select_and_scatter`: where each window's element lies, then what comes to each place."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import TensorType, i1, i32
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ingot.compiler.analysis.generics import (
    Emitter,
    empty,
    fill,
    loop_indices,
    make_generic,
)
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.linalg import IteratorTypeAttr, YieldOp
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.lowering import Lower, Lowering
from ingot.passes.stablehlo.reduce_window import Window
from ingot.passes.stablehlo.scalar import Scalar, constant


def lower_select_and_scatter(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """Two generics: the place that each window selects, then, for each place of the operand, the
    windows that may have selected it, combined in order."""
    operand, source, _ = low.operands(op)
    window = Window.of(op, len(shape_of(operand)))
    if 0 in shape_of(source):
        init = low.scalar(op.ins[2])
        return [fill(low.emit, init, low.result_type(op))]
    selected = _selected(low, op, operand, source, window)
    return [_scattered(low, op, source, selected, window)]


def _constant(emit: Emitter, number: int, type_: Attribute) -> SSAValue:
    return emit.add(arith.ConstantOp(constant(number, type_))).result


def _loops(parallel: int, reduced: int) -> list[IteratorTypeAttr]:
    return [IteratorTypeAttr.parallel()] * parallel + [IteratorTypeAttr.reduction()] * reduced


def _in_range(index: Scalar, size: int) -> tuple[Scalar, Scalar]:
    """`index` moved into 0..size-1, and whether it was there."""
    inside = index.compare("ge", 0) & index.lt(size)
    return index.maximum(0).minimum(size - 1), inside


def _selected(
    low: Lowering, op: StableHLOOp, operand: SSAValue, source: SSAValue, window: Window
) -> SSAValue:
    """For each window the row-major position of the element that the first region keeps.

    Positions outside of the operand take no part. The accumulators: whether there is an element
    yet, the element, its position.
    """
    extents, out_shape = shape_of(operand), shape_of(source)
    rank = len(extents)
    element = low.result_type(op).element_type
    types = (i1, element, i32)
    inits = [fill(low.emit, _constant(low.emit, 0, t), TensorType(t, out_shape)) for t in types]
    sizes = empty(low.emit, TensorType(i1, window.sizes))
    block = Block(arg_types=[i1, *types])
    emit = Emitter.at_end(block, low.emit.location)
    some, best, place = (Scalar(emit, arg) for arg in block.args[1:])
    loops = [Scalar(emit, loop) for loop in loop_indices(emit, 2 * rank)]
    inside = Scalar(emit, _constant(emit, 1, i1))
    position: list[SSAValue] = []
    linear = Scalar(emit, emit.index(0))
    for dim in range(rank):
        index = loops[dim] * window.strides[dim] + loops[rank + dim] - window.low[dim]
        index, holds = _in_range(index, extents[dim])
        inside = inside & holds
        position.append(index.ssa)
        linear = linear * extents[dim] + index
    candidate = Scalar(emit, emit.add(tensor.ExtractOp(operand, position, element)).result)
    (kept,) = low.inline(emit, op.bodies[0], [best.ssa, candidate.ssa])
    take = inside & ~(some & Scalar(emit, kept))
    emit.add(
        YieldOp(
            (some | inside).ssa,
            take.select(candidate, best).ssa,
            take.select(linear.to(i32), place).ssa,
        )
    )
    output = AffineMap(2 * rank, 0, tuple(AffineExpr.dimension(i) for i in range(rank)))
    inner = AffineMap(2 * rank, 0, tuple(AffineExpr.dimension(rank + i) for i in range(rank)))
    generic = make_generic(
        low.emit, [sizes], inits, [inner, *[output] * 3], _loops(rank, rank), Region(block)
    )
    return generic.results[2]


def _scattered(
    low: Lowering, op: StableHLOOp, source: SSAValue, selected: SSAValue, window: Window
) -> SSAValue:
    """For each place the elements of `source` whose window selected it, combined with the init."""
    type_ = low.result_type(op)
    extents, count = type_.get_shape(), shape_of(source)
    rank = len(extents)
    element = type_.element_type
    init = fill(low.emit, low.scalar(op.ins[2]), type_)
    # Window w covers place i by its offset o where w * stride + o - low = i: as many windows as
    # the longest run of multiples of the stride.
    most = [-(-size // stride) for size, stride in zip(window.sizes, window.strides, strict=True)]
    sizes = empty(low.emit, TensorType(i1, most))
    block = Block(arg_types=[i1, element])
    emit = Emitter.at_end(block, low.emit.location)
    total = Scalar(emit, block.args[1])
    loops = [Scalar(emit, loop) for loop in loop_indices(emit, 2 * rank)]
    inside = Scalar(emit, _constant(emit, 1, i1))
    indices: list[SSAValue] = []
    linear = Scalar(emit, emit.index(0))
    for dim in range(rank):
        place, back = loops[dim], loops[rank + dim]
        linear = linear * extents[dim] + place
        # The last window that starts at or before the place, and those before it, in order.
        last = (place + window.low[dim]).as_unsigned() / window.strides[dim]
        index = last.as_signed() - (most[dim] - 1) + back
        index, holds = _in_range(index, count[dim])
        inside = inside & holds
        indices.append(index.ssa)
    chosen = Scalar(emit, emit.add(tensor.ExtractOp(selected, indices, i32)).result)
    value = emit.add(tensor.ExtractOp(source, indices, element)).result
    hit = inside & chosen.eq(linear.to(i32))
    (combined,) = low.inline(emit, op.bodies[1], [total.ssa, value])
    emit.add(YieldOp(hit.select(Scalar(emit, combined), total).ssa))
    output = AffineMap(2 * rank, 0, tuple(AffineExpr.dimension(i) for i in range(rank)))
    inner = AffineMap(2 * rank, 0, tuple(AffineExpr.dimension(rank + i) for i in range(rank)))
    generic = make_generic(
        low.emit, [sizes], [init], [inner, output], _loops(rank, rank), Region(block)
    )
    return generic.results[0]


LOWERINGS: dict[str, Lower] = {"stablehlo.select_and_scatter": lower_select_and_scatter}
