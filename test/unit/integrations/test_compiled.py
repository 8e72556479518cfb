"""What the helpers for frameworks do without any framework."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ingot.runtime as rt
from ingot.compiler.driver.diagnostics import CompileError
from ingot.integrations.compiled import CompiledFunction, compile_program, name_of
from ingot.integrations.framework import framework

DOUBLED = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


class NumpyBoundary:
    """Arrays in, arrays out."""

    def __init__(self, text: str) -> None:
        self._text = text

    def text(self) -> str:
        return self._text

    def arrays(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        return list(args)

    def values(self, results: Sequence[Any]) -> Any:
        return list(results)


def compiled(text: str, target: str | Sequence[str] = "metal:apple7") -> CompiledFunction:
    return compile_program(
        NumpyBoundary(text), "double", target=target, device=None, math="safe", demote_f64=False
    )


def test_a_compiled_function_runs_where_it_can_and_is_saved(tmp_path: Path) -> None:
    double = compiled(DOUBLED, ["metal:apple7", "vulkan:generic"])
    x = np.arange(4, dtype="f4")
    for one in (double, double.bind("host"), double.bind(rt.open_device("host"))):
        assert [list(y) for y in one(x)] == [[0, 2, 4, 6]]
    double.save(tmp_path / "double.ingot")
    assert list(rt.load(tmp_path / "double.ingot").bind("host").main(x)) == [0, 2, 4, 6]
    assert double.inspect("vulkan:generic").startswith("double: vulkan:generic")
    assert double.mlir == DOUBLED and double.program is double.program


def test_what_cannot_be_compiled_is_said_with_its_place() -> None:
    with pytest.raises(CompileError, match=r"double\.mlir:2:3: error: .*\n +oops"):
        compiled("\n  oops")
    with pytest.raises(CompileError, match="unknown target `vulkan`; targets are: metal:apple7"):
        compiled(DOUBLED, "vulkan")


def test_a_missing_framework_is_said_with_what_to_install() -> None:
    with pytest.raises(CompileError, match="no_such_framework is not installed") as refused:
        framework("no_such_framework.part", "jax")
    assert refused.value.__notes__ == ["help: pip install 'ingot-compiler[jax]'"]


def test_names() -> None:
    assert name_of(lambda: None) == "lambda"
    assert name_of(NumpyBoundary("")) == "NumpyBoundary"
