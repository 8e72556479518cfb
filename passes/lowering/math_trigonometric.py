"""Trigonometric functions and their inverses in single precision.

Arguments up to 12,000 are reduced by a four-part pi/2 (Cody and Waite), larger ones by as many bits
of 2/pi as it takes (Payne and Hanek). Polynomials are those of Cephes (`sinf.c`, `asinf.c`,
`atanf.c`). Sine, cosine and tangent take scalars: the rare large argument is a branch.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerType

from ingot.passes.lowering.emitter import Value
from ingot.passes.lowering.math_exponential import keep_nan, polynomial, with_sign_of

_TWO_OVER_PI = 0.6366197723675814
_HALF_PI = (
    1.5703125,
    0.0004837512969970703,
    7.549533620476723e-08,
    2.5633440682570896e-12,
)
"""pi/2 as a sum; the products of the first three with an integer below 2**13 are exact."""
_HALF_PI_HI = 1.5707963705062866
_HALF_PI_LO = -4.371139000186241e-8
_REDUCED_LIMIT = 12000.0
_TWO_OVER_PI_WORDS = 8
_TWO_OVER_PI_BITS = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163AB
"""2/pi to 224 bits."""

_SIN = (-0.16666654611, 8.3321608736e-3, -1.9515295891e-4)
_COS = (4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5)
_ASIN = (1.6666752422e-1, 7.4953002686e-2, 4.5470025998e-2, 2.4181311049e-2, 4.2163199048e-2)
_ATAN = (-3.33329491539e-1, 1.99777106478e-1, -1.38776856032e-1, 8.05374449538e-2)


def _reduce_small(x: Value) -> tuple[Value, Value]:
    """k (i32) and r with x = k pi/2 + r, |r| at most pi/4, for |x| up to the limit."""
    k = (x * _TWO_OVER_PI).round_even()
    r = x
    for part in _HALF_PI:
        r = r - k * part
    return k.to_int(32), r


def _reduce_large(x: Value) -> tuple[Value, Value]:
    """The same modulo 4 for k and any finite x above the limit (Payne and Hanek).

    The significand is multiplied by the 96 bits of 2/pi that matter: what lies above gives
    multiples of 4, what lies below is too small.
    """
    bits = x.bits()
    significand = ((bits & 0x7FFFFF) | 0x800000).resize(64, signed=False)
    first = ((bits >> 23) & 0xFF) - 120
    word = first >> 5
    shift = (32 - (first & 31)).resize(64)

    def pair(offset: int) -> Value:
        """Words `word + offset` and the next as one integer of 64 bits."""
        result = significand.like(_two_over_pi_words(offset))
        for number in range(1, 5):
            chosen = significand.like(_two_over_pi_words(number + offset))
            result = word.eq(number).select(chosen, result)
        return result

    def window(offset: int) -> Value:
        return pair(offset).shift_right_logical(shift) & 0xFFFFFFFF

    low = significand * window(2)
    middle = significand * window(1) + low.shift_right_logical(32)
    high = significand * window(0) + middle.shift_right_logical(32)
    product = (high << 32) | (middle & 0xFFFFFFFF)
    fraction = product << 2
    k = product.shift_right_logical(62).resize(32)
    k = fraction.lt(0).select(k + 1, k)
    r = fraction.to_float(x.element) * (2.0**-64 * 1.5707963267948966)
    negative = bits.lt(0)
    return negative.select(-k, k), negative.select(-r, r)


def _two_over_pi_words(index: int) -> int:
    """Words `index` and `index + 1` of 2/pi in binary, after one word of zeros."""
    return (_TWO_OVER_PI_BITS >> (32 * (_TWO_OVER_PI_WORDS - 2 - index))) & 0xFFFFFFFFFFFFFFFF


def _sin_cos(x: Value) -> tuple[Value, Value, Value]:
    """k (i32), sin(r) and cos(r) with x = k pi/2 + r and |r| at most pi/4; NaN for infinity."""
    e = x.emitter
    large, small = e.branch(), e.branch()
    for branch, reduce in ((large, _reduce_large), (small, _reduce_small)):
        branch.insert(scf.YieldOp(*(value.ssa for value in reduce(branch.value(x.ssa)))))
    types = [IntegerType(32), x.type]
    near = x.abs().le(_REDUCED_LIMIT)
    k, r = (e.value(value) for value in e.if_else(near, types, small, large))
    r = x.abs().lt(inf).select(r, x.like(nan))
    z = r * r
    sine = z * r * polynomial(z, _SIN) + r
    cosine = z * z * polynomial(z, _COS) - z * 0.5 + 1.0
    return k, sine, cosine


def _negate_where(condition: Value, x: Value) -> Value:
    return condition.select(-x, x)


def _keep_zero(x: Value, result: Value) -> Value:
    """Zero with its sign where `x` is zero."""
    return x.eq(0.0).select(x, result)


def sin(x: Value) -> Value:
    k, sine, cosine = _sin_cos(x)
    y = (k & 1).eq(0).select(sine, cosine)
    return _keep_zero(x, _negate_where((k & 2).ne(0), y))


def cos(x: Value) -> Value:
    k, sine, cosine = _sin_cos(x)
    y = (k & 1).eq(0).select(cosine, sine)
    return _negate_where(((k + 1) & 2).ne(0), y)


def tan(x: Value) -> Value:
    k, sine, cosine = _sin_cos(x)
    even = (k & 1).eq(0)
    return _keep_zero(x, even.select(sine, -cosine) / even.select(cosine, sine))


def _asin_excess(z: Value) -> Value:
    """(asin(s) - s) / s for z = s*s at most 1/4."""
    return z * polynomial(z, _ASIN)


def asin(x: Value) -> Value:
    a = x.abs()
    small = a.le(0.5)
    z = small.select(a * a, (1.0 - a) * 0.5)
    s = small.select(a, z.sqrt())
    y = s * _asin_excess(z) + s
    y = small.select(y, _HALF_PI_HI - (y * 2.0 - _HALF_PI_LO))
    y = a.gt(1.0).select(x.like(nan), y)
    return with_sign_of(y, x)


def acos(x: Value) -> Value:
    a = x.abs()
    small = a.le(0.5)
    z = small.select(a * a, (1.0 - a) * 0.5)
    s = small.select(x, z.sqrt())
    y = s * _asin_excess(z) + s
    near = _HALF_PI_HI - (y - _HALF_PI_LO)
    twice = y * 2.0
    far = x.lt(0.0).select(2.0 * _HALF_PI_HI - (twice - 2.0 * _HALF_PI_LO), twice)
    return a.gt(1.0).select(x.like(nan), small.select(near, far))


def _atan_ratio(numerator: Value, denominator: Value) -> Value:
    """atan(numerator / denominator) for finite or infinite 0 <= numerator, denominator."""
    # thirds of the quadrant: tan(pi/8) and tan(3 pi/8)
    steep = numerator.gt(denominator * 2.414213562373095)
    middle = numerator.gt(denominator * 0.4142135623730950)
    top = steep.select(-denominator, middle.select(numerator - denominator, numerator))
    bottom = steep.select(numerator, middle.select(numerator + denominator, denominator))
    t = top / bottom
    z = t * t
    y = z * t * polynomial(z, _ATAN) + t
    base = steep.select(t.like(_HALF_PI_HI), middle.select(t.like(0.5 * _HALF_PI_HI), 0.0))
    rest = steep.select(t.like(_HALF_PI_LO), middle.select(t.like(0.5 * _HALF_PI_LO), 0.0))
    return base + (y + rest)


def atan(x: Value) -> Value:
    y = with_sign_of(_atan_ratio(x.abs(), x.like(1.0)), x)
    # the small argument keeps the sign of zero, and its own value where squares vanish
    y = x.abs().lt(2.0**-12).select(x, y)
    return keep_nan(x, y)


def atan2(y: Value, x: Value) -> Value:
    numerator = y.abs()
    denominator = x.abs()
    both_infinite = numerator.eq(inf) & denominator.eq(inf)
    both_zero = numerator.eq(0.0) & denominator.eq(0.0)
    numerator = both_infinite.select(y.like(1.0), numerator)
    denominator = (both_infinite | both_zero).select(y.like(1.0), denominator)
    # sums of two such numbers must not overflow, nor products vanish
    large = numerator.gt(2.0**100) | denominator.gt(2.0**100)
    small = numerator.lt(2.0**-60) & denominator.lt(2.0**-60)
    scale = large.select(y.like(2.0**-60), small.select(y.like(2.0**60), 1.0))
    angle = _atan_ratio(numerator * scale, denominator * scale)
    behind = 2.0 * _HALF_PI_HI - (angle - 2.0 * _HALF_PI_LO)
    result = with_sign_of(x.bits().lt(0).select(behind, angle), y)
    return (x.is_nan() | y.is_nan()).select(x + y, result)


SCALAR_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "math.sin": sin,
    "math.cos": cos,
    "math.tan": tan,
}
"""Formula of each op, for the scalar f32."""

FUNCTIONS: dict[str, Callable[..., Value]] = {
    "math.asin": asin,
    "math.acos": acos,
    "math.atan": atan,
    "math.atan2": atan2,
}
"""Formula of each op, for f32."""
