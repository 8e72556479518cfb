"""Conversions, roundings, signs and classes of floats.

Float to integer saturates, and NaN becomes 0. `fptosi` and `fptoui` that come out of here see only
values in range, so no target's undefined conversion is reached.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from xdsl.dialects.builtin import Float16Type, Float32Type, f32
from xdsl.ir import Operation

from ingot.passes.lowering.emitter import Emitter, Value, bitwidth

Expansion = Callable[[Operation, Emitter], "Value | list[Value] | None"]


def _float_to_int(op: Operation, e: Emitter, *, signed: bool) -> Value:
    # f16 fits into f32, whose range holds the bounds of every integer type
    x = e.value(op.operands[0]).convert(f32)
    width = bitwidth(op.results[0].type)
    low = -(1 << (width - 1)) if signed else 0
    high = (1 << (width - 1 if signed else width)) - 1
    # `high` rounds up to a power of two from 25 bits on; the comparison keeps it out
    above = x.ge(float(high + 1))
    below = x.le(float(low))
    inside = x.lt(float(high + 1)) & x.gt(float(low))
    converted = inside.select(x, 0.0).to_int(max(width, 32), signed=signed).resize(width)
    limited = below.select(converted.like(low), converted)
    return above.select(limited.like(high), limited)


def fptosi(op: Operation, e: Emitter) -> Value:
    return _float_to_int(op, e, signed=True)


def fptoui(op: Operation, e: Emitter) -> Value:
    return _float_to_int(op, e, signed=False)


def _sign_mask(x: Value) -> int:
    return 1 << (x.width - 1)


def _copy_sign(magnitude: Value, sign: Value) -> Value:
    mask = _sign_mask(magnitude)
    return ((magnitude.bits() & (mask - 1)) | (sign.bits() & mask)).as_float()


def copysign(op: Operation, e: Emitter) -> Value:
    return _copy_sign(e.value(op.operands[0]), e.value(op.operands[1]))


def round_half_away(op: Operation, e: Emitter) -> Value:
    x = e.value(op.operands[0])
    whole = x.trunc()
    # the difference is exact; infinity minus itself is NaN and compares false
    up = (x - whole).abs().ge(0.5)
    return _copy_sign(up.select(whole.abs() + 1.0, whole.abs()), x)


def fpowi(op: Operation, e: Emitter) -> Value:
    x, n = e.value(op.operands[0]), e.value(op.operands[1])
    single = x.convert(f32)
    magnitude = e.call("math.powf", single.abs(), n.to_float(Float32Type()))
    odd = (n & 1).ne(0)
    result = (odd & single.bits().lt(0)).select(-magnitude, magnitude)
    return result.convert(x.element)


def is_nan(op: Operation, e: Emitter) -> Value:
    return e.value(op.operands[0]).is_nan()


def is_infinite(op: Operation, e: Emitter) -> Value:
    return e.value(op.operands[0]).abs().eq(inf)


def is_finite(op: Operation, e: Emitter) -> Value:
    return e.value(op.operands[0]).abs().lt(inf)


def is_normal(op: Operation, e: Emitter) -> Value:
    magnitude = e.value(op.operands[0]).abs()
    smallest = 2.0**-14 if isinstance(magnitude.element, Float16Type) else 2.0**-126
    return magnitude.ge(smallest) & magnitude.lt(inf)


def round_to_bf16(x: Value) -> Value:
    """The bf16 number nearest to an f32, ties to even, as an f32; NaN stays NaN."""
    bits = x.bits()
    odd = bits.shift_right_logical(16) & 1
    nearest = bits + 0x7FFF + odd
    # adding to NaN's bits could carry into infinity or zero
    quiet = bits | 0x400000
    return (x.is_nan().select(quiet, nearest) & 0xFFFF0000).as_float()


EXPANSIONS: dict[str, Expansion] = {
    "arith.fptosi": fptosi,
    "arith.fptoui": fptoui,
    "math.copysign": copysign,
    "math.round": round_half_away,
    "math.fpowi": fpowi,
    "math.isnan": is_nan,
    "math.isinf": is_infinite,
    "math.isfinite": is_finite,
    "math.isnormal": is_normal,
}
