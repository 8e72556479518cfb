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
from fuzz.mutate import mutated
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
    """One mutated program through `ingot compile`."""
    random = Random(seed)
    text = mutated(random.choice(BASES), random)
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
    search(300, derandomize=True)


@pytest.mark.slow
def test_many_broken_programs_are_pointed_at() -> None:
    search(5000, derandomize=False)
