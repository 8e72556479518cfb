"""Whatever the space holds computes what the compiler's own schedule computes, on every device."""

from __future__ import annotations

from random import Random

import pytest
from support.harness import device as open_device

from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.driver.single_kernels import single_kernels
from ingot.targets.profiles import PROFILES
from ingot.tuning.measure import KernelBuild, Task, run_task
from ingot.tuning.space import neighbours, tilings

TARGETS = {"host": "metal:apple9", "vulkan": "vulkan:lavapipe"}

REDUCE = """
  %{0} = stablehlo.reduce(%{1} init: %{2}) applies stablehlo.{3} across dimensions = [2]
      : (tensor<3x8x{n}xf32>, tensor<f32>) -> tensor<3x8xf32>
  %{0}s = stablehlo.broadcast_in_dim %{0}, dims = [0, 1]
      : (tensor<3x8xf32>) -> tensor<3x8x{n}xf32>"""


def softmax(columns):
    """Rows of rows, in one or two passes, and the sums as a result of their own."""
    most = REDUCE.format("m", "x", "none", "maximum", n=columns)
    total = REDUCE.format("s", "e", "zero", "add", n=columns)
    return f"""
func.func @main(%x: tensor<3x8x{columns}xf32>) -> (tensor<3x8x{columns}xf32>, tensor<3x8xf32>) {{
  %none = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>{most}
  %d = stablehlo.subtract %x, %ms : tensor<3x8x{columns}xf32>
  %e = stablehlo.exponential %d : tensor<3x8x{columns}xf32>{total}
  %y = stablehlo.divide %e, %ss : tensor<3x8x{columns}xf32>
  return %y, %s : tensor<3x8x{columns}xf32>, tensor<3x8xf32>
}}
"""


SCALED = """
func.func @main(%x: tensor<32x200xf16>, %g: tensor<200xf16>) -> tensor<200x32xf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<f16>
  %p = stablehlo.multiply %x, %x : tensor<32x200xf16>
  %s = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<32x200xf16>, tensor<f16>) -> tensor<32xf16>
  %r = stablehlo.rsqrt %s : tensor<32xf16>
  %rs = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<32xf16>) -> tensor<32x200xf16>
  %gs = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<200xf16>) -> tensor<32x200xf16>
  %n = stablehlo.multiply %x, %rs : tensor<32x200xf16>
  %y = stablehlo.multiply %n, %gs : tensor<32x200xf16>
  %t = stablehlo.transpose %y, dims = [1, 0] : (tensor<32x200xf16>) -> tensor<200x32xf16>
  return %t : tensor<200x32xf16>
}
"""


def matmul(element):
    return f"""
func.func @main(%a: tensor<72x40x{element}>, %b: tensor<40x56x{element}>) -> tensor<72x56xf32> {{
  %c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<72x40x{element}>, tensor<40x56x{element}>) -> tensor<72x56xf32>
  %t = stablehlo.tanh %c : tensor<72x56xf32>
  return %t : tensor<72x56xf32>
}}
"""


TRANSPOSE = """
func.func @main(%x: tensor<40x72xf32>, %y: tensor<72x40xf32>) -> tensor<72x40xf32> {
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<40x72xf32>) -> tensor<72x40xf32>
  %s = stablehlo.add %t, %y : tensor<72x40xf32>
  return %s : tensor<72x40xf32>
}
"""
COLUMNS = """
func.func @main(%x: tensor<300x20xf32>) -> tensor<20xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<300x20xf32>, tensor<f32>) -> tensor<20xf32>
  return %s : tensor<20xf32>
}
"""
ATTENTION = """
func.func @main(%q: tensor<3x40x16xf32>, %k: tensor<3x72x16xf32>, %v: tensor<3x72x24xf32>)
    -> tensor<3x40x24xf32> {
  %none = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2]
      : (tensor<3x40x16xf32>, tensor<3x72x16xf32>) -> tensor<3x40x72xf32>
  %m = stablehlo.reduce(%p init: %none) applies stablehlo.maximum across dimensions = [2]
      : (tensor<3x40x72xf32>, tensor<f32>) -> tensor<3x40xf32>
  %ms = stablehlo.broadcast_in_dim %m, dims = [0, 1]
      : (tensor<3x40xf32>) -> tensor<3x40x72xf32>
  %d = stablehlo.subtract %p, %ms : tensor<3x40x72xf32>
  %e = stablehlo.exponential %d : tensor<3x40x72xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2]
      : (tensor<3x40x72xf32>, tensor<f32>) -> tensor<3x40xf32>
  %ss = stablehlo.broadcast_in_dim %s, dims = [0, 1]
      : (tensor<3x40xf32>) -> tensor<3x40x72xf32>
  %w = stablehlo.divide %e, %ss : tensor<3x40x72xf32>
  %y = stablehlo.dot_general %w, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1]
      : (tensor<3x40x72xf32>, tensor<3x72x24xf32>) -> tensor<3x40x24xf32>
  return %y : tensor<3x40x24xf32>
}
"""
PROGRAMS = {
    "attention": ATTENTION,
    "softmax": softmax(130),
    "long softmax": softmax(5000),
    "scaled rows": SCALED,
    "matmul": matmul("f32"),
    "half matmul": matmul("f16"),
    "transpose": TRANSPOSE,
    "columns": COLUMNS,
}


def sample(kernel, count, seed):
    """Tilings, and steps from them."""
    random, profile = Random(seed), PROFILES[kernel.target]
    listed = tilings(kernel.shape, profile, kernel.builtin)[1:]
    for tiling in random.sample(listed, min(count, len(listed))):
        steps = neighbours(tiling, kernel.shape, profile)
        yield tiling
        yield random.choice(steps) if steps else tiling


def problems(text, device, count, seed):
    """What is wrong with some candidates for every kernel of a program."""
    open_device(device)
    options = CompileOptions(targets=(TARGETS[device],))
    found = []
    for kernel in single_kernels(text, "program.mlir", options):
        chosen = [kernel.builtin, *sample(kernel, count, seed)]
        builds = tuple(KernelBuild(kernel, schedule) for schedule in chosen)
        outcome = run_task(Task(0, builds, device, seconds=0.0, give_up=0.0, with_reference=True))
        found += zip(chosen, outcome.problems, strict=True)
    return [(s, problem) for s, problem in found if problem and "times the arith" not in problem]


FEW = [(name, "vulkan") for name in PROGRAMS]
FEW += [(name, "host") for name in ("softmax", "half matmul", "attention")]


@pytest.mark.parametrize(("name", "device"), FEW)
def test_some_candidates_are_right(name, device):
    assert problems(PROGRAMS[name], device, count=1, seed=0) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("device", TARGETS)
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_many_candidates_are_right(text, device, seed):
    assert problems(text, device, count=8, seed=seed + 1) == []
