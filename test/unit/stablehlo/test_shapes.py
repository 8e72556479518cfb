"""What the ops say about shapes and dimension numbers that do not fit."""

from __future__ import annotations

import pytest

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.verification import verify
from ingot.compiler.frontends.reader import read_module

F = "tensor<4x6xf32>"
IDX = "tensor<3x1xi32>"
BODY = "{\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\nstablehlo.return %a : tensor<f32>\n}"
FLAG = "{\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\nstablehlo.return %p : tensor<i1>\n}"
WIDE = "{\n^bb0(%a: tensor<2xf32>, %b: tensor<f32>):\nstablehlo.return %b : tensor<f32>\n}"
THEN = "{\nstablehlo.return %s : tensor<f32>\n}"


def gather(numbers: str, sizes: str = "1, 6", result: str = "tensor<3x6xf32>") -> str:
    """Rows of %x, unless its dimension numbers are others."""
    return (
        f'"stablehlo.gather"(%x, %i) <{{dimension_numbers = #stablehlo.gather<{numbers}>, '
        f"slice_sizes = array<i64: {sizes}>}}> : ({F}, {IDX}) -> {result}"
    )


def scatter(numbers: str, update: str = "%u", type_: str = "tensor<3x6xf32>") -> str:
    """Rows into %x, unless its dimension numbers are others."""
    return (
        f'"stablehlo.scatter"(%x, %i, {update}) <{{scatter_dimension_numbers = '
        f"#stablehlo.scatter<{numbers}>}}> ({BODY}) : ({F}, {IDX}, {type_}) -> {F}"
    )


def conv(
    numbers: str = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
    window: str = "",
    groups: str = "feature_group_count = 1 : i64, batch_group_count = 1 : i64",
    result: str = "tensor<1x4x4x8xf32>",
) -> str:
    """A convolution of %v by %k."""
    return (
        f"stablehlo.convolution(%v, %k) dim_numbers = {numbers}, window = {{{window}}} "
        f"{{{groups}}} : (tensor<1x6x6x4xf32>, tensor<3x3x4x8xf32>) -> {result}"
    )


def window(attributes: str, body: str = BODY, result: str = "tensor<3x5xf32>") -> str:
    """A reduction over windows of %x."""
    return (
        f'"stablehlo.reduce_window"(%x, %s) <{{{attributes}}}> ({body}) '
        f": ({F}, tensor<f32>) -> {result}"
    )


ROWS = "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1"
INTO = (
    "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
    "index_vector_dim = 1"
)
TWO = "window_dimensions = array<i64: 2, 2>"
ARGUMENTS = (
    f"%x: {F}, %s: tensor<f32>, %i: {IDX}, %u: tensor<3x6xf32>, %w: tensor<3x7xf32>, "
    "%v: tensor<1x6x6x4xf32>, %k: tensor<3x3x4x8xf32>, %q: tensor<4x4xf32>, %l: tensor<4xf32>, "
    "%m: tensor<4xi1>, %n: tensor<2xi32>, %j: tensor<i32>, %p: tensor<i1>"
)
CASES = {
    f"stablehlo.broadcast_in_dim %x, dims = [1] : ({F}) -> tensor<4x6x2xf32>": (
        "needs 2 broadcast_dimensions, but has [1]"
    ),
    f"stablehlo.broadcast_in_dim %x, dims = [1, 1] : ({F}) -> tensor<4x6x2xf32>": (
        "needs different broadcast_dimensions of 0 to 2, but has [1, 1]"
    ),
    f"stablehlo.broadcast_in_dim %x, dims = [1, 0] : ({F}) -> {F}": "cannot broadcast",
    f"stablehlo.transpose %x, dims = [1, 1] : ({F}) -> tensor<6x6xf32>": "needs a permutation of 2",
    f"stablehlo.transpose %x, dims = [1, 0] : ({F}) -> {F}": "cannot transpose tensor<4x6xf32>",
    f"stablehlo.reverse %x, dims = [2] : {F}": "needs different dimensions of 0 to 1",
    f"stablehlo.iota dim = 2 : {F}": "needs different iota_dimension of 0 to 1, but has [2]",
    f"stablehlo.concatenate %x, %s, dim = 0 : ({F}, tensor<f32>) -> tensor<8x6xf32>": (
        "needs operands with the 2 dimensions of its result"
    ),
    f"stablehlo.slice %x [0:4] : ({F}) -> tensor<4x6xf32>": "a stride for each of 2 dimensions",
    f"stablehlo.slice %x [0:5, 0:6] : ({F}) -> tensor<5x6xf32>": "cannot take 0:5:1 of 4 elements",
    f"stablehlo.slice %x [0:4:2, 0:6] : ({F}) -> {F}": "takes 2 elements, but its result has 4",
    f"stablehlo.pad %x, %s, low = [1], high = [0], interior = [0] : ({F}, tensor<f32>) -> {F}": (
        "needs amounts for each of 2 dimensions"
    ),
    f"stablehlo.pad %x, %s, low = [1, 0], high = [0, 0], interior = [0, 0] "
    f": ({F}, tensor<f32>) -> {F}": "by these amounts",
    f"stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [2] "
    f": ({F}, tensor<f32>) -> {F}": "needs different dimensions of 0 to 1, but has [2]",
    f"stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [0] "
    f": ({F}, tensor<f32>) -> tensor<5xf32>": "makes 6, but its result is tensor<5xf32>",
    # Elements
    f"stablehlo.add %x, %s : ({F}, tensor<f32>) -> {F}": "needs operands of one shape",
    f"stablehlo.negate %x : ({F}) -> tensor<6x4xf32>": "makes 4x6, but its result is tensor<6x4",
    f"stablehlo.select %m, %x, %x : tensor<4xi1>, {F}": "needs one condition or tensor<4x6xf32>",
    f"stablehlo.clamp %l, %x, %s : (tensor<4xf32>, {F}, tensor<f32>) -> {F}": "needs bounds",
    f"stablehlo.reduce_precision %x, format = e0m3 : {F}": "needs a format with exponent bits",
    f'"stablehlo.map"(%x, %x) <{{dimensions = array<i64: 1, 0>}}> ({BODY}) : ({F}, {F}) -> {F}': (
        "needs dimensions of 0 to 1 in order, but has [1, 0]"
    ),
    f"chlo.broadcast_add %x, %l : ({F}, tensor<4xf32>) -> {F}": "cannot broadcast tensor<4xf32>",
    f"chlo.broadcast_add %x, %l {{broadcast_dimensions = array<i64: 2>}} : ({F}, tensor<4xf32>) "
    f"-> {F}": "needs different broadcast_dimensions of 0 to 1",
    f"chlo.broadcast_add %x, %l {{broadcast_dimensions = array<i64: 0, 1>}} : ({F}, tensor<4xf32>) "
    f"-> {F}": "needs 1 broadcast_dimensions, but has [0, 1]",
    "chlo.broadcast_add %s, %s : (tensor<f32>, tensor<f32>) -> tensor<4xf32>": (
        "cannot make tensor<4xf32> of its operands"
    ),
    f"stablehlo.bitcast_convert %x : ({F}) -> tensor<4x6x5xf16>": "cannot read tensor<4x6xf32> as",
    # Moves
    f"stablehlo.reshape %x : ({F}) -> tensor<5x5xf32>": "cannot reshape",
    f"stablehlo.dynamic_reshape %x, %n : ({F}, tensor<2xi32>) -> tensor<24xf32>": (
        "needs output_shape of 1 elements, but has tensor<2xi32>"
    ),
    f"stablehlo.broadcast %s, sizes = [2, -1] : (tensor<f32>) -> {F}": "needs broadcast_sizes of",
    f"stablehlo.broadcast %s, sizes = [2] : (tensor<f32>) -> {F}": "makes 2, but its result is",
    "stablehlo.dynamic_broadcast_in_dim %s, %n, dims = [] : (tensor<f32>, tensor<2xi32>) -> "
    "tensor<?xf32>": "needs output_dimensions of 1 elements",
    "stablehlo.dynamic_iota %n, dim = 2 : (tensor<2xi32>) -> tensor<?x?xi32>": (
        "needs different iota_dimension of 0 to 1, but has [2]"
    ),
    f"stablehlo.get_dimension_size %x, dim = 2 : ({F}) -> tensor<i32>": (
        "needs different dimension of 0 to 1, but has [2]"
    ),
    f"stablehlo.concatenate %x, %u, dim = 1 : ({F}, tensor<3x6xf32>) -> tensor<4x12xf32>": (
        "needs operands that differ along dimension 1 only"
    ),
    f"stablehlo.concatenate %x, %u, dim = 0 : ({F}, tensor<3x6xf32>) -> tensor<8x6xf32>": (
        "makes 7x6, but its result is tensor<8x6xf32>"
    ),
    f'"stablehlo.sort"(%x) <{{dimension = 2 : i64}}> ({FLAG}) : ({F}) -> {F}': (
        "needs different dimension of 0 to 1, but has [2]"
    ),
    f'"stablehlo.sort"(%x) <{{dimension = 0 : i64}}> ({FLAG}) : ({F}) -> tensor<6x4xf32>': (
        "makes 4x6, but its result is tensor<6x4xf32>"
    ),
    # Slices
    f"stablehlo.dynamic_slice %x, %j, sizes = [1, 6] : ({F}, tensor<i32>) -> tensor<1x6xf32>": (
        "needs 2 starts, but has 1"
    ),
    f"stablehlo.dynamic_slice %x, %j, %j, sizes = [5, 6] : ({F}, tensor<i32>, tensor<i32>) -> "
    "tensor<5x6xf32>": "needs slice_sizes that fit into 4x6, but has [5, 6]",
    f"stablehlo.dynamic_slice %x, %n, %j, sizes = [1, 6] : ({F}, tensor<2xi32>, tensor<i32>) -> "
    "tensor<1x6xf32>": "needs starts without dimensions",
    f"stablehlo.dynamic_update_slice %u, %x, %j, %j : (tensor<3x6xf32>, {F}, tensor<i32>, "
    "tensor<i32>) -> tensor<3x6xf32>": "cannot write tensor<4x6xf32> into tensor<3x6xf32>",
    "stablehlo.dynamic_pad %l, %s, %n, %n, %n : (tensor<4xf32>, tensor<f32>, tensor<2xi32>, "
    "tensor<2xi32>, tensor<2xi32>) -> tensor<?xf32>": "needs edge_padding_low of 1 elements",
    f"stablehlo.real_dynamic_slice %x, %n, %n, %n : ({F}, tensor<2xi32>, tensor<2xi32>, "
    "tensor<2xi32>) -> tensor<5x?xf32>": "cannot take tensor<5x?xf32> of tensor<4x6xf32>",
    # Windows
    window("window_dimensions = array<i64: 2>"): "needs window_dimensions of 2 numbers of at least",
    window(f"{TWO}, window_strides = array<i64: 0, 1>"): "needs window_strides of 2 numbers of at",
    window(f"{TWO}, padding = dense<0> : tensor<1x2xi64>"): "needs two amounts of padding",
    window(TWO, result=F): "makes 3x5, but its result is tensor<4x6xf32>",
    window(TWO, WIDE): "needs a region that takes tensors without dimensions",
    window(TWO, THEN): "needs a region that takes 2 values, but its own takes 0",
    f'"stablehlo.select_and_scatter"(%x, %u, %s) <{{{TWO}}}> ({FLAG}, {BODY}) '
    f": ({F}, tensor<3x6xf32>, tensor<f32>) -> {F}": (
        "has windows at 3x5 places, but its source is tensor<3x6xf32>"
    ),
    conv("[b, 0, -1, f]x[0, 1, i, o]->[b, 0, 1, f]"): "needs b, f, 0, 1 for 4 dimensions of its in",
    conv("[b, 0, 1, f]x[0, 2, i, o]->[b, 0, 1, f]"): "needs i, o, 0, 1 for 4 dimensions of its ker",
    conv(window="stride = [1]"): "needs window_strides of 2 numbers of at least 1, but has [1]",
    conv(window="lhs_dilate = [1, 0]"): "needs lhs_dilation of 2 numbers of at least 1",
    conv(window="pad = [[1, 1]]"): "needs two amounts of padding for each of 2 dimensions",
    conv(window="reverse = [true]"): "needs window_reversal of 2 numbers",
    conv(groups="feature_group_count = 0 : i64"): "needs groups of features or of the batch",
    conv(groups="feature_group_count = 3 : i64"): "cannot part 4 features of the input into 3",
    conv(groups="feature_group_count = 2 : i64"): "needs a kernel for 2 features of the input",
    conv(groups="batch_group_count = 2 : i64"): "cannot part 1 elements of the batch into 2",
    conv(result="tensor<1x6x6x8xf32>"): "makes 1x4x4x8, but its result is tensor<1x6x6x8xf32>",
    # Gathers and scatters
    gather(ROWS.replace("[1]", "[2]")): "needs different offset_dims of 0 to 1, but has [2]",
    gather(ROWS.replace("dim = 1", "dim = 3")): "needs index_vector_dim of 0 to 2, but has 3",
    gather(ROWS.replace("dims = [0]", "dims = []")): "needs 2 offset_dims, but has [1]",
    gather(ROWS.replace("map = [0]", "map = [0, 1]")): "needs 1 dimensions in start_index_map",
    gather(ROWS.replace("map = [0]", "map = [2]")): "needs different start_index_map of 0 to 1",
    gather(f"operand_batching_dims = [0], start_indices_batching_dims = [0], {ROWS}"): (
        "needs collapsed_slice_dims that are not operand_batching_dims"
    ),
    gather(
        "offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], "
        "start_index_map = [1], index_vector_dim = 1"
    ): "needs start_indices_batching_dims without index_vector_dim",
    gather(
        "offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], "
        "start_index_map = [1], index_vector_dim = 1"
    ): "needs operand_batching_dims and start_indices_batching_dims of the same sizes",
    gather(ROWS, "1, 7"): "needs slice_sizes that fit into 4x6, but has [1, 7]",
    gather(ROWS, "2, 6"): "needs slice_sizes of 1 along what it leaves out",
    gather(ROWS, "0, 6"): "needs slice_sizes of 1 along what it leaves out",
    gather(ROWS, "1, 5"): "makes 3x5, but its result is tensor<3x6xf32>",
    gather(ROWS, result="tensor<3x6x1xf32>"): "needs result of 2 dimensions, but has 3",
    f'"stablehlo.torch_index_select"(%x, %i) <{{dim = 2 : i64}}> : ({F}, {IDX}) -> {F}': (
        "needs dim of 0 to 1, but has 2"
    ),
    f'"stablehlo.torch_index_select"(%x, %i) <{{dim = 1 : i64, batch_dims = 2 : i64}}> '
    f": ({F}, {IDX}) -> {F}": "needs batch_dims of 0 to 1, but has 2",
    f'"stablehlo.torch_index_select"(%x, %i) <{{dim = 1 : i64, batch_dims = 1 : i64}}> '
    f": ({F}, {IDX}) -> {F}": "needs 1 first dimensions of the same sizes",
    scatter(INTO.replace("[1]", "[1, 0]")): "needs update_window_dims in order, but has [1, 0]",
    scatter(INTO.replace("inserted_window_dims = [0]", "inserted_window_dims = [2]")): (
        "needs different inserted_window_dims of 0 to 1, but has [2]"
    ),
    scatter(INTO, "%w", "tensor<3x7xf32>"): "cannot scatter windows of 7 into 6",
    scatter(INTO, "%x", F): "needs updates of 3x6, but has 4x6",
    scatter(INTO, "%s", "tensor<f32>"): "needs different update_window_dims of 0 to -1",
    # Products
    f"stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : ({F}, {F}) -> {F}": (
        "makes 4x4, but its result is tensor<4x6xf32>"
    ),
    f"stablehlo.dot_general %x, %x, batching_dims = [1] x [1], contracting_dims = [1] x [1] "
    f": ({F}, {F}) -> {F}": "needs batch dimensions that are not contracting dimensions",
    f"stablehlo.dot %x, %s : ({F}, tensor<f32>) -> {F}": "needs operands of 1 or 2 dimensions",
    f"stablehlo.cholesky %x, lower = true : {F}": "needs square matrices, but has tensor<4x6xf32>",
    '"stablehlo.triangular_solve"(%q, %u) <{left_side = true}> '
    ": (tensor<4x4xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>": (
        "cannot solve tensor<4x4xf32> for tensor<3x6xf32>"
    ),
    f'"stablehlo.triangular_solve"(%q, %x) <{{left_side = true, transpose_a = '
    f"#stablehlo<transpose TRANSPOSE_INVALID>}}> : (tensor<4x4xf32>, {F}) -> {F}": (
        "needs transpose_a of NO_TRANSPOSE, TRANSPOSE or ADJOINT"
    ),
    f"stablehlo.fft %x, type = RFFT, length = [] : ({F}) -> {F}": "needs 1 to 2 lengths",
    f"stablehlo.fft %x, type = FFT, length = [6] : ({F}) -> {F}": "takes complex numbers by FFT",
    f"stablehlo.fft %x, type = RFFT, length = [5] : ({F}) -> tensor<4x4xcomplex<f32>>": (
        "transforms 5 points by RFFT, but has tensor<4x6xf32>"
    ),
    f'"stablehlo.batch_norm_inference"(%x, %l, %l, %l, %l) <{{feature_index = 2 : i64}}> '
    f": ({F}, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> {F}": (
        "needs feature_index of 0 to 1, but has 2"
    ),
    f'"stablehlo.batch_norm_inference"(%x, %l, %l, %l, %l) <{{feature_index = 1 : i64}}> '
    f": ({F}, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> {F}": (
        "needs a number for each feature of 6 elements, but has tensor<4xf32>"
    ),
    # Control flow
    f'"stablehlo.if"(%p) ({THEN}, {THEN}) : (tensor<i1>) -> {F}': (
        "needs regions that return tensor<4x6xf32>, but has one that returns tensor<f32>"
    ),
    f'"stablehlo.case"(%n) ({THEN}) : (tensor<2xi32>) -> tensor<f32>': (
        "needs an index or a condition without dimensions"
    ),
}


@pytest.mark.parametrize("op", CASES)
def test_the_sentence(op: str) -> None:
    text = f"func.func @f({ARGUMENTS}) {{\n%r = {op}\nreturn\n}}"
    module = read_module(text, "in.mlir", make_context())
    with pytest.raises(Refusal) as caught:
        verify(module)
    assert CASES[op] in caught.value.message
