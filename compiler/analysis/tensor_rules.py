"""Rules of upstream's tensor ops that xDSL's verifiers leave out: shapes, and static bounds."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Operation

from ingot.compiler.analysis.tensor_types import as_tensor_type


def broken_rule(op: Operation) -> str | None:
    """The sentence for a rule that the op breaks, or None."""
    match op:
        case tensor.ExtractOp():
            return _count_of_indices(op.tensor.type, len(op.indices))
        case tensor.InsertOp():
            return _count_of_indices(op.dest.type, len(op.indices))
        case tensor.ExtractSliceOp():
            return _slice(op, op.source.type, op.result.type)
        case tensor.InsertSliceOp():
            return _slice(op, op.dest.type, op.source.type)
        case tensor.CollapseShapeOp():
            return _collapse(op)
        case tensor.FromElementsOp():
            shape = _shape(op.result.type)
            if prod(shape) != len(op.operands):
                return f"{len(op.operands)} elements do not fill a {op.result.type}"
        case _:
            pass
    return None


def _shape(type_: Attribute) -> tuple[int, ...]:
    known = as_tensor_type(type_)
    return () if known is None else known.get_shape()


def _count_of_indices(type_: Attribute, count: int) -> str | None:
    rank = len(_shape(type_))
    return None if rank == count else f"an element of a {type_} needs {rank} indices, not {count}"


def _slice(
    op: tensor.ExtractSliceOp | tensor.InsertSliceOp, whole: Attribute, part: Attribute
) -> str | None:
    """The part has the slice's sizes, but for unit dimensions, and lies inside of the whole."""
    offsets, sizes, strides = (
        tuple(int(n) for n in attribute.get_values())
        for attribute in (op.static_offsets, op.static_sizes, op.static_strides)
    )
    extents = _shape(whole)
    if not len(offsets) == len(sizes) == len(strides) == len(extents):
        return f"a slice of a {whole} needs {len(extents)} offsets, sizes and strides"
    if not _fits(sizes, _shape(part)):
        spelled = "x".join("?" if n == DYNAMIC_INDEX else str(n) for n in sizes)
        return f"a slice of {spelled} elements is no {part}"
    for d, (offset, size, stride, extent) in enumerate(
        zip(offsets, sizes, strides, extents, strict=True)
    ):
        if DYNAMIC_INDEX in (offset, size, extent) or not size:
            continue
        if not 0 <= offset < extent:
            return f"the slice begins at {offset} of the {extent} elements of dimension {d}"
        last = offset if stride == DYNAMIC_INDEX else offset + (size - 1) * stride
        if not 0 <= last < extent:
            return f"the slice ends at {last} of the {extent} elements of dimension {d}"
    return None


def _fits(sizes: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether `shape` is `sizes`, perhaps without some dimensions of one element."""
    if len(shape) > len(sizes):
        return False
    left = list(shape)
    spare = len(sizes) - len(shape)
    for size in sizes:
        if left and (left[0] == size or DYNAMIC_INDEX in (left[0], size)):
            left.pop(0)
        elif size == 1 and spare:
            spare -= 1
        else:
            return False
    return not left


def _collapse(op: tensor.CollapseShapeOp) -> str | None:
    source, result = _shape(op.src.type), _shape(op.result.type)
    groups = [[dim.value.data for dim in group] for group in op.reassociation]
    if not groups and not result and all(size in (1, DYNAMIC_INDEX) for size in source):
        return None
    if [dim for group in groups for dim in group] != list(range(len(source))):
        return f"the groups do not name each dimension of a {op.src.type} once, in order"
    if len(groups) != len(result):
        return f"{len(groups)} groups do not make a {op.result.type}"
    for d, (group, size) in enumerate(zip(groups, result, strict=True)):
        parts = [source[dim] for dim in group]
        if DYNAMIC_INDEX not in (*parts, size) and prod(parts) != size:
            return f"dimension {d} of the result has {size} elements, but {prod(parts)} collapse"
    return None
