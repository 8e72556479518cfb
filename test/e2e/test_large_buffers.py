"""Buffers larger than a binding may be are bound in parts; here the limit is made small."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.harness import assert_close, bundle_for, device

import ingot.runtime as rt
from ingot.compiler.driver.verify_values import reference_results
from ingot.targets.profiles import PROFILES

LIMIT = 4096
PROGRAMS = {
    "product": """
func.func @main(%x: tensor<8x96xf32>, %w: tensor<96x64xf32>) -> tensor<8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<8x96xf32>, tensor<96x64xf32>)
                     outs(%init : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}""",
    "elementwise": """
func.func @main(%x: tensor<37x79xf32>, %y: tensor<37x79xbf16>) -> tensor<37x79xf32> {
  %0 = math.exp %x : tensor<37x79xf32>
  %1 = arith.extf %y : tensor<37x79xbf16> to tensor<37x79xf32>
  %2 = arith.addf %0, %1 : tensor<37x79xf32>
  return %2 : tensor<37x79xf32>
}""",
    "rows": """
func.func @main(%x: tensor<1x40x64xf32>) -> tensor<1x40x64xf32> {
  %e = tensor.empty() : tensor<1x40x64xf32>
  %0 = linalg.softmax dimension(2) ins(%x : tensor<1x40x64xf32>)
                                   outs(%e : tensor<1x40x64xf32>) -> tensor<1x40x64xf32>
  return %0 : tensor<1x40x64xf32>
}""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_right(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small = replace(PROFILES["vulkan:generic"], max_binding=LIMIT)
    monkeypatch.setitem(PROFILES, "vulkan:generic", small)
    text = PROGRAMS[name]
    opened = device("vulkan")
    bundle = bundle_for(text, "vulkan")
    (variant,) = bundle.variants
    for command in variant.bodies[0].commands:
        for ref in getattr(command, "bindings", ()):
            assert ref.length <= LIMIT
    loaded = rt.LoadedBundle(bundle, "large.ingot")
    (function,) = loaded.functions.values()
    random = np.random.default_rng(3)
    inputs = [random.standard_normal(a.shape).astype(a.dtype) for a in function.arguments]
    result = loaded.bind(opened).call("main", *inputs)
    (expected,) = reference_results(text, "large.mlir", "main", inputs)
    assert isinstance(result, np.ndarray)
    assert_close(result, expected)
