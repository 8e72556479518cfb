"""Ops that move elements, backwards: each moves them back."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DenseArrayBase, TensorType, i64
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, all_of, elementwise, loop_indices, reshape
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.tensor import PadOp

from .activity import is_float
from .formulas import constant
from .generics import sum_of
from .kernels import zeros
from .reverse import Reverse, reverses


@reverses(tensor.ExpandShapeOp, tensor.CollapseShapeOp)
def _reshape(reverse: Reverse, op: Operation, cotangents: Sequence[SSAValue | None]) -> None:
    (cotangent,) = cotangents
    assert cotangent is not None
    reverse.add(op.operands[0], reshape(reverse.emit, cotangent, shape_of(op.operands[0])))


@reverses(tensor.CastOp)
def _cast(reverse: Reverse, op: Operation, cotangents: Sequence[SSAValue | None]) -> None:
    (cotangent,) = cotangents
    assert cotangent is not None
    source = op.operands[0]
    back = tensor.CastOp(cotangent, tensor_type(source))
    reverse.add(source, reverse.emit.add(back).dest)


@reverses(tensor.ExtractSliceOp)
def _extract_slice(reverse: Reverse, op: Operation, cotangents: Sequence[SSAValue | None]) -> None:
    """The slice's cotangent among zeros."""
    assert isinstance(op, tensor.ExtractSliceOp)
    (cotangent,) = cotangents
    assert cotangent is not None
    whole = zeros(reverse.emit, tensor_type(op.source))
    reverse.add(op.source, reverse.emit.add(_insert(op, cotangent, whole)).result)


@reverses(tensor.InsertSliceOp)
def _insert_slice(reverse: Reverse, op: Operation, cotangents: Sequence[SSAValue | None]) -> None:
    """The source gets the slice, the destination what lies around it."""
    assert isinstance(op, tensor.InsertSliceOp)
    (cotangent,) = cotangents
    assert cotangent is not None
    if op.source in reverse.active:
        reverse.add(op.source, reverse.emit.add(_extract(op, cotangent)).result)
    if op.dest in reverse.active:
        hole = zeros(reverse.emit, tensor_type(op.source))
        reverse.add(op.dest, reverse.emit.add(_insert(op, hole, cotangent)).result)


def _insert(
    op: tensor.ExtractSliceOp | tensor.InsertSliceOp, source: SSAValue, dest: SSAValue
) -> tensor.InsertSliceOp:
    """`source` at the place of the slice of `op`."""
    return tensor.InsertSliceOp.build(
        operands=[source, dest, list(op.offsets), list(op.sizes), list(op.strides)],
        result_types=[dest.type],
        properties=_places(op),
    )


def _extract(op: tensor.InsertSliceOp, whole: SSAValue) -> tensor.ExtractSliceOp:
    """The slice of `op`, of `whole`."""
    return tensor.ExtractSliceOp.build(
        operands=[whole, list(op.offsets), list(op.sizes), list(op.strides)],
        result_types=[op.source.type],
        properties=_places(op),
    )


def _places(op: tensor.ExtractSliceOp | tensor.InsertSliceOp) -> dict[str, DenseArrayBase]:
    return {
        "static_offsets": op.static_offsets,
        "static_sizes": op.static_sizes,
        "static_strides": op.static_strides,
    }


@reverses(tensor.ConcatOp)
def _concat(reverse: Reverse, op: Operation, cotangents: Sequence[SSAValue | None]) -> None:
    assert isinstance(op, tensor.ConcatOp)
    (cotangent,) = cotangents
    assert cotangent is not None
    dim, start = op.dim.value.data, 0
    for part in op.inputs:
        sizes = shape_of(part)
        offsets = [start if d == dim else 0 for d in range(len(sizes))]
        if part in reverse.active:
            slice_ = tensor.ExtractSliceOp(
                cotangent, offsets, list(sizes), [1] * len(sizes), part.type
            )
            reverse.add(part, reverse.emit.add(slice_).result)
        start += sizes[dim]


@reverses(PadOp)
def _pad(reverse: Reverse, op: Operation, cotangents: Sequence[SSAValue | None]) -> None:
    """The source gets what lies inside of the padding, a padding scalar the sum of the rest."""
    assert isinstance(op, PadOp)
    (cotangent,) = cotangents
    assert cotangent is not None
    low, high = op.mixed_low, op.mixed_high
    sizes = shape_of(op.source)
    amounts = [a for a in (*low, *high) if isinstance(a, int)]
    if len(amounts) != len(low) + len(high) or min(amounts, default=0) < 0:
        raise refuse(
            op, "tensor.pad by amounts that are negative or computed cannot be differentiated"
        )
    offsets = [a for a in low if isinstance(a, int)]
    ones = [1] * len(sizes)
    inner = reverse.emit.add(
        tensor.ExtractSliceOp(cotangent, offsets, list(sizes), ones, op.source.type)
    ).result
    reverse.add(op.source, inner)
    terminator = op.region.block.last_op
    assert terminator is not None
    (padding,) = terminator.operands
    if padding in reverse.active:
        hole = zeros(reverse.emit, tensor_type(op.source))
        around = tensor.InsertSliceOp.build(
            operands=[hole, cotangent, [], [], []],
            result_types=[cotangent.type],
            properties={
                "static_offsets": DenseArrayBase.from_list(i64, offsets),
                "static_sizes": DenseArrayBase.from_list(i64, list(sizes)),
                "static_strides": DenseArrayBase.from_list(i64, ones),
            },
        )
        reverse.add(padding, sum_of(reverse.emit, reverse.emit.add(around).result))
    elif any(
        is_float(v.type) and v in reverse.active for o in op.region.walk() for v in o.operands
    ):
        raise refuse(op, "tensor.pad whose padding is computed cannot be differentiated")


@reverses(tensor.ExtractOp)
def _extract_scalar(reverse: Reverse, op: Operation, cotangents: Sequence[SSAValue | None]) -> None:
    """The scalar's cotangent at its place among zeros."""
    assert isinstance(op, tensor.ExtractOp)
    (cotangent,) = cotangents
    assert cotangent is not None
    type_ = tensor_type(op.tensor)
    indices = list(op.indices)
    if not indices:
        reverse.add(op.tensor, cotangent)
        return
    reverse.add(op.tensor, _at_place(reverse.emit, cotangent, indices, type_))


def _at_place(
    emit: Emitter, scalar: SSAValue, indices: Sequence[SSAValue], type_: TensorType
) -> SSAValue:
    rank = len(indices)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        here = [
            inner.add(arith.CmpiOp(loop, index, "eq")).result
            for loop, index in zip(loop_indices(inner, rank), indices, strict=True)
        ]
        zero = constant(inner, 0.0, type_.element_type)
        return [inner.add(arith.SelectOp(all_of(inner, here), args[0], zero)).result]

    return elementwise(emit, type_, [scalar], [AffineMap(rank, 0, ())], body)


@reverses(tensor.InsertOp)
def _insert_scalar(reverse: Reverse, op: Operation, cotangents: Sequence[SSAValue | None]) -> None:
    """The scalar gets the element of its place, the tensor the others."""
    assert isinstance(op, tensor.InsertOp)
    (cotangent,) = cotangents
    assert cotangent is not None
    element = op.scalar.type
    indices = list(op.indices)

    def here(emit: Emitter, _: Sequence[SSAValue]) -> list[SSAValue]:
        return [emit.add(tensor.ExtractOp(cotangent, indices, element)).result]

    if op.scalar in reverse.active:
        part = elementwise(reverse.emit, TensorType(element, []), [], [], here)
        reverse.add(op.scalar, part)
    if op.dest in reverse.active:
        zero = constant(reverse.emit, 0.0, element)
        rest = tensor.InsertOp(zero, cotangent, indices)
        reverse.add(op.dest, reverse.emit.add(rest).result)


@reverses(tensor.FromElementsOp)
def _from_elements(reverse: Reverse, op: Operation, cotangents: Sequence[SSAValue | None]) -> None:
    assert isinstance(op, tensor.FromElementsOp)
    (cotangent,) = cotangents
    assert cotangent is not None
    flat = reshape(reverse.emit, cotangent, [len(op.operands)])
    for i, element in enumerate(op.operands):
        if element in reverse.active:
            scalar: TensorType = TensorType(element.type, [])
            slice_ = tensor.ExtractSliceOp(flat, [i], [1], [1], scalar)
            reverse.add(element, reverse.emit.add(slice_).result)


@reverses(tensor.SplatOp)
def _splat(reverse: Reverse, op: Operation, cotangents: Sequence[SSAValue | None]) -> None:
    (cotangent,) = cotangents
    assert cotangent is not None
    reverse.add(op.operands[0], sum_of(reverse.emit, cotangent))
