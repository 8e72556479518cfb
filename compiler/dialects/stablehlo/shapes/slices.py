"""Slices, updates of slices and padding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DYNAMIC_INDEX

from ingot.compiler.dialects.stablehlo.shapes.common import (
    Rule,
    first,
    line,
    result_is,
    scalars,
    shape,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import SSAValue

    from ingot.compiler.dialects.stablehlo.base import StableHLOOp


def _slice(op: StableHLOOp) -> str | None:
    source, target = shape(op.ins[0]), shape(op.outs[0])
    ranges = [op.ints(name) or () for name in ("start_indices", "limit_indices", "strides")]
    if any(len(r) != len(source) for r in (*ranges, target)):
        return f"needs a start, a limit and a stride for each of {len(source)} dimensions"
    for size, extent, start, limit, stride in zip(source, target, *ranges, strict=True):
        if size == DYNAMIC_INDEX:
            continue
        if stride < 1 or not 0 <= start <= limit <= size:
            return f"cannot take {start}:{limit}:{stride} of {size} elements"
        if extent not in (DYNAMIC_INDEX, -(-(limit - start) // stride)):
            return f"takes {-(-(limit - start) // stride)} elements, but its result has {extent}"
    return None


def _pad(op: StableHLOOp) -> str | None:
    source, target = shape(op.ins[0]), shape(op.outs[0])
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    amounts = [op.ints(name) or () for name in names]
    if any(len(amount) != len(source) for amount in (*amounts, target)):
        return f"needs amounts for each of {len(source)} dimensions"
    for size, extent, low, high, between in zip(source, target, *amounts, strict=True):
        padded = low + size + max(size - 1, 0) * between + high
        if between < 0 or (DYNAMIC_INDEX not in (size, extent) and padded != extent):
            return f"cannot pad {op.ins[0].type} to {op.outs[0].type} by these amounts"
    return None


def _fits(sizes: Sequence[int], extents: Sequence[int]) -> bool:
    """Whether a slice may have these sizes."""
    return len(sizes) == len(extents) and all(
        DYNAMIC_INDEX in (size, extent) or 0 <= size <= extent
        for size, extent in zip(sizes, extents, strict=True)
    )


def _starts(starts: Sequence[SSAValue], rank: int) -> str | None:
    if len(starts) != rank:
        return f"needs {rank} starts, but has {len(starts)}"
    return scalars("starts", starts)


def _dynamic_slice(op: StableHLOOp) -> str | None:
    if not op.ins:
        return "needs an operand"
    source, sizes = shape(op.ins[0]), op.ints("slice_sizes") or ()
    if not _fits(sizes, source) or any(size < 0 for size in sizes):
        return f"needs slice_sizes that fit into {text(source)}, but has {list(sizes)}"
    return _starts(op.ins[1:], len(source)) or result_is(op, sizes)


def _dynamic_update_slice(op: StableHLOOp) -> str | None:
    if len(op.ins) < 2:
        return "needs an operand and an update"
    source, update = shape(op.ins[0]), shape(op.ins[1])
    if not _fits(update, source):
        return f"cannot write {op.ins[1].type} into {op.ins[0].type}"
    return _starts(op.ins[2:], len(source)) or result_is(op, source)


def _lines(op: StableHLOOp, names: Sequence[str], start: int) -> str | None:
    """Operands with a number for each dimension, and a result of as many dimensions."""
    rank = len(shape(op.ins[0]))
    broken = first(line(name, op.ins[start + i], rank) for i, name in enumerate(names))
    return broken or result_is(op, [DYNAMIC_INDEX] * rank)


def _dynamic_pad(op: StableHLOOp) -> str | None:
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    return scalars("a padding value", op.ins[1:2]) or _lines(op, names, 2)


def _real_dynamic_slice(op: StableHLOOp) -> str | None:
    if (broken := _lines(op, ("start_indices", "limit_indices", "strides"), 1)) is not None:
        return broken
    if not _fits(shape(op.outs[0]), shape(op.ins[0])):
        return f"cannot take {op.outs[0].type} of {op.ins[0].type}"
    return None


RULES: dict[str, Rule] = {
    "stablehlo.slice": _slice,
    "stablehlo.pad": _pad,
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.dynamic_update_slice": _dynamic_update_slice,
    "stablehlo.dynamic_pad": _dynamic_pad,
    "stablehlo.real_dynamic_slice": _real_dynamic_slice,
}
