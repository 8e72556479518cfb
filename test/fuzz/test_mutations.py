"""Broken programs end in one sentence that points at the text, never in a Python traceback."""

from __future__ import annotations

import re
from random import Random

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.harness import EXAMPLES

from fuzz.generate import random_program
from fuzz.mutate import mutated, renumbered
from ingot.tools.main import command as main

CONTROL = b"""func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<i32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  %r = scf.for %i = %zero to %ten step %one iter_args(%a = %x) -> (tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %b = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  %c = call @next(%n) : (tensor<i32>) -> tensor<i32>
  return %r, %c : tensor<4xf32>, tensor<i32>
}
func.func private @next(%n: tensor<i32>) -> tensor<i32> {
  %one = arith.constant dense<1> : tensor<i32>
  %s = arith.addi %n, %one : tensor<i32>
  return %s : tensor<i32>
}
"""
STABLEHLO = b"""func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) -> tensor<4xf32> {
  %d = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  %z = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %s = stablehlo.reduce(%d init: %z) applies stablehlo.add across dimensions = [1]
    : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}
"""
NUMBERED = (
    b"""func.func @main(%x: tensor<1x6x6x4xf32>, %k: tensor<3x3x2x8xf32>) -> tensor<1x3x3x8xf32> {
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [2, 1], pad = [[1, 0], [0, -1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1],
    reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
    : (tensor<1x6x6x4xf32>, tensor<3x3x2x8xf32>) -> tensor<1x3x3x8xf32>
  return %r : tensor<1x3x3x8xf32>
}
""",
    b"""func.func @main(%x: tensor<4x6xf32>, %i: tensor<3x1xi32>) -> tensor<3x6xf32> {
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32>
  return %r : tensor<3x6xf32>
}
""",
    b"""func.func @main(%x: tensor<2x4x6xf32>, %i: tensor<2x3x1xi32>) -> tensor<2x3x6xf32> {
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2],
    collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0],
    start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 6>}>
    : (tensor<2x4x6xf32>, tensor<2x3x1xi32>) -> tensor<2x3x6xf32>
  return %r : tensor<2x3x6xf32>
}
""",
    b"""func.func @main(%x: tensor<2x4x6xf32>, %i: tensor<2x3x1xi32>, %u: tensor<2x3x5xf32>)
    -> tensor<2x4x6xf32> {
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
    update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0],
    scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1],
    index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x4x6xf32>, tensor<2x3x1xi32>, tensor<2x3x5xf32>) -> tensor<2x4x6xf32>
  return %r : tensor<2x4x6xf32>
}
""",
    b"""func.func @main(%x: tensor<4x6xf32>, %z: tensor<f32>) -> tensor<3x5xf32> {
  %r = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 3>,
    window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>,
    window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}
""",
    b"""func.func @main(%x: tensor<2x4x6xf32>, %y: tensor<2x6x3xf32>) -> tensor<3x2x4xf32> {
  %d = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<2x4x6xf32>, tensor<2x6x3xf32>) -> tensor<2x4x3xf32>
  %r = stablehlo.transpose %d, dims = [2, 0, 1] : (tensor<2x4x3xf32>) -> tensor<3x2x4xf32>
  return %r : tensor<3x2x4xf32>
}
""",
    b"""func.func @main(%x: tensor<4x6xf32>, %i: tensor<i32>) -> tensor<1x8xf32> {
  %s = stablehlo.dynamic_slice %x, %i, %i, sizes = [1, 4] : (tensor<4x6xf32>, tensor<i32>,
    tensor<i32>) -> tensor<1x4xf32>
  %t = stablehlo.slice %x [1:2, 0:6:2] : (tensor<4x6xf32>) -> tensor<1x3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.pad %t, %z, low = [0, 1], high = [0, 0], interior = [0, 0]
    : (tensor<1x3xf32>, tensor<f32>) -> tensor<1x4xf32>
  %r = stablehlo.concatenate %s, %p, dim = 1 : (tensor<1x4xf32>, tensor<1x4xf32>)
    -> tensor<1x8xf32>
  return %r : tensor<1x8xf32>
}
""",
)
TOSA = b"""func.func @main(%x: tensor<4x8xf32>, %y: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %s = tosa.add %x, %y : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %t = tosa.tanh %s : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %t : tensor<4x8xf32>
}
"""
BASES = (
    *(path.read_bytes() for path in sorted(EXAMPLES.glob("*.mlir"))),
    *(random_program(Random(seed), most=3).text().encode() for seed in range(12)),
    CONTROL,
    STABLEHLO,
    TOSA,
)
POINTED = re.compile(r"<stdin>:[1-9]\d*:[1-9]\d*: error: \S")


def compile_broken(seed: int) -> None:
    """One mutated program through `ingot compile`: of those with numbers, one is another."""
    random = Random(seed)
    bases, change = random.choice(((BASES, mutated), (NUMBERED, renumbered)))
    text = change(random.choice(bases), random)
    arguments = ["compile", "-", "-o", "-", "--emit", "mlir", "--target", "vulkan:generic"]
    result = CliRunner().invoke(main, arguments, input=text)
    said = result.stderr
    context = f"seed {seed}\n{text.decode(errors='replace')}\n{said}"
    assert result.exception is None or isinstance(result.exception, SystemExit), context
    assert "internal" not in said and "Traceback" not in said, context
    if result.exit_code:
        assert result.exit_code == 1, context
        assert POINTED.match(said), context
        first = said.splitlines()[0]
        assert len(first) < 600, context


def search(examples: int, derandomize: bool) -> None:
    """Try that many mutations."""

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=derandomize,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(0, 1 << 40))
    def tries(seed: int) -> None:
        compile_broken(seed)

    tries()


def test_broken_programs_are_pointed_at() -> None:
    search(600, derandomize=True)


@pytest.mark.slow
def test_many_broken_programs_are_pointed_at() -> None:
    search(10000, derandomize=False)
