"""Gradients of every class of expression, on both devices, in any order of threads.

The reference is float64: the gradient program in the evaluator, which central differences of the
program itself confirm. `make sweep` adds more orders of threads, and each argument by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from support.gradients import check_gradient, check_on_device, evaluated, gradient_of
from support.harness import DEVICES, Array
from support.index_notation import Shape, program

SOME_ORDERS, ALL_ORDERS = 3, 20


@dataclass(frozen=True)
class Expression:
    """A program in index notation, and where its arguments lie."""

    arguments: Mapping[str, Shape]
    lines: Sequence[str]
    integers: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    """Arguments of indices, and their values."""
    low: float = 0.5
    high: float = 1.5
    rtol: float = 2e-5

    @property
    def text(self) -> str:
        """The program."""
        shapes = {name: (len(values),) for name, values in self.integers.items()}
        return program(self.arguments, self.lines, shapes)

    def inputs(self, seed: int = 7) -> list[Array]:
        """Random floats, then the indices."""
        rng = np.random.default_rng(seed)
        floats = [
            rng.uniform(self.low, self.high, shape).astype(np.float32)
            for shape in self.arguments.values()
        ]
        return [*floats, *(np.array(v, np.int32) for v in self.integers.values())]


def two(x: Shape, y: Shape, *lines: str, **more: object) -> Expression:
    """An expression of x and y."""
    return Expression({"x": x, "y": y}, lines, **more)  # type: ignore[arg-type]


MANY = tuple(int(v) for v in np.random.default_rng(0).integers(0, 10, 1024))

EXPRESSIONS: dict[str, Expression] = {
    "2x_i": Expression({"x": (5,)}, ["z[i:5] = 2 * x[i]"]),
    "2x_i + i": Expression({"x": (5,)}, ["z[i:5] = 2 * x[i] + i"]),
    "x_i + 1000x_j": Expression({"x": (3,)}, ["z[i:3, j:3] = x[i] + 1000 * x[j]"]),
    "x_i + 1000x_j, length 100": Expression(
        {"x": (100,)}, ["z[i:100, j:100] = x[i] + 1000 * x[j]"], rtol=1e-4
    ),
    "exp(x_i) / x_j": Expression({"x": (4,)}, ["z[] = sum(i:4, j:4) exp(x[i]) / x[j]"]),
    "x_ij + y_ji": two((3, 4), (4, 3), "z[i:3] = sum(j:4) x[i, j] + y[j, i]"),
    "log(x_ij) / y_ji": two((3, 4), (4, 3), "z[i:3] = sum(j:4) log(x[i, j]) / y[j, i]"),
    "2x_ik y_kj": two((3, 4), (4, 5), "z[i:3, j:5] = sum(k:4) 2 * x[i, k] * y[k, j]"),
    "abs(1 + v_i^2)": Expression({"v": (4,)}, ["z[i:4] = absf(1 + v[i] * v[i])"]),
    "abs(1 + v_i^2)^2": Expression(
        {"v": (4,)}, ["z[i:4] = absf(1 + v[i] * v[i]) * absf(1 + v[i] * v[i])"]
    ),
    "sum log x_i": Expression({"x": (4,)}, ["z[] = sum(i:4) log(x[i])"]),
    "gather 5 of 3": Expression({"x": (3,)}, ["z[i:5] = x[at[i]]"], {"at": (0, 2, 2, 1, 2)}),
    "gather 1024 of 10": Expression(
        {"x": (10,)}, ["z[i:1024] = x[at[i]] * x[at[i]]"], {"at": MANY}, rtol=1e-4
    ),
    "gather of rows": Expression(
        {"x": (3, 4)}, ["z[i:5, k:4] = x[at[i], k] * i"], {"at": (0, 2, 2, 0, 2)}
    ),
    "scatter with repeats and holes": Expression(
        {"x": (5,)},
        ["y[i:5] = x[i] * x[i]", "scatter s:7 = y at at", "z[i:7] = s[i] * s[i]"],
        {"at": (6, 1, 1, 0, 6)},
    ),
    "convolution": Expression(
        {"N": (6, 7, 2), "K": (3, 3)},
        ["z[x:4, y:5, c:2] = sum(i:3, j:3) N[x + i, y + j, c] * K[i, j]"],
    ),
    "convolution with mod": Expression(
        {"N": (6, 7, 2), "K": (3, 3)},
        [
            "z[x:6, y:7, c:2] = sum(i:3, j:3) "
            "N[mod(x + i - 1, 6), mod(y + j - 1, 7), c] * absf(K[i, j])"
        ],
    ),
    "convolution with stride and dilation": Expression(
        {"x": (14,), "k": (3,)}, ["z[i:5] = sum(j:3) x[2 * i + 2 * j + 1] * k[j]"]
    ),
    "nonlinear convolution": Expression(
        {"x": (9,), "k": (3,)}, ["z[i:7] = sum(j:3) exp(x[i + j] * k[j]) * x[i + 1]"]
    ),
    "mod": Expression({"x": (5,)}, ["z[i:12] = x[mod(i - 3, 5)] * i"]),
    "clamp": Expression({"x": (5,)}, ["z[i:12] = x[clamp(i - 3, 0, 4)] * i"]),
    "pad": Expression({"x": (5,)}, ["z[i:12] = pad(x, i - 3) * i"]),
    "reversed": Expression({"x": (5,)}, ["z[i:5] = x[4 - i] * x[i]"]),
    "x_iik": Expression({"x": (3, 3, 4)}, ["z[k:4] = sum(i:3) x[i, i, k]"]),
    "x_iikjj": Expression({"x": (3, 3, 4, 2, 2)}, ["z[k:4] = sum(i:3, j:2) x[i, i, k, j, j]"]),
    "x_ik r_kj": two((3, 4), (4, 2), "z[i:3, j:2] = sum(k:4) x[i, k] * y[k, j]"),
    "x_ijk r_kmn": two(
        (1, 3, 4), (4, 2, 5), "z[i:1, j:3, m:2, n:5] = sum(k:4) x[i, j, k] * y[k, m, n]"
    ),
    "x_ijk r_kmn as nimj": two(
        (2, 3, 4), (4, 2, 5), "z[n:5, i:2, m:2, j:3] = sum(k:4) x[i, j, k] * y[k, m, n]"
    ),
    "x_ijk r_kmn as mnji": two(
        (2, 3, 4), (4, 2, 5), "z[m:2, n:5, j:3, i:2] = sum(k:4) x[i, j, k] * y[k, m, n]"
    ),
    "x_ijk r_kmn as jinm": two(
        (1, 3, 4), (4, 2, 5), "z[j:3, i:1, n:5, m:2] = sum(k:4) x[i, j, k] * y[k, m, n]"
    ),
    "x_ikk r_kmkm": two(
        (3, 2, 2), (2, 4, 2, 4), "z[i:3] = sum(k:2, m:4) x[i, k, k] * y[k, m, k, m]"
    ),
    "r_ik x_kj": two((4, 2), (3, 4), "z[i:3, j:2] = sum(k:4) y[i, k] * x[k, j]"),
    "r_ijk x_mkn": two(
        (2, 4, 3), (2, 3, 4), "z[i:2, j:3, m:2, n:3] = sum(k:4) y[i, j, k] * x[m, k, n]"
    ),
    "r_ssjk x_ttki": two(
        (2, 2, 4, 3), (3, 3, 2, 4), "z[i:3, j:2] = sum(s:3, t:2, k:4) y[s, s, j, k] * x[t, t, k, i]"
    ),
    "r_abjk x_bcki r_ac": Expression(
        {"x": (3, 2, 4, 3), "r": (2, 3, 2, 4), "q": (2, 2)},
        ["z[i:3, j:2] = sum(a:2, b:3, c:2, k:4) r[a, b, j, k] * x[b, c, k, i] * q[a, c]"],
    ),
    "three factors to a scalar": Expression(
        {"x": (3, 4), "r": (4, 2), "q": (2, 3)},
        ["z[] = sum(i:3, j:4, k:2) x[i, j] * r[j, k] * q[k, i]"],
    ),
    "three factors to a scalar, one twice": Expression(
        {"x": (3, 4), "r": (4, 3)}, ["z[] = sum(i:3, j:4, k:3) x[i, j] * r[j, k] * x[k, j]"]
    ),
    "max of x_ij + 0.01y_i": two((4, 5), (4,), "z[i:4] = max(j:5) x[i, j] + 0.01 * y[i]"),
    "max of x_ij + 0.01y_j": two((4, 5), (5,), "z[i:4] = max(j:5) x[i, j] + 0.01 * y[j]"),
    "max over rows": two((4, 5), (4,), "z[j:5] = max(i:4) x[i, j] * y[i]"),
    "max over all": two((4, 5), (4,), "z[] = max(i:4, j:5) x[i, j] + 0.01 * y[i]"),
    "max of stored elements": Expression({"x": (4, 20)}, ["z[i:4] = max(j:20) x[i, j]"]),
    "min of x_ij^2 / sqrt(y_i) + exp(y_j)": two(
        (5, 5), (5,), "z[i:5] = min(j:5) x[i, j] * x[i, j] / sqrt(y[i]) + exp(y[j])"
    ),
    "max of log(x_ijkl) / y_j^(1/3)": two(
        (2, 3, 2, 3), (3,), "z[i:2] = max(j:3, k:2, l:3) log(x[i, j, k, l]) / cbrt(y[j])"
    ),
    "min over three dimensions": two(
        (2, 3, 2, 3), (3,), "z[l:3] = min(i:2, j:3, k:2) log(x[i, j, k, l]) / cbrt(y[j])"
    ),
    "sqrt of a sum of squares": Expression(
        {"x": (4, 5)}, ["s[i:4] = sum(j:5) x[i, j] * x[i, j]", "z[i:4] = sqrt(s[i])"]
    ),
    "tanh(W x)": two(
        (4, 5),
        (5, 3),
        "s[i:4, b:3] = sum(j:5) x[i, j] * y[j, b]",
        "z[i:4, b:3] = tanh(s[i, b])",
        low=-0.8,
        high=0.8,
    ),
    "log-sum-exp": Expression(
        {"x": (4, 5)},
        [
            "m[i:4] = max(j:5) x[i, j]",
            "s[i:4] = sum(j:5) exp(x[i, j] - m[i])",
            "z[i:4] = log(s[i]) + m[i]",
        ],
    ),
    "tanh(B_ia + C_kia)": Expression(
        {"B": (3, 4), "C": (2, 3, 4)}, ["z[k:2, i:3, a:4] = tanh(B[i, a] + C[k, i, a])"]
    ),
    "product over rows": Expression({"x": (4, 5)}, ["z[i:4] = prod(j:5) x[i, j]"]),
    "product of terms": two((4, 5), (4,), "z[j:5] = prod(i:4) x[i, j] + y[i] * y[i]"),
    "exp(A) / log(A)": Expression(
        {"A": (3, 4)}, ["z[i:3, j:4] = exp(A[i, j]) / log(A[i, j])"], low=1.5, high=4.0
    ),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expression(name: str) -> None:
    expression = EXPRESSIONS[name]
    floats = range(len(expression.arguments))
    check_gradient(
        expression.text, expression.inputs(), floats, DEVICES, SOME_ORDERS, expression.rtol
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expression_by_one_argument(name: str) -> None:
    """With the others excluded, in many orders of threads, on other values."""
    expression = EXPRESSIONS[name]
    for argument in range(len(expression.arguments)):
        inputs = expression.inputs(argument + 11)
        check_gradient(
            expression.text, inputs, [argument], DEVICES, ALL_ORDERS, expression.rtol, argument
        )


TIED: dict[str, tuple[Expression, list[Array], list[Array]]] = {
    "stored elements": (
        Expression({"x": (2, 4)}, ["z[i:2] = max(j:4) x[i, j]"]),
        [np.array([[1, 3, 3, 2], [5, 5, 5, 5]], np.float32)],
        [np.array([[0, 1, 0, 0], [1, 0, 0, 0]])],
    ),
    "a minimum of terms": (
        two((2, 4), (2,), "z[i:2] = min(j:4) x[i, j] + 0.5 * y[i]"),
        [np.array([[4, 3, 3, 7], [5, 5, 5, 5]], np.float32), np.array([1, 2], np.float32)],
        [np.array([[0, 1, 0, 0], [1, 0, 0, 0]]), np.array([0.5, 0.5])],
    ),
    "over two dimensions": (
        Expression({"x": (3, 3)}, ["z[] = max(i:3, j:3) x[i, j]"]),
        [np.array([[1, 2, 9], [9, 0, 9], [9, 9, 9]], np.float32)],
        [np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]])],
    ),
    "over rows": (
        Expression({"x": (3, 2)}, ["z[j:2] = max(i:3) x[i, j]"]),
        [np.array([[1, 4], [2, 4], [2, 1]], np.float32)],
        [np.array([[0, 1], [1, 0], [0, 0]])],
    ),
}


@pytest.mark.parametrize("name", TIED)
def test_the_first_of_equal_elements_gets_all(name: str) -> None:
    expression, inputs, expected = TIED[name]
    gradient = gradient_of(expression.text)
    cotangents = [np.ones(r.shape, np.float32) for r in evaluated(expression.text, inputs)]
    found = evaluated(gradient, [*inputs, *cotangents])
    for array, want in zip(found, expected, strict=True):
        np.testing.assert_array_equal(array, want)
    for device_name in DEVICES:
        check_on_device(gradient, [*inputs, *cotangents], expected, device_name, SOME_ORDERS, 0.0)


def test_products_with_zeros() -> None:
    """One zero: it gets the product of the others. Two: nobody gets anything."""
    expression = EXPRESSIONS["product over rows"]
    x = np.array(
        [[2, 3, 0, 4, 5], [0, 3, 0, 4, 5], [1, 2, 3, 4, 5], [1e-30, 1e-20, 1, 1, 1]], np.float32
    )
    others = [[0, 0, 120, 0, 0], [0] * 5, [120, 60, 40, 30, 24], [1e-20, 1e-30, 0, 0, 0]]
    gradient = gradient_of(expression.text)
    inputs = [x, np.ones(4, np.float32)]
    for device_name in DEVICES:
        expected = np.array(others, np.float32)
        expected[3, 2:] = 0  # 1e-50 is no f32
        check_on_device(gradient, inputs, [expected], device_name, SOME_ORDERS, 0.0)


def test_matmul_of_other_sizes() -> None:
    """3x40 by 40x500 against the product with the transposed matrix."""
    text = two((3, 40), (40, 500), "z[i:3, j:500] = sum(k:40) x[i, k] * y[k, j]").text
    rng = np.random.default_rng(2)
    a, b = rng.random((3, 40), np.float32), rng.random((40, 500), np.float32)
    ones = np.ones((3, 500), np.float32)
    expected = [ones @ b.T.astype(np.float64), a.T.astype(np.float64) @ ones]
    for device_name in DEVICES:
        check_on_device(gradient_of(text), [a, b, ones], expected, device_name, SOME_ORDERS)
