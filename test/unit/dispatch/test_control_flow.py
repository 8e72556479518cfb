"""Passes keep the meaning of control flow, whatever the devices do."""

from __future__ import annotations

import numpy as np
import pytest
from support.control_flow import PROGRAMS

from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.registry import get_pass
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate

PIPELINE = (
    "lift-cf-to-scf",
    "inline-calls",
    "linalg-generalize-named-ops",
    "verify-supported",
    "canonicalize-tensor",
    "cse",
    "outline-control-flow",
    "generate-to-generic",
    "slices-to-generic",
    "sink-scalars",
    "canonicalize-tensor",
    "linalg-fuse-elementwise",
    "canonicalize-tensor",
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_pass_keeps_the_values(name: str) -> None:
    text, inputs = PROGRAMS[name]
    if name == "many turns":
        text = text.replace("5000", "50")
    context = make_context()
    module = read_module(text, "program.mlir", context)
    arrays = [np.asarray(value) for value in inputs]
    expected = evaluate(module, "f", arrays)
    for step in PIPELINE:
        get_pass(step)().apply(context, module)
        module.verify()
        for result, reference in zip(evaluate(module, "f", arrays), expected, strict=True):
            np.testing.assert_array_equal(result, reference, err_msg=f"after {step}")
