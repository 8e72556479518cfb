"""Turn slices, insertions and concatenations into generics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.dialects.utils import get_dynamic_index_list
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import (
    Emitter,
    all_of,
    clamp,
    elementwise,
    empty,
    erase,
    loop_indices,
    reshape,
    zero,
)
from ingot.compiler.analysis.sizes import is_sized
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith

from . import sized_slices

MOST_INPUTS = 15
"""Tensors that one kernel concatenates: with the result as many buffers as every device binds."""

Index = int | SSAValue
"""Known, or computed on the host."""


@dataclass(frozen=True)
class Axis:
    """One dimension of a slice: element i lies at `offset + stride * i` of the larger tensor."""

    offset: Index
    size: int
    stride: Index


def slice_axes(op: tensor.ExtractSliceOp | tensor.InsertSliceOp) -> list[Axis]:
    """The dimensions of a slice, whose sizes are known."""
    offsets: Sequence[int] = op.static_offsets.get_values()
    sizes: Sequence[int] = op.static_sizes.get_values()
    strides: Sequence[int] = op.static_strides.get_values()
    mixed = get_dynamic_index_list(offsets, op.offsets, DYNAMIC_INDEX)
    steps = get_dynamic_index_list(strides, op.strides, DYNAMIC_INDEX)
    return [Axis(*axis) for axis in zip(mixed, sizes, steps, strict=True)]


def kept_dims(sizes: Sequence[int], shape: Sequence[int]) -> list[int]:
    """The dimensions of a slice of these sizes that are left in `shape`; the others have size 1."""
    kept: list[int] = []
    for dim, size in enumerate(sizes):
        if len(kept) < len(shape) and size == shape[len(kept)]:
            kept.append(dim)
    return kept


def _static_source_index(
    axes: Sequence[Axis], kept: Sequence[int], extents: Sequence[int]
) -> list[AffineExpr] | None:
    """The indices of the source by the loops of the result, when affine maps express them.

    A plain loop must run over a whole dimension, so that a part that starts at 0 has no map.
    """
    exprs: list[AffineExpr] = []
    for dim, (axis, extent) in enumerate(zip(axes, extents, strict=True)):
        if not isinstance(axis.offset, int) or not isinstance(axis.stride, int):
            return None
        if axis.size == 1:
            exprs.append(AffineConstantExpr(axis.offset))
            continue
        if axis.offset == 0 and axis.stride == 1 and axis.size != extent:
            return None
        exprs.append(AffineDimExpr(kept.index(dim)) * axis.stride + axis.offset)
    return exprs


def _split_prefixes(
    source: SSAValue, axes: Sequence[Axis], emit: Emitter
) -> tuple[SSAValue, list[Axis]]:
    """Split dimensions of which the slice takes the first of several equal parts."""
    shape: list[int] = []
    split: list[Axis] = []
    for axis, extent in zip(axes, shape_of(source), strict=True):
        is_prefix = axis.offset == 0 and axis.stride == 1 and 1 < axis.size < extent
        if is_prefix and extent % axis.size == 0:
            shape += [extent // axis.size, axis.size]
            split += [Axis(0, 1, 1), axis]
        else:
            shape.append(extent)
            split.append(axis)
    return reshape(emit, source, shape), split


def _in_range(emit: Emitter, axis: Axis, extent: int) -> SSAValue:
    """The offset; a computed one is moved so that the slice stays inside: else it is undefined."""
    if isinstance(axis.offset, int):
        return emit.index(axis.offset)
    if isinstance(axis.stride, int) and axis.stride > 0:
        return clamp(emit, axis.offset, 0, max(0, extent - (axis.size - 1) * axis.stride - 1))
    return axis.offset


def _stride(emit: Emitter, axis: Axis) -> SSAValue:
    return emit.index(axis.stride) if isinstance(axis.stride, int) else axis.stride


def extract_slice(op: tensor.ExtractSliceOp, emit: Emitter) -> SSAValue:
    """A copy of the slice, by an affine map where the offsets are known."""
    type_ = tensor_type(op.result)
    shape = shape_of(op.result)
    rank = len(shape)
    if prod(shape) == 0:
        return empty(emit, type_)
    source, axes = _split_prefixes(op.source, slice_axes(op), emit)
    extents = shape_of(source)
    kept = kept_dims([axis.size for axis in axes], shape)
    exprs = _static_source_index(axes, kept, extents)
    if exprs is not None:
        map_ = AffineMap(rank, 0, tuple(exprs))
        return elementwise(emit, type_, [source], [map_], lambda _, args: args)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        loops = loop_indices(inner, rank)
        indices: list[SSAValue] = []
        for dim, (axis, extent) in enumerate(zip(axes, extents, strict=True)):
            start = _in_range(inner, axis, extent)
            if dim not in kept:
                indices.append(start)
                continue
            step = inner.add(arith.MuliOp(loops[kept.index(dim)], _stride(inner, axis))).result
            index = inner.add(arith.AddiOp(start, step)).result
            if not isinstance(axis.stride, int) or axis.stride < 0:
                index = clamp(inner, index, 0, extent - 1)
            indices.append(index)
        return [inner.add(tensor.ExtractOp(source, indices, type_.element_type)).result]

    return elementwise(emit, type_, [], [], body)


def insert_slice(op: tensor.InsertSliceOp, emit: Emitter) -> SSAValue:
    """Each element of the result is one of the source, or of the destination."""
    axes = slice_axes(op)
    type_ = tensor_type(op.result)
    rank = type_.get_num_dims()
    sizes = [axis.size for axis in axes]
    kept = kept_dims(sizes, shape_of(op.source))
    if prod(sizes) == 0:
        return op.dest
    undefined = isinstance(op.dest.owner, tensor.EmptyOp)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        loops = loop_indices(inner, rank)
        conditions: list[SSAValue] = []
        indices: list[SSAValue] = []
        for dim, (axis, extent) in enumerate(zip(axes, shape_of(op.dest), strict=True)):
            index, inside = _position_in_slice(inner, loops[dim], axis, extent)
            conditions.extend(inside)
            if dim in kept:
                indices.append(index)
        value = inner.add(tensor.ExtractOp(op.source, indices, type_.element_type)).result
        if not conditions:
            return [value]
        if undefined:
            other = inner.add(arith.ConstantOp(zero(type_.element_type))).result
        else:
            other = args[0]
        return [inner.add(arith.SelectOp(all_of(inner, conditions), value, other)).result]

    inputs = [] if undefined else [op.dest]
    return elementwise(emit, type_, inputs, [AffineMap.identity(rank)] * len(inputs), body)


def _position_in_slice(
    emit: Emitter, loop: SSAValue, axis: Axis, extent: int
) -> tuple[SSAValue, list[SSAValue]]:
    """Which element of the slice lies at `loop`, clamped to those it has, and whether it is one."""
    if not isinstance(axis.stride, int) or axis.stride < 1:
        return _position_by_division(emit, loop, axis, extent)
    conditions: list[SSAValue] = []
    distance = loop
    if isinstance(axis.offset, SSAValue):
        distance = emit.add(arith.SubiOp(loop, _in_range(emit, axis, extent))).result
    elif axis.offset:
        distance = emit.add(arith.SubiOp(loop, emit.index(axis.offset))).result
    before = distance is not loop
    last = (axis.size - 1) * axis.stride
    start = axis.offset if isinstance(axis.offset, int) else 0
    after = start + last < extent - 1 or isinstance(axis.offset, SSAValue)
    if before:
        conditions.append(emit.add(arith.CmpiOp(distance, emit.index(0), "sge")).result)
    if after:
        conditions.append(emit.add(arith.CmpiOp(distance, emit.index(last), "sle")).result)
    index = clamp(emit, distance, 0 if before else None, last if after else None)
    if axis.stride != 1:
        stride = emit.index(axis.stride)
        remainder = emit.add(arith.RemUIOp(index, stride)).result
        conditions.append(emit.add(arith.CmpiOp(remainder, emit.index(0), "eq")).result)
        index = emit.add(arith.DivUIOp(index, stride)).result
    return index, conditions


def _position_by_division(
    emit: Emitter, loop: SSAValue, axis: Axis, extent: int
) -> tuple[SSAValue, list[SSAValue]]:
    """`_position_in_slice` for strides that are negative or computed."""
    distance = emit.add(arith.SubiOp(loop, _in_range(emit, axis, extent))).result
    stride = _stride(emit, axis)
    # A stride of zero puts every element at one place: the slice has just one there.
    is_zero = emit.add(arith.CmpiOp(stride, emit.index(0), "eq")).result
    divisor = emit.add(arith.SelectOp(is_zero, emit.index(1), stride)).result
    index = emit.add(arith.DivSIOp(distance, divisor)).result
    reached = emit.add(arith.MuliOp(index, divisor)).result
    conditions: list[SSAValue] = [
        emit.add(arith.CmpiOp(reached, distance, "eq")).result,
        emit.add(arith.CmpiOp(index, emit.index(0), "sge")).result,
        emit.add(arith.CmpiOp(index, emit.index(axis.size), "slt")).result,
    ]
    return clamp(emit, index, 0, axis.size - 1), conditions


def concat(op: tensor.ConcatOp, emit: Emitter) -> SSAValue:
    """Each element is selected from the input in whose range it lies; of many inputs some are
    joined first, so that no kernel has more buffers than a device binds."""
    dim = op.dim.value.data
    type_ = tensor_type(op.result)
    inputs = [v for v in op.inputs if prod(shape_of(v)) != 0]
    if not inputs:
        return empty(emit, type_)
    while len(inputs) > MOST_INPUTS:
        parts = [inputs[i : i + MOST_INPUTS] for i in range(0, len(inputs), MOST_INPUTS)]
        inputs = [_joined(part, dim, emit) for part in parts]
    return _joined(inputs, dim, emit)


def _joined(inputs: Sequence[SSAValue], dim: int, emit: Emitter) -> SSAValue:
    """The concatenation of few tensors that have elements."""
    shape = list(shape_of(inputs[0]))
    shape[dim] = sum(shape_of(v)[dim] for v in inputs)
    type_ = TensorType(tensor_type(inputs[0]).element_type, shape)
    rank = len(shape)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        loops = loop_indices(inner, rank)
        result: SSAValue | None = None
        start = 0
        for source in inputs:
            size = shape_of(source)[dim]
            position = loops[dim]
            if start:
                position = inner.add(arith.SubiOp(position, inner.index(start))).result
            last_one = start + size == type_.get_shape()[dim]
            clamped = clamp(inner, position, 0 if start else None, None if last_one else size - 1)
            indices = [clamped if i == dim else loop for i, loop in enumerate(loops)]
            value = inner.add(tensor.ExtractOp(source, indices, type_.element_type)).result
            if result is not None:
                here = inner.add(arith.CmpiOp(loops[dim], inner.index(start), "sge")).result
                value = inner.add(arith.SelectOp(here, value, result)).result
            result = value
            start += size
        assert result is not None
        return [result]

    return elementwise(emit, type_, [], [], body)


@dataclass(frozen=True)
class SlicesToGenericPass(ModulePass):
    """Turn `tensor.extract_slice`, `insert_slice` and `concat` into generics (L1 to L1).

    A slice at known offsets is an affine map; everything else reads by a clamped `tensor.extract`
    and `arith.select`.

        %s = tensor.extract_slice %x[0, 3] [5, 17] [2, 1] : tensor<10x20xf32> to tensor<5x17xf32>
    becomes
        %s = linalg.generic {(d0, d1) -> (d0 * 2, d1 + 3), ...} ins(%x) { yield %in }
    """

    name = "slices-to-generic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions."""
        for function in host_functions(op):
            for inner in list(function.body.walk()):
                _rewrite(inner)


def _rewrite(op: Operation) -> None:
    emit = Emitter.before(op)
    match op:
        case tensor.ExtractSliceOp():
            make = sized_slices.extract_slice if is_sized(op) else extract_slice
            result = make(op, emit)
        case tensor.InsertSliceOp():
            make = sized_slices.insert_slice if is_sized(op) else insert_slice
            result = make(op, emit)
        case tensor.ConcatOp():
            make = sized_slices.concat if is_sized(op) else concat
            result = make(op, emit)
        case _:
            return
    result.name_hint = result.name_hint or op.results[0].name_hint
    op.results[0].replace_all_uses_with(result)
    erase(op)
