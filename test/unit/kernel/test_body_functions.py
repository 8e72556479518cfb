"""Which bodies become functions, and what they are given."""

from __future__ import annotations

import pytest

from ingot.compiler.analysis.captures import captured_values
from ingot.compiler.dialects.context import make_context
from ingot.compiler.dialects.linalg import GenericOp
from ingot.compiler.frontends.reader import read_module
from ingot.passes.kernel.body_functions import LONG, can_be_called


def body(lines: str, type_: str = "f32") -> GenericOp:
    """An elementwise op whose body has these lines, which yields %r."""
    text = f"""
    func.func @main(%x: tensor<4x{type_}>, %s: {type_}) -> tensor<4x{type_}> {{
      %two = arith.constant 2.0 : {type_}
      %e = tensor.empty() : tensor<4x{type_}>
      %y = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]}}
          ins(%x : tensor<4x{type_}>) outs(%e : tensor<4x{type_}>) {{
      ^bb0(%in: {type_}, %out: {type_}):
        {lines}
        linalg.yield %r : {type_}
      }} -> tensor<4x{type_}>
      return %y : tensor<4x{type_}>
    }}"""
    module = read_module(text, "body.mlir", make_context())
    (op,) = (op for op in module.walk() if isinstance(op, GenericOp))
    return op


def sums(count: int, type_: str = "f32") -> str:
    """So many additions."""
    names = ["%in", *(f"%v{n}" for n in range(count - 1)), "%r"]
    return "\n".join(f"{names[n + 1]} = arith.addf {names[n]}, %in : {type_}" for n in range(count))


def test_long_arithmetic_can_be_called() -> None:
    assert can_be_called(body(sums(LONG)))


@pytest.mark.parametrize(
    "op",
    [
        body(sums(LONG - 1)),
        body(sums(LONG, "f16"), "f16"),
        body(sums(LONG) + "\n%i = linalg.index 0 : index"),
        body("%z = arith.constant 0 : index\n" + sums(LONG)),
    ],
    ids=["short", "of another width", "by place", "with an index"],
)
def test_other_bodies_cannot(op: GenericOp) -> None:
    assert not can_be_called(op)


def test_what_is_captured() -> None:
    op = body(
        "%a = arith.mulf %two, %s : f32\n"
        "%b = arith.addf %a, %in : f32\n"
        "%r = arith.mulf %b, %s : f32"
    )
    assert [value.name_hint for value in captured_values(op.regions)] == ["two", "s"]
