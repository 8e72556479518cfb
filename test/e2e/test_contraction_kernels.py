"""Matrix products: their values on every device, and what keeps their kernels fast.

A kernel that loses its matrix units, its vector loads or its registers fails here, by its IR and
its MSL, not by a clock.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from support.contractions import Product
from support.harness import DEVICES, assert_close, bundle_for, device, rt, run

from ingot.compiler.driver.compile import compile_module
from ingot.compiler.driver.options import CompileOptions
from ingot.runtime.devices.host.check import check_msl
from ingot.targets.bundle.model import Bundle
from ingot.targets.bundle.writer import write_bundle
from ingot.targets.msl import MslOptions, cross_compile
from ingot.targets.spirv import disassemble

LARGE = [
    Product(96, 64, 80, turned=(True, True)),
    Product(100, 70, 90, turned=(False, True), epilogue=True),
    Product(64, 128, 64, "f16", "f16", batch=2),
    Product(65, 97, 129, "f16", "f32", turned=(True, False)),
    Product(72, 104, 100, "bf16", "bf16", turned=(False, True), epilogue=True),
]
SMALL = [Product(8, 8, 8), Product(33, 9, 17, "f16", "f16", epilogue=True), Product(16, 200, 24)]
THIN = [
    Product(24, 40, 4096),
    Product(3, 512, 2048, "f16", "f16", epilogue=True),
    Product(4, 70, 600, turned=(False, True), epilogue=True),
]
"""Few results of long sums, and few rows."""
VULKAN = [*LARGE[1:4], *SMALL, *THIN]


def compiled(product: Product, target: str) -> Bundle:
    return compile_module(product.text(), "product.mlir", CompileOptions(targets=(target,)))


def loop(msl: str) -> str:
    """The loop over tiles of the reduction."""
    start = msl.index("for (uint k = ")
    return msl[start : msl.index("\n    }\n", start)]


@pytest.mark.parametrize("product", VULKAN, ids=lambda p: p.name)
def test_values_on_vulkan(product: Product) -> None:
    inputs = product.inputs()
    (result,) = run(product.text(), "vulkan", inputs)
    assert_close(result, product.expected(inputs))


@pytest.mark.parametrize("product", [*SMALL, *THIN], ids=lambda p: p.name)
def test_values_on_host(product: Product) -> None:
    inputs = product.inputs()
    (result,) = run(product.text(), "host", inputs)
    assert_close(result, product.expected(inputs))


@pytest.mark.parametrize("product", LARGE, ids=lambda p: p.name)
def test_metal_has_matrix_units_and_registers(product: Product) -> None:
    bundle = compiled(product, "metal:apple7")
    (kernel,) = bundle.variants[0].kernels
    assert kernel.msl.count("simdgroup_multiply_accumulate(sum, left, right, sum);") == 1
    body = loop(kernel.msl)
    products = len(re.findall(r" = ingot_multiply_accumulate_\w+\(", body))
    loads = len(re.findall(r"2 \w+ = .*\btile_[ab]\b", body))
    assert products >= 2 * loads > 0, "two products for each fragment loaded"
    # Fragments and accumulators are vectors in registers: there are no arrays of a thread.
    assert not re.search(r"^ +(thread )?\w+ \w+\[\d+\]", body, re.MULTILINE)
    # The next tiles are loaded before the products hide the latency, and stored after them.
    first = body.index("ingot_multiply_accumulate")
    assert re.search(r"\b[xy]\[", body[:first]) and not re.search(r"\b[xy]\[", body[first:])
    assert check_msl(kernel.msl) == []
    inputs = product.inputs()
    result = rt.loads(write_bundle(bundle)).bind(device("host:random:5")).call("main", *inputs)
    assert_close(np.asarray(result), product.expected(inputs))


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_metal_moves_vectors(dtype: str) -> None:
    bundle = compiled(Product(128, 128, 128, dtype, "f32"), "metal:apple7")
    (kernel,) = bundle.variants[0].kernels
    vector = {"f32": "float", "f16": "half", "bf16": "u?short"}[dtype]
    assert len(re.findall(rf"device {vector}4\* (?:x|y)\b", kernel.msl)) == 2
    assert len(re.findall(rf"threadgroup {vector}[24] tile_[ab]\b", kernel.msl)) == 2
    assert "device float2* out" in kernel.msl


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_native_products_are_the_portable_ones(dtype: str) -> None:
    """Bit for bit, in random order of threads: the portable body defines what the native one is."""
    product = Product(64, 64, 48, dtype, "f32")
    bundle = compiled(product, "metal:apple7")
    (variant,) = bundle.variants
    (kernel,) = variant.kernels
    options = MslOptions(native=False)
    portable = cross_compile(kernel.spirv, kernel_name=kernel.name, options=options).text
    assert "simdgroup_multiply_accumulate" not in portable and "simd_shuffle" in portable
    other = replace(variant, kernels=(replace(kernel, msl=portable),))
    results = []
    for made in (bundle, replace(bundle, variants=(other,))):
        program = rt.loads(write_bundle(made)).bind(device("host:random:3"))
        results.append(program.call("main", *product.inputs()))
    assert np.array_equal(results[0], results[1])
    assert_close(results[0], product.expected(product.inputs()))


def test_vulkan_has_cooperative_matrices() -> None:
    product = Product(4096, 4096, 4096, "f16", "f16", turned=(False, True), epilogue=True)
    (kernel,) = compiled(product, "vulkan:hopper").variants[0].kernels
    code = disassemble(kernel.spirv)
    loads = code.count("OpCooperativeMatrixLoadKHR")
    assert code.count("OpCooperativeMatrixMulAddKHR") >= 2 * loads > 0
    for name in ("x", "y"):
        pointers = re.findall(rf"OpAccessChain (%\S+) %{name} ", code)
        assert set(pointers) == {"%_ptr_StorageBuffer_v4uint"}, "16 bytes at once"


def test_vulkan_products_in_registers_move_vectors() -> None:
    (kernel,) = compiled(Product(2048, 2048, 2048), "vulkan:hopper").variants[0].kernels
    code = disassemble(kernel.spirv)
    chains = dict(re.findall(r"OpAccessChain (%\S+) (%\w+) ", code))
    assert set(chains) == {"%_ptr_StorageBuffer_v4float", "%_ptr_Workgroup_v4float"}


HEADS = """
func.func @main(%x: tensor<2x64x3x48xf32>, %y: tensor<2x72x3x48xf32>) -> tensor<2x64x3x72xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x64x3x72xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x64x3x72xf32>) -> tensor<2x64x3x72xf32>
  %r = linalg.generic {
    indexing_maps = [affine_map<(b, i, h, j, k) -> (b, i, h, k)>,
                     affine_map<(b, i, h, j, k) -> (b, j, h, k)>,
                     affine_map<(b, i, h, j, k) -> (b, i, h, j)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
  } ins(%x, %y : tensor<2x64x3x48xf32>, tensor<2x72x3x48xf32>) outs(%init : tensor<2x64x3x72xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x64x3x72xf32>
  return %r : tensor<2x64x3x72xf32>
}
"""


@pytest.mark.parametrize("where", DEVICES)
def test_heads_between_rows_and_columns(where: str) -> None:
    """A batch dimension between the two sides of the result is no obstacle to tiles."""
    rng = np.random.default_rng(7)
    x, y = (rng.standard_normal(s).astype("f4") for s in ((2, 64, 3, 48), (2, 72, 3, 48)))
    bundle = bundle_for(HEADS, where)
    (result,) = run(HEADS, where, [x, y])
    assert_close(result, np.einsum("bihk,bjhk->bihj", x, y))
    if where == "host":
        assert "simdgroup_multiply_accumulate" in bundle.variants[0].kernels[0].msl


BRANCH = """
func.func @main(%x: tensor<32x24xf32>, %y: tensor<24x40xf32>) -> tensor<32x40xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x40xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x40xf32>) -> tensor<32x40xf32>
  %p = linalg.matmul ins(%x, %y : tensor<32x24xf32>, tensor<24x40xf32>)
      outs(%f : tensor<32x40xf32>) -> tensor<32x40xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<32x40xf32>) outs(%e : tensor<32x40xf32>) {
  ^bb0(%in: f32, %out: f32):
    %above = arith.cmpf ogt, %in, %z : f32
    %v = scf.if %above -> (f32) {
      scf.yield %in : f32
    } else {
      %h = arith.addf %in, %in : f32
      scf.yield %h : f32
    }
    linalg.yield %v : f32
  } -> tensor<32x40xf32>
  return %r : tensor<32x40xf32>
}
"""


@pytest.mark.parametrize("device_name", DEVICES)
def test_what_branches_is_no_epilogue(device_name: str) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((32, 24), np.float32), rng.standard_normal((24, 40), np.float32)
    product = x.astype(np.float64) @ y
    (got,) = run(BRANCH, device_name, [x, y])
    assert_close(got, np.where(product > 0, product, 2 * product).astype(np.float32))
