"""Slices and other moves of dynamic shape, or by sizes, as generics that read by index.

`slices-to-generic` and `pad-to-generic` do the same for known sizes, by affine maps where they can.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.utils import get_dynamic_index_list
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, all_of, loop_indices, make_generic
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.linalg import IteratorTypeAttr, YieldOp
from ingot.compiler.dialects.tensor import PadOp

Index = int | SSAValue
SizeOf = Callable[[SSAValue, int], Index]

SLICES = (
    tensor.ExtractSliceOp,
    tensor.InsertSliceOp,
    tensor.ConcatOp,
    PadOp,
    tensor.FromElementsOp,
    tensor.SplatOp,
)


def to_generic(op: Operation, emit: Emitter, size_of: SizeOf) -> SSAValue:
    """The result of an op of `SLICES`, each element read where it comes from."""
    match op:
        case tensor.ExtractSliceOp():
            return _extract(op, emit)
        case tensor.InsertSliceOp():
            return _insert(op, emit, size_of)
        case tensor.ConcatOp():
            return _concat(op, emit, size_of)
        case PadOp():
            return _pad(op, emit, size_of)
        case tensor.FromElementsOp():
            return _from_elements(op, emit)
        case tensor.SplatOp():
            sizes = [size_of(op.result, d) for d in range(len(shape_of(op.result)))]
            return _make(op, emit, sizes, lambda _, __: op.input)
        case _:
            raise ValueError(f"{op.name} is no slice")


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
    op: Operation,
    emit: Emitter,
    sizes: Sequence[Index],
    body: Callable[[Emitter, Sequence[SSAValue]], SSAValue],
) -> SSAValue:
    """A generic over the result of `op`, of which `sizes` are the sizes."""
    type_ = tensor_type(op.results[0])
    shape = type_.get_shape()
    open_sizes = [_value(emit, s) for s, known in zip(sizes, shape, strict=True) if known < 0]
    init = emit.add(tensor.EmptyOp(open_sizes, type_)).tensor
    block = Block(arg_types=[type_.element_type])
    inner = Emitter.at_end(block, op.location)
    inner.add(YieldOp(body(inner, loop_indices(inner, len(shape)))))
    parallel = [IteratorTypeAttr.parallel()] * len(shape)
    identity = AffineMap.identity(len(shape))
    return make_generic(emit, [], [init], [identity], parallel, Region(block)).results[0]


def _read(emit: Emitter, source: SSAValue, indices: Sequence[SSAValue]) -> SSAValue:
    """An element; the kernel moves indices that are out of range into it."""
    element = tensor_type(source).element_type
    return emit.add(tensor.ExtractOp(source, indices, element)).result


def _axes(
    op: tensor.ExtractSliceOp | tensor.InsertSliceOp,
) -> tuple[list[Index], list[Index], list[int]]:
    strides: Sequence[int] = op.static_strides.get_values()
    if DYNAMIC_INDEX in strides:
        raise refuse(op, f"{op.name} with a computed stride is not supported yet")
    offsets = get_dynamic_index_list(op.static_offsets.get_values(), op.offsets, DYNAMIC_INDEX)
    sizes = get_dynamic_index_list(op.static_sizes.get_values(), op.sizes, DYNAMIC_INDEX)
    return list(offsets), list(sizes), list(strides)


def _kept(sizes: Sequence[int], shape: Sequence[int]) -> list[int]:
    """The dimensions of a slice that are left in `shape`; the others have size 1."""
    kept: list[int] = []
    for dim, size in enumerate(sizes):
        if len(kept) < len(shape) and size == shape[len(kept)]:
            kept.append(dim)
    return kept


def _extract(op: tensor.ExtractSliceOp, emit: Emitter) -> SSAValue:
    offsets, sizes, strides = _axes(op)
    kept = _kept(op.static_sizes.get_values(), shape_of(op.result))

    def body(inner: Emitter, loops: Sequence[SSAValue]) -> SSAValue:
        indices: list[SSAValue] = []
        for dim, offset in enumerate(offsets):
            if dim not in kept:
                indices.append(_value(inner, offset))
                continue
            step = loops[kept.index(dim)]
            if strides[dim] != 1:
                step = inner.add(arith.MuliOp(step, inner.index(strides[dim]))).result
            indices.append(_value(inner, _add(inner, step, offset)))
        return _read(inner, op.source, indices)

    return _make(op, emit, [sizes[dim] for dim in kept], body)


def _insert(op: tensor.InsertSliceOp, emit: Emitter, size_of: SizeOf) -> SSAValue:
    offsets, sizes, strides = _axes(op)
    kept = _kept(op.static_sizes.get_values(), shape_of(op.source))
    if any(stride != 1 for stride in strides):
        raise refuse(op, "tensor.insert_slice of dynamic shape with a stride is not supported yet")

    def body(inner: Emitter, loops: Sequence[SSAValue]) -> SSAValue:
        inside: list[SSAValue] = []
        indices: list[SSAValue] = []
        for dim, (loop, offset, size) in enumerate(zip(loops, offsets, sizes, strict=True)):
            place = _subtract(inner, loop, offset)
            inside += _range(inner, place, size)
            if dim in kept:
                indices.append(place)
        new, old = _read(inner, op.source, indices), _read(inner, op.dest, loops)
        return inner.add(arith.SelectOp(all_of(inner, inside), new, old)).result

    return _make(op, emit, [size_of(op.dest, d) for d in range(len(offsets))], body)


def _range(emit: Emitter, index: SSAValue, size: Index) -> list[SSAValue]:
    """Conditions for an index to be one of a dimension."""
    low = emit.add(arith.CmpiOp(index, emit.index(0), "sge")).result
    high = emit.add(arith.CmpiOp(index, _value(emit, size), "slt")).result
    return [low, high]


def _concat(op: tensor.ConcatOp, emit: Emitter, size_of: SizeOf) -> SSAValue:
    along = op.dim.value.data
    starts: list[Index] = [0]
    for value in op.inputs:
        starts.append(_add(emit, starts[-1], size_of(value, along)))
    first = op.inputs[0]
    sizes = [size_of(first, d) for d in range(len(shape_of(first)))]
    sizes[along] = starts[-1]

    def body(inner: Emitter, loops: Sequence[SSAValue]) -> SSAValue:
        result: SSAValue | None = None
        for value, start in zip(op.inputs, starts, strict=False):
            place = _subtract(inner, loops[along], start)
            element = _read(inner, value, [*loops[:along], place, *loops[along + 1 :]])
            if result is None:
                result = element
                continue
            here = inner.add(arith.CmpiOp(place, inner.index(0), "sge")).result
            result = inner.add(arith.SelectOp(here, element, result)).result
        assert result is not None
        return result

    return _make(op, emit, sizes, body)


def _from_elements(op: tensor.FromElementsOp, emit: Emitter) -> SSAValue:
    shape = shape_of(op.result)

    def body(inner: Emitter, loops: Sequence[SSAValue]) -> SSAValue:
        linear = inner.index(0)
        for loop, size in zip(loops, shape, strict=True):
            scaled = inner.add(arith.MuliOp(linear, inner.index(size))).result
            linear = inner.add(arith.AddiOp(scaled, loop)).result
        result = op.elements[0]
        for number, element in enumerate(op.elements[1:], 1):
            here = inner.add(arith.CmpiOp(linear, inner.index(number), "eq")).result
            result = inner.add(arith.SelectOp(here, element, result)).result
        return result

    return _make(op, emit, shape, body)


def _pad(op: PadOp, emit: Emitter, size_of: SizeOf) -> SSAValue:
    low = get_dynamic_index_list(op.static_low.get_values(), op.low, DYNAMIC_INDEX)
    high = get_dynamic_index_list(op.static_high.get_values(), op.high, DYNAMIC_INDEX)
    block = op.region.block
    last = block.last_op
    assert last is not None
    if any(argument.uses for argument in block.args):
        raise refuse(op, "tensor.pad of dynamic shape with a computed value is not supported yet")
    inner_sizes = [size_of(op.source, d) for d in range(len(low))]
    sizes = [
        _add(emit, _add(emit, below, size), above)
        for below, size, above in zip(low, inner_sizes, high, strict=True)
    ]

    def body(inner: Emitter, loops: Sequence[SSAValue]) -> SSAValue:
        cloned: dict[SSAValue, SSAValue] = {}
        for made in list(block.ops)[:-1]:
            inner.add(made.clone(cloned))
        padding = cloned.get(last.operands[0], last.operands[0])
        places = [_subtract(inner, loop, below) for loop, below in zip(loops, low, strict=True)]
        inside = [
            condition
            for place, size in zip(places, inner_sizes, strict=True)
            for condition in _range(inner, place, size)
        ]
        if not inside:
            return _read(inner, op.source, [])
        element = _read(inner, op.source, places)
        return inner.add(arith.SelectOp(all_of(inner, inside), element, padding)).result

    return _make(op, emit, sizes, body)
