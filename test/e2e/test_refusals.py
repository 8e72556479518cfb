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
}


@pytest.mark.parametrize("name", CASES)
def test_the_sentence(name: str) -> None:
    text, sentence = CASES[name]
    with pytest.raises(Refusal) as caught:
        compile_module(text, "in.mlir", CompileOptions(targets=("vulkan:generic",)))
    assert sentence in caught.value.message
    assert caught.value.location is not None
