"""Gradients of whole programs: random ones, loops and branches, gradients again, forward mode."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from support.expressions import EXPRESSIONS, Expression, of_x, of_xy
from support.gradients import (
    assert_agree,
    check_gradient,
    check_on_device,
    evaluated,
    generics_of,
    gradient_of,
)
from support.harness import DEVICES, Array, bundle_for
from support.tensor_programs import tensor_programs

from ingot.compiler.analysis.convolution import match_convolution
from ingot.compiler.analysis.structured import reduction_loops
from ingot.compiler.dialects.context import make_context
from ingot.compiler.dialects.linalg import GenericOp
from ingot.compiler.frontends.reader import read_module

EXAMPLES = int(os.environ.get("INGOT_GRADIENT_EXAMPLES", "25"))


def inputs_of(*shapes: tuple[int, ...], seed: int = 0) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-0.8, 0.8, s).astype(np.float32) for s in shapes]


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(tensor_programs())
def test_random_programs(drawn: tuple[str, list[tuple[int, ...]]]) -> None:
    """Elementwise ops, sums, maxima, products, slices, pads, concatenations and reshapes."""
    text, shapes = drawn
    inputs = inputs_of(*shapes)
    gradient = gradient_of(text)
    # The maximum of nothing is infinite, and infinities have no difference.
    if inputs and all(np.isfinite(result).all() for result in evaluated(text, inputs)):
        assert_agree(text, gradient, inputs)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(tensor_programs())
def test_random_programs_on_devices(drawn: tuple[str, list[tuple[int, ...]]]) -> None:
    text, shapes = drawn
    inputs = inputs_of(*shapes)
    if not inputs:
        return
    gradient = gradient_of(text)
    given_ = [*inputs, *(np.ones(r.shape, np.float32) for r in evaluated(text, inputs))]
    for device_name in DEVICES:
        check_on_device(gradient, given_, evaluated(gradient, given_), device_name, 2, 1e-3)


LOOPS: dict[str, str] = {
    "a recurrence": """
func.func @main(%x: tensor<3xf32>, %w: tensor<3x3xf32>) -> tensor<3xf32> {
  %start = arith.constant 1 : index
  %end = arith.constant 4 : index
  %step = arith.constant 2 : index
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %r:2 = scf.for %i = %start to %end step %step iter_args(%h = %x, %v = %w)
      -> (tensor<3xf32>, tensor<3x3xf32>) {
    %m = linalg.matvec ins(%v, %h : tensor<3x3xf32>, tensor<3xf32>)
        outs(%f : tensor<3xf32>) -> tensor<3xf32>
    %n = arith.index_cast %i : index to i32
    %s = arith.sitofp %n : i32 to f32
    %b = tensor.splat %s : tensor<3xf32>
    %p = arith.mulf %m, %b : tensor<3xf32>
    %t = math.tanh %p : tensor<3xf32>
    scf.yield %t, %v : tensor<3xf32>, tensor<3x3xf32>
  }
  return %r#0 : tensor<3xf32>
}
""",
    "a loop in a loop": """
func.func @main(%x: tensor<3xf32>, %w: tensor<3x3xf32>) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%h = %x) -> (tensor<3xf32>) {
    %row = tensor.extract_slice %w[%i, 0] [1, 3] [1, 1] : tensor<3x3xf32> to tensor<3xf32>
    %q = scf.for %j = %c0 to %c2 step %c1 iter_args(%g = %h) -> (tensor<3xf32>) {
      %m = arith.mulf %g, %row : tensor<3xf32>
      %s = math.sin %m : tensor<3xf32>
      %a = arith.addf %s, %h : tensor<3xf32>
      scf.yield %a : tensor<3xf32>
    }
    scf.yield %q : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}
""",
    "a branch": """
func.func @main(%x: tensor<3xf32>, %w: tensor<3x3xf32>) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %first = tensor.extract %x[%c0] : tensor<3xf32>
  %above = arith.cmpf ogt, %first, %z : f32
  %r = scf.if %above -> (tensor<3xf32>) {
    %d = arith.mulf %x, %x : tensor<3xf32>
    scf.yield %d : tensor<3xf32>
  } else {
    %row = tensor.extract_slice %w[1, 0] [1, 3] [1, 1] : tensor<3x3xf32> to tensor<3xf32>
    %d = arith.mulf %x, %row : tensor<3xf32>
    %s = math.exp %d : tensor<3xf32>
    scf.yield %s : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}
""",
    "scalars of the host": """
func.func @main(%x: tensor<3xf32>, %w: tensor<3x3xf32>) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tensor.extract %x[%c1] : tensor<3xf32>
  %b = tensor.extract %w[%c0, %c1] : tensor<3x3xf32>
  %p = arith.mulf %a, %b : f32
  %s = math.exp %p : f32
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%s : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %i = tensor.insert %b into %f[%c1] : tensor<3xf32>
  %l = tensor.from_elements %a, %s, %b : tensor<3xf32>
  %m = arith.mulf %l, %i : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%m : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = arith.divf %in, %s : f32
    linalg.yield %t : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}
""",
    "sorts, scans and replaced rows": """
func.func @main(%x: tensor<3xf32>, %w: tensor<3x3xf32>)
    -> (tensor<3x3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %e = tensor.empty() : tensor<3x3xf32>
  %i = arith.constant dense<[[2], [0], [2]]> : tensor<3x1xi32>
  %sorted = ingot.sort dimension = 1 ins(%w : tensor<3x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %before = arith.cmpf olt, %a, %b : f32
    ingot.yield %before : i1
  }
  %sums, %last = ingot.scan dimension = 0 ins(%sorted : tensor<3x3xf32>)
      outs(%e, %x : tensor<3x3xf32>, tensor<3xf32>) {
  ^bb0(%acc: f32, %in: f32):
    %s = arith.addf %acc, %in : f32
    ingot.yield %s : f32
  }
  %p = arith.mulf %last, %last : tensor<3xf32>
  %q = ingot.scatter dimensions = [0] ins(%i, %p : tensor<3x1xi32>, tensor<3xf32>)
      outs(%x : tensor<3xf32>) {
  ^bb0(%old: f32, %new: f32):
    ingot.yield %new : f32
  }
  return %sums, %p, %q : tensor<3x3xf32>, tensor<3xf32>, tensor<3xf32>
}
""",
}


@pytest.mark.parametrize("name", LOOPS)
def test_control_flow_and_order(name: str) -> None:
    inputs = inputs_of((3,), (3, 3), seed=4)
    found = check_gradient(LOOPS[name], inputs, [0, 1], ["vulkan"])
    assert any(np.any(g) for g in found)


@pytest.mark.parametrize("name", ["a recurrence", "a loop in a loop", "a branch"])
def test_control_flow_twice(name: str) -> None:
    once = gradient_of(LOOPS[name])
    inputs = inputs_of((3,), (3, 3), (3,), seed=4)
    assert_agree(once, gradient_of(once), inputs)


TWICE: dict[str, Expression] = {
    "matrix product": of_xy("z[i,j] := x[i,k] * y[k,j]", (3, 4), (4, 2)),
    "convolution": of_xy("z[i] := x[i+k-1] * exp(y[k])", (9,), (3,)),
    "maximum": of_x("(max) m[i] := x[i,j]^2\nz[i] := m[i]^2", (3, 4)),
    "product": of_x("(*) z[i] := x[i,j]", (2, 5)),
    "softmax": EXPRESSIONS["softmax"],
}


@pytest.mark.parametrize("name", TWICE)
def test_gradients_of_gradients(name: str) -> None:
    text, inputs = TWICE[name].text, TWICE[name].inputs(1)
    once = gradient_of(text)
    cotangents = inputs_of(*(r.shape for r in evaluated(text, inputs)), seed=2)
    assert_agree(once, gradient_of(once), [*inputs, *cotangents])


@pytest.mark.parametrize("name", TWICE)
def test_forward_mode_is_the_transpose(name: str) -> None:
    """The dot product of a cotangent with J v is that of J^T times it with v."""
    text, inputs, tangents = TWICE[name].text, TWICE[name].inputs(1), TWICE[name].inputs(3)
    value, moved = evaluated(gradient_of(text, (), True, True), [*inputs, *tangents])
    np.testing.assert_array_equal(value, evaluated(text, inputs)[0])
    (cotangent,) = inputs_of(moved.shape, seed=2)
    gradients = evaluated(gradient_of(text), [*inputs, cotangent])
    backwards = sum(float(np.sum(g * t)) for g, t in zip(gradients, tangents, strict=True))
    assert float(np.sum(cotangent * moved)) == pytest.approx(backwards, rel=1e-9)


def test_narrow_floats_are_summed_in_wide_ones() -> None:
    """The gradient of an f16 operand of an f32 product is rounded once."""
    text = """
func.func @main(%x: tensor<4x512xf16>, %y: tensor<512x8xf16>) -> tensor<4x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = linalg.matmul ins(%x, %y : tensor<4x512xf16>, tensor<512x8xf16>)
      outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
"""
    gradient = gradient_of(text)
    assert "arith.truncf" in gradient
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(s).astype(np.float16) for s in ((4, 512), (512, 8)))
    g = rng.standard_normal((4, 8)).astype(np.float32)
    wide = [a.astype(np.float64) for a in (x, y, g)]
    expected = [wide[2] @ wide[1].T, wide[0].T @ wide[2]]
    for device_name in DEVICES:
        check_on_device(gradient, [x, y, g], expected, device_name, 1, 6e-4)


PADS = [((0, 0), (1, 0), (0, 0)), ((2, 1), (0, 3), (0, 0)), ((-1, 2), (1, -1), (0, 0))]


@pytest.mark.parametrize(("low", "high", "interior"), [*PADS, ((0, -1), (2, 2), (2, 0))])
def test_pads_of_stablehlo(
    low: tuple[int, int], high: tuple[int, int], interior: tuple[int, int]
) -> None:
    """A pad reads by a clamped index under a condition: that is turned round, not scattered."""
    out = tuple(
        n + a + b + (n - 1) * c for n, a, b, c in zip((4, 5), low, high, interior, strict=True)
    )
    type_ = f"tensor<{out[0]}x{out[1]}xf32>"
    places = ", ".join(
        f"{name} = array<i64: {value[0]}, {value[1]}>"
        for name, value in (
            ("edge_padding_low", low),
            ("edge_padding_high", high),
            ("interior_padding", interior),
        )
    )
    text = f"""
func.func @main(%x: tensor<4x5xf32>, %p: tensor<f32>) -> {type_} {{
  %y = "stablehlo.pad"(%x, %p) {{{places}}} : (tensor<4x5xf32>, tensor<f32>) -> {type_}
  %z = stablehlo.multiply %y, %y : {type_}
  return %z : {type_}
}}
"""
    assert ("ingot.scatter" in gradient_of(text)) == any(interior)
    check_gradient(generics_of(text), inputs_of((4, 5), ()), [0, 1])


def test_a_convolution_stays_one() -> None:
    """Backwards by the image it is a convolution with the filter turned round, which is stored."""
    text = """
func.func @main(%x: tensor<1x14x14x16xf32>, %w: tensor<3x3x16x32xf32>) -> tensor<1x12x12x32xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x12x12x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x12x12x32xf32>) -> tensor<1x12x12x32xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x14x14x16xf32>, tensor<3x3x16x32xf32>)
      outs(%f : tensor<1x12x12x32xf32>) -> tensor<1x12x12x32xf32>
  return %r : tensor<1x12x12x32xf32>
}
"""
    gradient = gradient_of(text, ["x"])
    module = read_module(gradient, "test.mlir", make_context())
    (product,) = [op for op in module.walk() if isinstance(op, GenericOp) and reduction_loops(op)]
    convolution = match_convolution(product)
    assert convolution is not None and convolution.is_depth_contiguous
    (variant,) = bundle_for(gradient, "vulkan").variants
    assert len(variant.kernels) == 2
    rng = np.random.default_rng(0)
    shapes = ((1, 14, 14, 16), (3, 3, 16, 32), (1, 12, 12, 32))
    given_ = [rng.standard_normal(s).astype(np.float32) for s in shapes]
    check_on_device(gradient, given_, evaluated(gradient, given_), "vulkan", 0, 1e-4)
