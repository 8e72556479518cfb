"""Whole programs of JAX and torch-mlir, against the values that JAX and PyTorch computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from ingot.compiler.analysis.constants import numpy_dtype
from ingot.compiler.dialects.context import make_context
from ingot.compiler.dialects.linalg import element_type
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate
from ingot.compiler.interpreter.frame import find_function
from ingot.passes.tensor.linalg_generalize_named_ops import LinalgGeneralizeNamedOps

PROGRAMS = Path(__file__).resolve().parents[4] / "shared" / "programs"
FILES = sorted(f for d in ("linalg_jax", "linalg_torch") for f in (PROGRAMS / d).glob("*.mlir"))

pytestmark = pytest.mark.skipif(not FILES, reason="needs the programs beside the checkout")

Arrays = list[npt.NDArray[Any]]


def numbered(data: Any, prefix: str) -> Arrays:
    return [data[f"{prefix}{i}"] for i in range(len(data.files)) if f"{prefix}{i}" in data.files]


def check(actual: npt.NDArray[Any], expected: npt.NDArray[Any], dtype: np.dtype[Any]) -> None:
    """Integers exactly; floats relative to the largest magnitude, NaN and infinity in place."""
    if dtype == np.dtype(ml_dtypes.bfloat16) and expected.dtype == np.uint16:
        expected = expected.view(dtype)
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype
    if dtype.kind in "iub":
        np.testing.assert_array_equal(actual, expected)
        return
    got, want = actual.astype(np.complex128), expected.astype(np.complex128)
    finite = np.isfinite(want)
    np.testing.assert_array_equal(got[~finite], want[~finite])
    scale = np.abs(want[finite]).max(initial=0.0)
    tolerance = 1e-4 if dtype.itemsize >= 4 else 2e-2
    np.testing.assert_allclose(got[finite], want[finite], rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("generalize", [False, True], ids=["named", "generic"])
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_agrees_with_the_framework(file: Path, generalize: bool) -> None:
    if generalize and file.stat().st_size > 100_000:
        pytest.skip("the small programs hold every named op that the large ones hold")
    context = make_context()
    module = read_module(file.read_bytes(), file.name, context)
    if generalize:
        LinalgGeneralizeNamedOps().apply(context, module)
    data = np.load(PROGRAMS / "data" / f"{file.stem}.npz")
    results = evaluate(module, "main", numbered(data, "in"))
    function = find_function(module, "main")
    assert function is not None
    types = function.function_type.outputs.data
    for result, expected, type in zip(results, numbered(data, "out"), types, strict=True):
        check(result, expected, numpy_dtype(element_type(type)))
