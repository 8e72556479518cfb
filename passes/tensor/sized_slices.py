"""Slices and other moves of dynamic shape, or by sizes, as generics that read by index.

`slices-to-generic` and `pad-to-generic` do the same for known sizes, by affine maps where they can.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.dialects.utils import get_dynamic_index_list
from xdsl.ir import Attribute, SSAValue

from ingot.compiler.analysis.generics import (
    Emitter,
    all_of,
    elementwise,
    inline,
    loop_indices,
    size_of,
)
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.host import CheckOp
from ingot.compiler.dialects.tensor import PadOp

Index = int | SSAValue

MOST_INPUTS = 14
"""Tensors that one kernel concatenates: with the sizes and the result as many buffers as every
device binds."""


def _value(emit: Emitter, index: Index) -> SSAValue:
    return emit.index(index) if isinstance(index, int) else index


def _add(emit: Emitter, a: Index, b: Index) -> Index:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if a == 0 or b == 0:
        return b if a == 0 else a
    return emit.add(arith.AddiOp(_value(emit, a), _value(emit, b))).result


def _subtract(emit: Emitter, a: SSAValue, b: Index) -> SSAValue:
    return a if b == 0 else emit.add(arith.SubiOp(a, _value(emit, b))).result


def _make(
    type_: TensorType[Attribute],
    emit: Emitter,
    sizes: Sequence[Index],
    body: Callable[[Emitter, Sequence[SSAValue]], SSAValue],
) -> SSAValue:
    """A tensor of `type_` whose sizes are `sizes`, each element computed from its position."""
    shape = type_.get_shape()
    open_sizes = [_value(emit, s) for s, known in zip(sizes, shape, strict=True) if known < 0]

    def indexed(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        return [body(inner, loop_indices(inner, len(shape)))]

    return elementwise(emit, type_, [], [], indexed, open_sizes)


def _read(emit: Emitter, source: SSAValue, indices: Sequence[SSAValue]) -> SSAValue:
    """An element; the kernel moves indices that are out of range into it."""
    element = tensor_type(source).element_type
    return emit.add(tensor.ExtractOp(source, indices, element)).result


def _axes(
    op: tensor.ExtractSliceOp | tensor.InsertSliceOp,
) -> tuple[list[Index], list[Index], list[Index]]:
    offsets = get_dynamic_index_list(op.static_offsets.get_values(), op.offsets, DYNAMIC_INDEX)
    sizes = get_dynamic_index_list(op.static_sizes.get_values(), op.sizes, DYNAMIC_INDEX)
    strides = get_dynamic_index_list(op.static_strides.get_values(), op.strides, DYNAMIC_INDEX)
    return list(offsets), list(sizes), list(strides)


def _kept(sizes: Sequence[int], shape: Sequence[int]) -> list[int]:
    """The dimensions of a slice that are left in `shape`; the others have size 1."""
    kept: list[int] = []
    for dim, size in enumerate(sizes):
        if len(kept) < len(shape) and size == shape[len(kept)]:
            kept.append(dim)
    return kept


def extract_slice(op: tensor.ExtractSliceOp, emit: Emitter) -> SSAValue:
    """The elements of a slice."""
    offsets, sizes, strides = _axes(op)
    kept = _kept(op.static_sizes.get_values(), shape_of(op.result))

    def body(inner: Emitter, loops: Sequence[SSAValue]) -> SSAValue:
        indices: list[SSAValue] = []
        for dim, (offset, stride) in enumerate(zip(offsets, strides, strict=True)):
            if dim not in kept:
                indices.append(_value(inner, offset))
                continue
            step = loops[kept.index(dim)]
            if stride != 1:
                step = inner.add(arith.MuliOp(step, _value(inner, stride))).result
            indices.append(_value(inner, _add(inner, step, offset)))
        return _read(inner, op.source, indices)

    return _make(tensor_type(op.result), emit, [sizes[dim] for dim in kept], body)


def insert_slice(op: tensor.InsertSliceOp, emit: Emitter) -> SSAValue:
    """The elements of the destination, those in the slice replaced."""
    offsets, sizes, strides = _axes(op)
    kept = _kept(op.static_sizes.get_values(), shape_of(op.source))

    def body(inner: Emitter, loops: Sequence[SSAValue]) -> SSAValue:
        inside: list[SSAValue] = []
        indices: list[SSAValue] = []
        axes = zip(loops, offsets, sizes, strides, strict=True)
        for dim, (loop, offset, size, stride) in enumerate(axes):
            place = _subtract(inner, loop, offset)
            if stride != 1:
                step = _value(inner, stride)
                quotient = inner.add(arith.DivSIOp(place, step)).result
                whole = inner.add(arith.MuliOp(quotient, step)).result
                inside.append(inner.add(arith.CmpiOp(whole, place, "eq")).result)
                place = quotient
            inside += _range(inner, place, size)
            if dim in kept:
                indices.append(place)
        new, old = _read(inner, op.source, indices), _read(inner, op.dest, loops)
        return inner.add(arith.SelectOp(all_of(inner, inside), new, old)).result

    shape = [size_of(emit, op.dest, dim) for dim in range(len(offsets))]
    return _make(tensor_type(op.result), emit, shape, body)


def _range(emit: Emitter, index: SSAValue, size: Index) -> list[SSAValue]:
    """Conditions for an index to be one of a dimension."""
    low = emit.add(arith.CmpiOp(index, emit.index(0), "sge")).result
    high = emit.add(arith.CmpiOp(index, _value(emit, size), "slt")).result
    return [low, high]


def concat(op: tensor.ConcatOp, emit: Emitter) -> SSAValue:
    """The elements of the inputs, one after another; of many inputs some are joined first."""
    along, type_ = op.dim.value.data, tensor_type(op.result)
    part_shape = list(type_.get_shape())
    part_shape[along] = DYNAMIC_INDEX
    part_type: TensorType[Attribute] = TensorType(type_.element_type, part_shape)
    inputs = list(op.inputs)
    while len(inputs) > MOST_INPUTS:
        parts = [inputs[i : i + MOST_INPUTS] for i in range(0, len(inputs), MOST_INPUTS)]
        inputs = [_joined(part, along, part_type, emit) for part in parts]
    return _joined(inputs, along, type_, emit)


def _joined(
    inputs: Sequence[SSAValue], along: int, type_: TensorType[Attribute], emit: Emitter
) -> SSAValue:
    """The concatenation of few tensors."""
    starts: list[Index] = [0]
    for value in inputs:
        starts.append(_add(emit, starts[-1], size_of(emit, value, along)))
    first, *others = inputs
    sizes = [size_of(emit, first, dim) for dim in range(len(shape_of(first)))]
    for dim in (d for d in range(len(sizes)) if d != along):
        for other in others:
            same = arith.CmpiOp(
                _value(emit, size_of(emit, other, dim)), _value(emit, sizes[dim]), "eq"
            )
            what = f"what is concatenated must have one size in dimension {dim}"
            emit.add(CheckOp(emit.add(same).result, what))
    sizes[along] = starts[-1]

    def body(inner: Emitter, loops: Sequence[SSAValue]) -> SSAValue:
        result: SSAValue | None = None
        for value, start in zip(inputs, starts, strict=False):
            place = _subtract(inner, loops[along], start)
            element = _read(inner, value, [*loops[:along], place, *loops[along + 1 :]])
            if result is None:
                result = element
                continue
            here = inner.add(arith.CmpiOp(place, inner.index(0), "sge")).result
            result = inner.add(arith.SelectOp(here, element, result)).result
        assert result is not None
        return result

    return _make(type_, emit, sizes, body)


def pad(op: PadOp, emit: Emitter) -> SSAValue:
    """The elements of the source, and around them what the body computes."""
    low = get_dynamic_index_list(op.static_low.get_values(), op.low, DYNAMIC_INDEX)
    high = get_dynamic_index_list(op.static_high.get_values(), op.high, DYNAMIC_INDEX)
    inner_sizes = [size_of(emit, op.source, d) for d in range(len(low))]
    sizes = [
        _add(emit, _add(emit, below, size), above)
        for below, size, above in zip(low, inner_sizes, high, strict=True)
    ]

    def body(inner: Emitter, loops: Sequence[SSAValue]) -> SSAValue:
        padding = inline(inner, op.region, loops)
        places = [_subtract(inner, loop, below) for loop, below in zip(loops, low, strict=True)]
        inside = [
            condition
            for place, size in zip(places, inner_sizes, strict=True)
            for condition in _range(inner, place, size)
        ]
        element = _read(inner, op.source, places)
        return inner.add(arith.SelectOp(all_of(inner, inside), element, padding)).result

    return _make(tensor_type(op.result), emit, sizes, body)
