"""What programs in index notation mean: each against NumPy, through the reference evaluator."""

from __future__ import annotations

from collections.abc import Callable
from math import erf
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.verification import verify
from ingot.compiler.frontends.index_notation.functions import FLOAT_UNARY, PREDICATES, ROUNDING
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate

Array = NDArray[Any]
X = np.arange(1.0, 6.0, dtype=np.float32)
M = np.linspace(0.25, 3.0, 12, dtype=np.float32).reshape(3, 4)
N = np.linspace(-1.0, 1.0, 20, dtype=np.float32).reshape(4, 5)
S = np.linspace(1.0, 2.0, 9, dtype=np.float32).reshape(3, 3)
T = np.linspace(1.0, 2.0, 36, dtype=np.float32).reshape(3, 3, 2, 2)
IND = np.array([2, 5, 2, 1], np.int32)
INTS = np.array([7, -7, 3], np.int32)
B = np.array([True, False, True])
H = np.full(9, 0.1, np.float16)

CASES: dict[str, tuple[str, Callable[[], Any]]] = {
    "twice": ("A[i] := 2X[i]", lambda: 2 * X),
    "index as number": ("A[i] := 2X[i] + i", lambda: 2 * X + np.arange(1, 6, dtype=np.float32)),
    "outer sum": ("A[i,j] := X[i] + 1000X[j]", lambda: X[:, None] + 1000 * X),
    "complete sum": ("s[] := exp(X[i]) / X[j]", lambda: (np.exp(X)[:, None] / X).sum()),
    "scalar target": ("s := log(X[i])", lambda: np.log(X).sum()),
    "rows of a sum": ("A[i] := M[i,j] + S[i,k]", lambda: (M[:, :, None] + S[:, None]).sum((1, 2))),
    "transposed sum": ("A[i] := S[i,j] + S[j,i]", lambda: (S + S.T).sum(1)),
    "matmul": ("C[i,k] := M[i,j] * N[j,k]", lambda: M @ N),
    "permuted output": ("C[k,i] := M[i,j] * N[j,k]", lambda: (M @ N).T),
    "trace": ("t := S[i,i]", lambda: np.trace(S)),
    "traces": ("A[a] := T[i,i,k,a] |> _ / 2", lambda: np.einsum("iika->a", T) / 2),
    "diagonal": ("A[i] := S[i,i]", lambda: np.diag(S)),
    "convolution": (
        "A[x,y] := N[x+i-1, y+j-1] * T[i,j,1,2] ",
        lambda: np.array(
            [[(N[x : x + 3, y : y + 3] * T[:, :, 0, 1]).sum() for y in range(3)] for x in range(2)]
        ),
    ),
    "wrapped convolution": (
        "A[x] := X[mod(x+i-2)] * S[i,1] (x in 1:5)",
        lambda: sum(np.roll(X, 1 - i) * S[i, 0] for i in range(3)),
    ),
    "difference": ("A[i] := X[i+1] - X[i]", lambda: np.diff(X)),
    "stride": ("A[i] := X[2i-1]", lambda: X[::2]),
    "reversed": ("A[i] := X[6-i]", lambda: X[::-1]),
    "shifted target": ("A[i+_] := X[i-3]", lambda: X),
    "clamped": ("A[i] := X[clamp(i-2)] (i in 1:8)", lambda: X[np.clip(np.arange(8) - 2, 0, 4)]),
    "padded": ("A[i+_] := X[pad(i, 2, 1)]", lambda: np.pad(X, (2, 1))),
    "fixed index": ("A[i] := M[i,2]", lambda: M[:, 1]),
    "range": ("A[i+_] := X[i] (i in 2:4)", lambda: X[1:4]),
    "summed range": ("s := X[i] (i in 2:4)", lambda: X[1:4].sum()),
    "summed stride": ("s := X[2i]", lambda: X[1::2].sum()),
    "empty range": ("s := X[i] (i in 4:3)", lambda: 0),
    "only indices": (
        "A[i,j+_] := i^2 + j (i in 1:3, j in 0:1)",
        lambda: np.array([[1, 2], [4, 5], [9, 10]], np.int64),
    ),
    "gather": ("A[i] := X[IND[i]]", lambda: X[IND - 1]),
    "gather and wrap": ("A[i] := X[mod(IND[i] + 3)]", lambda: X[(IND + 2) % 5]),
    "scatter": ("@out A: f32[5]\nA[IND[i]] := X[i] (i in 1:4)", lambda: np.array([4, 4, 0, 0, 2])),
    "scatter into": ("X[IND[i]] += 10", lambda: np.array([11, 22, 3, 4, 15])),
    "scatter last": ("X[IND[i]] = i", lambda: np.array([4, 3, 3, 4, 2])),
    "max": ("(max) A[j] := M[i,j]", lambda: M.max(0)),
    "min of a sum": (
        "(min) A[i] := M[i,j] + 0.01S[i,1]",
        lambda: M.min(1) + np.float32(0.01) * S[:, 0],
    ),
    "product": ("(*) A[i] := M[i,j]", lambda: M.prod(1)),
    "all": ("(&) a := X[i] > 0", lambda: np.bool_(True)),
    "any": ("(|) A[i] := M[i,j] > 2.9", lambda: (M > 2.9).any(1)),
    "count": ("n := X[i] > 2", lambda: np.int64(3)),
    "finisher": ("A[i] := M[i,j]^2 |> sqrt", lambda: np.sqrt((M**2).sum(1))),
    "finisher before": ("s := log <| exp(X[i])", lambda: np.log(np.exp(X).sum())),
    "finishers": ("A[i] := M[i,j] |> _ / 4 |> exp", lambda: np.exp(M.mean(1))),
    "finisher with array": (
        "A[i] := M[i,j] |> _ * S[i,1]",
        lambda: M.sum(1) * S[:, 0],
    ),
    "layer norm": (
        "m[i] := M[i,j] |> _ / 4\nv[i] := (M[i,j] - m[i])^2 |> _ / 4\n"
        "A[i,j] := (M[i,j] - m[i]) / sqrt(v[i] + 1e-5)",
        lambda: (M - M.mean(1, keepdims=True)) / np.sqrt(M.var(1, keepdims=True) + 1e-5),
    ),
    "update": ("X[i] += 2X[i]", lambda: 3 * X),
    "update by product": ("X[i] *= S[1,j]", lambda: X * S[0].prod()),
    "update by max": ("X[i] max= 3", lambda: np.maximum(X, 3)),
    "assign a part": ("X[i+1] = 0 (i in 1:2)", lambda: np.array([1, 0, 0, 4, 5])),
    "assign every other": ("X[2i] = -X[i]", lambda: np.array([1, -1, 3, -2, 5])),
    "diagonal update": ("S[i,i] += 1", lambda: S + np.eye(3)),
    "new diagonal": ("A[i,i] := X[i]", lambda: np.diag(X)),
    "column": (
        "M[i,3] = X[i] (i in 1:3)",
        lambda: np.concatenate([M[:, :2], X[:3, None], M[:, 3:]], 1),
    ),
    "full convolution": ("A[i+j-1] := X[i] * S[1,j]", lambda: np.convolve(X, S[0])),
    "ternary": (
        "A[i] := X[i] > 2 && X[i] != 4 ? X[i] : -1",
        lambda: np.where((X > 2) & (X != 4), X, -1),
    ),
    "comparison as number": ("A[i,j] := (i == j) * X[i] (j in 1:5)", lambda: np.diag(X)),
    "division of integers": ("A[i] := INTS[i] ÷ 2", lambda: np.array([3, -3, 1], np.int32)),
    "remainder": ("A[i] := INTS[i] % 4", lambda: np.array([3, -3, 3], np.int32)),
    "modulo": ("A[i] := mod(INTS[i], 4)", lambda: np.array([3, 1, 3], np.int32)),
    "quotient of integers": ("A[i] := INTS[i] / 2", lambda: INTS.astype(np.float32) / 2),
    "powers": (
        "A[i] := X[i]^3 + X[i]^-1 + X[i]^0.5 + 2^X[i]",
        lambda: X**3 + 1 / X + X**0.5 + 2**X,
    ),
    "power of integers": ("A[i] := INTS[i]^2", lambda: INTS**2),
    "precedence": ("A[i] := -X[i]^2 / 2X[i]", lambda: -(X**2) / (2 * X)),
    "greek": ("θ[i] := √X[i] * π", lambda: np.sqrt(X) * np.float32(np.pi)),
    "booleans": ("A[i] := !B[i] || X[i] > 2 (i in 1:3)", lambda: ~B | (X[:3] > 2)),
    "functions": (
        "A[i] := max(abs(-X[i]), 3) + clamp(X[i], 2, 4) + sign(-X[i])",
        lambda: np.maximum(X, 3) + np.clip(X, 2, 4) - 1,
    ),
    "half in float": ("s := H[i]", lambda: np.float16(H.astype(np.float32).sum())),
    "half and float": ("A[i] := H[i] * X[1]", lambda: H.astype(np.float32) * X[0]),
    "two results": ("A[i] := X[i]\ns := X[i]\n@return s, A", lambda: (X.sum(), X)),
    "chain": ("A[i,m] := M[i,j] * N[j,k] * N[l,k] * M[m,l]", lambda: M @ N @ N.T @ M.T),
    "many factors": ("s := S[i,j] * S[j,k] * S[k,i] * 2", lambda: 2 * np.trace(S @ S @ S)),
    "traces of factors": (
        "A[a,b] := T[s,s,j,a] * T[t,t,j,b]",
        lambda: np.einsum("ssja,ttjb->ab", T, T),
    ),
    "zero-based": ("@base 0\nA[i] := X[i] + i", lambda: X + np.arange(5, dtype=np.float32)),
    "zero-based convolution": ("@base 0\nA[i+j] := X[i] * S[0,j]", lambda: np.convolve(X, S[0])),
}
INPUTS = {"X": X, "M": M, "N": N, "S": S, "T": T, "IND": IND, "INTS": INTS, "B": B, "H": H}
_TYPES = {"float32": "f32", "float16": "f16", "int32": "i32", "bool": "bool"}


def declared(name: str) -> str:
    value = INPUTS[name]
    return f"@arg {name}: {_TYPES[str(value.dtype)]}[{', '.join(map(str, value.shape))}]"


@pytest.mark.parametrize("name", CASES)
def test_a_statement_means(name: str) -> None:
    notation, expected = CASES[name]
    text = "\n".join([notation, *map(declared, INPUTS)])
    module = read_module(text, "case.tin", make_context())
    verify(module)
    results = evaluate(module, "main", list(INPUTS.values()))
    wanted = expected()
    for got, value in zip(results, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        if name not in ("only indices", "count", "all", "any", "booleans"):
            value = np.asarray(value, got.dtype)
        assert got.dtype == np.asarray(value).dtype
        assert got.shape == np.shape(value)
        tolerance = 1e-3 if got.dtype == np.float16 else 1e-5
        np.testing.assert_allclose(
            got.astype(np.float64), np.asarray(value, np.float64), rtol=tolerance, atol=1e-6
        )


FUNCTIONS: dict[str, Callable[[Array], Any]] = {
    **{name: getattr(np, name) for name in ("exp", "exp2", "expm1", "log", "log2", "log10")},
    **{name: getattr(np, name) for name in ("log1p", "sqrt", "cbrt", "sin", "cos", "tan", "tanh")},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan", "sinh", "tanh")},
    **{name: getattr(np, name) for name in ("sinh", "cosh", "floor", "ceil", "trunc", "sign")},
    **{name: getattr(np, name) for name in ("isnan", "isinf", "isfinite", "abs", "round")},
    "rsqrt": lambda v: 1 / np.sqrt(v),
    "acosh": lambda v: np.full_like(v, np.nan),
    "erf": lambda v: np.vectorize(erf)(v),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_means(name: str) -> None:
    values = np.array([0.0625, 0.5, 0.875], np.float32)
    text = f"A[i] := {name}(V[i])\n@arg V: f32[3]"
    module = read_module(text, "case.tin", make_context())
    verify(module)
    (got,) = evaluate(module, "main", [values])
    np.testing.assert_allclose(got, FUNCTIONS[name](values), rtol=1e-6)


def test_every_function_is_tried() -> None:
    assert {*FLOAT_UNARY, *ROUNDING, *PREDICATES, "abs", "sign"} == set(FUNCTIONS)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("count_ones(INTS[i])", [3, 30, 2]),
        ("leading_zeros(INTS[i])", [29, 0, 30]),
        ("trailing_zeros(INTS[i])", [0, 0, 0]),
        ("abs(INTS[i]) | 8", [15, 15, 11]),
        ("sign(INTS[i])", [1, -1, 1]),
        ("round(INTS[i])", [7, -7, 3]),
        ("atan2(INTS[i], 2)", np.arctan2(INTS, 2)),
        ("copysign(2, INTS[i])", [2, -2, 2]),
        ("pow(2.0, INTS[i])", 2.0**INTS),
        ("ifelse(INTS[i] < i, 1, 0)", [0, 1, 0]),
        ("mod(-X[1] * INTS[i], 4)", np.mod(-INTS, 4)),
        ("X[1] * INTS[i] % 4", np.fmod(INTS, 4)),
        ("X[1] * INTS[i] ÷ 4", np.trunc(INTS / 4)),
        ("isnan(INTS[i])", [0, 0, 0]),
        ("isinf(Inf - INTS[i])", [1, 1, 1]),
    ],
)
def test_integers_and_numbers_meet(expression: str, expected: Any) -> None:
    text = "\n".join([f"A[i] := {expression}", *map(declared, INPUTS)])
    module = read_module(text, "case.tin", make_context())
    verify(module)
    (got,) = evaluate(module, "main", list(INPUTS.values()))
    np.testing.assert_allclose(got.astype(np.float64), np.asarray(expected, np.float64), rtol=1e-6)
