"""The command line: what it refuses, how, and with which exit status."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ingot.tools.main import COMMANDS
from ingot.tools.main import command as main

PROGRAM = """func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
                  outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""


def invoke(*arguments: str, input: str | None = None) -> Result:
    return CliRunner().invoke(main, list(arguments), input=input, prog_name="ingot")


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "twice.mlir"
    path.write_text(PROGRAM)
    return str(path)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_an_example(name: str) -> None:
    result = invoke(name, "--help")
    assert result.exit_code == 0
    assert "Example:" in result.output
    assert f"ingot {name}" in result.output


def test_a_mistyped_command_gets_a_suggestion() -> None:
    result = invoke("complie", "x.mlir")
    assert result.exit_code == 2
    assert "Did you mean 'compile'?" in result.stderr


@pytest.mark.parametrize("name", ["compile", "opt", "translate", "run", "inspect"])
def test_a_missing_file_is_one_line(name: str) -> None:
    extra = {
        "compile": ["-o", "x.ingot", "--target", "metal:apple7"],
        "translate": ["--spirv-to-msl"],
    }
    result = invoke(name, "nowhere.mlir", *extra.get(name, []))
    assert (result.exit_code, result.stderr) == (2, "nowhere.mlir: error: no such file\n")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    result = invoke("inspect", str(tmp_path))
    assert result.exit_code == 2
    assert result.stderr == f"{tmp_path}: error: is a directory, not a file\n"


def test_compile_without_a_target(program: str) -> None:
    result = invoke("compile", program, "-o", "x.ingot")
    assert result.exit_code == 2
    assert "no --target given" in result.stderr


def test_compile_without_an_output(program: str) -> None:
    result = invoke("compile", program, "--target", "metal:apple7")
    assert result.exit_code == 2
    assert "-o FILE.ingot" in result.stderr


def test_an_unknown_target_gets_a_suggestion(program: str) -> None:
    result = invoke("compile", program, "-o", "x.ingot", "--target", "metal:appel7")
    assert result.exit_code == 2
    assert result.stderr == "error: unknown target `metal:appel7`; did you mean metal:apple7?\n"


def test_an_output_that_cannot_be_written(program: str) -> None:
    result = invoke("opt", program, "-o", "/nonexistent/out.mlir")
    assert result.exit_code == 2
    assert "/nonexistent/out.mlir: error: cannot write" in result.stderr


def test_a_syntax_error_shows_the_place() -> None:
    result = invoke("opt", "-", input="func.func @f(%x: tensor<4xf32) {\n  return\n}\n")
    assert result.exit_code == 1
    first, line, caret = result.stderr.splitlines()[:3]
    assert first.startswith("<stdin>:1:30: error: ")
    assert line == "  func.func @f(%x: tensor<4xf32) {"
    assert caret == " " * 31 + "^"


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "latin.mlir"
    path.write_bytes(b"// ok\n// caf\xe9\n")
    result = invoke("opt", str(path))
    assert result.exit_code == 1
    assert f"{path}:2:7: error: this is not UTF-8 text" in result.stderr


def test_an_unknown_pass_gets_a_suggestion(program: str) -> None:
    result = invoke("opt", program, "-p", "canonicalise")
    assert result.exit_code == 1
    assert "did you mean `canonicalize`" in result.stderr
    assert "Traceback" not in result.stderr


def test_debug_lets_the_exception_through(program: str) -> None:
    result = invoke("opt", program, "-p", "canonicalise", "--debug")
    assert result.exception is not None
    assert type(result.exception).__name__ == "UnknownPass"


def test_translate_without_a_translation(program: str) -> None:
    result = invoke("translate", program)
    assert result.exit_code == 2
    assert "--serialize-spirv" in result.stderr


def test_a_file_that_is_no_bundle(program: str) -> None:
    result = invoke("inspect", program)
    assert result.exit_code == 2
    assert "not an ingot bundle" in result.stderr


def test_every_target_is_listed() -> None:
    from ingot.targets.profiles import PROFILES

    output = invoke("targets").output
    assert all(name in output for name in PROFILES)
