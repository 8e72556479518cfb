"""What the ops say about shapes and dimension numbers that do not fit."""

from __future__ import annotations

import pytest

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.verification import verify
from ingot.compiler.frontends.reader import read_module

F = "tensor<4x6xf32>"
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
}


@pytest.mark.parametrize("op", CASES)
def test_the_sentence(op: str) -> None:
    text = f"func.func @f(%x: {F}, %s: tensor<f32>) {{\n%r = {op}\nreturn\n}}"
    module = read_module(text, "in.mlir", make_context())
    with pytest.raises(Refusal) as caught:
        verify(module)
    assert CASES[op] in caught.value.message
