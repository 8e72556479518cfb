"""Every math function of the headers against a float64 reference, over its range."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from ingot.runtime.devices.host.compile import KernelSource, compile_kernels

from .launch import HEADER, Array, launch

Reference = Callable[..., Array]


def each(function: Callable[..., float]) -> Reference:
    """A reference from a function of Python floats."""
    return np.vectorize(function, otypes=[np.float64])


UNARY: dict[str, tuple[Reference, float, float]] = {
    "acos": (np.arccos, -1, 1),
    "acosh": (np.arccosh, 1, 1e6),
    "asin": (np.arcsin, -1, 1),
    "asinh": (np.arcsinh, -1e6, 1e6),
    "atan": (np.arctan, -1e6, 1e6),
    "atanh": (np.arctanh, -0.999, 0.999),
    "ceil": (np.ceil, -100, 100),
    "cos": (np.cos, -100, 100),
    "cosh": (np.cosh, -80, 80),
    "cospi": (each(lambda x: math.cos(math.pi * math.fmod(x, 2))), -100, 100),
    "degrees": (np.degrees, -100, 100),
    "exp": (np.exp, -80, 80),
    "exp10": (lambda x: np.power(10.0, x), -37, 38),
    "exp2": (np.exp2, -120, 120),
    "fabs": (np.abs, -100, 100),
    "floor": (np.floor, -100, 100),
    "fract": (lambda x: np.minimum(x - np.floor(x), np.nextafter(np.float32(1), 0)), -100, 100),
    "log": (np.log, 1e-30, 1e30),
    "log10": (np.log10, 1e-30, 1e30),
    "log2": (np.log2, 1e-30, 1e30),
    "radians": (np.radians, -1000, 1000),
    "rint": (np.rint, -100, 100),
    "round": (lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), -100, 100),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 1e-30, 1e30),
    "saturate": (lambda x: np.clip(x, 0, 1), -2, 2),
    "sign": (np.sign, -2, 2),
    "sin": (np.sin, -100, 100),
    "sinh": (np.sinh, -80, 80),
    "sinpi": (each(lambda x: math.sin(math.pi * math.fmod(x, 2))), -100, 100),
    "sqrt": (np.sqrt, 0, 1e30),
    "tan": (np.tan, -100, 100),
    "tanh": (np.tanh, -200, 200),
    "trunc": (np.trunc, -100, 100),
}
BINARY: dict[str, tuple[Reference, float, float]] = {
    "atan2": (np.arctan2, -10, 10),
    "copysign": (np.copysign, -10, 10),
    "fdim": (lambda x, y: np.maximum(x - y, 0), -10, 10),
    "fmax": (np.fmax, -10, 10),
    "fmin": (np.fmin, -10, 10),
    "fmod": (np.fmod, -100, 100),
    "pow": (np.power, 0.01, 20),
    "powr": (np.power, 0.01, 20),
    "step": (lambda edge, x: np.where(x < edge, 0.0, 1.0), -10, 10),
}
TERNARY: dict[str, tuple[Reference, float, float]] = {
    "clamp": (lambda x, a, b: np.minimum(np.maximum(x, a), b), -10, 10),
    "fma": (lambda x, y, z: x * y + z, -10, 10),
    "median3": (lambda x, y, z: np.median([x, y, z], 0), -10, 10),
    "mix": (lambda x, y, a: x + (y - x) * a, 1, 2),
}
FUNCTIONS = {**UNARY, **BINARY, **TERNARY}
COUNT = 256


def arity(name: str) -> int:
    return 1 if name in UNARY else 2 if name in BINARY else 3


def source(name: str, kind: str) -> str:
    arguments = ", ".join(f"x[i + {COUNT * n}]" for n in range(arity(name)))
    return (
        f"{HEADER}kernel void k(device const {kind}* x [[buffer(0)]], device {kind}* o "
        f"[[buffer(1)]], uint i [[thread_position_in_grid]]) {{ o[i] = {name}({arguments}); }}"
    )


@pytest.fixture(scope="module", autouse=True)
def compiled_together() -> None:
    """Fill the cache at once; the tests then take their kernels from it."""
    compile_kernels(
        [KernelSource(source(name, kind), "k") for name in FUNCTIONS for kind in ("float", "half")]
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float_function_within_four_ulp(name: str) -> None:
    reference, low, high = FUNCTIONS[name]
    rng = np.random.default_rng(1)
    x = rng.uniform(low, high, (arity(name), COUNT)).astype("f4")
    out = np.zeros(COUNT, "f4")
    launch(source(name, "float"), "k", {"x": x, "out": out}, 1, COUNT)
    expected = reference(*x.astype("f8"))
    ulp = np.spacing(np.maximum(np.abs(expected), 2**-126).astype("f4")).astype("f8")
    # Near a zero of sin or cos the argument's own rounding is what counts.
    floor = 2.0**-24 if name in ("sin", "cos", "tan", "sinpi", "cospi", "fmod", "mix", "fma") else 0
    assert np.all(np.abs(out - expected) <= 4 * ulp + floor)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_half_function_is_the_rounded_float_function(name: str) -> None:
    reference, low, high = FUNCTIONS[name]
    rng = np.random.default_rng(2)
    x = rng.uniform(max(low, -8), min(high, 8), (arity(name), COUNT)).astype("f2")
    out = np.zeros(COUNT, "f2")
    launch(source(name, "half"), "k", {"x": x, "out": out}, 1, COUNT)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        expected = reference(*x.astype("f8"))
        if name == "fract":
            expected = np.minimum(expected, 1 - 2.0**-11)
        rounded = expected.astype("f2")
        step = np.spacing(np.abs(rounded)).astype("f8")
    near = np.abs(out.astype("f8") - expected) <= step
    assert np.all(near | (out == rounded) | (np.isnan(out) & np.isnan(rounded)))


def test_functions_with_two_results_and_special_values() -> None:
    text = """
    kernel void k(device float* o [[buffer(0)]]) {
      float whole; int exponent; float cosine;
      o[0] = modf(-2.75f, whole); o[1] = whole;
      o[2] = frexp(12.0f, exponent); o[3] = exponent;
      o[4] = sincos(0.5f, cosine); o[5] = cosine;
      o[6] = ldexp(0.75f, 4); o[7] = ilogb(10.0f);
      o[8] = max(NAN, 2.0f); o[9] = fmin(3.0f, NAN);
      o[10] = isnan(fast::max(NAN, 2.0f)); o[11] = fast::max(2.0f, NAN);
      o[12] = tanh(100.0f); o[13] = exp(-200.0f); o[14] = pow(0.0f, 0.0f);
      o[15] = powr(-1.0f, 2.0f);
      o[16] = nextafter(1.0f, 2.0f); o[17] = nextafter(0.0f, -1.0f);
      o[18] = isinf(1.0f / 0.0f); o[19] = sign(-0.0f);
      o[20] = dot(float3(1, 2, 3), float3(4, 5, 6));
      o[21] = length(float2(3, 4)); o[22] = smoothstep(0.0f, 1.0f, 0.25f);
      o[23] = as_type<float>(0x40490fdbu); o[24] = sinpi(1e6f);
      o[25] = float(nextafter(1.0h, 2.0h));
    }"""
    o = np.zeros(26, "f4")
    launch(text, "k", {"o": o}, 1, 1)
    nan = math.nan
    expected = [-0.75, -2, 0.75, 4, math.sin(0.5), math.cos(0.5), 12, 3, 2, 3, 1, 2, 1, 0, 1, nan]
    expected += [1 + 2**-23, -(2**-149), 1, 0, 32, 5, 0.15625, math.pi, 0, 1 + 2**-10]
    np.testing.assert_allclose(o, np.array(expected, "f4"), rtol=1e-7)
    assert np.signbit(o[19])
