"""Vectors over a window start at any element, so at the edge they may straddle the end."""

from __future__ import annotations

import numpy as np
import pytest
from support.harness import DEVICES, assert_close, run

PROGRAM = """
func.func @main(%x: tensor<{inputs}xf32>, %w: tensor<5xf32>) -> tensor<{size}xf32> {{
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<{size}xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<{size}xf32>) -> tensor<{size}xf32>
  %2 = linalg.conv_1d ins(%x, %w : tensor<{inputs}xf32>, tensor<5xf32>)
      outs(%1 : tensor<{size}xf32>) -> tensor<{size}xf32>
  return %2 : tensor<{size}xf32>
}}
"""


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("size", [7, 100, 1000, 1008])
def test_convolution_reads_every_element_of_its_window(size: int, device_name: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(size + 4).astype(np.float32)
    w = rng.standard_normal(5).astype(np.float32)
    (result,) = run(PROGRAM.format(size=size, inputs=size + 4), device_name, [x, w])
    assert_close(result, np.convolve(x, w[::-1], "valid").astype(np.float32))
