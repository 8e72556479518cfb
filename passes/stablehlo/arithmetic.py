"""The rules of StableHLO's elementwise ops (spec: section "Ops")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.elementwise import binary, unary
from ingot.passes.stablehlo.lowering import ScalarRule, element_of, is_unsigned, signless
from ingot.passes.stablehlo.scalar import Scalar


def _math(name: str) -> ScalarRule:
    return unary(lambda x: x.call(name))


def _or_on_booleans(
    on_booleans: Callable[[Scalar, Scalar], Scalar], otherwise: Callable[[Scalar, Scalar], Scalar]
) -> ScalarRule:
    return binary(lambda a, b: on_booleans(a, b) if a.is_bool else otherwise(a, b))


def negate(x: Scalar) -> Scalar:
    """-x; unsigned integers wrap."""
    return -x


def sign(x: Scalar) -> Scalar:
    """-1, 0 or 1; of NaN and the zeros themselves."""
    if x.is_float:
        one = x.like(1.0).call("math.copysign", x)
        return (x.eq(0.0) | x.is_nan()).select(x, one)
    if x.unsigned:
        return x.ne(0).select(x.like(1), 0)
    return x.gt(0).select(x.like(1), x.lt(0).select(x.like(-1), 0))


def is_finite(x: Scalar) -> Scalar:
    """Neither an infinity nor NaN."""
    return x.abs().lt(inf)


def logistic(x: Scalar) -> Scalar:
    """1 / (1 + exp(-x))."""
    return x.in_single(lambda y: y.like(1.0) / ((-y).call("math.exp") + 1.0))


def power(a: Scalar, b: Scalar) -> Scalar:
    """a to the power b; integers wrap, a negative exponent gives the quotient of 1."""
    if a.is_float:
        return a.call("math.powf", b)
    if not a.unsigned:
        return a.call("math.ipowi", b)
    result = a.like(1)
    square = a
    for bit in range(a.width):
        result = (b & (1 << bit)).ne(0).select(result * square, result)
        square = square * square
    return result


def compare(op: StableHLOOp, args: Sequence[Scalar]) -> Scalar:
    """IEEE on floats unless TOTALORDER; integers by the sign of their type."""
    a, b = args
    relation = op.word("comparison_direction").lower()
    if a.is_float and op.word("compare_type") == "TOTALORDER":
        a, b = total_order(a), total_order(b)
    return a.compare(relation, b)


def total_order(x: Scalar) -> Scalar:
    """An integer that orders floats as IEEE's totalOrder: -NaN, -inf, -0, +0, inf, NaN."""
    bits = x.bits()
    magnitude = bits & ((1 << (x.width - 1)) - 1)
    return bits.lt(0).select(~magnitude, magnitude)


def convert(op: StableHLOOp, args: Sequence[Scalar]) -> Scalar:
    """To the element type of the result."""
    type_ = op.outs[0].type
    return args[0].to(signless(element_of(type_)), is_unsigned(type_))


def clamp(op: StableHLOOp, args: Sequence[Scalar]) -> Scalar:
    """min(max(x, low), high)."""
    low, x, high = args
    return x.maximum(low).minimum(high)


def select(op: StableHLOOp, args: Sequence[Scalar]) -> Scalar:
    """The second where the first is true, else the third."""
    return args[0].select(args[1], args[2])


_FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
"""Bits of exponent and mantissa."""


def reduce_precision(op: StableHLOOp, args: Sequence[Scalar]) -> Scalar:
    """Rounded to nearest even as if stored with fewer bits; too large becomes infinite, too small
    zero."""
    (x,) = args
    exponent, mantissa = op.int("exponent_bits"), op.int("mantissa_bits")
    full_exponent, full_mantissa = _FORMATS[str(x.type)]
    original = x.bits()
    magnitude = original & ((1 << (x.width - 1)) - 1)
    signbit = original & (1 << (x.width - 1))
    if mantissa < full_mantissa:
        dropped = full_mantissa - mantissa
        last = magnitude.shift_right(dropped, arithmetic=False) & 1
        magnitude = magnitude + last + ((1 << (dropped - 1)) - 1)
        magnitude = magnitude & -(1 << dropped)
    infinity = ((1 << full_exponent) - 1) << full_mantissa
    if exponent < full_exponent:
        bias, narrow_bias = (1 << (full_exponent - 1)) - 1, (1 << (exponent - 1)) - 1
        largest = (bias + narrow_bias + 1) << full_mantissa
        smallest = (bias - narrow_bias + 1) << full_mantissa
        magnitude = magnitude.compare("ge", largest).select(magnitude.like(infinity), magnitude)
        magnitude = magnitude.lt(smallest).select(magnitude.like(0), magnitude)
    rounded = (magnitude | signbit).bitcast(x.type)
    special = x if mantissa > 0 else (signbit | infinity).bitcast(x.type)
    return x.is_nan().select(special, rounded)


RULES: dict[str, ScalarRule] = {
    f"stablehlo.{name}": rule
    for name, rule in {
        "abs": unary(Scalar.abs),
        "cbrt": _math("math.cbrt"),
        "ceil": _math("math.ceil"),
        "cosine": _math("math.cos"),
        "count_leading_zeros": _math("math.ctlz"),
        "exponential": _math("math.exp"),
        "exponential_minus_one": _math("math.expm1"),
        "floor": _math("math.floor"),
        "is_finite": unary(is_finite),
        "log": _math("math.log"),
        "log_plus_one": _math("math.log1p"),
        "logistic": unary(logistic),
        "negate": unary(negate),
        "not": unary(lambda x: ~x),
        "popcnt": _math("math.ctpop"),
        "round_nearest_afz": _math("math.round"),
        "round_nearest_even": _math("math.roundeven"),
        "rsqrt": _math("math.rsqrt"),
        "sign": unary(sign),
        "sine": _math("math.sin"),
        "sqrt": _math("math.sqrt"),
        "tan": _math("math.tan"),
        "tanh": _math("math.tanh"),
        "add": _or_on_booleans(lambda a, b: a | b, lambda a, b: a + b),
        "multiply": _or_on_booleans(lambda a, b: a & b, lambda a, b: a * b),
        "maximum": _or_on_booleans(lambda a, b: a | b, Scalar.maximum),
        "minimum": _or_on_booleans(lambda a, b: a & b, Scalar.minimum),
        "subtract": binary(lambda a, b: a - b),
        "divide": binary(lambda a, b: a / b),
        "remainder": binary(lambda a, b: a % b),
        "power": binary(power),
        "atan2": binary(lambda a, b: a.call("math.atan2", b)),
        "and": binary(lambda a, b: a & b),
        "or": binary(lambda a, b: a | b),
        "xor": binary(lambda a, b: a ^ b),
        "shift_left": binary(Scalar.shift_left),
        "shift_right_arithmetic": binary(lambda a, b: a.shift_right(b, arithmetic=True)),
        "shift_right_logical": binary(lambda a, b: a.shift_right(b, arithmetic=False)),
        "compare": compare,
        "convert": convert,
        "clamp": clamp,
        "select": select,
        "reduce_precision": reduce_precision,
    }.items()
}
