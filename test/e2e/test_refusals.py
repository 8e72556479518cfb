"""Programs that are refused, and the sentence that says why."""

from __future__ import annotations

import pytest

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.driver.compile import compile_module
from ingot.compiler.driver.options import CompileOptions

T = "tensor<4xf32>"


def function(body: str, result: str = T) -> str:
    return f"func.func @f(%x: {T}) -> {result} {{\n{body}\n}}\n"


def generic(maps: str, kind: str, body: str, result: str = "%a") -> str:
    return function(
        f"%r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kind}]}}\n"
        f"ins(%x : {T}) outs(%x : {T}) {{\n^bb0(%a: f32, %o: f32):\n{body}\n"
        f"linalg.yield {result} : f32\n}} -> {T}\nreturn %r : {T}"
    )


ID = "affine_map<(d0) -> (d0)>"
CASES = {
    "declaration": (
        f"func.func @g(%x: {T}) -> {T}\nfunc.func @h(%x: {T}) -> {T}",
        "has no body",
    ),
    "window": (generic(f"{ID}, {ID}", '"window"', ""), "with a window iterator"),
    "symbols": (
        generic(f"affine_map<(d0)[s0] -> (d0)>, {ID}", '"parallel"', ""),
        "unexpected symbols in indexing_map",
    ),
    "wide integers in a body": (
        generic(
            f"{ID}, {ID}",
            '"parallel"',
            "%c = arith.fptosi %a : f32 to i128\n%d = arith.sitofp %c : i128 to f32",
            "%d",
        ),
        "computes a i128, which is not supported",
    ),
    "wide integers outside": (
        function(
            "%z = arith.constant 0 : index\n%e = tensor.extract %x[%z] : tensor<4xf32>\n"
            "%c = arith.fptosi %e : f32 to i128\n%d = arith.sitofp %c : i128 to f32\n"
            f"%r = tensor.splat %d : {T}\nreturn %r : {T}"
        ),
        "computes a i128, which is not supported",
    ),
    "scalar result": (
        function("%c = arith.constant 1.0 : f32\nreturn %c : f32", "f32"),
        "is a f32, but results must be tensors",
    ),
    "global": (
        "ml_program.global private @g(dense<1.0> : tensor<4xf32>) : tensor<4xf32>",
        "outside of a function",
    ),
    "dot without numbers": (
        f'func.func @f(%x: {T}) -> tensor<f32> {{\n%r = "stablehlo.dot_general"(%x, %x) : '
        f"({T}, {T}) -> tensor<f32>\nreturn %r : tensor<f32>\n}}",
        "dot_general without dimension numbers",
    ),
    "gather without numbers": (
        f'func.func @f(%x: {T}, %i: tensor<1xi32>) -> tensor<f32> {{\n%r = "stablehlo.gather"'
        f"(%x, %i) : ({T}, tensor<1xi32>) -> tensor<f32>\nreturn %r : tensor<f32>\n}}",
        "gather without dimension numbers",
    ),
    "case without branches": (
        f'func.func @f(%x: {T}, %i: tensor<i32>) -> {T} {{\n%r = "stablehlo.case"(%i) : '
        f"(tensor<i32>) -> {T}\nreturn %r : {T}\n}}",
        "case without branches",
    ),
    "constant without elements": (
        function(f'%r = "tosa.const"() : () -> {T}\nreturn %r : {T}'),
        "tosa.const needs the attribute",
    ),
    "convolution without numbers": (
        "func.func @f(%x: tensor<1x4x4x1xf32>, %w: tensor<3x3x1x1xf32>) -> tensor<1x2x2x1xf32> {\n"
        '%r = "stablehlo.convolution"(%x, %w) : (tensor<1x4x4x1xf32>, tensor<3x3x1x1xf32>) -> '
        "tensor<1x2x2x1xf32>\nreturn %r : tensor<1x2x2x1xf32>\n}",
        "convolution without dimension numbers",
    ),
    "scatter without numbers": (
        f"func.func @f(%x: {T}, %i: tensor<1x1xi32>, %u: tensor<1xf32>) -> {T} {{\n"
        '%r = "stablehlo.scatter"(%x, %i, %u) ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n'
        f"stablehlo.return %b : tensor<f32>\n}}) : ({T}, tensor<1x1xi32>, tensor<1xf32>) -> {T}\n"
        f"return %r : {T}\n}}",
        "scatter without dimension numbers",
    ),
    "other dialects inside a reduction": (
        function(
            "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
            '%r = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({\n'
            "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%s = arith.addf %a, %b : tensor<f32>\n"
            f"stablehlo.return %s : tensor<f32>\n}}) : ({T}, tensor<f32>) -> tensor<f32>\n"
            "return %r : tensor<f32>",
            "tensor<f32>",
        ),
        "arith.addf inside stablehlo.reduce is not supported",
    ),
    "unsigned numbers in another dialect": (
        "func.func @f(%x: tensor<4xui32>) -> tensor<4xui32> {\n"
        "%t = tensor.cast %x : tensor<4xui32> to tensor<4xui32>\n"
        "%r = stablehlo.add %t, %t : tensor<4xui32>\nreturn %r : tensor<4xui32>\n}",
        "tensor.cast of unsigned integers is not supported",
    ),
    "random floats": (
        "func.func @f(%x: tensor<2xui64>) -> tensor<4xf32> {\n"
        "%a, %b = stablehlo.rng_bit_generator %x, algorithm = THREE_FRY : "
        "(tensor<2xui64>) -> (tensor<2xui64>, tensor<4xf32>)\nreturn %b : tensor<4xf32>\n}",
        "rng_bit_generator of f32 is not supported",
    ),
    "a kernel of one's own": (
        "func.func @f(%x: memref<4xf32>) attributes {ingot.kernel} {\nreturn\n}",
        "function f is marked ingot.kernel, as only passes do",
    ),
    "a helper of one's own": (
        "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {ingot.helper} {\n"
        "return %x : tensor<4xf32>\n}",
        "function f is marked ingot.helper, as only passes do",
    ),
    "branches over tensors of index": (
        "func.func @f(%p: tensor<i1>, %x: tensor<4xindex>) -> tensor<4xindex> {\n"
        "%c = tensor.extract %p[] : tensor<i1>\n"
        "cf.cond_br %c, ^one(%x : tensor<4xindex>), ^two(%x : tensor<4xindex>)\n"
        "^one(%a: tensor<4xindex>):\ncf.cond_br %c, ^two(%a : tensor<4xindex>), "
        "^end(%a : tensor<4xindex>)\n"
        "^two(%b: tensor<4xindex>):\ncf.cond_br %c, ^one(%b : tensor<4xindex>), "
        "^end(%b : tensor<4xindex>)\n"
        "^end(%r: tensor<4xindex>):\nreturn %r : tensor<4xindex>\n}",
        "function f has branches between blocks",
    ),
    "what xDSL's verifier did not foresee": (
        "func.func @f(%x: memref<4xf32>, %v: f32) {\n"
        "memref.store %v, %x[] : memref<4xf32>\nreturn\n}",
        "an index for each dimension",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_sentence(name: str) -> None:
    text, sentence = CASES[name]
    with pytest.raises(Refusal) as caught:
        compile_module(text, "in.mlir", CompileOptions(targets=("vulkan:generic",)))
    assert sentence in caught.value.message
    assert caught.value.location is not None
