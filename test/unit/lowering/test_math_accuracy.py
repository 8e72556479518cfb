"""The formulas of `expand-math` against float64, in units of the last place of f32.

Each bound is the largest error seen over 400,000 arguments, rounded up; docs publish them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from unit.lowering.expanded import expanded, max_ulp_error

Array = npt.NDArray[Any]
Function = Callable[[Array], Array]

COUNT = 20_000


def uniform(low: float, high: float) -> Array:
    return np.random.default_rng(1).uniform(low, high, COUNT).astype(np.float32)


def magnitudes(low: float, high: float) -> Array:
    """Positive numbers, even in the logarithm between two powers of two."""
    exponents = np.random.default_rng(2).uniform(low, high, COUNT)
    return (2.0**exponents).astype(np.float32)


def signed(x: Array) -> Array:
    return np.where(np.random.default_rng(3).random(x.shape) < 0.5, -x, x).astype(np.float32)


def around_one() -> Array:
    return (1.0 + signed(magnitudes(-22, -2)).astype(np.float64)).astype(np.float32)


UNARY: dict[str, tuple[Function, float, list[Array]]] = {
    "exp": (np.exp, 1.0, [uniform(-87, 88.7), signed(magnitudes(-40, 0))]),
    "exp2": (np.exp2, 1.3, [uniform(-125, 127.9), signed(magnitudes(-40, 0))]),
    "expm1": (np.expm1, 1.5, [uniform(-20, 88.7), signed(magnitudes(-60, 1))]),
    "log": (np.log, 0.9, [magnitudes(-125, 127.9), around_one()]),
    "log1p": (np.log1p, 0.9, [magnitudes(-100, 127.9), signed(magnitudes(-60, -0.1))]),
    "log2": (np.log2, 0.9, [magnitudes(-125, 127.9), around_one()]),
    "log10": (np.log10, 0.9, [magnitudes(-125, 127.9), around_one()]),
    "cbrt": (np.cbrt, 1.0, [signed(magnitudes(-125, 127.9))]),
    "erf": (np.vectorize(math.erf), 1.4, [uniform(-4.5, 4.5), signed(magnitudes(-60, 2))]),
    "sinh": (np.sinh, 2.4, [uniform(-89.3, 89.3), signed(magnitudes(-60, 2))]),
    "cosh": (np.cosh, 2.4, [uniform(-89.3, 89.3), signed(magnitudes(-60, 2))]),
    "tanh": (np.tanh, 2.3, [uniform(-12, 12), signed(magnitudes(-60, 2))]),
    "asinh": (np.arcsinh, 1.8, [signed(magnitudes(-60, 127)), uniform(-4, 4)]),
    "acosh": (np.arccosh, 2.2, [magnitudes(0, 127), uniform(1, 4), abs(around_one()) + 1]),
    "atanh": (np.arctanh, 1.9, [uniform(-1, 1), signed(magnitudes(-60, -0.001))]),
    "sin": (np.sin, 2.7, [uniform(-4, 4), signed(magnitudes(-60, 14)), magnitudes(13, 127)]),
    "cos": (np.cos, 2.8, [uniform(-4, 4), signed(magnitudes(-60, 14)), magnitudes(13, 127)]),
    "tan": (np.tan, 3.8, [uniform(-4, 4), signed(magnitudes(-60, 14)), magnitudes(13, 127)]),
    "asin": (np.arcsin, 2.4, [uniform(-1, 1), signed(magnitudes(-60, -0.001))]),
    "acos": (np.arccos, 1.3, [uniform(-1, 1), (1.0 - magnitudes(-23, 0)).astype(np.float32)]),
    "atan": (np.arctan, 2.4, [uniform(-5, 5), signed(magnitudes(-60, 100))]),
}
SPECIAL = np.array(
    [0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 100, -100, 2, -2, 0.5, 1e30, -1e30], np.float32
)


@pytest.mark.parametrize("name", UNARY)
def test_error_is_within_the_published_bound(name: str) -> None:
    reference, bound, arguments = UNARY[name]
    function = expanded(f"math.{name}", "f32")
    for x in arguments:
        with np.errstate(all="ignore"):
            exact = reference(x.astype(np.float64))
        assert max_ulp_error(function(x), exact) <= bound


def _same(got: Array, expected: Array, rtol: float = 0.0) -> npt.NDArray[np.bool_]:
    """Where both are NaN, or equal with the same sign of zero, or finite and close."""
    equal = (got == expected) & (np.signbit(got) == np.signbit(expected))
    finite = np.isfinite(got) & np.isfinite(expected) & (expected != 0)
    with np.errstate(all="ignore"):
        close = finite & (np.abs(got - expected) <= rtol * np.abs(expected))
    return (np.isnan(got) & np.isnan(expected)) | equal | close


@pytest.mark.parametrize("name", UNARY)
def test_zeros_infinities_and_nan_are_right(name: str) -> None:
    reference = UNARY[name][0]
    with np.errstate(all="ignore"):
        expected = reference(SPECIAL.astype(np.float64)).astype(np.float32)
    got = expanded(f"math.{name}", "f32")(SPECIAL)
    assert _same(got, expected, rtol=1e-6).all(), list(zip(SPECIAL, got, expected, strict=True))


def test_pow_is_accurate_where_its_logarithm_cancels() -> None:
    function = expanded("math.powf", "f32", 2)
    for x, y in (
        (magnitudes(-10, 10), uniform(-8, 8)),
        (uniform(0.5, 2), uniform(-100, 100)),
        (around_one(), signed(magnitudes(5, 20))),
    ):
        with np.errstate(all="ignore"):
            exact = x.astype(np.float64) ** y.astype(np.float64)
        assert max_ulp_error(function(x, y), exact) <= 1.5


def _pairs(*extra: float) -> tuple[Array, Array]:
    values = np.array([*SPECIAL, *extra], np.float32)
    x, y = np.meshgrid(values, values)
    return x.ravel(), y.ravel()


@pytest.mark.parametrize(
    ("op", "reference"),
    [("math.powf", np.power), ("math.atan2", np.arctan2), ("arith.remf", np.fmod)],
)
def test_pairs_of_special_numbers(op: str, reference: Callable[[Array, Array], Array]) -> None:
    x, y = _pairs(3, -3, 16777217, 2147483648)
    with np.errstate(all="ignore"):
        expected = reference(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
    got = expanded(op, "f32", 2)(x, y)
    bad = ~_same(got, expected, rtol=1e-6)
    assert not bad.any(), (x[bad][:4], y[bad][:4], got[bad][:4], expected[bad][:4])


def test_atan2_is_accurate_in_all_quadrants() -> None:
    y, x = signed(magnitudes(-60, 60)), signed(magnitudes(-60, 60))[::-1].copy()
    exact = np.arctan2(y.astype(np.float64), x.astype(np.float64))
    assert max_ulp_error(expanded("math.atan2", "f32", 2)(y, x), exact) <= 2.4


def test_remf_is_exact() -> None:
    x, y = signed(magnitudes(-60, 120))[:2000], signed(magnitudes(-60, 60))[:2000]
    assert _same(expanded("arith.remf", "f32", 2)(x, y), np.fmod(x, y)).all()


def test_half_precision_is_rounded_once() -> None:
    x = np.arange(-6.0, 6.0, 0.01).astype(np.float16)
    got = expanded("math.tanh", "f16")(x)
    assert max_ulp_error(got, np.tanh(x.astype(np.float64))) <= 0.51


@pytest.mark.parametrize("type_", ["f32", "f16"])
@pytest.mark.parametrize(
    ("op", "reference"),
    [
        ("arith.maximumf", lambda a, b: b if b > a or b != b else a),
        ("arith.minimumf", lambda a, b: b if b < a or b != b else a),
        ("arith.maxnumf", np.fmax),
        ("arith.minnumf", np.fmin),
    ],
)
def test_minima_and_maxima(type_: str, op: str, reference: Callable[[Any, Any], Any]) -> None:
    dtype = np.float32 if type_ == "f32" else np.float16
    x, y = (v.astype(dtype) for v in _pairs())
    got = expanded(op, type_, 2)(x, y)
    for a, b, result in zip(x, y, got, strict=True):
        if a == 0 and b == 0 and "imum" in op:
            negative = (np.signbit(a) | np.signbit(b), np.signbit(a) & np.signbit(b))
            assert np.signbit(result) == negative["max" in op]
        elif a != a and "imum" in op:
            assert result != result
        else:
            assert _same(np.array([result]), np.array([reference(a, b)])).all() or a == b == 0


def test_round_goes_away_from_zero_and_keeps_its_sign() -> None:
    x = np.array([0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, -0.0, 8388609, np.inf, -0.2], np.float32)
    expected = np.array([1, -1, 2, 3, -3, 0, -0.0, 8388609, np.inf, -0.0], np.float32)
    assert _same(expanded("math.round", "f32")(x), expected).all()
