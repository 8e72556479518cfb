"""Ops that compute each element from those at its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ComplexType, FixedBitwidthType
from xdsl.ir import Attribute, SSAValue

from ingot.compiler.dialects.stablehlo.names import BINARY, UNARY
from ingot.compiler.dialects.stablehlo.shapes.common import (
    Rule,
    agree,
    alike,
    ordered,
    result_is,
    shape,
    takes_scalars,
    tensor,
)

if TYPE_CHECKING:
    from ingot.compiler.dialects.stablehlo.base import StableHLOOp


def elementwise(op: StableHLOOp) -> str | None:
    return alike("operands", op.ins) or result_is(op, shape(op.ins[0]))


def _select(op: StableHLOOp) -> str | None:
    flags, *values = op.ins
    broken = alike("operands", values)
    if broken is None and shape(flags) and not agree(shape(flags), shape(values[0])):
        broken = f"needs one condition or {op.outs[0].type} of them, but has {flags.type}"
    return broken or result_is(op, shape(values[0]))


def _clamp(op: StableHLOOp) -> str | None:
    low, value, high = op.ins
    for bound in (low, high):
        if shape(bound) and not agree(shape(bound), shape(value)):
            return f"needs bounds without dimensions or like {value.type}, but has {bound.type}"
    return result_is(op, shape(value))


def _reduce_precision(op: StableHLOOp) -> str | None:
    exponent, mantissa = op.int("exponent_bits"), op.int("mantissa_bits")
    if exponent < 1 or mantissa < 0:
        return f"needs a format with exponent bits, but has e{exponent}m{mantissa}"
    return elementwise(op)


def _bitcast_convert(op: StableHLOOp) -> str | None:
    """The side of narrower elements has one more dimension, of the elements of a wider one."""
    sides = [shape(op.ins[0]), shape(op.outs[0])]
    widths = [_width(op.ins[0].type), _width(op.outs[0].type)]
    if None in widths or widths[0] == widths[1]:
        return result_is(op, sides[0])
    narrow, wide = (0, 1) if (widths[0] or 0) < (widths[1] or 0) else (1, 0)
    ratio, rest = divmod(widths[wide] or 0, widths[narrow] or 1)
    if rest or not agree(sides[narrow], [*sides[wide], ratio]):
        return f"cannot read {op.ins[0].type} as {op.outs[0].type}"
    return None


def _width(type_: Attribute) -> int | None:
    """Bits of an element, None for an element without a width of its own."""
    found = tensor(type_)
    match found.element_type if found is not None else None:
        case ComplexType() as whole:
            part = cast("Attribute", whole.element_type)
            return 2 * part.bitwidth if isinstance(part, FixedBitwidthType) else None
        case FixedBitwidthType() as element:
            return element.bitwidth
        case _:
            return None


def _map(op: StableHLOOp) -> str | None:
    if not op.ins:
        return "needs an operand"
    rank = len(shape(op.ins[0]))
    numbers = op.ints("dimensions")
    if numbers is not None and list(numbers) != list(range(rank)):
        return f"needs dimensions of 0 to {rank - 1} in order, but has {list(numbers)}"
    return elementwise(op) or takes_scalars(op, 0, len(op.ins), 1)


def broadcasting(op: StableHLOOp) -> str | None:
    """Operands are broadcast against each other, the last dimensions or those that the op names."""
    target = shape(op.outs[0])
    for value in op.ins:
        sizes, dims = shape(value), _dims(op, value)
        if len(sizes) < len(target):
            if len(dims) != len(sizes):
                return f"needs {len(sizes)} broadcast_dimensions, but has {dims}"
            if (broken := ordered("broadcast_dimensions", dims, len(target))) is not None:
                return broken
        fits = len(sizes) <= len(target) and all(
            size == 1 or agree([size], [target[dim]]) for size, dim in zip(sizes, dims, strict=True)
        )
        if not fits:
            return f"cannot broadcast {value.type} to {op.outs[0].type}"
    if any(size > 1 and not _has(op, dim, size) for dim, size in enumerate(target)):
        return f"cannot make {op.outs[0].type} of its operands"
    return None


def _dims(op: StableHLOOp, value: SSAValue) -> list[int]:
    """The dimensions of the result that those of an operand are broadcast along."""
    rank, own = len(shape(op.outs[0])), len(shape(value))
    numbers = op.ints("broadcast_dimensions")
    return list(range(rank - own, rank) if numbers is None or own >= rank else numbers)


def _has(op: StableHLOOp, dim: int, size: int) -> bool:
    """Whether an operand may have as many elements along a dimension of the result."""
    return any(
        dim in (dims := _dims(op, value)) and agree([shape(value)[dims.index(dim)]], [size])
        for value in op.ins
    )


RULES: dict[str, Rule] = {
    **{
        f"stablehlo.{name}": elementwise
        for name in (*UNARY, *BINARY, "compare", "complex")
        if name != "bitcast_convert"
    },
    "stablehlo.select": _select,
    "stablehlo.bitcast_convert": _bitcast_convert,
    "stablehlo.clamp": _clamp,
    "stablehlo.reduce_precision": _reduce_precision,
    "stablehlo.map": _map,
}
