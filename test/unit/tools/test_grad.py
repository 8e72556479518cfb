"""`ingot grad`: names of arguments, what is returned, and how it says no."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import ingot.runtime as rt
from ingot.tools.grad import command

PROGRAM = """
func.func @f(%x: tensor<3xf32>, %w: tensor<3xf32>, %n: tensor<3xi32>) -> tensor<3xf32> {
  %y = arith.mulf %x, %w : tensor<3xf32>
  return %y : tensor<3xf32>
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "f.mlir"
    path.write_text(PROGRAM)
    return path


def grad(path: Path, *arguments: str) -> Result:
    return CliRunner().invoke(command, [str(path), *arguments])


@pytest.mark.parametrize(
    ("wrt", "returned"),
    [
        (["--wrt", "w"], "return %d_w :"),
        (["--wrt", "w,x"], "return %d_w, %d_x :"),
        (["--wrt", "0", "--wrt", "w"], "return %d_x, %d_w :"),
        ([], "return %d_x, %d_w :"),
        (["--wrt", "x", "--with-value"], "return %y, %d_x :"),
        (["--wrt", "x", "--forward"], "return %t_y :"),
    ],
)
def test_names_and_positions(program: Path, wrt: list[str], returned: str) -> None:
    result = grad(program, *wrt, "--emit", "mlir")
    assert result.exit_code == 0, result.output
    assert returned in result.output


def test_a_bundle_runs(program: Path, tmp_path: Path) -> None:
    out = tmp_path / "g.ingot"
    result = grad(program, "-o", str(out), "--target", "metal:apple7", "--with-value")
    assert result.exit_code == 0, result.output
    loaded = rt.load(out)
    assert [p.name for p in loaded.functions["f"].arguments] == ["x", "w", "n", "d_y"]
    x, w, g = (np.array(v, np.float32) for v in ([1, 2, 3], [4, 5, 6], [1, 10, 100]))
    results = loaded.bind("host").call("f", x, w, np.zeros(3, np.int32), g)
    for got, expected in zip(results, (x * w, g * w, g * x), strict=True):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    ("arguments", "message", "status"),
    [
        (["--wrt", "q"], "f.mlir:2:1: error: function f has no argument q", 1),
        (["--wrt", "7"], "help: its arguments are x, w, n", 1),
        (["--wrt", "n"], "error: argument 2 of f is a tensor<3xi32>", 1),
        (["--function", "g"], "error: the module has no function g to differentiate", 1),
    ],
)
def test_refusals(program: Path, arguments: list[str], message: str, status: int) -> None:
    result = grad(program, *arguments, "--emit", "mlir")
    assert result.exit_code == status
    assert message in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "g.ingot"], "error: no --target given"),
        (["--target", "metal:apple7"], "error: no output given"),
        (["-o", "g.ingot", "--target", "metal:apple"], "unknown target"),
    ],
)
def test_wrong_command_lines(program: Path, arguments: list[str], message: str) -> None:
    result = grad(program, *arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_bugs_carry_the_module_that_shows_them(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("x")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ingot.passes.tensor.linalg_differentiate.differentiate", broken)
    result = grad(program, "--emit", "mlir")
    assert result.exit_code == 1
    assert "internal error: pass `linalg-differentiate` failed: KeyError" in result.output
    assert "reproduces it" in result.output
