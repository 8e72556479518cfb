"""How many kernels programs become, and how much memory lies between them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.harness import SHARED

from ingot.compiler.dialects import plan
from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.driver.pass_pipeline import parse_pipeline, run_passes
from ingot.compiler.driver.pipelines import STAGES
from ingot.compiler.frontends.reader import read_module
from ingot.targets.profiles import PROFILES

MOST = {
    "softmax": 1,
    "layernorm": 1,
    "attention_causal": 1,
    "attention_sh": 1,
    "conv_bn_relu": 1,
    "transformer_block": 7,
    "gpt_tiny": 16,
    "resnet_block": 3,
    "t_encoder_layer": 8,
    "t_gpt_tiny": 16,
    "mlp_fwd": 2,
    "mlp_grad": 12,
}
"""Dispatches of real programs, whichever front end they come through."""

FOLDERS = ("linalg_jax", "stablehlo", "linalg_torch", "stablehlo_torch", "tosa_torch")


def planned(text: str, name: str, target: str) -> plan.ProgramOp:
    """The plan of the only function of a program."""
    context = make_context()
    module = read_module(text, name, context)
    options = CompileOptions(targets=(target,), demote_f64=True)
    for stage in STAGES[:2]:
        passes = parse_pipeline(stage.pipeline(options, PROFILES[target]))
        run_passes(module, context, passes)
    (program,) = (op for op in module.ops if isinstance(op, plan.ProgramOp))
    return program


def dispatches(program: plan.ProgramOp) -> int:
    return sum(isinstance(op, plan.DispatchOp) for op in program.walk())


def programs() -> list[Path]:
    return [p for f in FOLDERS for p in sorted((SHARED / "programs" / f).glob("*.mlir"))]


def check_memory(program: plan.ProgramOp) -> None:
    peak = program.transient_size.value.data
    assert peak <= 1.1 * program.transient_lower_bound.value.data


LAYER = """
func.func @main(%x: tensor<2x24x32xf32>, %g: tensor<32xf32>, %w: tensor<32x96xf32>,
                %p: tensor<32x32xf32>) -> tensor<2x24x32xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %none = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %size = stablehlo.constant dense<32.0> : tensor<2x24xf32>
  %small = stablehlo.constant dense<1.0e-5> : tensor<2x24xf32>
  %scale = stablehlo.constant dense<0.25> : tensor<2x2x24x24xf32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [2]
      : (tensor<2x24x32xf32>, tensor<f32>) -> tensor<2x24xf32>
  %mean = stablehlo.divide %sum, %size : tensor<2x24xf32>
  %means = stablehlo.broadcast_in_dim %mean, dims = [0, 1]
      : (tensor<2x24xf32>) -> tensor<2x24x32xf32>
  %c = stablehlo.subtract %x, %means : tensor<2x24x32xf32>
  %cc = stablehlo.multiply %c, %c : tensor<2x24x32xf32>
  %squares = stablehlo.reduce(%cc init: %zero) applies stablehlo.add across dimensions = [2]
      : (tensor<2x24x32xf32>, tensor<f32>) -> tensor<2x24xf32>
  %variance = stablehlo.divide %squares, %size : tensor<2x24xf32>
  %more = stablehlo.add %variance, %small : tensor<2x24xf32>
  %r = stablehlo.rsqrt %more : tensor<2x24xf32>
  %rs = stablehlo.broadcast_in_dim %r, dims = [0, 1]
      : (tensor<2x24xf32>) -> tensor<2x24x32xf32>
  %n = stablehlo.multiply %c, %rs : tensor<2x24x32xf32>
  %gs = stablehlo.broadcast_in_dim %g, dims = [2] : (tensor<32xf32>) -> tensor<2x24x32xf32>
  %y = stablehlo.multiply %n, %gs : tensor<2x24x32xf32>
  %qkv = stablehlo.dot_general %y, %w, contracting_dims = [2] x [0]
      : (tensor<2x24x32xf32>, tensor<32x96xf32>) -> tensor<2x24x96xf32>
  %heads = stablehlo.reshape %qkv : (tensor<2x24x96xf32>) -> tensor<2x24x3x2x16xf32>
  %q0 = stablehlo.slice %heads [0:2, 0:24, 0:1, 0:2, 0:16]
      : (tensor<2x24x3x2x16xf32>) -> tensor<2x24x1x2x16xf32>
  %k0 = stablehlo.slice %heads [0:2, 0:24, 1:2, 0:2, 0:16]
      : (tensor<2x24x3x2x16xf32>) -> tensor<2x24x1x2x16xf32>
  %v0 = stablehlo.slice %heads [0:2, 0:24, 2:3, 0:2, 0:16]
      : (tensor<2x24x3x2x16xf32>) -> tensor<2x24x1x2x16xf32>
  %q1 = stablehlo.reshape %q0 : (tensor<2x24x1x2x16xf32>) -> tensor<2x24x2x16xf32>
  %k1 = stablehlo.reshape %k0 : (tensor<2x24x1x2x16xf32>) -> tensor<2x24x2x16xf32>
  %v1 = stablehlo.reshape %v0 : (tensor<2x24x1x2x16xf32>) -> tensor<2x24x2x16xf32>
  %q = stablehlo.transpose %q1, dims = [0, 2, 1, 3]
      : (tensor<2x24x2x16xf32>) -> tensor<2x2x24x16xf32>
  %k = stablehlo.transpose %k1, dims = [0, 2, 3, 1]
      : (tensor<2x24x2x16xf32>) -> tensor<2x2x16x24xf32>
  %v = stablehlo.transpose %v1, dims = [0, 2, 1, 3]
      : (tensor<2x24x2x16xf32>) -> tensor<2x2x24x16xf32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2]
      : (tensor<2x2x24x16xf32>, tensor<2x2x16x24xf32>) -> tensor<2x2x24x24xf32>
  %l = stablehlo.multiply %s, %scale : tensor<2x2x24x24xf32>
  %m = stablehlo.reduce(%l init: %none) applies stablehlo.maximum across dimensions = [3]
      : (tensor<2x2x24x24xf32>, tensor<f32>) -> tensor<2x2x24xf32>
  %ms = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2]
      : (tensor<2x2x24xf32>) -> tensor<2x2x24x24xf32>
  %d = stablehlo.subtract %l, %ms : tensor<2x2x24x24xf32>
  %e = stablehlo.exponential %d : tensor<2x2x24x24xf32>
  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3]
      : (tensor<2x2x24x24xf32>, tensor<f32>) -> tensor<2x2x24xf32>
  %ts = stablehlo.broadcast_in_dim %t, dims = [0, 1, 2]
      : (tensor<2x2x24xf32>) -> tensor<2x2x24x24xf32>
  %a = stablehlo.divide %e, %ts : tensor<2x2x24x24xf32>
  %o0 = stablehlo.dot_general %a, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2]
      : (tensor<2x2x24x24xf32>, tensor<2x2x24x16xf32>) -> tensor<2x2x24x16xf32>
  %o1 = stablehlo.transpose %o0, dims = [0, 2, 1, 3]
      : (tensor<2x2x24x16xf32>) -> tensor<2x24x2x16xf32>
  %o = stablehlo.reshape %o1 : (tensor<2x24x2x16xf32>) -> tensor<2x24x32xf32>
  %z = stablehlo.dot_general %o, %p, contracting_dims = [2] x [0]
      : (tensor<2x24x32xf32>, tensor<32x32xf32>) -> tensor<2x24x32xf32>
  %result = stablehlo.add %x, %z : tensor<2x24x32xf32>
  return %result : tensor<2x24x32xf32>
}
"""


def test_a_layer_is_a_norm_a_product_an_attention_and_a_product() -> None:
    program = planned(LAYER, "layer.mlir", "metal:apple7")
    calls = [op for op in program.walk() if isinstance(op, plan.DispatchOp)]
    kernels = [call.kernel.root_reference.data for call in calls]
    assert kernels == ["main_normalize", "main_matmul", "main_attention", "main_matmul_1"]
    check_memory(program)


@pytest.mark.parametrize(
    "path",
    [p for p in programs() if p.stem in MOST and p.parent.name in ("stablehlo", "linalg_torch")],
    ids=lambda p: f"{p.parent.name}-{p.stem}",
)
def test_real_programs_stay_fused(path: Path) -> None:
    program = planned(path.read_text(), path.name, "vulkan:generic")
    assert dispatches(program) <= MOST[path.stem]
    check_memory(program)


@pytest.mark.slow
@pytest.mark.parametrize("path", programs(), ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_intermediates_take_little_more_than_what_is_live(path: Path) -> None:
    program = planned(path.read_text(), path.name, "metal:apple7")
    assert dispatches(program) <= MOST.get(path.stem, 100)
    check_memory(program)
