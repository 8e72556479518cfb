"""Slices, updates of slices and padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
from ingot.passes.stablehlo.scalar import Scalar
from ingot.passes.stablehlo.shapes import index_of
from ingot.passes.stablehlo.sizes import Index, computed, open_only, room, scalar, sizes_of


def extract_slice(
    emit: Emitter,
    value: SSAValue,
    starts: Sequence[Index],
    sizes: Sequence[Index],
    strides: Sequence[Index],
) -> SSAValue:
    """`tensor.extract_slice`."""
    lists = {"static_offsets": starts, "static_sizes": sizes, "static_strides": strides}
    known = {
        name: [index if isinstance(index, int) else DYNAMIC_INDEX for index in values]
        for name, values in lists.items()
    }
    op = tensor.ExtractSliceOp.build(
        operands=[value, *([v for v in row if not isinstance(v, int)] for row in lists.values())],
        result_types=[TensorType(tensor_type(value).element_type, known["static_sizes"])],
        properties={k: DenseArrayBase.from_list(i64, v) for k, v in known.items()},
    )
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
    sizes, extents = type_.get_shape(), sizes_of(low.emit, value)
    unsigned = [is_unsigned(start.type) for start in op.ins[1:]]
    if 0 in sizes:
        return [empty(low.emit, type_)]

    def body(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        indices: list[SSAValue] = []
        for dim, loop in enumerate(loop_indices(emit, len(sizes))):
            most = room(emit, extents[dim], sizes[dim])
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
    sizes, extents = sizes_of(low.emit, update), sizes_of(low.emit, value)
    unsigned = [is_unsigned(start.type) for start in op.ins[2:]]
    if 0 in sizes:
        return [value]

    def body(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        conditions: list[SSAValue] = []
        indices: list[SSAValue] = []
        for dim, loop in enumerate(loop_indices(emit, rank)):
            most = room(emit, extents[dim], sizes[dim])
            if most == 0:
                indices.append(loop)
                continue
            start = index_of(emit, args[1 + dim], unsigned[dim], most)
            position = Scalar(emit, emit.add(arith.SubiOp(loop, start)).result)
            last = scalar(emit, sizes[dim]) - 1
            conditions.append(position.compare("ge", 0).ssa)
            conditions.append(position.compare("le", last).ssa)
            indices.append(position.maximum(0).minimum(last).ssa)
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
    low: Sequence[Index],
    high: Sequence[Index],
    interior: Sequence[Index] | None = None,
) -> SSAValue:
    """`value` with the scalar `padding` around and between its elements.

    Negative amounts remove what the padding between the elements has made.
    """
    between = interior or (0,) * len(low)
    if not any((*low, *high, *between)):
        return value
    own = sizes_of(emit, value)
    axes = [_Axis(*row) for row in zip(own, low, high, between, strict=True)]
    sizes = [axis.padded(emit) for axis in axes]
    shape = [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes]
    type_: TensorType[Attribute] = TensorType(tensor_type(value).element_type, shape)
    open_sizes = open_only(emit, type_, sizes)
    if 0 in own:
        return fill(emit, padding, type_, open_sizes)
    if 0 in shape and DYNAMIC_INDEX not in shape:
        return empty(emit, type_)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        conditions: list[SSAValue] = []
        indices: list[SSAValue] = []
        for axis, loop in zip(axes, loop_indices(inner, len(shape)), strict=True):
            index, holds = axis.source(inner, loop)
            indices.append(index)
            conditions += holds
        element = inner.add(tensor.ExtractOp(value, indices, type_.element_type)).result
        if not conditions:
            return [element]
        return [inner.add(arith.SelectOp(all_of(inner, conditions), element, padding)).result]

    return elementwise(emit, type_, [], [], body, open_sizes)


@dataclass(frozen=True)
class _Axis:
    """How one dimension is padded."""

    size: Index
    low: Index
    high: Index
    gap: Index

    def padded(self, emit: Emitter) -> Index:
        """The size of the result."""
        match self:
            case _Axis(int(size), int(low), int(high), int(gap)):
                return low + size + max(size - 1, 0) * gap + high
            case _Axis(size, 0, 0, 0):
                return size
            case _:
                pass
        total = scalar(emit, self.size)
        if self.gap != 0:
            total = total + (total - 1).maximum(0) * scalar(emit, self.gap)
        for amount in (self.low, self.high):
            total = total if amount == 0 else total + scalar(emit, amount)
        return computed(total)

    def source(self, emit: Emitter, loop: SSAValue) -> tuple[SSAValue, list[SSAValue]]:
        """Where an element of the result comes from, moved into range, and whether it does."""
        match self:
            case _Axis(int(size), int(low), int(high), int(gap)):
                extent = low + size + (size - 1) * gap + high
                return _source_index(emit, loop, extent, size, low, gap + 1)
            case _Axis(_, 0, 0, 0):
                return loop, []
            case _:
                pass
        place, stride = scalar(emit, loop) - scalar(emit, self.low), scalar(emit, self.gap) + 1
        last = scalar(emit, self.size) - 1
        inside, index = place.compare("ge", 0), place.maximum(0).as_unsigned()
        if self.gap != 0:
            inside = inside & (index % stride).eq(0)
            index = index / stride
        index = index.as_signed()
        return index.minimum(last).ssa, [(inside & index.compare("le", last)).ssa]


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
