"""Programs become one module: every function once, private ones under names of their own."""

from __future__ import annotations

import pytest

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.verification import verify
from ingot.compiler.frontends.linking import link_modules
from ingot.compiler.frontends.reader import read_module

PROGRAM = """
func.func @{name}(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %y = func.call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}}
func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %y = math.{op} %x : tensor<4xf32>
  return %y : tensor<4xf32>
}}
"""


def linked(*texts: str) -> str:
    context = make_context()
    modules = [read_module(text, f"{i}.mlir", context) for i, text in enumerate(texts)]
    module = link_modules(modules)
    verify(module, "after linking")
    return str(module)


def test_private_functions_keep_apart() -> None:
    text = linked(
        PROGRAM.format(name="a", op="exp"),
        PROGRAM.format(name="b", op="sin"),
        PROGRAM.format(name="helper_1", op="cos"),
    )
    for name, helper, op in (
        ("a", "helper", "exp"),
        ("b", "helper_2", "sin"),
        ("helper_1", "helper_3", "cos"),
    ):
        function = text[text.index(f"@{name}(") :]
        assert f"func.call @{helper}(" in function.partition("}")[0]
        assert f"math.{op}" in text[text.index(f"private @{helper}(") :].partition("}")[0]


def test_a_public_function_takes_its_name_from_a_private_one() -> None:
    public = "func.func @helper(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }"
    text = linked(PROGRAM.format(name="a", op="exp"), public)
    assert "func.func @helper(" in text
    assert "func.func private @helper_1(" in text
    assert "func.call @helper_1(" in text


def test_two_public_functions_of_one_name_are_refused() -> None:
    program = PROGRAM.format(name="main", op="exp")
    with pytest.raises(Refusal, match="the function main is in two files of the bundle"):
        linked(program, program)


def test_what_modules_say_of_themselves_is_kept() -> None:
    text = linked("module attributes {a.x = 1 : i32} {}", "module attributes {a.y = 2 : i32} {}")
    assert "a.x = 1" in text
    assert "a.y = 2" in text
