"""Passes of L1 and L2 keep the meaning of programs that nobody wrote."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from support.tensor_programs import tensor_programs

from ingot.compiler.dialects.context import make_context
from ingot.compiler.dialects.dispatch import RegionOp
from ingot.compiler.driver.registry import get_pass
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate

PIPELINE = (
    "linalg-generalize-named-ops",
    "verify-supported",
    "canonicalize-tensor",
    "cse",
    "generate-to-generic",
    "pad-to-generic",
    "slices-to-generic",
    "sink-scalars",
    "clamp-extracts",
    "linalg-fold-unit-dims",
    "canonicalize-tensor",
    "linalg-propagate-reshapes",
    "canonicalize-tensor",
    "linalg-fuse-elementwise",
    "canonicalize-tensor",
    "cse",
    "dispatch-form",
    "dispatch-collapse-dims",
    "canonicalize-tensor",
    "dispatch-outline",
)


@given(tensor_programs())
@settings(max_examples=60, deadline=None)
def test_every_pass_keeps_the_values(program: tuple[str, list[tuple[int, ...]]]) -> None:
    text, shapes = program
    context = make_context()
    module = read_module(text, "random.mlir", context)
    random = np.random.default_rng(0)
    inputs = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    expected = evaluate(module, "main", inputs, "float64")
    for name in PIPELINE:
        get_pass(name)().apply(context, module)
        module.verify()
        if any(isinstance(op, RegionOp) for op in module.walk()):
            continue  # the evaluator knows calls of kernels, but no regions
        results = evaluate(module, "main", inputs, "float64")
        for result, reference in zip(results, expected, strict=True):
            np.testing.assert_allclose(
                result, reference, rtol=1e-9, atol=1e-9, err_msg=f"after {name}"
            )
