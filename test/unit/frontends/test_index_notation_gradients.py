"""Gradients of programs in index notation agree with differences, in float64.

The kinds of Tullio's own gradient tests, and more: each gradient is held against the central
difference along a random direction, by the reference evaluator.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.gradient import gradient_text
from ingot.compiler.driver.options import CompileOptions, Differentiate
from ingot.compiler.driver.pass_pipeline import parse_pipeline, run_passes
from ingot.compiler.driver.pipelines import gradient_pipeline
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate
from ingot.targets.profiles import PROFILES

Array = NDArray[Any]
K = np.array([2, 3, 2, 1, 2], np.int32)
MANY = (np.arange(1024) * 7 % 10 + 1).astype(np.int32)

CASES: dict[str, tuple[str, dict[str, tuple[int, ...] | Array]]] = {
    "twice": ("A[i] := 2x[i]", {"x": (5,)}),
    "index as number": ("A[i] := 2x[i] + i", {"x": (5,)}),
    "outer sum of 3": ("A[i,j] := x[i] + 1000x[j]", {"x": (3,)}),
    "outer sum of 100": ("A[i,j] := x[i] + 1000x[j]", {"x": (100,)}),
    "quotient to a scalar": ("s := exp(x[i]) / x[j]", {"x": (5,)}),
    "transposed sum": ("A[i] := x[i,j] + y[j,i]", {"x": (3, 4), "y": (4, 3)}),
    "quotient of logs": ("A[i] := log(x[i,j]) / y[j,i]", {"x": (3, 4), "y": (4, 3)}),
    "scaled matmul": ("A[i,j] := 2x[i,k] * y[k,j]", {"x": (3, 4), "y": (4, 3)}),
    "absolute value": ("A[i] := abs(1 + x[i]^2)", {"x": (5,)}),
    "square of it": ("A[i] := abs(1 + x[i]^2)^2", {"x": (5,)}),
    "sum of logs": ("s[] := log(x[i])", {"x": (5,)}),
    "gather": ("A[i] := x[k[i]]", {"x": (3,), "k": K}),
    "gather of 1024": ("A[i] := x[k[i]]", {"x": (10,), "k": MANY}),
    "scatter": ("@out A: f64[6]\nA[k[i]] := x[i]^2", {"x": (5,), "k": K}),
    "convolution": ("A[x,y,c] := N[x+i-1,y+j-1,c] * K[i,j]", {"N": (6, 6, 2), "K": (3, 3)}),
    "convolution round the ends": (
        "A[x,y] := N[mod(x+i-1),mod(y+j-1)] * abs(K[i,j]) (x in 1:6, y in 1:6)",
        {"N": (6, 6), "K": (3, 3)},
    ),
    "mod": ("A[i+_] := x[mod(i)]^2 (i in -2:9)", {"x": (5,)}),
    "clamp": ("A[i+_] := x[clamp(i)]^2 (i in -2:9)", {"x": (5,)}),
    "pad": ("A[i+_] := x[pad(i,3)]^2", {"x": (5,)}),
    "trace": ("A[k] := x[i,i,k]", {"x": (3, 3, 4)}),
    "two traces": ("A[k] := x[i,i,k,j,j]", {"x": (3, 3, 4, 2, 2)}),
    "matmul": ("A[i,j] := x[i,k] * r[k,j]", {"x": (3, 4), "r": (4, 5)}),
    "contraction": ("A[i,j,m,n] := x[i,j,k] * r[k,m,n]", {"x": (1, 2, 3), "r": (3, 2, 2)}),
    "permuted nimj": ("A[n,i,m,j] := x[i,j,k] * r[k,m,n]", {"x": (1, 2, 3), "r": (3, 2, 2)}),
    "permuted mnji": ("A[m,n,j,i] := x[i,j,k] * r[k,m,n]", {"x": (1, 2, 3), "r": (3, 2, 2)}),
    "permuted jinm": ("A[j,i,n,m] := x[i,j,k] * r[k,m,n]", {"x": (1, 2, 3), "r": (3, 2, 2)}),
    "traces inside": ("A[i,m] := x[i,k,k,l] * r[l,m,q,q]", {"x": (2, 3, 3, 4), "r": (4, 2, 3, 3)}),
    "shared traces": ("A[i,m] := x[i,k,k,l] * r[l,m,k,k]", {"x": (2, 3, 3, 4), "r": (4, 2, 3, 3)}),
    "swapped": ("A[i,j] := r[i,k] * x[k,j]", {"r": (2, 3), "x": (3, 4)}),
    "swapped contraction": (
        "A[i,j,m,n] := r[i,j,k] * x[m,k,n]",
        {"r": (2, 2, 3), "x": (2, 3, 2)},
    ),
    "traces outside": ("A[i,j] := r[s,s,j,k] * x[t,t,k,i]", {"x": (3, 3, 4, 2), "r": (2, 2, 3, 4)}),
    "three factors": (
        "A[a,c,j,i] := r[a,b,j,k] * x[b,c,k,i] * q[a,c]",
        {"r": (2, 3, 2, 2), "x": (3, 2, 2, 2), "q": (2, 2)},
    ),
    "scalar of three": ("s := x[i,j] * y[j,k] * z[k,i]", {"x": (2, 3), "y": (3, 4), "z": (4, 2)}),
    "form of three": ("s := x[i] * y[i,j] * z[j]", {"x": (3,), "y": (3, 4), "z": (4,)}),
    "max": ("(max) s := x[i]", {"x": (5,)}),
    "max of rows": ("(max) A[j] := x[i,j] + 0.01y[i]", {"x": (5, 4), "y": (5,)}),
    "max of columns": ("(max) A[i] := x[i,j] + 0.01y[j]", {"x": (5, 4), "y": (4,)}),
    "max of quotients": (
        "(max) A[i] := x[i,j]^2 / sqrt(y[i]) + exp(y[j])",
        {"x": (4, 4), "y": (4,)},
    ),
    "min over three": (
        "(min) A[j] := log(x[i,j,k,l]) / y[j]^(1/3)",
        {"x": (2, 3, 2, 2), "y": (3,)},
    ),
    "norm": ("A[i] := x[i,j]^2 |> sqrt", {"x": (3, 4)}),
    "dense layer": ("A[i] := W[i,j] * x[j] |> tanh", {"W": (3, 4), "x": (4,)}),
    "log-sum-exp": ("A[i] := log <| exp(x[i,j])", {"x": (3, 4)}),
    "tanh of a sum": ("A[i,a] := tanh(B[i,a] + C[k,i,a])", {"B": (3, 4), "C": (2, 3, 4)}),
    "wide matmul": ("C[i,k] := A[i,j] * B[j,k]", {"A": (3, 40), "B": (40, 500)}),
    "product": ("(*) A[i] := x[i,j]", {"x": (3, 4)}),
    "quotient of functions": ("A[i] := exp(x[i]) / log(x[i])", {"x": (5,)}),
    "update": ("x[i] += x[i]^2", {"x": (5,)}),
    "diagonal": ("A[i,i] := x[i]^2", {"x": (4,)}),
    "full convolution": ("A[i+j-1] := x[i] * w[j]", {"x": (5,), "w": (3,)}),
    "stride": ("A[i] := x[2i-1]^2", {"x": (7,)}),
    "reversed": ("A[i] := x[8-i]^3 * w[i]", {"x": (7,), "w": (7,)}),
    "choice": ("A[i] := x[i] > 1.5 ? x[i]^2 : sin(x[i])", {"x": (7,)}),
    "softmax": (
        "(max) m[i] := x[i,j]\ne[i,j] := exp(x[i,j]-m[i])\nz[i] := e[i,j]\ny[i,j] := e[i,j]/z[i]",
        {"x": (3, 4)},
    ),
}


def _is_float(value: tuple[int, ...] | Array) -> bool:
    return isinstance(value, tuple)


def _text(name: str) -> str:
    notation, arguments = CASES[name]
    lines = [notation]
    for argument, value in arguments.items():
        shape = value if isinstance(value, tuple) else value.shape
        element = "f64" if _is_float(value) else "i32"
        lines.append(f"@arg {argument}: {element}[{', '.join(map(str, shape))}]")
    return "\n".join(lines)


@cache
def _forward(name: str) -> Any:
    return read_module(_text(name), "case.tin", make_context())


def _gradient(name: str, wrt: tuple[str, ...]) -> Any:
    """L1 of the gradient, with f64 left as it is."""
    options = CompileOptions(targets=(), differentiate=Differentiate(wrt))
    pipeline = gradient_pipeline(options, next(iter(PROFILES.values())))
    pipeline = re.sub(r"(demote-f64|verify-supported)(\{[^}]*\})?,", "", pipeline)
    context = make_context()
    module = read_module(_text(name), "case.tin", context)
    run_passes(module, context, parse_pipeline(pipeline))
    return module


def _values(name: str) -> dict[str, Array]:
    rng = np.random.default_rng(len(name))
    return {
        argument: rng.random(value) + 1.1 if isinstance(value, tuple) else value
        for argument, value in CASES[name][1].items()
    }


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_differences(name: str) -> None:
    values = _values(name)
    rng = np.random.default_rng(1)
    results = evaluate(_forward(name), "main", list(values.values()))
    cotangents = [rng.random(result.shape) for result in results]
    wrt = tuple(a for a, value in CASES[name][1].items() if _is_float(value))
    together = evaluate(_gradient(name, wrt), "main", [*values.values(), *cotangents])
    for argument, gradient in zip(wrt, together, strict=True):
        direction = rng.random(values[argument].shape)
        ends: list[float] = []
        for step in (1e-6, -1e-6):
            moved = {**values, argument: values[argument] + step * direction}
            after = evaluate(_forward(name), "main", list(moved.values()))
            ends.append(sum(float((a * c).sum()) for a, c in zip(after, cotangents, strict=True)))
        slope = (ends[0] - ends[1]) / 2e-6
        assert float((gradient * direction).sum()) == pytest.approx(slope, rel=1e-5, abs=1e-8), (
            argument
        )
    if len(wrt) > 1:  # the others excluded
        for argument, gradient in zip(wrt, together, strict=True):
            alone = evaluate(_gradient(name, (argument,)), "main", [*values.values(), *cotangents])
            np.testing.assert_allclose(alone[0], gradient, rtol=1e-12)


def test_arguments_without_gradient_are_left_out() -> None:
    text = "A[i] := x[i] * w[i]\n@arg x: f32[3], w: f32[3]\n@nograd w"
    options = CompileOptions(targets=(), differentiate=Differentiate())
    gradient = read_module(gradient_text(text, "a.tin", options), "g.mlir", make_context())
    one, two = np.ones(3, np.float32), np.full(3, 2, np.float32)
    (d_x,) = evaluate(gradient, "main", [one, two, one])
    assert d_x.tolist() == [2, 2, 2]
