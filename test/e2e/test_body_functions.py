"""Long arithmetic around a product, which kernels call as functions of their own."""

from __future__ import annotations

import numpy as np
import pytest
from support.harness import DEVICES, assert_close, bundle_for, run

from ingot.compiler.dialects.context import make_context
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate

LINES = """
    %0 = arith.addf %in, %b : f32
    %1 = arith.mulf %0, %s : f32
    %2 = math.tanh %1 : f32
    %3 = arith.fptosi %in : f32 to i32
    %4 = arith.floordivsi %3, %three : i32
    %5 = arith.sitofp %4 : i32 to f32
    %6 = arith.cmpf olt, %2, %5 : f32
    %7 = arith.minimumf %2, %5 : f32
    %8 = arith.divf %7, %0 : f32
    %9 = arith.select %6, %8, %1 : f32
    linalg.yield %9 : f32
"""
"""A body with a captured value, a captured constant, integers, and ops that targets lack."""

PROGRAM = f"""
#row = affine_map<(i, j) -> (j)>
#both = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<33x40xf32>, %y: tensor<40x36xf32>, %bias: tensor<36xf32>,
                %bias_of_x: tensor<40xf32>, %scale: tensor<f32>)
    -> (tensor<33x36xf32>, tensor<33x36xf32>) {{
  %s = tensor.extract %scale[] : tensor<f32>
  %three = arith.constant 3 : i32
  %zero = arith.constant 0.0 : f32
  %before = tensor.empty() : tensor<33x40xf32>
  %xs = linalg.generic {{indexing_maps = [#both, #row, #both],
      iterator_types = ["parallel", "parallel"]}}
      ins(%x, %bias_of_x : tensor<33x40xf32>, tensor<40xf32>) outs(%before : tensor<33x40xf32>) {{
  ^bb0(%in: f32, %b: f32, %out: f32):
    {LINES}
  }} -> tensor<33x40xf32>
  %empty = tensor.empty() : tensor<33x36xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<33x36xf32>) -> tensor<33x36xf32>
  %product = linalg.matmul ins(%xs, %y : tensor<33x40xf32>, tensor<40x36xf32>)
      outs(%init : tensor<33x36xf32>) -> tensor<33x36xf32>
  %after = linalg.generic {{indexing_maps = [#both, #row, #both],
      iterator_types = ["parallel", "parallel"]}}
      ins(%product, %bias : tensor<33x36xf32>, tensor<36xf32>)
      outs(%empty : tensor<33x36xf32>) {{
  ^bb0(%in: f32, %b: f32, %out: f32):
    {LINES}
  }} -> tensor<33x36xf32>
  return %product, %after : tensor<33x36xf32>, tensor<33x36xf32>
}}
"""


@pytest.mark.parametrize("device_name", DEVICES)
def test_values(device_name: str) -> None:
    rng = np.random.default_rng(0)
    shapes = ((33, 40), (40, 36), (36,), (40,), ())
    inputs = [np.asarray(3 * rng.standard_normal(shape), np.float32) for shape in shapes]
    module = read_module(PROGRAM, "bodies.mlir", make_context())
    expected = evaluate(module, "main", inputs)
    for got, wanted in zip(run(PROGRAM, device_name, inputs), expected, strict=True):
        assert_close(got, np.asarray(wanted))


def test_a_kernel_calls_one_function_for_each_body() -> None:
    kernels = {kernel.name: kernel for kernel in bundle_for(PROGRAM, "host").variants[0].kernels}
    kernel = kernels["main_matmul"]
    assert kernel.msl.count(" main_matmul_elementwise(") > 8
    assert kernel.msl.count("float2 ingot_tanh_2xf32(float2 x)") == 1
