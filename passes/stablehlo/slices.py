"""Slices, updates of slices and padding."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, TensorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap

from ingot.compiler.analysis.generics import (
    Emitter,
    all_of,
    clamp,
    elementwise,
    empty,
    fill,
    loop_indices,
)
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.lowering import Lower, Lowering, is_unsigned
from ingot.passes.stablehlo.shapes import index_of


def extract_slice(
    emit: Emitter,
    value: SSAValue,
    starts: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
) -> SSAValue:
    """`tensor.extract_slice` at known positions."""
    type_ = TensorType(tensor_type(value).element_type, sizes)
    lists = {"static_offsets": starts, "static_sizes": sizes, "static_strides": strides}
    op = tensor.ExtractSliceOp.build(
        operands=[value, [], [], []],
        result_types=[type_],
        properties={k: DenseArrayBase.from_list(i64, list(v)) for k, v in lists.items()},
    )
    assert DYNAMIC_INDEX not in (*starts, *sizes, *strides)
    return emit.add(op).result


def lower_slice(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """`tensor.extract_slice`."""
    (value,) = low.operands(op)
    sizes = low.result_type(op).get_shape()
    starts, strides = op.ints("start_indices") or (), op.ints("strides")
    if tuple(sizes) == shape_of(value):
        return [value]
    return [extract_slice(low.emit, value, starts, sizes, strides or (1,) * len(sizes))]


def lower_dynamic_slice(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """Each element read at its index plus the start, which is moved so that the slice fits."""
    value, *starts = low.operands(op)
    type_ = low.result_type(op)
    sizes, extents = type_.get_shape(), shape_of(value)
    unsigned = [is_unsigned(start.type) for start in op.ins[1:]]
    if 0 in sizes:
        return [empty(low.emit, type_)]

    def body(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        indices: list[SSAValue] = []
        for dim, loop in enumerate(loop_indices(emit, len(sizes))):
            most = extents[dim] - sizes[dim]
            if most == 0:
                indices.append(loop)
                continue
            start = index_of(emit, args[dim], unsigned[dim], most)
            indices.append(emit.add(arith.AddiOp(start, loop)).result)
        return [emit.add(tensor.ExtractOp(value, indices, type_.element_type)).result]

    maps = [AffineMap(len(sizes), 0, ())] * len(starts)
    return [elementwise(low.emit, type_, starts, maps, body)]


def lower_dynamic_update_slice(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """Each element is one of the update where its index lies in it, else the operand's."""
    value, update, *starts = low.operands(op)
    type_ = low.result_type(op)
    rank = type_.get_num_dims()
    sizes, extents = shape_of(update), shape_of(value)
    unsigned = [is_unsigned(start.type) for start in op.ins[2:]]
    if 0 in sizes:
        return [value]

    def body(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        conditions: list[SSAValue] = []
        indices: list[SSAValue] = []
        for dim, loop in enumerate(loop_indices(emit, rank)):
            most = extents[dim] - sizes[dim]
            if most == 0:
                indices.append(loop)
                continue
            start = index_of(emit, args[1 + dim], unsigned[dim], most)
            position = emit.add(arith.SubiOp(loop, start)).result
            last = emit.index(sizes[dim] - 1)
            conditions.append(emit.add(arith.CmpiOp(position, emit.index(0), "sge")).result)
            conditions.append(emit.add(arith.CmpiOp(position, last, "sle")).result)
            indices.append(clamp(emit, position, 0, sizes[dim] - 1))
        new = emit.add(tensor.ExtractOp(update, indices, type_.element_type)).result
        if not conditions:
            return [new]
        return [emit.add(arith.SelectOp(all_of(emit, conditions), new, args[0])).result]

    maps = [AffineMap.identity(rank), *[AffineMap(rank, 0, ())] * len(starts)]
    return [elementwise(low.emit, type_, [value, *starts], maps, body)]


def pad(
    emit: Emitter,
    value: SSAValue,
    padding: SSAValue,
    low: Sequence[int],
    high: Sequence[int],
    interior: Sequence[int] | None = None,
) -> SSAValue:
    """`value` with the scalar `padding` around and between its elements.

    Negative amounts remove what the padding between the elements has made.
    """
    between = interior or (0,) * len(low)
    if not any((*low, *high, *between)):
        return value
    sizes = shape_of(value)
    shape = [
        before + size + max(size - 1, 0) * gap + after
        for size, before, after, gap in zip(sizes, low, high, between, strict=True)
    ]
    type_: TensorType[Attribute] = TensorType(tensor_type(value).element_type, shape)
    if prod(sizes) == 0:
        return fill(emit, padding, type_)
    if 0 in shape:
        return empty(emit, type_)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        conditions: list[SSAValue] = []
        indices: list[SSAValue] = []
        for dim, loop in enumerate(loop_indices(inner, len(shape))):
            index, holds = _source_index(
                inner, loop, shape[dim], sizes[dim], low[dim], between[dim] + 1
            )
            indices.append(index)
            conditions += holds
        element = inner.add(tensor.ExtractOp(value, indices, type_.element_type)).result
        if not conditions:
            return [element]
        return [inner.add(arith.SelectOp(all_of(inner, conditions), element, padding)).result]

    return elementwise(emit, type_, [], [], body)


def _source_index(
    emit: Emitter, loop: SSAValue, extent: int, size: int, low: int, stride: int
) -> tuple[SSAValue, list[SSAValue]]:
    """Where element `loop` of the padded dimension comes from, moved into range, and if it does."""
    conditions: list[SSAValue] = []
    index = loop
    if low > 0:
        index = emit.add(arith.SubiOp(loop, emit.index(low))).result
        conditions.append(emit.add(arith.CmpiOp(loop, emit.index(low), "sge")).result)
    elif low < 0:
        index = emit.add(arith.AddiOp(loop, emit.index(-low))).result
    last = (size - 1) * stride
    ends_after = extent - 1 - low > last
    if ends_after:
        conditions.append(emit.add(arith.CmpiOp(index, emit.index(last), "sle")).result)
    index = clamp(emit, index, 0 if low > 0 else None, last if ends_after else None)
    if stride > 1:
        step = emit.index(stride)
        remainder = emit.add(arith.RemUIOp(index, step)).result
        conditions.append(emit.add(arith.CmpiOp(remainder, emit.index(0), "eq")).result)
        index = emit.add(arith.DivUIOp(index, step)).result
    return index, conditions


def lower_pad(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """`pad` by the op's amounts."""
    value = low.value(op.ins[0])
    amounts = [
        op.ints(name) or ()
        for name in ("edge_padding_low", "edge_padding_high", "interior_padding")
    ]
    return [pad(low.emit, value, low.scalar(op.ins[1]), *amounts)]


LOWERINGS: dict[str, Lower] = {
    "stablehlo.slice": lower_slice,
    "stablehlo.dynamic_slice": lower_dynamic_slice,
    "stablehlo.dynamic_update_slice": lower_dynamic_update_slice,
    "stablehlo.pad": lower_pad,
}
