"""The ops of the `complex` dialect as formulas on real and imaginary parts, both f32.

Division is Smith's, with NumPy's result for a zero divisor; a logarithm near the unit circle goes
by log1p, so that its real part keeps its digits; square roots follow Kahan, "Branch cuts for
complex elementary functions" (1987).
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

from xdsl.dialects import math
from xdsl.ir import Operation

from ingot.passes.lowering.emitter import Value

Complex = tuple[Value, Value]


def _f(op: type[Operation], *operands: Value) -> Value:
    return operands[0].emitter.math(op, *operands)


def _one(x: Value) -> Value:
    return x.like(1.0)


def add(a: Complex, b: Complex) -> Complex:
    return a[0] + b[0], a[1] + b[1]


def sub(a: Complex, b: Complex) -> Complex:
    return a[0] - b[0], a[1] - b[1]


def mul(a: Complex, b: Complex) -> Complex:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def div(a: Complex, b: Complex) -> Complex:
    (ar, ai), (br, bi) = a, b
    wide = br.abs().ge(bi.abs())
    # the larger part of the divisor, and what the smaller one is of it
    large, small = wide.select(br, bi), wide.select(bi, br)
    ratio = small / large
    scale = 1.0 / (large + small * ratio)
    first, second = wide.select(ar, ai), wide.select(ai, ar)
    re = (first + second * ratio) * scale
    im = (second - first * ratio) * scale
    im = wide.select(im, -im)
    zero = br.eq(0.0) & bi.eq(0.0)
    return zero.select(ar / br.abs(), re), zero.select(ai / br.abs(), im)


def neg(a: Complex) -> Complex:
    return -a[0], -a[1]


def conj(a: Complex) -> Complex:
    return a[0], -a[1]


def magnitude(a: Complex) -> Value:
    """sqrt(re**2 + im**2) without overflow on the way; infinite where a part is."""
    x, y = a[0].abs(), a[1].abs()
    greater = x.gt(y)
    large, small = greater.select(x, y), greater.select(y, x)
    ratio = small / large
    result = large * (ratio * ratio + 1.0).sqrt()
    result = large.eq(0.0).select(large, result)
    result = (x.is_nan() | y.is_nan()).select(x + y, result)
    return (x.eq(inf) | y.eq(inf)).select(x.like(inf), result)


def angle(a: Complex) -> Value:
    return _f(math.Atan2Op, a[1], a[0])


def exp(a: Complex) -> Complex:
    size = _f(math.ExpOp, a[0])
    flat = a[1].eq(0.0)
    im = size * _f(math.SinOp, a[1])
    return flat.select(size, size * _f(math.CosOp, a[1])), flat.select(a[1], im)


def expm1(a: Complex) -> Complex:
    # exp(x) cos(y) - 1 = expm1(x) cos(y) - 2 sin(y/2)**2
    half = _f(math.SinOp, a[1] * 0.5)
    re = _f(math.ExpM1Op, a[0]) * _f(math.CosOp, a[1]) - half * half * 2.0
    return re, exp(a)[1]


def _log_magnitude(x: Value, y: Value, x_less_one: Value) -> Value:
    """log |x + iy|; `x_less_one` is x - 1, perhaps more exact than x."""
    a, b = x.abs(), y.abs()
    greater = a.gt(b)
    large, small = greater.select(a, b), greater.select(b, a)
    # |z|**2 - 1 for a positive x that is the larger part, or for the other part
    from_one = (greater & x.gt(0.0)).select(x_less_one, large - 1.0)
    near = _f(math.Log1pOp, from_one * (from_one + 2.0) + small * small) * 0.5
    far = _f(math.LogOp, magnitude((x, y)))
    is_near = large.gt(0.5) & large.lt(3.0)
    return is_near.select(near, far)


def log(a: Complex) -> Complex:
    return _log_magnitude(a[0], a[1], a[0] - 1.0), angle(a)


def log1p(a: Complex) -> Complex:
    x = a[0] + 1.0
    return _log_magnitude(x, a[1], a[0]), _f(math.Atan2Op, a[1], x)


def sqrt(a: Complex) -> Complex:
    re, im = a
    x = re.abs()
    # half of |re| + |z|, which alone does not overflow
    t = (x * 0.5 + magnitude((x * 0.5, im * 0.5))).sqrt()
    other = im.abs() / (t * 2.0)
    zero = t.eq(0.0)
    right = re.ge(0.0)
    real = zero.select(t, right.select(t, other))
    imaginary = _f(math.CopySignOp, zero.select(t, right.select(other, t)), im)
    infinite = im.abs().eq(inf)
    return infinite.select(re.like(inf), real), infinite.select(im, imaginary)


def rsqrt(a: Complex) -> Complex:
    one = _one(a[0])
    return div((one, one.like(0.0)), sqrt(a))


def pow(a: Complex, b: Complex) -> Complex:
    re, im = exp(mul(b, log(a)))
    # NumPy's powers of zero: 1 to the power 0, 0 to a positive one, else undefined
    base_zero = a[0].eq(0.0) & a[1].eq(0.0)
    power_zero = b[0].eq(0.0) & b[1].eq(0.0)
    at_zero = (b[0].gt(0.0) & b[1].eq(0.0)).select(re.like(0.0), re.like(nan))
    re, im = base_zero.select(at_zero, re), base_zero.select(at_zero, im)
    return power_zero.select(re.like(1.0), re), power_zero.select(im.like(0.0), im)


def sin(a: Complex) -> Complex:
    return (
        _f(math.SinOp, a[0]) * _f(math.CoshOp, a[1]),
        _f(math.CosOp, a[0]) * _f(math.SinhOp, a[1]),
    )


def cos(a: Complex) -> Complex:
    return (
        _f(math.CosOp, a[0]) * _f(math.CoshOp, a[1]),
        -(_f(math.SinOp, a[0]) * _f(math.SinhOp, a[1])),
    )


def tanh(a: Complex) -> Complex:
    # beyond 44 the real part is 1 and the hyperbolic cosine would overflow when squared
    x, y = a
    h, t = _f(math.TanhOp, x), _f(math.TanOp, y)
    cosh = _f(math.CoshOp, x)
    bottom = h * h * t * t + 1.0
    return h * (t * t + 1.0) / bottom, t / (cosh * cosh * bottom)


def tan(a: Complex) -> Complex:
    # tan(z) = -i tanh(iz)
    re, im = tanh((-a[1], a[0]))
    return im, -re


def sign(a: Complex) -> Complex:
    size = magnitude(a)
    zero = size.eq(0.0)
    return zero.select(a[0], a[0] / size), zero.select(a[1], a[1] / size)


def re(a: Complex) -> Value:
    return a[0]


def im(a: Complex) -> Value:
    return a[1]


def eq(a: Complex, b: Complex) -> Value:
    return a[0].eq(b[0]) & a[1].eq(b[1])


def neq(a: Complex, b: Complex) -> Value:
    return a[0].ne(b[0]) | a[1].ne(b[1])


FORMULAS: dict[str, Callable[..., Value | Complex]] = {
    "complex.abs": magnitude,
    "complex.add": add,
    "complex.angle": angle,
    "complex.conj": conj,
    "complex.cos": cos,
    "complex.div": div,
    "complex.eq": eq,
    "complex.exp": exp,
    "complex.expm1": expm1,
    "complex.im": im,
    "complex.log": log,
    "complex.log1p": log1p,
    "complex.mul": mul,
    "complex.neg": neg,
    "complex.neq": neq,
    "complex.pow": pow,
    "complex.re": re,
    "complex.rsqrt": rsqrt,
    "complex.sign": sign,
    "complex.sin": sin,
    "complex.sqrt": sqrt,
    "complex.sub": sub,
    "complex.tan": tan,
    "complex.tanh": tanh,
}
"""By op name; operands of complex type are pairs."""
