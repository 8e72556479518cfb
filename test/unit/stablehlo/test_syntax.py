"""StableHLO's text, parsed and printed; what is printed is read as the same."""

from __future__ import annotations

import pytest

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.pass_pipeline import module_text
from ingot.compiler.frontends.reader import read_module

F = "tensor<4x6xf32>"
B = "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n stablehlo.return %a : tensor<f32>"
OPS = [
    f"stablehlo.add %x, %x : {F}",
    f"stablehlo.add %x, %x : ({F}, {F}) -> {F}",
    f'"stablehlo.add"(%x, %x) : ({F}, {F}) -> {F}',
    f"stablehlo.exponential %x {{mhlo.frontend_attributes = {{}}}} : {F}",
    "stablehlo.exponential %x {result_accuracy = #stablehlo.result_accuracy<mode = DEFAULT>} "
    f": {F}",
    f"stablehlo.convert %x : ({F}) -> tensor<4x6xui8>",
    "stablehlo.constant dense<[1, 2]> : tensor<2xui16>",
    f"stablehlo.compare LT, %x, %x, TOTALORDER : ({F}, {F}) -> tensor<4x6xi1>",
    f"stablehlo.compare EQ, %x, %x : ({F}, {F}) -> tensor<4x6xi1>",
    f"stablehlo.clamp %s, %x, %s : (tensor<f32>, {F}, tensor<f32>) -> {F}",
    f"stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> {F}",
    f"stablehlo.transpose %x, dims = [1, 0] : ({F}) -> tensor<6x4xf32>",
    f"stablehlo.reverse %x, dims = [0, 1] : {F}",
    f"stablehlo.concatenate %x, %x, dim = 0 : ({F}, {F}) -> tensor<8x6xf32>",
    "stablehlo.iota dim = 0 : tensor<4xi32>",
    f"stablehlo.slice %x [0:4:2, 1:3] : ({F}) -> tensor<2x2xf32>",
    f"stablehlo.pad %x, %s, low = [1, -1], high = [0, 0], interior = [0, 1] "
    f": ({F}, tensor<f32>) -> tensor<5x10xf32>",
    f"stablehlo.dot_general %x, %x, batching_dims = [0] x [0], contracting_dims = [1] x [1], "
    f"precision = [HIGH, DEFAULT], algorithm = <lhs_precision_type = tf32, num_primitive_operations"
    f" = 1, allow_imprecise_accumulation = false> : ({F}, {F}) -> tensor<4xf32>",
    f"stablehlo.reduce_precision %x, format = e5m10 : {F}",
    f"stablehlo.get_dimension_size %x, dim = 1 : ({F}) -> tensor<i32>",
    "stablehlo.complex %x, %x : tensor<4x6xcomplex<f32>>",
    f"stablehlo.fft %x, type = RFFT, length = [6] : ({F}) -> tensor<4x4xcomplex<f32>>",
    f"stablehlo.optimization_barrier %x : {F}",
    "stablehlo.cholesky %q, lower = true : tensor<4x4xf32>",
    f'stablehlo.custom_call @f(%x) {{backend_config = "", has_side_effect = true}} : ({F}) -> {F}',
    f'stablehlo.composite "a.b" %x {{decomposition = @f, version = 1 : i32}} : ({F}) -> {F}',
    f"stablehlo.reduce(%x init: %s) applies stablehlo.maximum across dimensions = [0] "
    f": ({F}, tensor<f32>) -> tensor<6xf32>",
    f"stablehlo.convolution(%x, %x) dim_numbers = [b, f]x[o, i]->[b, f], window = {{}} "
    f"{{batch_group_count = 1 : i64, feature_group_count = 1 : i64, "
    f"precision_config = [#stablehlo<precision DEFAULT>]}} : ({F}, {F}) -> tensor<4x4xf32>",
    f'"stablehlo.reduce_window"(%x, %s) <{{padding = dense<0> : tensor<2x2xi64>, '
    f"window_dimensions = array<i64: 2, 2>}}> ({{\n{B}\n}}) : ({F}, tensor<f32>) -> "
    "tensor<3x5xf32>",
    f"chlo.erf %x : {F} -> {F}",
    f"chlo.top_k(%x, k = 2) : {F} -> (tensor<4x2xf32>, tensor<4x2xi32>)",
    f"chlo.broadcast_add %x, %s : ({F}, tensor<f32>) -> {F}",
]


def program(op: str) -> str:
    count = ":2" if "top_k" in op else ""
    arguments = f"%x: {F}, %s: tensor<f32>, %q: tensor<4x4xf32>"
    return f"func.func @main({arguments}) {{\n  %0{count} = {op}\n  return\n}}"


@pytest.mark.parametrize("op", OPS)
def test_what_is_printed_is_read_as_the_same(op: str) -> None:
    first = read_module(program(op), "a.mlir", make_context())
    first.verify()
    text = module_text(first)
    second = read_module(text, "b.mlir", make_context())
    second.verify()
    assert module_text(second) == text


RAW = (
    "#stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, "
    "input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, "
    "kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], "
    "output_batch_dimension = 0, output_feature_dimension = 3, "
    "output_spatial_dimensions = [2, 1]>"
)


def test_dimension_numbers_in_other_forms() -> None:
    module = read_module(f"module attributes {{a = {RAW}}} {{}}", "a.mlir", make_context())
    assert "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 1, 0, f]>" in module_text(module)
    dot = "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0],>"
    module = read_module(f"module attributes {{a = {dot}}} {{}}", "a.mlir", make_context())
    assert dot.replace("],>", "]>") in module_text(module)
    broken = RAW.replace("[2, 1]", "[2, 2]")
    with pytest.raises(Refusal, match="the dimensions of the output are not those of its rank"):
        read_module(f"module attributes {{a = {broken}}} {{}}", "a.mlir", make_context())


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (f"stablehlo.sum %x : {F}", "'stablehlo.sum' is not an op that Ingot knows"),
        (f"stablehlo.transpose %x, size = [1, 0] : {F}", "'size' is not a field of"),
        (f"stablehlo.compare UP, %x, %x : {F}", "expected one of EQ, NE, GE"),
        (f"stablehlo.reduce_precision %x, format = half : {F}", "expected a format such as e5m10"),
    ],
)
def test_refusals(op: str, message: str) -> None:
    with pytest.raises(Refusal, match=message):
        read_module(program(op), "a.mlir", make_context())
