"""Each way in which a user's program, file or machine can be wrong: message and exit status."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.harness import EXAMPLES

from ingot.tools.main import command as main

DYNAMIC = """func.func @f(%x: tensor<?xf32>, %s: tensor<1xi64>) -> tensor<?xf32> {
  %r = tensor.reshape %x(%s) : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
"""
DOUBLE = """func.func @f(%x: tensor<4xf64>) -> tensor<4xf64> {
  %e = tensor.empty() : tensor<4xf64>
  %r = linalg.exp ins(%x : tensor<4xf64>) outs(%e : tensor<4xf64>) -> tensor<4xf64>
  return %r : tensor<4xf64>
}
"""
TOO_LARGE = """func.func @f(%x: tensor<70000xf32>) -> tensor<70000x70000xf32> {
  %e = tensor.empty() : tensor<70000x70000xf32>
  %r = linalg.broadcast ins(%x : tensor<70000xf32>) outs(%e : tensor<70000x70000xf32>)
       dimensions = [0]
  return %r : tensor<70000x70000xf32>
}
"""
UNKNOWN_OP = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = math.flor %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
"""
ILL_TYPED = """func.func @f(%x: tensor<4xf32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}
"""


def invoke(*arguments: str | Path, input: str | None = None) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)), input=input, prog_name="ingot")


def compiled(text: str, *options: str) -> Result:
    target = ("--target", "metal:apple7")
    return invoke("compile", "-", "-o", "-", "--emit", "mlir", *target, *options, input=text)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundle") / "softmax.ingot"
    targets = ("--target", "metal:apple7", "--target", "vulkan:generic")
    result = invoke("compile", EXAMPLES / "softmax.mlir", "-o", path, *targets)
    assert result.exit_code == 0, result.stderr
    return path


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        pytest.param("func.func @f(%x: ) {\n", 1, 18, "error: ", id="syntax"),
        pytest.param(UNKNOWN_OP, 2, 8, "did you mean 'math.floor'?", id="unknown op"),
        pytest.param(ILL_TYPED, 3, 8, "'linalg.exp' op ", id="ill-typed"),
        pytest.param(DYNAMIC, 2, 8, "sizes that are read from a tensor", id="dynamic shape"),
        pytest.param(DOUBLE, 1, 14, "--demote-f64", id="f64"),
        pytest.param(TOO_LARGE, 2, 8, "4900000000 elements", id="too large"),
    ],
)
def test_a_wrong_program_is_pointed_at(text: str, line: int, column: int, message: str) -> None:
    result = compiled(text)
    assert result.exit_code == 1
    lines = result.stderr.splitlines()
    assert lines[0].startswith(f"<stdin>:{line}:{column}: error: ")
    assert lines[1] == "  " + text.splitlines()[line - 1]
    assert lines[2] == " " * (column + 1) + "^"
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_f64_is_demoted_on_request() -> None:
    result = compiled(DOUBLE, "--demote-f64")
    assert result.exit_code == 0
    assert "warning: f64 inside f is computed in f32" in result.stderr


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([], "takes 1 argument, got 0"),
        (["4xf32=1", "4xf32=1"], "takes 1 argument, got 2"),
        (["4xf32=1"], "expected 64x1000xf32 (float32), got shape 4"),
        (["64x1000xi32=1"], "expected 64x1000xf32 (float32), got element type int32"),
        (["64x1000xf32=a"], "'a' in the input"),
        (["@nowhere.npy"], "'nowhere.npy' does not exist"),
        (["nonsense"], "is none of SHAPExTYPE=VALUE"),
    ],
)
def test_wrong_inputs(bundle: Path, inputs: list[str], message: str) -> None:
    arguments = [part for spec in inputs for part in ("--input", spec)]
    result = invoke("run", bundle, "--device", "host", *arguments)
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ")
    assert message in result.stderr


def test_an_unknown_function_is_the_command_lines_fault(bundle: Path) -> None:
    result = invoke("run", bundle, "--input", "random:0", "--function", "main")
    assert result.exit_code == 2
    assert "no function named main; it has softmax" in result.stderr


@pytest.mark.parametrize("length", [0, 3, 8, 100, -1])
def test_a_truncated_bundle(bundle: Path, tmp_path: Path, length: int) -> None:
    path = tmp_path / "short.ingot"
    path.write_bytes(bundle.read_bytes()[:length])
    result = invoke("inspect", path)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: {path}: ")


def test_a_corrupted_bundle(bundle: Path, tmp_path: Path) -> None:
    data = bytearray(bundle.read_bytes())
    data[16:24] = b"\xff" * 8
    path = tmp_path / "bad.ingot"
    path.write_bytes(data)
    result = invoke("run", path, "--input", "random:0")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: {path}: ")


def test_a_bundle_of_a_newer_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ingot.targets.bundle import layout

    path = tmp_path / "future.ingot"
    with monkeypatch.context() as patch:
        patch.setattr(layout, "VERSION", (99, 0))
        invoke("compile", EXAMPLES / "saxpy.mlir", "-o", path, "--target", "vulkan:generic")
    result = invoke("inspect", path)
    assert result.exit_code == 1
    assert "version 99" in result.stderr
    assert "use a newer Ingot" in result.stderr


def test_a_bundle_is_no_program(bundle: Path) -> None:
    result = invoke("compile", bundle, "-o", "x", "--target", "metal:apple7")
    assert result.exit_code == 1
    assert f"{bundle}: error: this is a bundle, not a program" in result.stderr


def test_verify_needs_the_program(bundle: Path) -> None:
    result = invoke("run", bundle, "--input", "random:0", "--verify")
    assert result.exit_code == 2
    assert "--verify needs the program" in result.stderr


def test_no_variant_for_the_device(tmp_path: Path) -> None:
    path = tmp_path / "vulkan-only.ingot"
    invoke("compile", EXAMPLES / "saxpy.mlir", "-o", path, "--target", "vulkan:generic")
    result = invoke("run", path, "--input", "random:0", "--device", "host")
    assert result.exit_code == 1
    assert "'vulkan:generic' needs a vulkan device, not metal" in result.stderr


def test_an_unknown_device(bundle: Path) -> None:
    result = invoke("run", bundle, "--input", "random:0", "--device", "cuda")
    assert result.exit_code == 1
    assert result.stderr == ("error: there is no device 'cuda'; devices are: metal, vulkan, host\n")


def test_without_spirv_cross(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_SPIRV_CROSS", "/nonexistent/libspirv-cross-c-shared.so")
    result = compiled((EXAMPLES / "saxpy.mlir").read_text())
    assert result.exit_code == 1
    assert "SPIRV-Cross was not found" in result.stderr
    assert "apt install libspirv-cross-c-shared0" in result.stderr
    assert "internal error" not in result.stderr


def run_elsewhere(bundle: Path, device: str, **environment: str) -> tuple[int, str]:
    """Run in another process: what the machine offers is looked up once in each."""
    command = [sys.executable, "-m", "ingot.tools.main", "run", str(bundle)]
    done = subprocess.run(
        [*command, "--input", "random:0", "--device", device],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stderr


def test_without_clang(bundle: Path) -> None:
    status, message = run_elsewhere(bundle, "host", INGOT_CLANG="/nonexistent/clang")
    assert status == 1
    assert message.startswith("error: ")
    assert "/nonexistent/clang" in message


def test_without_a_vulkan_driver(bundle: Path) -> None:
    nothing = {"VK_ICD_FILENAMES": "/nonexistent.json", "VK_DRIVER_FILES": "/nonexistent.json"}
    status, message = run_elsewhere(bundle, "vulkan", **nothing)
    assert status == 1
    assert message.startswith("error: there is no usable Vulkan driver here")
    assert "apt install mesa-vulkan-drivers" in message


def test_metal_says_what_it_needs(bundle: Path) -> None:
    if sys.platform == "darwin":
        pytest.skip("a Mac has Metal")
    result = invoke("run", bundle, "--input", "random:0", "--device", "metal")
    assert result.exit_code == 1
    assert "needs macOS" in result.stderr


def test_a_breaking_pass_leaves_a_reproducer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ingot.compiler.driver.registry import get_pass

    def broken(*_: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(get_pass("dispatch-outline"), "apply", broken)
    result = compiled((EXAMPLES / "saxpy.mlir").read_text())
    assert result.exit_code == 1
    assert "internal error: pass `dispatch-outline` failed: KeyError" in result.stderr
    (reproducer,) = tmp_path.glob("ingot-reproducer-*.mlir")
    assert str(reproducer) in result.stderr
    text = reproducer.read_text()
    assert "// RUN: ingot opt %s -p dispatch-outline," in text
    assert "dispatch.region" in text
