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


@dataclass
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
    if where_a is False and where_b is False:
        return None
    result = a if True in (where_a, where_b) else a + b
    for where, other in ((where_a, b), (where_b, a)):
        if where is not False:
            bits = other.convert(f32).bits()
            kept = bits.eq(_SIGN).select(bits.like(0), bits)
            result = _choose(where, kept.as_float().convert(other.element), result)
    return result


def multiply(zeros: Zeros, a: Value, b: Value) -> Value | None:
    """a * b."""
    where_a, where_b = zeros.of_factor(a), zeros.of_factor(b)
    if where_a is False and where_b is False:
        return None
    result = a if True in (where_a, where_b) else a * b
    for where, other in ((where_a, b), (where_b, a)):
        if where is not False:
            bits, sign = _bits_and_sign(other, a, b)
            is_finite = (bits & _MAGNITUDE).ult(_INFINITY)
            product = is_finite.select(sign, _NAN).as_float().convert(other.element)
            result = _choose(where, product, result)
    return result


def divide(
    zeros: Zeros,
    a: Value,
    b: Value,
    quotient_of: Callable[[Value, Value], Value] = lambda a, b: a / b,
) -> Value | None:
    """a / b, by `quotient_of` where neither is a zero."""
    where_a, where_b = zeros.of_factor(a), zeros.of_factor(b)
    if where_a is False and where_b is False:
        return None
    result = a if True in (where_a, where_b) else quotient_of(a, b)
    for where, other, magnitude in ((where_a, b, 0), (where_b, a, _INFINITY)):
        if where is not False:
            bits, sign = _bits_and_sign(other, a, b)
            # Neither a zero, which wraps around, nor a NaN.
            is_number = ((bits & _MAGNITUDE) - 1).ult(_INFINITY)
            quotient = is_number.select(sign | magnitude, _NAN).as_float().convert(other.element)
            result = _choose(where, quotient, result)
    return result


def fuse(zeros: Zeros, a: Value, b: Value, c: Value) -> Value | None:
    """a * b + c, rounded as the product where c is a zero; that with a zero is exact."""
    product, where_c = multiply(zeros, a, b), zeros.of_term(c, 0)
    if product is None and where_c is False:
        return None
    product = product or a * b
    return _sum(product, c, False, where_c) or product + c


def _bits_and_sign(of: Value, a: Value, b: Value) -> tuple[Value, Value]:
    """The bits of an operand as f32, and the sign of the product or quotient of both."""
    first, second = (v.convert(f32).bits() for v in (a, b))
    return of.convert(f32).bits(), (first ^ second) & _SIGN


def _choose(where: Where, true: Value, false: Value) -> Value:
    """`true` in some lanes, `false` in the others."""
    return where.select(true, false) if isinstance(where, Value) else true
