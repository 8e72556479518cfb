"""Float arithmetic with operands that are zeros, by the bits of the other operand.

`expand-zero-arithmetic` says what for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, VectorType, f32, i1
from xdsl.ir import SSAValue

from ingot.compiler.analysis.constant_zeros import is_folded, starts_at_zero, zero_signs
from ingot.compiler.dialects import arith
from ingot.passes.lowering.emitter import Emitter, Value

_SIGN = 0x80000000
_MAGNITUDE = 0x7FFFFFFF
_INFINITY = 0x7F800000
_NAN = 0x7FC00000

Where = Value | bool
"""In which lanes an operand is a zero: in all or none, or as a truth value of each."""


@dataclass(frozen=True)
class Zeros:
    """Finds the lanes in which operands are, or may become, zeros."""

    known: dict[SSAValue, bool] = field(default_factory=dict[SSAValue, bool])
    count_carried: bool = True
    """Whether what a loop carries, and begins with a zero, counts as a factor."""

    def of_term(self, value: Value, sign: int) -> Where:
        """Where a term is a zero with this sign bit."""
        signs = [s == sign for s in zero_signs(value.ssa)]
        if not any(signs) and is_folded(value.ssa, self.known):
            return value.convert(f32).bits().eq(_SIGN if sign else 0)
        return _lanes(value.emitter, signs)

    def of_factor(self, value: Value) -> Where:
        """Where a factor, dividend or divisor is a zero."""
        signs = [s is not None for s in zero_signs(value.ssa)]
        carried = self.count_carried and starts_at_zero(value.ssa)
        if not any(signs) and (carried or is_folded(value.ssa, self.known)):
            return value.eq(0.0)
        return _lanes(value.emitter, signs)


def _lanes(e: Emitter, lanes: list[bool]) -> Where:
    """Lanes that are known now."""
    if all(lanes) or not any(lanes):
        return lanes[0]
    type_ = VectorType(i1, [len(lanes)])
    value = DenseIntOrFPElementsAttr.from_list(type_, list(map(int, lanes)))
    return e.op(arith.ConstantOp(value, type_))


def add(zeros: Zeros, a: Value, b: Value) -> Value | None:
    """a + b; None, as from the others, where no operand may be a zero."""
    return _sum(a, b, zeros.of_term(a, 0), zeros.of_term(b, 0))


def subtract(zeros: Zeros, a: Value, b: Value) -> Value | None:
    """a - b."""
    # Drivers add the negated operand.
    where_a, where_b = zeros.of_term(a, 0), zeros.of_term(b, 1)
    return None if where_a is False and where_b is False else _sum(a, -b, where_a, where_b)


def _sum(a: Value, b: Value, where_a: Where, where_b: Where) -> Value | None:
    """a + b, given where each is +0; None where neither is."""

    def kept(bits: Value) -> Value:
        return bits.eq(_SIGN).select(bits.like(0), bits)

    return _written_out(a, b, (where_a, where_b), (kept, kept), lambda a, b: a + b)


def multiply(zeros: Zeros, a: Value, b: Value) -> Value | None:
    """a * b."""

    def zero(bits: Value) -> Value:
        return (bits & _MAGNITUDE).ult(_INFINITY).select(_sign(a, b), _NAN)

    wheres = zeros.of_factor(a), zeros.of_factor(b)
    return _written_out(a, b, wheres, (zero, zero), lambda a, b: a * b)


def divide(
    zeros: Zeros,
    a: Value,
    b: Value,
    quotient_of: Callable[[Value, Value], Value] = lambda a, b: a / b,
) -> Value | None:
    """a / b, by `quotient_of` where neither is a zero."""

    def zero_or_nan(bits: Value, magnitude: int = 0) -> Value:
        # Neither a zero, which wraps around, nor a NaN.
        is_number = ((bits & _MAGNITUDE) - 1).ult(_INFINITY)
        return is_number.select(_sign(a, b) | magnitude, _NAN)

    def infinity_or_nan(bits: Value) -> Value:
        return zero_or_nan(bits, _INFINITY)

    wheres = zeros.of_factor(a), zeros.of_factor(b)
    return _written_out(a, b, wheres, (zero_or_nan, infinity_or_nan), quotient_of)


def fuse(zeros: Zeros, a: Value, b: Value, c: Value) -> Value | None:
    """a * b + c, rounded as the product where c is a zero; that with a zero is exact."""
    product, where_c = multiply(zeros, a, b), zeros.of_term(c, 0)
    if product is None and where_c is False:
        return None
    product = product or a * b
    return _sum(product, c, False, where_c) or product + c


def _sign(a: Value, b: Value) -> Value:
    """The sign of a product or quotient, in the bits of an f32."""
    first, second = (v.convert(f32).bits() for v in (a, b))
    return (first ^ second) & _SIGN


def _written_out(
    a: Value,
    b: Value,
    wheres: tuple[Where, Where],
    formulas: tuple[Callable[[Value], Value], Callable[[Value], Value]],
    plain: Callable[[Value, Value], Value],
) -> Value | None:
    """An operation by the bits of its other operand (as f32) where one is a zero, else `plain`.

    Given where each is a zero; None where neither is.
    """
    if wheres[0] is False and wheres[1] is False:
        return None
    result = a if True in wheres else plain(a, b)
    for where, formula, other in zip(wheres, formulas, (b, a), strict=True):
        if where is False:
            continue
        written = formula(other.convert(f32).bits()).as_float().convert(other.element)
        result = where.select(written, result) if isinstance(where, Value) else written
    return result
