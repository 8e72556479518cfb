"""`tensor` ops on whole arrays, and reading elements inside bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    I64,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ingot.compiler.dialects.tensor import (
    GenerateOp,
    PadOp,
    ParallelInsertSliceOp,
)
from ingot.compiler.interpreter.frame import Frame, handles, index_of
from ingot.compiler.interpreter.indexing import loop_indices
from ingot.compiler.interpreter.values import Array, EvaluationError


def _type(value: SSAValue) -> TensorType[Attribute]:
    return cast("TensorType[Attribute]", value.type)


def _mixed(frame: Frame, static: DenseArrayBase[I64], dynamic: Sequence[SSAValue]) -> list[int]:
    """Sizes or offsets, those known now and those computed."""
    computed = iter(dynamic)
    values: Sequence[int] = static.get_values()
    return [index_of(frame.get(next(computed))) if v == DYNAMIC_INDEX else v for v in values]


def _shape(
    frame: Frame, type: TensorType[Attribute], dynamic: Sequence[SSAValue]
) -> tuple[int, ...]:
    sizes = iter(dynamic)
    return tuple(
        index_of(frame.get(next(sizes))) if size == DYNAMIC_INDEX else size
        for size in type.get_shape()
    )


def slice_window(
    frame: Frame,
    op: tensor.ExtractSliceOp | tensor.InsertSliceOp | ParallelInsertSliceOp,
    shape: Sequence[int],
) -> tuple[slice, ...]:
    """The part of a tensor of `shape` that the op reads or writes; raises when that is outside."""
    offsets = _mixed(frame, op.static_offsets, op.offsets)
    sizes = _mixed(frame, op.static_sizes, op.sizes)
    strides = _mixed(frame, op.static_strides, op.strides)
    window: list[slice] = []
    for offset, size, stride, extent in zip(offsets, sizes, strides, shape, strict=True):
        last = offset + (size - 1) * stride
        if size and not (0 <= offset < extent and 0 <= last < extent):
            raise EvaluationError(f"{op.name} reaches from {offset} to {last} of {extent}")
        end = offset if not size else last + (1 if stride > 0 else -1)
        # Going down to element 0, the end lies before it: a negative one would count from behind.
        window.append(slice(offset, None if end < 0 else end, stride))
    return tuple(window)


@handles("tensor.empty", "bufferization.alloc_tensor")
def _empty(frame: Frame, op: Operation) -> Sequence[Array]:
    type = _type(op.results[0])
    return [frame.types.undefined(_shape(frame, type, op.operands), type.element_type)]


@handles("tensor.cast")
def _cast(frame: Frame, op: Operation) -> Sequence[Array]:
    value = frame.operands(op)[0]
    result = op.results[0].type
    if isinstance(result, TensorType):
        for size, actual in zip(result.get_shape(), value.shape, strict=True):
            if size not in (DYNAMIC_INDEX, actual):
                raise EvaluationError(f"tensor.cast to {result} of a tensor of shape {value.shape}")
    return [value]


@handles("tensor.dim")
def _dim(frame: Frame, op: Operation) -> Sequence[Array]:
    value, dim = frame.operands(op)
    return [np.asarray(value.shape[index_of(dim)], np.int64)]


@handles("tensor.rank")
def _rank(frame: Frame, op: Operation) -> Sequence[Array]:
    return [np.asarray(frame.operands(op)[0].ndim, np.int64)]


@handles("tensor.extract")
def _extract(frame: Frame, op: Operation) -> Sequence[Array]:
    source, *indices = frame.operands(op)
    safe: list[Array] = []
    for index, extent in zip(indices, source.shape, strict=True):
        outside = (index < 0) | (index >= extent)
        if frame.is_active(outside):
            raise EvaluationError(f"tensor.extract reads outside of a dimension of {extent}")
        safe.append(np.where(outside, 0, index))
    if safe and not source.size:
        return [
            frame.types.undefined(
                np.broadcast_shapes(*(i.shape for i in safe)), _type(op.operands[0]).element_type
            )
        ]
    return [np.asarray(source[tuple(safe)])]


@handles("tensor.insert")
def _insert(frame: Frame, op: Operation) -> Sequence[Array]:
    scalar, dest, *indices = frame.operands(op)
    result = np.array(dest)
    result[tuple(index_of(i) for i in indices)] = scalar
    return [result]


@handles("tensor.extract_slice")
def _extract_slice(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, tensor.ExtractSliceOp)
    source = frame.get(op.source)
    window = np.asarray(source[slice_window(frame, op, source.shape)])
    kept = _rank_reduced(window.shape, _type(op.result).get_shape())
    return [window.reshape(kept)]


def _rank_reduced(shape: tuple[int, ...], result: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` without the unit dimensions that a rank-reducing slice drops."""
    if len(shape) == len(result):
        return shape
    kept: list[int] = []
    dropped = len(shape) - len(result)
    for size in shape:
        position = len(kept)
        matches = position < len(result) and result[position] in (size, DYNAMIC_INDEX)
        if size == 1 and dropped and not (matches and result[position] == 1):
            dropped -= 1
            continue
        kept.append(size)
    return tuple(kept)


@handles("tensor.insert_slice")
def _insert_slice(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, tensor.InsertSliceOp)
    result = np.array(frame.get(op.dest))
    window = slice_window(frame, op, result.shape)
    result[window] = frame.get(op.source).reshape(result[window].shape)
    return [result]


@handles("tensor.collapse_shape", "tensor.expand_shape")
def _reshape_groups(frame: Frame, op: Operation) -> Sequence[Array]:
    source = frame.operands(op)[0]
    groups = cast("ArrayAttr[ArrayAttr[IntegerAttr]]", op.properties["reassociation"])
    if op.name == "tensor.collapse_shape":
        shape = [
            int(np.prod([source.shape[dim.value.data] for dim in group], dtype=np.int64))
            for group in groups
        ]
        return [source.reshape(shape)]
    static = cast("DenseArrayBase[I64]", op.properties["static_output_shape"])
    return [source.reshape(_mixed(frame, static, op.operands[1:]))]


@handles("tensor.reshape")
def _reshape(frame: Frame, op: Operation) -> Sequence[Array]:
    source, shape = frame.operands(op)
    return [source.reshape([int(size) for size in shape])]


@handles("tensor.concat")
def _concat(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, tensor.ConcatOp)
    return [np.concatenate(frame.operands(op), axis=op.dim.value.data)]


@handles("tensor.splat")
def _splat(frame: Frame, op: Operation) -> Sequence[Array]:
    value = frame.operands(op)[0]
    return [np.full(_shape(frame, _type(op.results[0]), op.operands[1:]), value, value.dtype)]


@handles("tensor.from_elements")
def _from_elements(frame: Frame, op: Operation) -> Sequence[Array]:
    type = _type(op.results[0])
    values = np.array([value.item() for value in frame.operands(op)], dtype=object)
    return [values.astype(frame.types.dtype(type)).reshape(type.get_shape())]


@handles("tensor.bitcast")
def _bitcast(frame: Frame, op: Operation) -> Sequence[Array]:
    return [frame.operands(op)[0].view(frame.types.dtype(op.results[0].type))]


@handles("tensor.pad")
def _pad(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, PadOp)
    source = frame.get(op.source)
    low = _mixed(frame, op.static_low, op.low)
    high = _mixed(frame, op.static_high, op.high)
    # A negative amount crops the source.
    crop = tuple(
        slice(max(0, -before), size - max(0, -after))
        for before, after, size in zip(low, high, source.shape, strict=True)
    )
    shape = tuple(
        size + before + after for size, before, after in zip(source.shape, low, high, strict=True)
    )
    indices = loop_indices(shape)
    (value,) = frame.run_region(op.region, indices)
    result = np.broadcast_to(value, shape).copy()
    inner = source[crop]
    place = tuple(
        slice(max(0, before), max(0, before) + size)
        for before, size in zip(low, inner.shape, strict=True)
    )
    result[place] = inner
    return [result]


@handles("tensor.generate")
def _generate(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, GenerateOp)
    shape = _shape(frame, _type(op.result), op.operands)
    indices = loop_indices(shape)
    (value,) = frame.run_region(op.body, indices)
    return [np.broadcast_to(value, shape).copy()]
