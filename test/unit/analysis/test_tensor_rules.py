"""What upstream refuses of tensor ops, and xDSL does not, is refused in one sentence."""

from __future__ import annotations

import pytest

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.dialects.context import make_context
from ingot.compiler.frontends.reader import read_module
from ingot.passes.tensor.verify_supported import VerifySupportedPass

X, Y = "tensor<4x6xf32>", "tensor<2x3xf32>"


def check(op: str, result: str) -> None:
    text = (
        f"func.func @f(%x: {X}, %y: {Y}, %o: tensor<1x1xf32>) -> {result} {{\n"
        f"%c = arith.constant 0 : index\n"
        f"%s = arith.constant 0.0 : f32\n%r = {op}\nreturn %r : {result}\n}}\n"
    )
    context = make_context()
    VerifySupportedPass().apply(context, read_module(text, "in.mlir", context))


@pytest.mark.parametrize(
    ("op", "result", "sentence"),
    [
        (f"tensor.extract_slice %x[0, 0] [2, 3] [1, 1] : {X} to tensor<3x3xf32>",
         "tensor<3x3xf32>", "a slice of 2x3 elements is no tensor<3x3xf32>"),
        (f"tensor.extract_slice %x[4, 0] [2, 3] [1, 1] : {X} to {Y}", Y,
         "begins at 4 of the 4 elements of dimension 0"),
        (f"tensor.extract_slice %x[0, 1] [2, 3] [1, 3] : {X} to {Y}", Y,
         "ends at 7 of the 6 elements of dimension 1"),
        (f"tensor.insert_slice %y into %x[3, 0] [2, 3] [1, 1] : {Y} into {X}", X,
         "ends at 4 of the 4 elements of dimension 0"),
        (f"tensor.insert_slice %y into %x[0, 0] [3, 3] [1, 1] : {Y} into {X}", X,
         "a slice of 3x3 elements is no tensor<2x3xf32>"),
        (f"tensor.collapse_shape %x [[0, 1]] : {X} into tensor<25xf32>", "tensor<25xf32>",
         "has 25 elements, but 24 collapse"),
        (f"tensor.collapse_shape %x [[0]] : {X} into tensor<4xf32>", "tensor<4xf32>",
         "do not name each dimension"),
        (f"tensor.collapse_shape %x [[0], [1]] : {X} into tensor<24xf32>", "tensor<24xf32>",
         "2 groups do not make a tensor<24xf32>"),
        ("tensor.from_elements %s, %s : tensor<3xf32>", "tensor<3xf32>",
         "2 elements do not fill a tensor<3xf32>"),
        (f"tensor.insert %s into %x[%c] : {X}", X, "needs 2 indices, not 1"),
    ],
)  # fmt: skip
def test_a_broken_rule_is_named(op: str, result: str, sentence: str) -> None:
    with pytest.raises(Refusal) as caught:
        check(op, result)
    assert sentence in caught.value.message
    assert caught.value.location is not None


@pytest.mark.parametrize(
    ("op", "result"),
    [
        (f"tensor.extract_slice %x[3, 0] [1, 6] [1, 1] : {X} to tensor<6xf32>", "tensor<6xf32>"),
        (f"tensor.extract_slice %x[0, 1] [2, 3] [3, 2] : {X} to {Y}", Y),
        (f"tensor.extract_slice %x[%c, 0] [2, 3] [1, 1] : {X} to {Y}", Y),
        (f"tensor.extract_slice %x[4, 0] [0, 6] [1, 1] : {X} to tensor<0x6xf32>",
         "tensor<0x6xf32>"),
        (f"tensor.collapse_shape %x [[0, 1]] : {X} into tensor<24xf32>", "tensor<24xf32>"),
        ("tensor.collapse_shape %o [] : tensor<1x1xf32> into tensor<f32>", "tensor<f32>"),
        ("tensor.from_elements %s, %s : tensor<2xf32>", "tensor<2xf32>"),
        (f"tensor.insert %s into %x[%c, %c] : {X}", X),
    ],
)  # fmt: skip
def test_what_keeps_the_rules_passes(op: str, result: str) -> None:
    check(op, result)
