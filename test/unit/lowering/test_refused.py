"""What the lowering passes say about IR that the passes before them never make."""

from __future__ import annotations

import pytest

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.pass_pipeline import parse_pipeline, run_passes
from ingot.compiler.frontends.reader import read_module

KERNEL = "attributes {ingot.kernel, ingot.workgroup_size = array<i64: 32, 1, 1>}"


def kernel(arguments: str, body: str, attributes: str = KERNEL) -> str:
    return f"func.func @k({arguments}) {attributes} {{\n{body}\nreturn\n}}\n"


def nested(depth: int) -> str:
    """Loops in loops."""
    start, end = list[str](), list[str]()
    for level in range(depth):
        start.append(
            f"%r{level} = scf.for %i{level} = %zero to %two step %one "
            f"iter_args(%a{level} = %{f'a{level - 1}' if level else 'x'}) -> (tensor<2xf32>) {{"
        )
        inner = f"r{level + 1}" if level + 1 < depth else f"a{level}"
        end.insert(0, f"scf.yield %{inner} : tensor<2xf32>\n}}")
    body = "\n".join([*start, *end])
    return (
        "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n%zero = arith.constant 0 : index\n"
        "%one = arith.constant 1 : index\n%two = arith.constant 2 : index\n"
        f"{body}\nreturn %r0 : tensor<2xf32>\n}}\n"
    )


CASES = {
    "loops in loops": (
        "outline-control-flow",
        nested(31),
        "control flow is nested more than 30 deep",
    ),
    "constant without elements": (
        "tosa-to-linalg",
        'func.func @f() -> tensor<4xf32> {\n%r = "tosa.const"() : () -> tensor<4xf32>\n'
        "return %r : tensor<4xf32>\n}\n",
        "tosa.const needs the attribute 'values' with its elements",
    ),
    "dynamic bounds": (
        "lower-forall",
        kernel(
            "%n: index",
            "scf.forall (%i) in (%n) {\n} {mapping = [#gpu.thread<linear_dim_0>]}",
        ),
        "`scf.forall` with bounds known only when the program runs",
    ),
    "forall on tensors": (
        "lower-forall",
        kernel(
            "%x: tensor<8xf32>",
            "%r = scf.forall (%i) in (8) shared_outs(%o = %x) -> (tensor<8xf32>) {\n"
            "scf.forall.in_parallel {\n}\n} {mapping = [#gpu.thread<linear_dim_0>]}",
        ),
        "`scf.forall` on tensors; it has to be bufferized first",
    ),
    "division by a negative number": (
        "lower-affine",
        kernel(
            "%n: index",
            "%r = affine.apply affine_map<(d0) -> (d0 floordiv -2)>(%n)",
        ),
        "an affine map that divides by something not a positive constant",
    ),
    "transfer on a tensor": (
        "lower-transfers",
        kernel(
            "%x: tensor<8xf32>, %i: index, %z: f32",
            "%r = vector.transfer_read %x[%i], %z : tensor<8xf32>, vector<4xf32>",
        ),
        "`vector.transfer_read` on a tensor; it has to be bufferized first",
    ),
    "transfer of a matrix": (
        "lower-transfers",
        kernel(
            "%x: memref<8x8xf32>, %i: index, %z: f32",
            "%r = vector.transfer_read %x[%i, %i], %z : memref<8x8xf32>, vector<2x4xf32>",
        ),
        "`vector.transfer_read` other than of a 1-D vector without a mask",
    ),
    "transfer along a column": (
        "lower-transfers",
        kernel(
            "%x: memref<8x8xf32>, %i: index, %z: f32",
            "%r = vector.transfer_read %x[%i, %i], %z "
            "{permutation_map = affine_map<(d0, d1) -> (d0)>} : memref<8x8xf32>, vector<4xf32>",
        ),
        "`vector.transfer_read` along another dimension than the last",
    ),
    "no SIMD width": (
        "lower-all-reduce",
        kernel("%x: f32", "%r = gpu.subgroup_reduce add %x : (f32) -> f32"),
        "`gpu.subgroup_reduce` needs a target whose SIMD width is known",
    ),
    "kernel without a size": (
        "lower-all-reduce{simd-width=32}",
        kernel(
            "%x: f32",
            "%r = gpu.all_reduce add %x {\n} : (f32) -> f32",
            "attributes {ingot.kernel}",
        ),
        "the kernel has no `ingot.workgroup_size`",
    ),
    "second result of a shuffle": (
        "convert-to-spirv",
        kernel(
            "%x: memref<8xf32>, %o: memref<8xi1>",
            "%c = arith.constant 0 : index\n%a = arith.constant 1 : i32\n"
            "%w = arith.constant 32 : i32\n%v = memref.load %x[%c] : memref<8xf32>\n"
            "%s, %valid = gpu.shuffle xor %v, %a, %w : f32\n"
            "scf.if %valid {\nmemref.store %v, %x[%c] : memref<8xf32>\n}",
        ),
        "`gpu.shuffle` whose second result is used",
    ),
    "argument that is no buffer": (
        "convert-to-spirv",
        kernel("%x: f32", ""),
        "a kernel's argument is a f32, not a memref",
    ),
    "two results": (
        "convert-to-spirv",
        "func.func @k(%x: memref<8xf32>) -> (f32, f32) " + KERNEL + " {\n"
        "%c = arith.constant 1.0 : f32\nreturn %c, %c : f32, f32\n}\n",
        "a function of a kernel with more than one result",
    ),
    "order of booleans": (
        "convert-to-spirv",
        kernel(
            "%x: memref<8xi32>",
            "%z = arith.constant 0 : index\n%v = memref.load %x[%z] : memref<8xi32>\n"
            "%t = arith.trunci %v : i32 to i1\n%r = arith.cmpi slt, %t, %t : i1\n"
            "scf.if %r {\nmemref.store %v, %x[%z] : memref<8xi32>\n}",
        ),
        "`arith.cmpi slt` on i1 that `expand-math` left",
    ),
    "eight equal halves": (
        "convert-to-spirv",
        kernel(
            "%x: memref<8xf16>",
            "%z = arith.constant 0 : index\n%c = arith.constant 1.0 : f16\n"
            "%v = vector.broadcast %c : f16 to vector<8xf16>\n"
            "vector.store %v, %x[%z] : memref<8xf16>, vector<8xf16>",
        ),
        "a vector of eight equal elements other than zero",
    ),
    "eight equal bf16": (
        "expand-narrow-types",
        kernel(
            "%x: memref<8xbf16>",
            "%z = arith.constant 0 : index\n%c = arith.constant 1.0 : bf16\n"
            "%v = vector.broadcast %c : bf16 to vector<8xbf16>\n"
            "vector.store %v, %x[%z] : memref<8xbf16>, vector<8xbf16>",
        ),
        "a vector of eight equal bf16 other than zero",
    ),
    "composite that nobody expanded": (
        "convert-stablehlo",
        "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
        '%r = stablehlo.composite "a.b" %x {decomposition = @g} : (tensor<2xf32>) -> tensor<2xf32>'
        "\nreturn %r : tensor<2xf32>\n}\n",
        "stablehlo.composite is not supported yet",
    ),
    "scan without a neutral element": (
        "convert-tm-tensor",
        "func.func @f(%x: tensor<?xf32>, %e: tensor<?xf32>, %i: tensor<f32>) -> tensor<?xf32> {\n"
        "%r:2 = iree_linalg_ext.scan dimension(0) inclusive(true) ins(%x : tensor<?xf32>) "
        "outs(%e, %i : tensor<?xf32>, tensor<f32>) {\n^bb0(%a: f32, %b: f32):\n"
        "%s = arith.subf %a, %b : f32\niree_linalg_ext.yield %s : f32\n"
        "} -> tensor<?xf32>, tensor<f32>\nreturn %r#0 : tensor<?xf32>\n}\n",
        "iree_linalg_ext.scan of dynamic shape with such a body is not supported",
    ),
    "shuffle to one element": (
        "convert-to-spirv",
        kernel(
            "%x: memref<8xf32>",
            "%z = arith.constant 0 : index\n%v = memref.load %x[%z] : memref<8xf32>\n"
            "%c = vector.broadcast %v : f32 to vector<4xf32>\n"
            "%s = vector.shuffle %c, %c [1] : vector<4xf32>, vector<4xf32>\n"
            "%e = vector.extract %s[0] : f32 from vector<1xf32>\n"
            "memref.store %e, %x[%z] : memref<8xf32>",
        ),
        "`vector.shuffle` from or to a vector of one element",
    ),
    "bits of floats in a vector": (
        "expand-math",
        kernel(
            "%x: memref<8xf32>",
            "%z = arith.constant 0 : index\n%v = memref.load %x[%z] : memref<8xf32>\n"
            "%c = vector.broadcast %v : f32 to vector<4xf32>\n"
            "%s = vector.reduction <and>, %c : vector<4xf32> into f32\n"
            "memref.store %s, %x[%z] : memref<8xf32>",
        ),
        "`vector.reduction <and>` on f32",
    ),
    "bits of floats of all threads": (
        "lower-all-reduce",
        kernel("%x: f32", "%r = gpu.all_reduce and %x {\n} : (f32) -> f32"),
        "`gpu.all_reduce and` on f32",
    ),
    "storage of f64": (
        'expand-narrow-types{target="vulkan:generic"}',
        kernel("%x: memref<8xf64>", ""),
        "vulkan:generic has no storage of type f64",
    ),
    "fill with eight bytes": (
        "dispatch-plan-memory",
        "func.func @f() -> tensor<4xi64> {\n%c = arith.constant 1311768467463790320 : i64\n"
        "%e = tensor.empty() : tensor<4xi64>\n%r = linalg.fill ins(%c : i64) outs(%e : "
        "tensor<4xi64>) -> tensor<4xi64>\nreturn %r : tensor<4xi64>\n}\n",
        "linalg.fill with such a value is not a command of a device",
    ),
    "softmax of integers": (
        "linalg-generalize-named-ops",
        "func.func @f(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {\n"
        "%r = linalg.softmax dimension(1) ins(%x : tensor<2x3xi32>) outs(%x : tensor<2x3xi32>)"
        " -> tensor<2x3xi32>\nreturn %r : tensor<2x3xi32>\n}\n",
        "linalg.softmax of tensor<2x3xi32> is not supported: use floats",
    ),
    "f64 result": (
        "demote-f64",
        "func.func @f(%x: tensor<2xf32>) -> tensor<2xf64> {\n"
        "%r = arith.constant dense<1.0> : tensor<2xf64>\nreturn %r : tensor<2xf64>\n}\n",
        "a result is f64, which no target has",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_sentence(name: str) -> None:
    pipeline, text, sentence = CASES[name]
    context = make_context()
    module = read_module(text, "in.mlir", context)
    with pytest.raises(Refusal) as caught:
        run_passes(module, context, parse_pipeline(pipeline))
    assert sentence in caught.value.message
    assert caught.value.location is not None
