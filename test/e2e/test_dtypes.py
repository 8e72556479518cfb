"""Every op of arith and math in every type that it takes, on special numbers, on both devices.

The evaluator says what is right: exact ops must agree in every bit (any NaN is as good as another),
functions within the error that docs/numerics.md states.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from support.harness import DEVICES, Array, run
from support.scalar_ops import ALL, FLOATS, INTEGERS, Case, cases, operands, program
from support.ulp import is_subnormal, ulp_errors

from ingot.compiler.dialects.arith import Arith
from ingot.compiler.dialects.context import make_context
from ingot.compiler.dialects.math import Math
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate

TYPES = (*FLOATS, *INTEGERS, "index")
GROUP = 16
"""Cases of one function: each of its results is a buffer of the kernel."""

WORST = 4.4
"""Units in the last place: no function is further off, and `tan` nearly so."""


def test_no_op_of_the_dialects_is_forgotten() -> None:
    assert {op.name for op in (*Arith.operations, *Math.operations)} == ALL


def groups(type_: str) -> Iterator[list[Case]]:
    found = cases(type_)
    for start in range(0, len(found), GROUP):
        yield found[start : start + GROUP]


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("type_", TYPES)
def test_every_op(type_: str, device_name: str) -> None:
    wrong = [
        text
        for group in groups(type_)
        for text in mismatches(type_, group, operands(type_, subnormal=True), device_name)
    ]
    assert not wrong, "\n".join(wrong)


def mismatches(
    type_: str, group: list[Case], values: dict[str, Array], device_name: str
) -> Iterator[str]:
    """What is wrong in the results of some cases, a line each."""
    text = program(type_, group, values["a"].size)
    inputs = list(values.values())
    module = read_module(text, "test.mlir", make_context())
    own = evaluate(module, "main", inputs)
    wide = [x.astype(np.float64) if x.dtype == values["a"].dtype else x for x in inputs]
    exact = evaluate(module, "main", wide if type_ in FLOATS else inputs, "float64")
    results = zip(run(text, device_name, inputs), own, exact, strict=True)
    for case in group:
        for number in range(len(case.results)):
            got, expected, real = next(results)
            right = is_right(case, got, expected, real)
            if case.label == "math.fma":
                right |= _is_product_and_sum(got, values)
            bad = ~right
            for where in np.flatnonzero(bad)[:3]:
                given = ", ".join(f"{k}={v[where]!r}" for k, v in values.items())
                yield (
                    f"{case.label} of {type_}, result {number}: {got[where]!r} instead of "
                    f"{expected[where]!r} for {given}"
                )


def is_right(case: Case, got: Array, expected: Array, exact: Array) -> Array:
    """Where a device's result is one that we promise."""
    assert got.dtype == expected.dtype
    if got.dtype.kind in "iub":
        return np.asarray(got == expected)
    zeros = (got == 0) & (expected == 0)
    if not case.is_exact:
        right = (got == expected) | (ulp_errors(got, exact) <= WORST)
    else:
        right = (got == expected) | (np.isnan(got) & np.isnan(expected))
    # a device may flush what is too small for a normal number
    right |= is_subnormal(expected) & (got == 0)
    if case.label in ("arith.maxnumf", "arith.minnumf"):
        return np.asarray(right)
    return np.asarray(right & ~(zeros & (np.signbit(got) != np.signbit(expected))))


def _is_product_and_sum(got: Array, values: dict[str, Array]) -> Array:
    """Where both steps of `math.fma` are rounded, as Vulkan allows."""
    right = np.zeros(got.shape, bool)
    for dtype in (got.dtype, np.float32):
        a, b, c = (values[name].astype(dtype) for name in "abc")
        with np.errstate(all="ignore"):
            both = (a * b + c).astype(got.dtype)
        right |= (got == both) | (np.isnan(got) & np.isnan(both))
    return right
