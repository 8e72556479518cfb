"""The rules of elementwise ops for complex numbers, by ops of the complex dialect.

Inverse functions follow Kahan, "Branch cuts for complex elementary functions" (1987).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.elementwise import binary, unary
from ingot.passes.stablehlo.lowering import ScalarRule, is_complex
from ingot.passes.stablehlo.scalar import Scalar

_SAME_RULE = frozenset(
    f"stablehlo.{name}"
    for name in (
        "abs", "add", "convert", "cosine", "divide", "exponential", "exponential_minus_one", "log",
        "log_plus_one", "logistic", "multiply", "negate", "rsqrt", "select", "sine", "sqrt",
        "subtract", "tan", "tanh",
    )
) | {"chlo.square", "chlo.conj"}  # fmt: skip
"""Ops whose rule for real numbers builds the right ops of complex ones."""


def _times_i(z: Scalar) -> Scalar:
    return (-z.imaginary).with_imaginary(z.real)


def _over_i(z: Scalar) -> Scalar:
    return z.imaginary.with_imaginary(-z.real)


def _roots(z: Scalar) -> tuple[Scalar, Scalar]:
    """The square roots of 1 - z and 1 + z."""
    one = z.like(1.0)
    return (one - z).call("math.sqrt"), (one + z).call("math.sqrt")


def asin(z: Scalar) -> Scalar:
    """Arc sine."""
    below, above = _roots(z)
    real = z.real.call("math.atan2", (below * above).real)
    return real.with_imaginary((below.conjugate() * above).imaginary.call("math.asinh"))


def acos(z: Scalar) -> Scalar:
    """Arc cosine."""
    below, above = _roots(z)
    real = below.real.call("math.atan2", above.real) * 2.0
    return real.with_imaginary((above.conjugate() * below).imaginary.call("math.asinh"))


def acosh(z: Scalar) -> Scalar:
    """Inverse hyperbolic cosine."""
    below = (z - z.like(1.0)).call("math.sqrt")
    above = (z + z.like(1.0)).call("math.sqrt")
    imaginary = below.imaginary.call("math.atan2", above.real) * 2.0
    return (below.conjugate() * above).real.call("math.asinh").with_imaginary(imaginary)


def atanh(z: Scalar) -> Scalar:
    """Inverse hyperbolic tangent."""
    x, y = z.real.abs(), z.imaginary
    rest = 1.0 - x
    # An odd function: of a negative real part log1p would cancel.
    size = (x * 4.0 / (rest * rest + y * y)).call("math.log1p") * 0.25
    real = size.call("math.copysign", z.real)
    return real.with_imaginary((y * 2.0).call("math.atan2", rest * (x + 1.0) - y * y) * 0.5)


def sinh(z: Scalar) -> Scalar:
    """Hyperbolic sine."""
    return _over_i(_times_i(z).call("math.sin"))


def power(a: Scalar, b: Scalar) -> Scalar:
    """a to the power b, the principal value."""
    return a.call("math.powf", b)


def _larger(a: Scalar, b: Scalar) -> Scalar:
    """Whether a comes after b, by the real parts first."""
    by_real = a.real.gt(b.real)
    return by_real | (a.real.eq(b.real) & a.imaginary.gt(b.imaginary))


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """The later one."""
    return _larger(b, a).select(b, a)


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """The earlier one."""
    return _larger(a, b).select(b, a)


def compare(op: StableHLOOp, args: Sequence[Scalar]) -> Scalar:
    """Equal if both parts are."""
    direction = op.word("comparison_direction")
    if direction not in ("EQ", "NE"):
        raise refuse(op, f"stablehlo.compare {direction} of complex numbers is not defined")
    return args[0].compare(direction.lower(), args[1])


def _clamp(op: StableHLOOp, args: Sequence[Scalar]) -> Scalar:
    low, x, high = args
    return minimum(maximum(x, low), high)


def _math(name: str) -> ScalarRule:
    return unary(lambda z: z.call(name))


_RULES: dict[str, ScalarRule] = {
    "stablehlo.clamp": _clamp,
    "stablehlo.compare": compare,
    "stablehlo.complex": binary(lambda a, b: a.with_imaginary(b)),
    "stablehlo.imag": unary(lambda z: z.imaginary),
    "stablehlo.maximum": binary(maximum),
    "stablehlo.minimum": binary(minimum),
    "stablehlo.power": binary(power),
    "stablehlo.real": unary(lambda z: z.real),
    "stablehlo.sign": _math("math.sign"),
    "chlo.acos": unary(acos),
    "chlo.acosh": unary(acosh),
    "chlo.asin": unary(asin),
    "chlo.asinh": unary(lambda z: _over_i(asin(_times_i(z)))),
    "chlo.atan": unary(lambda z: _over_i(atanh(_times_i(z)))),
    "chlo.atanh": unary(atanh),
    "chlo.cosh": unary(lambda z: _times_i(z).call("math.cos")),
    "chlo.sinh": unary(sinh),
}


def defined(name: str) -> bool:
    """Whether an elementwise op is defined for complex numbers."""
    return name in _SAME_RULE or name in _RULES


def extended(rules: Mapping[str, ScalarRule]) -> dict[str, ScalarRule]:
    """Rules for real numbers with those for complex ones: the operands' types say which."""
    return {
        **{name: _choose(name, rule) for name, rule in rules.items()},
        **{name: rule for name, rule in _RULES.items() if name not in rules},
    }


def _choose(name: str, real: ScalarRule) -> ScalarRule:
    other: Callable[..., Scalar] | None = real if name in _SAME_RULE else _RULES.get(name)

    def rule(op: StableHLOOp, args: Sequence[Scalar]) -> Scalar:
        if not any(is_complex(value.type) for value in (*op.ins, *op.outs)):
            return real(op, args)
        if other is None:
            raise refuse(op, f"{op.name} of complex numbers is not supported")
        return other(op, args)

    return rule
