"""Floating-point minimum and maximum by comparisons: what targets offer treats NaN as it likes."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from ingot.compiler.analysis.index_range import constant_number
from ingot.compiler.dialects import arith
from ingot.passes.lowering.emitter import Emitter, Value


def _operands(op: Operation, e: Emitter) -> tuple[Value, Value, float | None]:
    """Both operands, a constant one last, and the number it is (NaN counts as unknown)."""
    lhs, rhs = op.operands
    if constant_number(lhs) is not None:
        lhs, rhs = rhs, lhs
    number = constant_number(rhs)
    known = None if number is None or number != number else float(number)
    return e.value(lhs), e.value(rhs), known


def _is_negative_zero(number: float) -> bool:
    return number == 0.0 and str(number)[0] == "-"


def _propagating(op: Operation, e: Emitter, *, maximum: bool) -> Value:
    """IEEE 754-2019 maximum and minimum: NaN wins, -0 is less than +0."""
    a, b, known = _operands(op, e)
    if known is not None:
        # equal numbers differ only as zeros: then the constant is taken where it is the result
        take_equal = _is_negative_zero(known) != maximum
        if maximum:
            worse = a.le(b) if take_equal else a.lt(b)
        else:
            worse = a.ge(b) if take_equal else a.gt(b)
        return worse.select(b, a)
    return e.call(op.name, a, b)


def maximum(a: Value, b: Value) -> Value:
    return _ordered(a, b, maximum=True)


def minimum(a: Value, b: Value) -> Value:
    return _ordered(a, b, maximum=False)


def _ordered(a: Value, b: Value, *, maximum: bool) -> Value:
    zeros = (a.bits() & b.bits()) if maximum else (a.bits() | b.bits())
    better = a.gt(b) if maximum else a.lt(b)
    result = a.eq(b).select(zeros.as_float(), better.select(a, b))
    unordered = a.emitter.op(arith.CmpfOp(a.ssa, b.ssa, "uno"))
    return unordered.select(a + b, result)


def _number(op: Operation, e: Emitter, *, maximum: bool) -> Value:
    """IEEE 754 maxNum and minNum: the number, where one operand is NaN."""
    a, b, known = _operands(op, e)
    better = a.gt(b) if maximum else a.lt(b)
    if known is None:
        better = better | b.is_nan()
    return better.select(a, b)


def maximumf(op: Operation, e: Emitter) -> Value:
    return _propagating(op, e, maximum=True)


def minimumf(op: Operation, e: Emitter) -> Value:
    return _propagating(op, e, maximum=False)


def maxnumf(op: Operation, e: Emitter) -> Value:
    return _number(op, e, maximum=True)


def minnumf(op: Operation, e: Emitter) -> Value:
    return _number(op, e, maximum=False)


def clampf(op: Operation, e: Emitter) -> Value:
    """minimumf(maximumf(value, low), high)"""
    value, low, high = (e.value(operand) for operand in op.operands)
    return e.call("arith.minimumf", e.call("arith.maximumf", value, low), high)


def fast_clamp(op: Operation, e: Emitter) -> Value:
    value, low, high = (e.value(operand) for operand in op.operands)
    at_least = value.gt(low).select(value, low)
    return at_least.lt(high).select(at_least, high)


def fast_maximum(op: Operation, e: Emitter) -> Value:
    a, b, _ = _operands(op, e)
    return a.gt(b).select(a, b)


def fast_minimum(op: Operation, e: Emitter) -> Value:
    a, b, _ = _operands(op, e)
    return a.lt(b).select(a, b)


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "arith.maximumf": maximum,
    "arith.minimumf": minimum,
}
"""Formulas for two unknown operands, in any float type."""
EXPANSIONS: dict[str, Callable[[Operation, Emitter], Value]] = {
    "arith.maximumf": maximumf,
    "arith.minimumf": minimumf,
    "arith.maxnumf": maxnumf,
    "arith.minnumf": minnumf,
    "math.clampf": clampf,
}
FAST_EXPANSIONS: dict[str, Callable[[Operation, Emitter], Value]] = {
    "arith.maximumf": fast_maximum,
    "arith.minimumf": fast_minimum,
    "arith.maxnumf": fast_maximum,
    "arith.minnumf": fast_minimum,
    "math.clampf": fast_clamp,
}
"""Under `math=fast` the result is not specified where an operand is NaN, nor the sign of zero."""
