"""Gradients of every class of expression, on both devices, in any order of threads.

The reference is float64: the gradient program in the evaluator, which central differences of the
program itself confirm. `make sweep` has all expressions, forwards too, in more orders of threads,
and each argument by itself.
"""

from __future__ import annotations

import numpy as np
import pytest
from support.expressions import (
    EXPRESSIONS,
    EXTREMA,
    SOON,
    TERMS,
    Terms,
    of_x,
    of_xy,
)
from support.gradients import assert_agree, check_gradient, check_on_device, evaluated, gradient_of
from support.harness import DEVICES, Array

SOME_ORDERS, ALL_ORDERS = 3, 20
OFTEN = [name for name, expression in EXPRESSIONS.items() if not expression.slow]


@pytest.mark.parametrize("name", OFTEN)
def test_expression(name: str) -> None:
    """By all arguments; and by each of them as if the others were excluded."""
    expression = EXPRESSIONS[name]
    inputs = expression.inputs()
    check_gradient(
        expression.text, inputs, expression.floats, DEVICES, SOME_ORDERS, expression.rtol
    )


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_an_excluded_argument_changes_nothing(name: str) -> None:
    """In float64: the gradient is right, and that by one argument is that by all."""
    expression = EXPRESSIONS[name]
    inputs = expression.inputs()
    assert_agree(expression.text, gradient_of(expression.text), inputs)
    cotangents = [np.ones(r.shape, np.float32) for r in evaluated(expression.text, inputs)]
    given = [*inputs, *cotangents]
    together = evaluated(gradient_of(expression.text), given)
    if len(together) > 1:
        for argument, gradient in zip(expression.floats, together, strict=True):
            (alone,) = evaluated(gradient_of(expression.text, [str(argument)]), given)
            np.testing.assert_allclose(alone, gradient, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expression_forwards(name: str) -> None:
    expression = EXPRESSIONS[name]
    inputs = expression.inputs(3)
    expected = evaluated(expression.text, inputs)
    for device_name in DEVICES:
        check_on_device(expression.text, inputs, expected, device_name, ALL_ORDERS, expression.rtol)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expression_in_all_orders(name: str) -> None:
    """By all arguments, then by one with the others excluded, on other values each time."""
    expression = EXPRESSIONS[name]
    floats = expression.floats
    for number, wrt in enumerate([floats, *([i] for i in floats if len(floats) > 1)]):
        inputs = expression.inputs(number + 11)
        check_gradient(expression.text, inputs, wrt, DEVICES, ALL_ORDERS, expression.rtol, number)


def gradient_of_first(
    reducer: str, terms: Terms, kept: str, inputs: list[Array], cotangent: Array
) -> list[Array]:
    """The gradients when of equal elements the first one counts, by central differences."""
    names = "ijkl"[: len(terms.x)]
    outer = [names.index(name) for name in kept.split(",") if name]
    order = [*outer, *(d for d in range(len(names)) if d not in outer)]
    sizes = [terms.x[d] for d in outer]

    def rows(x: Array, y: Array) -> Array:
        return terms.of(x, y).transpose(order).reshape(int(np.prod(sizes)), -1)

    given = [v.astype(np.float64) for v in inputs] + [np.zeros(())] * (2 - len(inputs))
    first = (np.argmax if reducer == "max" else np.argmin)(rows(*given), axis=1)

    def total(moved: list[Array]) -> float:
        found = rows(*moved)
        return float(np.sum(cotangent.reshape(-1) * found[np.arange(len(found)), first]))

    gradients = [np.zeros(v.shape) for v in inputs]
    step = 1e-6
    for which, gradient in enumerate(gradients):
        for place in np.ndindex(gradient.shape):
            ends: list[float] = []
            for sign in (1, -1):
                moved = [v.copy() for v in given]
                moved[which][place] += sign * step
                ends.append(total(moved))
            gradient[place] = (ends[0] - ends[1]) / (2 * step)
    return gradients


@pytest.mark.parametrize(
    ("reducer", "name", "kept"),
    [e if e in SOON else pytest.param(*e, marks=pytest.mark.slow) for e in EXTREMA],
)
def test_the_first_of_equal_elements_gets_all(reducer: str, name: str, kept: str) -> None:
    """Elements of two values only: all lines have ties."""
    expression = EXTREMA[reducer, name, kept]
    rng = np.random.default_rng(5)
    x = rng.choice(np.float32([1, 4]), TERMS[name].x)
    inputs = [x, np.ones(TERMS[name].y, np.float32)][: len(expression.floats)]
    (value,) = evaluated(expression.text, inputs)
    cotangent = rng.uniform(0.5, 1.5, value.shape).astype(np.float32)
    expected = gradient_of_first(reducer, TERMS[name], kept, inputs, cotangent)
    gradient = gradient_of(expression.text)
    for array, want in zip(evaluated(gradient, [*inputs, cotangent]), expected, strict=True):
        np.testing.assert_allclose(array, want, rtol=1e-6, atol=1e-8)
    for device_name in DEVICES:
        given = [*inputs, cotangent]
        check_on_device(gradient, given, expected, device_name, SOME_ORDERS, 2e-5)


def test_products_with_zeros() -> None:
    """One zero: it gets the product of the others. Two: nobody gets anything."""
    expression = of_x("(*) z[i] := x[i,j]", (4, 5))
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
    text = of_xy("z[i,j] := x[i,k] * y[k,j]", (3, 40), (40, 500)).text
    rng = np.random.default_rng(2)
    a, b = rng.random((3, 40), np.float32), rng.random((40, 500), np.float32)
    ones = np.ones((3, 500), np.float32)
    expected = [ones @ b.T.astype(np.float64), a.T.astype(np.float64) @ ones]
    for wrt, wanted in ((["x", "y"], expected), (["x"], expected[:1]), (["y"], expected[1:])):
        for device_name in DEVICES:
            gradient = gradient_of(text, wrt)
            check_on_device(gradient, [a, b, ones], wanted, device_name, SOME_ORDERS)


def test_arguments_without_gradient_are_left_out() -> None:
    text = "@arg x: f32[3], w: f32[3]\n@nograd w\nz[i] := x[i] * w[i]"
    one, two = np.ones(3, np.float32), np.full(3, 2, np.float32)
    (d_x,) = evaluated(gradient_of(text), [one, two, one])
    assert d_x.tolist() == [2, 2, 2]
