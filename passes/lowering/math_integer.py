"""Integer operations that targets leave undefined somewhere, or lack.

Division follows RISC-V: x / 0 is all ones, x % 0 is x, INT_MIN / -1 is INT_MIN with remainder 0; no
lane divides by zero, so a CPU does not trap. Shifts by the width or more give 0, or the sign.
SPIR-V's signed remainder is undefined for negative operands in Vulkan, so remainders are products
and differences unless the operands are known not to be negative.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import math
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Operation, SSAValue

from ingot.compiler.analysis.index_range import constant_int, is_non_negative
from ingot.compiler.dialects import arith
from ingot.passes.lowering.emitter import Emitter, Value, element_type, with_element

Expansion = Callable[[Operation, Emitter], "Value | list[Value] | None"]


def _values(op: Operation, e: Emitter) -> tuple[Value, Value]:
    return e.value(op.operands[0]), e.value(op.operands[1])


def _minimum(value: Value) -> int:
    return -(1 << (value.width - 1))


def _is_index(value: SSAValue) -> bool:
    """Indices have no width yet: they neither wrap nor divide by zero."""
    return isinstance(element_type(value.type), IndexType)


def _safe_divisor(a: Value, b: Value, *, signed: bool) -> tuple[Value, Value | None]:
    """A divisor that never traps, and where the given one is zero (None: nowhere)."""
    known = constant_int(b.ssa)
    if _is_index(b.ssa) or (known is not None and known not in (0, -1)):
        return b, None
    zero = b.eq(0)
    traps = zero
    if signed:
        traps = zero | (b.eq(-1) & a.eq(_minimum(a)))
    return traps.select(b.like(1), b), zero


def _quotient(a: Value, b: Value, *, signed: bool) -> tuple[Value, Value, Value | None]:
    """a / divisor rounded towards zero, the divisor and where b is zero."""
    divisor, zero = _safe_divisor(a, b, signed=signed)
    return a.divide(divisor, signed=signed), divisor, zero


def _division(op: Operation, e: Emitter, *, signed: bool) -> Value:
    a, b = _values(op, e)
    if signed and is_non_negative(a.ssa) and is_non_negative(b.ssa) and _is_index(a.ssa):
        return a.divide(b, signed=False)
    quotient, _, zero = _quotient(a, b, signed=signed)
    return quotient if zero is None else zero.select(a.like(-1), quotient)


def divsi(op: Operation, e: Emitter) -> Value:
    return _division(op, e, signed=True)


def divui(op: Operation, e: Emitter) -> Value:
    return _division(op, e, signed=False)


def remsi(op: Operation, e: Emitter) -> Value:
    a, b = _values(op, e)
    if _is_index(a.ssa) and is_non_negative(a.ssa) and is_non_negative(b.ssa):
        return a.remainder(b, signed=False)
    quotient, divisor, zero = _quotient(a, b, signed=True)
    result = a - quotient * divisor
    return result if zero is None else zero.select(a, result)


def remui(op: Operation, e: Emitter) -> Value:
    a, b = _values(op, e)
    divisor, zero = _safe_divisor(a, b, signed=False)
    result = a.remainder(divisor, signed=False)
    return result if zero is None else zero.select(a, result)


def _rounded_division(op: Operation, e: Emitter, *, up: bool) -> Value:
    a, b = _values(op, e)
    if _is_index(a.ssa) and is_non_negative(a.ssa) and is_non_negative(b.ssa):
        return (a + (b - 1)).divide(b, signed=False) if up else a.divide(b, signed=False)
    quotient, divisor, zero = _quotient(a, b, signed=True)
    inexact = (a - quotient * divisor).ne(0)
    differ = (a ^ divisor).lt(0)
    if up:
        result = (inexact & ~differ).select(quotient + 1, quotient)
    else:
        result = (inexact & differ).select(quotient - 1, quotient)
    return result if zero is None else zero.select(a.like(-1), result)


def floordivsi(op: Operation, e: Emitter) -> Value:
    return _rounded_division(op, e, up=False)


def ceildivsi(op: Operation, e: Emitter) -> Value:
    return _rounded_division(op, e, up=True)


def ceildivui(op: Operation, e: Emitter) -> Value:
    a, b = _values(op, e)
    quotient, divisor, zero = _quotient(a, b, signed=False)
    result = (a.ne(quotient * divisor)).select(quotient + 1, quotient)
    return result if zero is None else zero.select(a.like(-1), result)


def _shift_in_range(amount: SSAValue, width: int) -> bool:
    known = constant_int(amount)
    return known is not None and 0 <= known < width


def _logical_shift(
    op: Operation, e: Emitter, shift: Callable[[Value, Value], Value]
) -> Value | None:
    a, n = _values(op, e)
    if _is_index(a.ssa) or _shift_in_range(n.ssa, a.width):
        return None
    fits = n.ult(a.width)
    return fits.select(shift(a, fits.select(n, 0)), 0)


def shli(op: Operation, e: Emitter) -> Value | None:
    return _logical_shift(op, e, lambda a, n: a << n)


def shrui(op: Operation, e: Emitter) -> Value | None:
    return _logical_shift(op, e, lambda a, n: a.shift_right_logical(n))


def shrsi(op: Operation, e: Emitter) -> Value | None:
    a, n = _values(op, e)
    if _is_index(a.ssa) or _shift_in_range(n.ssa, a.width):
        return None
    return a >> n.ult(a.width).select(n, a.width - 1)


def _count(op_type: type[Operation], value: Value) -> Value:
    """A count that targets offer for 32 bits, on 32 bits."""
    return value.emitter.math(op_type, value)


def _halves(value: Value) -> tuple[Value, Value]:
    """High and low 32 bits of a 64-bit integer."""
    return value.shift_right_logical(32).resize(32), value.resize(32)


def _population(a: Value) -> Value:
    width = a.width
    if width == 64:
        high, low = _halves(a)
        count = _count(math.CtPopOp, high) + _count(math.CtPopOp, low)
    else:
        count = _count(math.CtPopOp, a.resize(32, signed=False))
    return count.resize(width, signed=False)


def ctpop(op: Operation, e: Emitter) -> Value | None:
    a = e.value(op.operands[0])
    return None if a.width == 32 else _population(a)


def ctlz(op: Operation, e: Emitter) -> Value | None:
    a = e.value(op.operands[0])
    width = a.width
    if width == 32:
        return None
    if width == 64:
        high, low = _halves(a)
        count = high.eq(0).select(
            _count(math.CountLeadingZerosOp, low) + 32, _count(math.CountLeadingZerosOp, high)
        )
    else:
        count = _count(math.CountLeadingZerosOp, a.resize(32, signed=False)) - (32 - width)
    return count.resize(width, signed=False)


def cttz(op: Operation, e: Emitter) -> Value:
    a = e.value(op.operands[0])
    # ones below the lowest set bit; all ones for zero
    return _population((a & -a) - 1)


def absi(op: Operation, e: Emitter) -> Value:
    a = e.value(op.operands[0])
    return a.lt(0).select(-a, a)


def addui_extended(op: Operation, e: Emitter) -> list[Value]:
    a, b = _values(op, e)
    total = a + b
    return [total, total.ult(a)]


def _wide_product(op: Operation, e: Emitter, *, signed: bool) -> list[Value]:
    a, b = _values(op, e)
    width = a.width
    if width < 64:
        wide = max(2 * width, 32)
        product = a.resize(wide, signed=signed) * b.resize(wide, signed=signed)
        return [product.resize(width), product.shift_right_logical(width).resize(width)]
    # schoolbook multiplication in 32-bit digits, unsigned; then the signs' correction
    mask = 0xFFFFFFFF
    a_hi, a_lo = a.shift_right_logical(32), a & mask
    b_hi, b_lo = b.shift_right_logical(32), b & mask
    low = a_lo * b_lo
    middle = a_hi * b_lo + low.shift_right_logical(32)
    middle2 = a_lo * b_hi + (middle & mask)
    high = a_hi * b_hi + middle.shift_right_logical(32) + middle2.shift_right_logical(32)
    if signed:
        high = high - a.lt(0).select(b, 0) - b.lt(0).select(a, 0)
    return [a * b, high]


def mulsi_extended(op: Operation, e: Emitter) -> list[Value]:
    return _wide_product(op, e, signed=True)


def mului_extended(op: Operation, e: Emitter) -> list[Value]:
    return _wide_product(op, e, signed=False)


def cmpi(op: Operation, e: Emitter) -> Value | None:
    """Orders of sign-extended i32 without the extension, or by the unsigned order.

    Mesa before 23.1 answers wrong when the other side of such a comparison is a constant, or
    becomes one inside the driver; and 64-bit comparisons are slow where the hardware lacks them.
    """
    assert isinstance(op, arith.CmpiOp)
    name = _ORDERS.get(op.predicate.value.data)
    if name is None or element_type(op.lhs.type) != IntegerType(64):
        return None
    if not any(_is_extended(operand) for operand in op.operands):
        return None
    left, right = (_narrowed(operand, e) for operand in op.operands)
    if left is not None and right is not None:
        return e.op(arith.CmpiOp(left.ssa, right.ssa, f"s{name}"))
    flipped = [value ^ _minimum(value) for value in _values(op, e)]
    return e.op(arith.CmpiOp(flipped[0].ssa, flipped[1].ssa, f"u{name}"))


_ORDERS = {2: "lt", 3: "le", 4: "gt", 5: "ge"}
"""The signed orders by the value of the predicate."""


def _is_extended(value: SSAValue) -> bool:
    owner = value.owner
    return isinstance(owner, arith.ExtSIOp) and element_type(owner.input.type) == IntegerType(32)


def _narrowed(value: SSAValue, e: Emitter) -> Value | None:
    """An i64 value as i32, where it is one that was extended, or a constant that fits."""
    owner = value.owner
    if isinstance(owner, arith.ExtSIOp) and _is_extended(value):
        return e.value(owner.input)
    number = constant_int(value)
    if number is None or not -(1 << 31) <= number < 1 << 31:
        return None
    return e.const(number, with_element(value.type, IntegerType(32)))


EXPANSIONS: dict[str, Expansion] = {
    "arith.cmpi": cmpi,
    "arith.divsi": divsi,
    "arith.divui": divui,
    "arith.remsi": remsi,
    "arith.remui": remui,
    "arith.floordivsi": floordivsi,
    "arith.ceildivsi": ceildivsi,
    "arith.ceildivui": ceildivui,
    "arith.shli": shli,
    "arith.shrui": shrui,
    "arith.shrsi": shrsi,
    "arith.addui_extended": addui_extended,
    "arith.mulsi_extended": mulsi_extended,
    "arith.mului_extended": mului_extended,
    "math.absi": absi,
    "math.ctpop": ctpop,
    "math.ctlz": ctlz,
    "math.cttz": cttz,
}
