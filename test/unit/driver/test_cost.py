"""The cost report: work from the code, traffic from the commands, bounds from the profile."""

from __future__ import annotations

import pytest

from ingot.compiler.driver.compile import compile_module
from ingot.compiler.driver.cost import kernel_costs
from ingot.compiler.driver.options import CompileOptions
from ingot.targets.profiles import PROFILES

MATMUL = """
func.func @main(%a: tensor<{n}x64x{t}>, %b: tensor<64x{n}x{t}>) -> tensor<{n}x{n}xf32> {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{n}x{n}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32>
  %c = linalg.matmul ins(%a, %b : tensor<{n}x64x{t}>, tensor<64x{n}x{t}>)
      outs(%f : tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32>
  func.return %c : tensor<{n}x{n}xf32>
}}
"""


@pytest.mark.parametrize(
    ("target", "element", "on_units"),
    [
        ("metal:apple7", "f16", True),
        ("vulkan:hopper", "f32", False),
        ("vulkan:hopper", "f16", True),
    ],
)
def test_a_product_costs_what_it_must(target, element, on_units):
    bundle = compile_module(
        MATMUL.format(n=128, t=element), "m.mlir", CompileOptions(targets=(target,))
    )
    (cost,) = kernel_costs(bundle.variants[0], PROFILES[target])
    size = 2 if element == "f16" else 4
    assert cost.bytes == 2 * 128 * 64 * size + 128 * 128 * 4
    # Adding up starts from zeros that matrix units add in the end, and guards cost nothing here.
    assert cost.flops == pytest.approx(2 * 128 * 128 * 64, rel=0.02)
    assert cost.uses_matrix_units is on_units
    peaks = PROFILES[target].peaks
    rate = peaks.matrix_flops if on_units else peaks.flops
    assert cost.least_time == max(cost.bytes / peaks.bandwidth, cost.flops / rate)
    assert cost.registers > 16 and cost.threadgroup_memory > 0


def test_a_profile_without_peaks_has_no_bound():
    options = CompileOptions(targets=("vulkan:generic",))
    bundle = compile_module(MATMUL.format(n=64, t="f32"), "m.mlir", options)
    (cost,) = kernel_costs(bundle.variants[0], PROFILES["vulkan:generic"])
    assert (cost.bound, cost.least_time) == (None, None)
