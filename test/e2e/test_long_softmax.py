"""Softmax of rows that do not stay in registers: one pass for the maximum and the sum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.harness import DEVICES, bundle_for, run

TEXT = """
func.func @main(%x: tensor<32x40001xTYPE>) -> tensor<32x40001xTYPE> {
  %none = stablehlo.constant dense<-INFINITY> : tensor<TYPE>
  %zero = stablehlo.constant dense<0.0> : tensor<TYPE>
  %m = stablehlo.reduce(%x init: %none) applies stablehlo.maximum across dimensions = [1]
      : (tensor<32x40001xTYPE>, tensor<TYPE>) -> tensor<32xTYPE>
  %ms = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<32xTYPE>) -> tensor<32x40001xTYPE>
  %d = stablehlo.subtract %x, %ms : tensor<32x40001xTYPE>
  %e = stablehlo.exponential %d : tensor<32x40001xTYPE>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<32x40001xTYPE>, tensor<TYPE>) -> tensor<32xTYPE>
  %ss = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<32xTYPE>) -> tensor<32x40001xTYPE>
  %y = stablehlo.divide %e, %ss : tensor<32x40001xTYPE>
  return %y : tensor<32x40001xTYPE>
}
"""


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("type_", "dtype", "infinity", "columns", "tolerance"),
    [
        ("f32", np.float32, "0xFF800000", 40001, 1e-7),
        ("f16", np.float16, "0xFC00", 40000, 2e-3),
    ],
    ids=["f32", "f16"],
)
def test_special_values_are_those_of_two_passes(
    type_: str, dtype: Any, infinity: str, columns: int, tolerance: float, device: str
) -> None:
    text = TEXT.replace("TYPE", type_).replace("-INFINITY", infinity)
    text = text.replace("40001", str(columns))
    x = (3 * np.random.default_rng(0).standard_normal((32, columns))).astype(dtype)
    x[1] = -np.inf
    x[2] = -np.inf
    x[2, 77] = 2
    x[3, 9] = np.nan
    x[4, 100] = np.inf
    x[5] = -60000
    (function,) = bundle_for(text, device).variants[0].bodies
    assert len(function.commands) == 1
    (result,) = run(text, device, [x])
    wide = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        e = np.exp(wide - wide.max(axis=1, keepdims=True))
        expected = e / e.sum(axis=1, keepdims=True)
    assert np.array_equal(np.isnan(result), np.isnan(expected))
    np.testing.assert_allclose(result.astype(np.float64), expected, rtol=0, atol=tolerance)
