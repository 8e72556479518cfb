"""The kernels of a program as programs of their own: the same kernels, with the same values."""

from __future__ import annotations

import numpy as np

from ingot.compiler.analysis.functions import kernel_functions
from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.driver.schedules import kernel_key
from ingot.compiler.driver.single_kernels import compile_single, single_kernels
from ingot.compiler.frontends.reader import read_module
from ingot.runtime import LoadedBundle

MATMUL = """
func.func @{name}(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = linalg.matmul ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%i : tensor<8x8xf32>)
      -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}}
"""
PROGRAM = MATMUL.format(name="one") + MATMUL.format(name="other")
OPTIONS = CompileOptions(targets=("metal:apple7",))


def test_equal_kernels_are_one_that_is_called_twice():
    (kernel,) = single_kernels(PROGRAM, "twice.mlir", OPTIONS)
    assert (kernel.dispatches, kernel.points, kernel.shape.parallel) == (2, 8**3, (8, 8))


def test_the_program_of_a_kernel_holds_the_kernel():
    (kernel,) = single_kernels(PROGRAM, "twice.mlir", OPTIONS)
    (func,) = kernel_functions(read_module(kernel.text, "kernel.mlir", make_context()))
    assert kernel_key(func) == kernel.key


def test_a_single_kernel_computes_what_it_does_in_its_program():
    (kernel,) = single_kernels(PROGRAM, "twice.mlir", OPTIONS)
    program = LoadedBundle(compile_single(kernel, kernel.builtin, "safe"), "").bind("host")
    x, y = np.random.default_rng(0).standard_normal((2, 8, 8), np.float32)
    np.testing.assert_allclose(program.main(x, y), x @ y, rtol=1e-5, atol=1e-5)
