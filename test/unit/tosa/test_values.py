"""Every op against the specification's pseudo-code, over random shapes and values.

The reference evaluator runs what `tosa-to-linalg` leaves; integers are compared to the bit.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import tosa_layers  # noqa: F401  registers its cases
from support.tosa_cases import CASES, Case, Source

from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.pass_pipeline import Instrumentation, parse_pipeline, run_passes
from ingot.compiler.driver.verify_values import compare
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate
from ingot.passes.tosa.tosa_to_linalg import LOWERINGS


def check(case: Case) -> None:
    """Lower, verify, evaluate, compare."""
    context = make_context()
    module = read_module(case.text, "case.mlir", context)
    passes = parse_pipeline("tosa-upgrade,tosa-to-linalg")
    run_passes(module, context, passes, Instrumentation(verify_each=True))
    with np.errstate(all="ignore"):
        results = evaluate(module, "main", case.inputs)
    for got, expected in zip(results, case.expected, strict=True):
        assert got.dtype == expected.dtype, case.text
        comparison = compare(got, expected)
        assert comparison.is_right, f"{comparison}\n{case.text}"


def drawn(data: st.DataObject, seed: int) -> Source:
    """Sizes that hypothesis shrinks, and values of a seed."""
    rng = np.random.default_rng(seed)
    return Source(lambda low, high: data.draw(st.integers(low, high)), rng)


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=4, deadline=None)
@given(data=st.data(), seed=st.integers(0, 1 << 16))
def test_meaning(name: str, data: st.DataObject, seed: int) -> None:
    check(CASES[name](drawn(data, seed)))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@settings(max_examples=100, deadline=None)
@given(data=st.data(), seed=st.integers(0, 1 << 16))
def test_meaning_at_length(name: str, data: st.DataObject, seed: int) -> None:
    check(CASES[name](drawn(data, seed)))


def test_every_op_has_a_case() -> None:
    assert {f"tosa.{name.split('-')[0]}" for name in CASES} >= {*LOWERINGS} - {
        # Tested in programs, where its value matters.
        "tosa.const",
        # Compared with functions of SciPy's, which is not installed: see test_erf.
        "tosa.erf",
    }


def test_erf() -> None:
    from math import erf

    x = np.linspace(-4, 4, 33, dtype=np.float32)
    text = (
        "func.func @main(%x: tensor<33xf32>) -> tensor<33xf32> {\n"
        "  %r = tosa.erf %x : (tensor<33xf32>) -> tensor<33xf32>\n"
        "  return %r : tensor<33xf32>\n}\n"
    )
    check(Case(text, [x], [np.array([erf(float(v)) for v in x], np.float32)]))
