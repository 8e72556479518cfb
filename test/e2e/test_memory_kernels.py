"""The benchmark's kernels that are bound by memory, and convolutions: what keeps them fast.

One that loses its fusion, vectors, threadgroup memory or matrix units fails here, by its
IR and its MSL, not by a clock.
"""

from __future__ import annotations

import re
import sys
from importlib import util
from pathlib import Path

import pytest
from support.harness import ROOT

from ingot.compiler.driver.compile import Compiled, compile_text
from ingot.compiler.driver.options import CompileOptions


def _cases():
    """The benchmark's programs; its folder is no package of the distribution."""
    spec = util.spec_from_file_location("bench_cases", ROOT / "bench" / "cases.py")
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


cases = _cases()
TARGETS = ["metal:apple7", "vulkan:hopper", "vulkan:lavapipe"]
MEMORY_BOUND = [
    cases.softmax(512, 1000),
    cases.layer_norm(1024, 768),
    cases.gelu(1 << 22),
    cases.sums(2048, 2048, axis=1),
    cases.sums(2048, 2048, axis=0),
    cases.transpose(2048, 2048),
]
CONVOLUTIONS = [cases.convolution(1, 56, 64, 64), cases.convolution(2, 14, 64, 96)]


def compiled(case, target: str, folder: Path) -> tuple[Compiled, str]:
    """The program, and its kernels as they are before they are lowered."""
    options = CompileOptions(targets=(target,), dump_dir=folder)
    result = compile_text(case.text, case.name, options)
    (buffers,) = folder.glob("*/40-buffers.mlir")
    return result, buffers.read_text()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", MEMORY_BOUND, ids=lambda c: c.name)
def test_device_memory_is_read_and_written_by_vectors(case, target, tmp_path):
    result, buffers = compiled(case, target, tmp_path)
    assert len(result.targets[0].kernels) == 1, "everything is one kernel"
    inputs = re.findall(r"%(\w+): memref<([^>]*)>", buffers[buffers.index("func.func") :])
    whole = {name for name, type_ in inputs[:-1] if len(type_.split("x")) > 1}
    reads = re.findall(r"memref\.load %(\w+)\[", buffers)
    assert not whole & set(reads), "no element of an input is read by itself"
    vectors = re.findall(r"vector\.transfer_read %(\w+)\[.*?in_bounds = \[true\].*4xf32>", buffers)
    assert whole <= set(vectors)
    if len(inputs[-1][1].split("x")) > 2 or case.family in ("gelu", "sum_0"):
        assert re.search(r"vector\.transfer_write .*4xf32>", buffers)
    if target.startswith("metal"):
        (kernel,) = result.bundle.variants[0].kernels
        assert "device float4*" in kernel.msl, "buffers hold float4"


@pytest.mark.parametrize("target", TARGETS)
def test_a_transposition_goes_through_threadgroup_memory(target, tmp_path):
    result, buffers = compiled(MEMORY_BOUND[-1], target, tmp_path)
    assert "memref<32x33xf32, #gpu.address_space<workgroup>>" in buffers
    assert result.bundle.variants[0].kernels[0].threadgroup_memory >= 32 * 33 * 4


@pytest.mark.parametrize("case", CONVOLUTIONS, ids=lambda c: c.name)
def test_convolutions_use_matrix_units_on_metal(case, tmp_path):
    result, buffers = compiled(case, "metal:apple7", tmp_path)
    (kernel,) = result.bundle.variants[0].kernels
    assert "simdgroup_multiply_accumulate" in kernel.msl
    image = re.findall(r"vector\.transfer_read %a0\[.*", buffers)
    assert image and all("in_bounds = [true]" in r and "vector<4xf32>" in r for r in image)
    assert "xindex>" not in buffers, "the places of a vector's elements follow from the first"
    products = buffers.count("simdgroup.multiply_accumulate")
    fragments = len(re.findall(r"vector\.transfer_read %tile_\w+\[.*vector<2xf32>", buffers))
    assert products >= 2 * fragments > 0, "two products for each fragment that is loaded"


def test_a_padding_is_part_of_the_convolution(tmp_path):
    pad = cases.convolution(1, 32, 32, 64)
    text = pad.text.replace("%a0: tensor<1x34x34x32xf32>", "%x: tensor<1x32x32x32xf32>")
    padding = """
  %a0 = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %value : f32
  } : tensor<1x32x32x32xf32> to tensor<1x34x34x32xf32>
  %r = """
    text = text.replace("\n  %r = ", padding)
    options = CompileOptions(targets=("metal:apple7",), dump_dir=tmp_path)
    result = compile_text(text, "padded.mlir", options)
    assert len(result.targets[0].kernels) == 1
    assert "simdgroup_multiply_accumulate" in result.targets[0].kernels[0].kernel.msl
