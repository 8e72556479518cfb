"""The rules of CHLO's elementwise ops; formulas in f32, or in the operand's type where it is wider.

Sources: Cephes (`ndtrf.c`) for erfc; Giles, "Approximating the erfinv function" (2012); Lanczos'
approximation with g = 7, n = 9 (Godfrey) for lgamma and digamma.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, log, nan, pi, sqrt

from xdsl.dialects.builtin import f32

from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo import arithmetic
from ingot.passes.stablehlo.elementwise import binary, unary
from ingot.passes.stablehlo.lowering import ScalarRule
from ingot.passes.stablehlo.scalar import Scalar


def _math(name: str) -> ScalarRule:
    return unary(lambda x: x.call(name))


def _single(compute: Callable[[Scalar], Scalar]) -> ScalarRule:
    return unary(lambda x: x.in_single(compute))


_ERFC_BELOW_2 = (
    2.326819970068386e-2, -1.387039388740657e-1, 3.687424674597105e-1, -5.824733027278666e-1,
    6.210004621745983e-1, -4.944515323274145e-1, 3.404879937665872e-1, -2.741127028184656e-1,
    5.638259427386472e-1,
)  # fmt: skip
_ERFC_ABOVE_2 = (
    -1.047766399936249e1, 1.297719955372516e1, -7.495518717768503e0, 2.921019019210786e0,
    -1.015265279202700e0, 4.218463358204948e-1, -2.820767439740514e-1, 5.641895067754075e-1,
)  # fmt: skip


def erfc(x: Scalar) -> Scalar:
    """1 - erf(x), exact to the last bits where that is small."""
    a = x.abs()
    q = a.like(1.0) / a
    y = q * q
    poly = a.lt(2.0).select(y.polynomial(_ERFC_BELOW_2), y.polynomial(_ERFC_ABOVE_2))
    # exp(-a*a) with the rounding error of a*a, by splitting a in two halves of few bits.
    high = (a * 16.0).call("math.floor") * 0.0625
    rest = (a - high) * (a + high)
    tail = (-(high * high)).call("math.exp") * (-rest).call("math.exp") * q * poly
    tail = a.gt(14.0).select(a.like(0.0), tail)
    tail = x.lt(0.0).select(2.0 - tail, tail)
    near = 1.0 - x.call("math.erf")
    return (a.lt(1.0) | x.is_nan()).select(near, tail)


_ERF_INV_CENTRAL = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
    -0.00125372503, -0.00417768164, 0.246640727, 1.50140941,
)  # fmt: skip
_ERF_INV_TAIL = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
    -0.0076224613, 0.00943887047, 1.00167406, 2.83297682,
)  # fmt: skip


def erf_inv(x: Scalar) -> Scalar:
    """The y with erf(y) = x; infinite at -1 and 1, NaN beyond."""
    w = -(-(x * x)).call("math.log1p")
    central = (w - 2.5).polynomial(_ERF_INV_CENTRAL)
    tail = (w.call("math.sqrt") - 3.0).polynomial(_ERF_INV_TAIL)
    result = w.lt(5.0).select(central, tail) * x
    return x.abs().eq(1.0).select(x * inf, result)


_LANCZOS_G = 7.0
_LANCZOS_BASE = 0.99999999999980993
_LANCZOS = (
    676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
)  # fmt: skip


def lgamma(x: Scalar) -> Scalar:
    """log |gamma(x)|; infinite at 0 and the negative integers."""
    reflect = x.lt(0.5)
    z = reflect.select(-x, x - 1.0)
    total = z.like(_LANCZOS_BASE)
    for i, coefficient in enumerate(_LANCZOS):
        total = total + z.like(coefficient) / (z + float(i + 1))
    log_t = (z * (1.0 / (_LANCZOS_G + 0.5))).call("math.log1p") + log(_LANCZOS_G + 0.5)
    t = z + (_LANCZOS_G + 0.5)
    log_y = (z + 0.5 - t / log_t) * log_t + total.call("math.log") + log(sqrt(2.0 * pi))
    # Near 1 and 2 the terms cancel: there a series around the zero is exact.
    log_y = _near_zero(z, log_y)
    a = x.abs()
    fraction = a - a.call("math.floor")
    reduced = fraction.gt(0.5).select(1.0 - fraction, fraction)
    sine = (reduced * pi).call("math.sin").call("math.log")
    reflected = arithmetic.is_finite(sine).select(log(pi) - sine - log_y, -sine)
    result = reflect.select(reflected, log_y)
    return a.eq(inf).select(a, result)


# log gamma(1 + s) = -euler s + sum of zeta(k) (-s)^k / k, from the highest power down.
_SERIES = (
    -0.06666870588242046, 0.07143294629536134, -0.07693251641135219, 0.08335384054610900,
    -0.09095401714582904, 0.1000994575127818, -0.1113342658695647, 0.1255096695247430,
    -0.1440498967688461, 0.1695571769974082, -0.2073855510286740, 0.2705808084277845,
    -0.4006856343865314, 0.8224670334241132, -0.5772156649015329,
)  # fmt: skip


def _near_zero(z: Scalar, otherwise: Scalar) -> Scalar:
    """log gamma(1 + z) where z is within 0.3 of 0 or 1."""
    near_zero, near_one = z.abs().lt(0.3), (z - 1.0).abs().lt(0.3)
    s = z - 1.0
    at_zero = z.polynomial(_SERIES) * z
    at_one = s.polynomial(_SERIES) * s + s.call("math.log1p")
    return near_zero.select(at_zero, near_one.select(at_one, otherwise))


def digamma(x: Scalar) -> Scalar:
    """The derivative of lgamma; NaN at 0 and the negative integers, as XLA has it."""
    reflect = x.lt(0.5)
    z = reflect.select(-x, x - 1.0)
    numerator, denominator = z.like(0.0), z.like(_LANCZOS_BASE)
    for i, coefficient in enumerate(_LANCZOS):
        step = z + float(i + 1)
        numerator = numerator - z.like(coefficient) / (step * step)
        denominator = denominator + z.like(coefficient) / step
    t = z + (_LANCZOS_G + 0.5)
    log_t = (z * (1.0 / (_LANCZOS_G + 0.5))).call("math.log1p") + log(_LANCZOS_G + 0.5)
    y = log_t + numerator / denominator - t.like(_LANCZOS_G) / t
    # tan has the period 1 here: only the fraction counts, which is exact.
    fraction = x + (x + 0.5).abs().call("math.floor")
    angle = fraction * pi
    reflected = y - angle.like(pi) * angle.call("math.cos") / angle.call("math.sin")
    result = reflect.select(reflected, y)
    is_pole = x.compare("le", 0.0) & x.eq(x.call("math.floor"))
    result = is_pole.select(x.like(nan), result)
    return x.eq(inf).select(x, result)


# B(2j) / (2j)! for j = 1, 2, ...
_EULER_MACLAURIN = (
    8.333333333333333e-2, -1.388888888888889e-3, 3.306878306878307e-5, -8.267195767195767e-7,
    2.087675698786810e-8, -5.284190138687493e-10,
)  # fmt: skip


def zeta(x: Scalar, q: Scalar) -> Scalar:
    """Hurwitz' zeta, the sum of (q + k) to the power -x, by Euler and Maclaurin's formula.

    Infinite for x = 1 and, for even x, where q is 0 or a negative integer; NaN there for other x,
    for x < 1, and for other negative q unless x is an integer.
    """
    minus = -x
    total = q.call("math.powf", minus)
    a = q
    for _ in range(9):
        a = a + 1.0
        total = total + a.call("math.powf", minus)
    a = a + 1.0
    power = a.call("math.powf", minus)
    total = total + power * (a / (x - 1.0)) + power * 0.5
    factor = x * power / a
    for j, coefficient in enumerate(_EULER_MACLAURIN):
        total = total + factor * coefficient
        factor = factor * (x + float(2 * j + 1)) * (x + float(2 * j + 2)) / (a * a)
    whole_x, whole_q = x.eq(x.call("math.floor")), q.eq(q.call("math.floor"))
    half = x * 0.5
    even = half.eq(half.call("math.floor"))
    negative = q.compare("le", 0.0)
    infinite, undefined = x.like(inf), x.like(nan)
    result = (negative & ~whole_q & ~whole_x).select(undefined, total)
    result = (negative & whole_q).select(even.select(infinite, undefined), result)
    result = x.lt(1.0).select(undefined, result)
    result = x.eq(1.0).select(infinite, result)
    return (x.is_nan() | q.is_nan()).select(x + q, result)


def polygamma(n: Scalar, x: Scalar) -> Scalar:
    """The n-th derivative of digamma: (-1)^(n + 1) n! zeta(n + 1, x); NaN for other n."""
    order = n + 1.0
    half = n * 0.5
    size = lgamma(order).call("math.exp") * zeta(order, x)
    value = half.eq(half.call("math.floor")).select(-size, size)
    value = n.eq(0.0).select(digamma(x), value)
    whole = n.eq(n.call("math.floor")) & n.compare("ge", 0.0)
    return whole.select(value, n.like(nan))


def _single_pair(compute: Callable[[Scalar, Scalar], Scalar]) -> ScalarRule:
    """A formula of two floats, in f32 at least."""

    def rule(op: StableHLOOp, args: Sequence[Scalar]) -> Scalar:
        a, b = args
        if a.width >= 32:
            return compute(a, b)
        return compute(a.to(f32), b.to(f32)).to(a.type)

    return rule


def next_after(x: Scalar, y: Scalar) -> Scalar:
    """The next number after x on the way to y."""
    bits, target = x.bits(), y.bits()
    largest = (1 << (x.width - 1)) - 1
    magnitude, target_magnitude = bits & largest, target & largest
    sign, target_sign = bits & ~bits.like(largest), target & ~bits.like(largest)
    smallest = (target_sign | 1).bitcast(x.type)
    away = sign.ne(target_sign) | magnitude.gt(target_magnitude)
    stepped = (bits + away.select(bits.like(-1), 1)).bitcast(x.type)
    result = magnitude.eq(0).select(target_magnitude.eq(0).select(y, smallest), stepped)
    result = bits.eq(target).select(y, result)
    return (x.is_nan() | y.is_nan()).select(x + y, result)


def is_inf(x: Scalar) -> Scalar:
    """Whether x is an infinity."""
    return x.abs().eq(inf)


def constant_like(op: StableHLOOp, args: Sequence[Scalar]) -> Scalar:
    """The op's value, whatever the operand holds."""
    from xdsl.dialects.builtin import FloatAttr, IntegerAttr

    value = op.properties.get("value")
    assert isinstance(value, FloatAttr | IntegerAttr)
    number: int | float = value.value.data
    return args[0].like(number)


def bessel_i1e(x: Scalar) -> Scalar:
    """exp(-|x|) I1(x), by Chebyshev series (Cephes, `i1f.c`)."""
    a = x.abs()
    small = _chebyshev(a * 0.5 - 2.0, _I1E_SMALL) * a
    large = _chebyshev(a.like(32.0) / a - 2.0, _I1E_LARGE) / a.call("math.sqrt")
    result = a.compare("le", 8.0).select(small, large)
    return x.lt(0.0).select(-result, result)


_I1E_SMALL = (
    9.38153738649577178388e-9, -4.44505912879632808065e-8, 2.00329475355213526229e-7,
    -8.56872026469545474066e-7, 3.47025130813767847674e-6, -1.32731636560394358279e-5,
    4.78156510755005422638e-5, -1.61760815825896745588e-4, 5.12285956168575772895e-4,
    -1.51357245063125314899e-3, 4.15642294431288815669e-3, -1.05640848946261981558e-2,
    2.47264490306265168283e-2, -5.29459812080949914269e-2, 1.02643658689847095384e-1,
    -1.76416518357834055153e-1, 2.52587186443633654823e-1,
)  # fmt: skip
_I1E_LARGE = (
    -3.83538038596423702205e-9, -2.63146884688951950684e-8, -2.51223623787020892529e-7,
    -3.88256480887769039346e-6, -1.10588938762623716291e-4, -9.76109749136146840777e-3,
    7.78576235018280120474e-1,
)  # fmt: skip


def _chebyshev(x: Scalar, coefficients: Sequence[float]) -> Scalar:
    """Clenshaw's recurrence, as Cephes' `chbevl` has it."""
    b0, b1, b2 = x.like(coefficients[0]), x.like(0.0), x.like(0.0)
    for coefficient in coefficients[1:]:
        b0, b1, b2 = x * b0 - b1 + coefficient, b0, b1
    return (b0 - b2) * 0.5


RULES: dict[str, ScalarRule] = {
    f"chlo.{name}": rule
    for name, rule in {
        **{
            name: _math(f"math.{name}")
            for name in (
                "acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "sinh", "tan",
            )
        },
        "bessel_i1e": _single(bessel_i1e),
        "conj": unary(lambda x: x.conjugate()),
        "constant_like": constant_like,
        "digamma": _single(digamma),
        "erf_inv": _single(erf_inv),
        "erfc": _single(erfc),
        "is_inf": unary(is_inf),
        "is_pos_inf": unary(lambda x: x.eq(inf)),
        "is_neg_inf": unary(lambda x: x.eq(-inf)),
        "lgamma": _single(lgamma),
        "next_after": binary(next_after),
        "polygamma": _single_pair(polygamma),
        "zeta": _single_pair(zeta),
        "square": unary(lambda x: x * x),
    }.items()
}  # fmt: skip

BROADCASTING: dict[str, str] = {
    f"chlo.broadcast_{name}": f"stablehlo.{name}"
    for name in (
        "add", "and", "atan2", "compare", "complex", "divide", "maximum", "minimum", "multiply",
        "or", "power", "remainder", "select", "shift_left", "shift_right_arithmetic",
        "shift_right_logical", "subtract", "xor",
    )
} | {
    f"chlo.broadcast_{name}": f"chlo.{name}" for name in ("next_after", "polygamma", "zeta")
}  # fmt: skip
"""Ops that broadcast their operands as NumPy does, and those that compute the same without."""
