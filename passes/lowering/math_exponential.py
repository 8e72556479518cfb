"""Exponentials, logarithms, powers and hyperbolic functions in single precision.

Every formula takes and returns f32 (scalar or vector) and assumes neither a fused multiply-add nor
that there is none. Reductions follow the classic splits of Cody and Waite; the structure of `log`,
`log1p`, `pow` and the hyperbolic functions is that of FreeBSD's msun (`k_logf.h`, `e_powf.c`,
`s_asinhf.c`), `erf` uses -log(erfc(x)) as a polynomial. Polynomials without a source were fitted in
float64 to the least largest error on the reduced interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, nan

from ingot.passes.lowering.emitter import Value

LN2_HI = 0.693359375
"""log(2) to 9 bits: its product with an exponent is exact."""
LN2_LO = -2.12194440e-4
LOG2_E = 1.4426950408889634

_EXP = (
    0.5,
    0.1666666716337204,
    0.04166625440120697,
    0.008333262987434864,
    0.0013947226107120514,
    0.00019919333863072097,
)
_EXP2 = (
    0.6931471824645996,
    0.24022650718688965,
    0.0555032454431057,
    0.009618000127375126,
    0.0013401625910773873,
    0.00015477339911740273,
)
_LOG = (0.66666662693, 0.40000972152, 0.28498786688, 0.24279078841)
"""(log(1 + f) - 2 s) / s in powers of s**2, s = f / (2 + f): msun `k_logf.h`."""
_POW_LOG = (0.6, 0.42857143283, 0.33333334327, 0.27272811532, 0.23066075146, 0.20697501302)
"""3 (log(1 + f) / 2 s - 1 - s**2 / 3) / s**4 in powers of s**2: msun `e_powf.c`."""
_ERF_SMALL = (
    0.12837916612625122,
    -0.37612634897232056,
    0.11283703148365021,
    -0.026859799399971962,
    0.005201960448175669,
    -0.0008152627851814032,
    8.409920701524243e-05,
)
"""erf(x) / x - 1 in powers of x**2, up to 0.92."""
_ERF_LARGE = (
    -0.00017055205535143614,
    1.1294951438903809,
    0.6333866715431213,
    0.10823661834001541,
    -0.025091497227549553,
    0.004160527139902115,
    -0.00043230302981100976,
    2.0909557861159556e-05,
)
"""-log(erfc(x)) in powers of x, from 0.9 to 4."""


def polynomial(x: Value, coefficients: Sequence[float]) -> Value:
    """Sum of `coefficients[i] * x**i`, by Horner's rule."""
    result = x.like(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = result * x + coefficient
    return result


def keep_nan(x: Value, result: Value) -> Value:
    """`x` where it is NaN, `result` elsewhere."""
    return x.is_nan().select(x, result)


def clamp(x: Value, low: float, high: float) -> Value:
    """`x` limited to an interval; NaN becomes `low`."""
    x = x.gt(low).select(x, low)
    return x.lt(high).select(x, high)


def scale_by_power_of_two(x: Value, exponent: Value) -> Value:
    """x * 2**exponent for an i32 exponent in [-252, 254], rounded at most once more."""
    half = exponent >> 1
    return x * power_of_two(half) * power_of_two(exponent - half)


def power_of_two(exponent: Value) -> Value:
    """2**exponent for an i32 exponent in [-126, 127]."""
    return ((exponent + 127) << 23).as_float()


def high_bits(x: Value) -> Value:
    """The leading 12 bits of the significand: products of two such numbers are exact."""
    return (x.bits() & 0xFFFFF000).as_float()


def with_sign_of(magnitude: Value, sign: Value) -> Value:
    """`magnitude` (not negative) with the sign bit of `sign`."""
    return (magnitude.bits() | (sign.bits() & 0x80000000)).as_float()


def _reduce_exp(x: Value) -> tuple[Value, Value]:
    """k and r with x = k log(2) + r and |r| at most log(2) / 2."""
    k = (x * LOG2_E).round_even()
    return k, x - k * LN2_HI - k * LN2_LO


def _exp_reduced(r: Value) -> Value:
    return r * r * polynomial(r, _EXP) + r + 1.0


def exp(x: Value) -> Value:
    k, r = _reduce_exp(clamp(x, -104.0, 89.0))
    return keep_nan(x, scale_by_power_of_two(_exp_reduced(r), k.to_int(32)))


def _exp_normal(x: Value) -> Value:
    """exp of a number in [-87, 88], where the result is a normal number."""
    k, r = _reduce_exp(x)
    return _exp_reduced(r) * power_of_two(k.to_int(32))


def exp2(x: Value) -> Value:
    limited = clamp(x, -151.0, 129.0)
    k = limited.round_even()
    y = _exp2_reduced(limited - k)
    return keep_nan(x, scale_by_power_of_two(y, k.to_int(32)))


def _exp2_reduced(r: Value) -> Value:
    return r * polynomial(r, _EXP2) + 1.0


def expm1(x: Value) -> Value:
    k, r = _reduce_exp(clamp(x, -18.0, 89.0))
    y = r * r * polynomial(r, _EXP) + r
    half_scale = power_of_two(k.to_int(32) - 1)
    y = (half_scale * y + (half_scale - 0.5)) * 2.0
    y = x.abs().lt(2.0**-24).select(x, y)
    return keep_nan(x, y)


def _split_positive(x: Value) -> tuple[Value, Value]:
    """e (as f32) and m in [sqrt(1/2), sqrt(2)) with x = m 2**e, for a normal positive x."""
    offset = x.bits() - 0x3F3504F3
    e = offset >> 23
    m = ((offset & 0x007FFFFF) + 0x3F3504F3).as_float()
    return e.to_float(x.element), m


def _normalized(x: Value) -> tuple[Value, Value]:
    """x as a normal number, and what to add to the exponent for it."""
    tiny = x.lt(2.0**-126)
    return tiny.select(x * 2.0**25, x), tiny.select(x.like(-25.0), 0.0)


def _log_special(x: Value, result: Value) -> Value:
    """log's values at 0, negative numbers, infinity and NaN."""
    result = x.lt(inf).select(result, x)
    result = x.eq(0.0).select(x.like(-inf), result)
    return x.lt(0.0).select(x.like(nan), result)


def _log_parts(f: Value) -> tuple[Value, Value]:
    """h = f*f/2 and r with log(1 + f) = f - (h - r)."""
    s = f / (f + 2.0)
    z = s * s
    h = f * f * 0.5
    return h, s * (h + z * polynomial(z, _LOG))


def log(x: Value) -> Value:
    normal, bias = _normalized(x)
    e, m = _split_positive(normal)
    e = e + bias
    f = m - 1.0
    h, r = _log_parts(f)
    return _log_special(x, e * LN2_HI - ((h - (r + e * LN2_LO)) - f))


def log1p(x: Value) -> Value:
    u = x + 1.0
    e, m = _split_positive(u)
    # what the rounding of 1 + x lost, relative to u
    lost = u.ge(2.0).select(1.0 - (u - x), x - (u - 1.0)) / u
    f = m - 1.0
    h, r = _log_parts(f)
    y = e * LN2_HI - ((h - (r + (e * LN2_LO + lost))) - f)
    y = _log_special(u, y)
    return x.abs().lt(2.0**-24).select(x, y)


def _log_split(f: Value) -> tuple[Value, Value]:
    """log(1 + f) as a sum of 12 leading bits and a rest."""
    h, r = _log_parts(f)
    hi = high_bits(f - h)
    return hi, (f - hi) - h + r


def log2(x: Value) -> Value:
    normal, bias = _normalized(x)
    e, m = _split_positive(normal)
    hi, lo = _log_split(m - 1.0)
    y = (lo + hi) * -1.7605285393e-4 + lo * 1.4428710938 + hi * 1.4428710938
    return _log_special(x, y + (e + bias))


def log10(x: Value) -> Value:
    normal, bias = _normalized(x)
    e, m = _split_positive(normal)
    e = e + bias
    hi, lo = _log_split(m - 1.0)
    y = e * 7.9034151668e-7 + (lo + hi) * -3.1689971365e-5 + lo * 0.43432617188
    return _log_special(x, y + hi * 0.43432617188 + e * 0.30102920532)


def _log2_extended(x: Value) -> tuple[Value, Value]:
    """log2(x) as a sum of 12 leading bits and a rest, for finite x > 0 (msun `e_powf.c`)."""
    normal, bias = _normalized(x)
    e, m = _split_positive(normal)
    e = e + bias
    f = m - 1.0
    d = m + 1.0
    s = f / d
    s_hi = high_bits(s)
    d_hi = high_bits(d)
    s_lo = ((f - s_hi * d_hi) - s_hi * (m - (d_hi - 1.0))) / d
    z = s * s
    r = z * z * polynomial(z, _POW_LOG) + s_lo * (s_hi + s)
    z = s_hi * s_hi
    t_hi = high_bits(z + 3.0 + r)
    t_lo = r - ((t_hi - 3.0) - z)
    u = s_hi * t_hi
    v = s_lo * t_hi + t_lo * s
    p_hi = high_bits(u + v)
    p_lo = v - (p_hi - u)
    # 2 / (3 log(2)) = 0.96191406250 (12 bits) - 1.1736857402e-4
    z_hi = p_hi * 0.96191406250
    z_lo = p_hi * -1.1736857402e-4 + p_lo * 0.96179670095
    hi = high_bits(z_hi + z_lo + e)
    return hi, z_lo - ((hi - e) - z_hi)


def pow(x: Value, y: Value) -> Value:
    magnitude = x.abs()
    hi, lo = _log2_extended(magnitude)
    hi = magnitude.lt(inf).select(magnitude.eq(0.0).select(x.like(-inf), hi), inf)
    y_hi = high_bits(y)
    product = y * hi
    exact = y_hi * hi
    rest = (y - y_hi) * hi + y * lo
    limited = clamp(exact + rest, -151.0, 129.0)
    k = limited.round_even()
    result = scale_by_power_of_two(_exp2_reduced((exact - k) + rest), k.to_int(32))
    result = product.lt(130.0).select(result, inf)
    result = product.gt(-152.0).select(result, 0.0)
    result = magnitude.eq(1.0).select(x.like(1.0), result)
    integer = y.trunc().eq(y)
    half = y * 0.5
    odd = integer & half.trunc().ne(half)
    result = (odd & x.bits().lt(0)).select(-result, result)
    undefined = x.lt(0.0) & magnitude.lt(inf) & ~integer & y.abs().lt(inf)
    result = (undefined | x.is_nan() | y.is_nan()).select(x.like(nan), result)
    return (x.eq(1.0) | y.eq(0.0)).select(x.like(1.0), result)


def cbrt(x: Value) -> Value:
    a = x.abs()
    # away from the ends of the range: nothing below overflows or vanishes
    tiny, huge = a.lt(2.0**-60), a.gt(2.0**60)
    scaled = a * tiny.select(a.like(2.0**48), huge.select(a.like(2.0**-48), 1.0))
    # a third of the exponent: within 6 percent; each step of Halley's iteration triples the digits
    t = (scaled.bits().divide(3, signed=False) + 709958130).as_float()
    for _ in range(2):
        cube = t * t * t
        t = t + t * ((scaled - cube) / (cube + cube + scaled))
    t = t * tiny.select(a.like(2.0**-16), huge.select(a.like(2.0**16), 1.0))
    t = (a.gt(0.0) & a.lt(inf)).select(t, a)
    return keep_nan(x, with_sign_of(t, x))


def erf(x: Value) -> Value:
    a = x.abs()
    small = x * polynomial(x * x, _ERF_SMALL) + x
    limited = a.lt(4.0).select(a, 4.0)
    tail = _exp_normal(-polynomial(limited, _ERF_LARGE))
    large = with_sign_of(1.0 - tail, x)
    return a.lt(0.92).select(small, keep_nan(x, large))


def _large_exp(a: Value) -> tuple[Value, Value]:
    """exp(a/2) twice, whose product with a half does not overflow before it must."""
    w = a.emitter.call("math.exp", a * 0.5)
    return w * 0.5, w


def sinh(x: Value) -> Value:
    a = x.abs()
    t = x.emitter.call("math.expm1", a)
    small = (t + t / (t + 1.0)) * 0.5
    half, w = _large_exp(a)
    return with_sign_of(a.lt(88.0).select(small, half * w), x)


def cosh(x: Value) -> Value:
    a = x.abs()
    t = x.emitter.call("math.exp", a)
    half, w = _large_exp(a)
    return a.lt(88.0).select(t * 0.5 + 0.5 / t, half * w)


def tanh(x: Value) -> Value:
    a = x.abs()
    limited = a.lt(10.0).select(a, 10.0)
    t = x.emitter.call("math.expm1", limited * 2.0)
    large = 1.0 - 2.0 / (t + 2.0)
    y = a.lt(1.0).select(t / (t + 2.0), large)
    y = a.lt(2.0**-12).select(a, y)
    return keep_nan(x, with_sign_of(y, x))


def asinh(x: Value) -> Value:
    a = x.abs()
    square = a * a
    root = (square + 1.0).sqrt()
    small = x.emitter.call("math.log1p", a + square / (root + 1.0))
    huge = a.gt(2.0**14)
    argument = huge.select(a, a * 2.0 + 1.0 / (root + a))
    large = x.emitter.call("math.log", argument) + huge.select(x.like(0.6931471805599453), 0.0)
    y = a.lt(2.0).select(small, large)
    y = a.lt(2.0**-12).select(a, y)
    return with_sign_of(y, x)


def acosh(x: Value) -> Value:
    t = x - 1.0
    small = x.emitter.call("math.log1p", t + (t * 2.0 + t * t).sqrt())
    huge = x.gt(2.0**14)
    argument = huge.select(x, x * 2.0 - 1.0 / (x + (x * x - 1.0).sqrt()))
    large = x.emitter.call("math.log", argument) + huge.select(x.like(0.6931471805599453), 0.0)
    return x.lt(1.0).select(x.like(nan), x.lt(2.0).select(small, large))


def atanh(x: Value) -> Value:
    a = x.abs()
    t = a * 2.0
    argument = a.lt(0.5).select(t + t * a / (1.0 - a), t / (1.0 - a))
    y = x.emitter.call("math.log1p", argument) * 0.5
    y = a.lt(2.0**-12).select(a, y)
    return a.gt(1.0).select(x.like(nan), with_sign_of(y, x))


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "math.exp": exp,
    "math.exp2": exp2,
    "math.expm1": expm1,
    "math.log": log,
    "math.log1p": log1p,
    "math.log2": log2,
    "math.log10": log10,
    "math.powf": pow,
    "math.cbrt": cbrt,
    "math.erf": erf,
    "math.sinh": sinh,
    "math.cosh": cosh,
    "math.tanh": tanh,
    "math.asinh": asinh,
    "math.acosh": acosh,
    "math.atanh": atanh,
}
"""Formula of each op, for f32."""
