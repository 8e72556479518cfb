"""Sorts, and the largest elements of rows."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType, i32
from xdsl.ir import Attribute, Block, Region, SSAValue

from ingot.compiler.analysis.generics import Emitter, elementwise, loop_indices
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import ingot
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.arithmetic import total_order
from ingot.passes.stablehlo.lowering import Lower, Lowering, is_unsigned
from ingot.passes.stablehlo.scalar import Scalar
from ingot.passes.stablehlo.sizes import open_only, sizes_of
from ingot.passes.stablehlo.slices import extract_slice


def lower_sort(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """`ingot.sort`, which is stable whether the op asks for it or not."""
    inputs = low.operands(op)
    rank = len(shape_of(inputs[0]))
    if 0 in shape_of(inputs[0]) or rank == 0:
        return inputs
    dimension = op.int("dimension", -1) % rank
    elements = [tensor_type(value).element_type for value in inputs]
    block = Block(arg_types=[element for element in elements for _ in range(2)])
    inner = Emitter.at_end(block, low.emit.location)
    inner.add(ingot.YieldOp(*low.inline(inner, op.bodies[0], block.args)))
    return low.emit.add(ingot.SortOp(inputs, dimension, Region(block))).results


def top_k(
    low: Lowering, old: SSAValue, k: int, largest: bool = True, dimension: int = -1
) -> Sequence[SSAValue]:
    """Sort values with their positions, the largest first (or last), and keep the first k.

    Floats are compared by their total order: NaN is larger than infinity.
    """
    value = low.value(old)
    type_ = tensor_type(value)
    shape = type_.get_shape()
    last = dimension % len(shape)
    unsigned = is_unsigned(old.type)
    index_type: TensorType[Attribute] = TensorType(i32, shape)

    def position(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        return [Scalar(emit, loop_indices(emit, len(shape))[last]).to(i32).ssa]

    lengths = sizes_of(low.emit, value)
    open_sizes = open_only(low.emit, index_type, lengths)
    positions = elementwise(low.emit, index_type, [], [], position, open_sizes)
    element = type_.element_type
    block = Block(arg_types=[element, element, i32, i32])
    inner = Emitter.at_end(block, low.emit.location)
    a, b = (Scalar(inner, arg, unsigned) for arg in block.args[:2])
    if a.is_float:
        a, b = total_order(a), total_order(b)
    inner.add(ingot.YieldOp((a.gt(b) if largest else a.lt(b)).ssa))
    results = low.emit.add(ingot.SortOp([value, positions], last, Region(block))).results
    sizes = list(lengths)
    sizes[last] = k
    zeros, ones = [0] * len(shape), [1] * len(shape)
    if k == shape[last]:
        return results
    return [extract_slice(low.emit, result, zeros, sizes, ones) for result in results]


def lower_top_k(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """The k largest of each row, and where they were."""
    return top_k(low, op.ins[0], op.int("k"))


LOWERINGS: dict[str, Lower] = {
    "stablehlo.sort": lower_sort,
    "chlo.top_k": lower_top_k,
}
