"""The examples in the help of every command, and so in the manual and on the site, work."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from reference.commands import commands
from support.harness import EXAMPLES

from ingot.tools.main import command

MODEL = """func.func @model(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
"""
ELSEWHERE = ("tune", "reduce")
"""Commands that search for long: test/unit/tuning and test/unit/driver test what they do."""
_LINES = [
    line
    for described in commands()
    for line in described.examples
    if line.split()[1] not in ELSEWHERE and "model.json" not in line
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the examples name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INGOT_CACHE_DIR", str(tmp_path / "cache"))
    layers = {"softmax": "softmax", "norm": "layer_norm", "layer": "matmul_bias_gelu"}
    for name, example in layers.items():
        shutil.copy(EXAMPLES / f"{example}.mlir", f"{name}.mlir")
    for name in ("model", "tests"):
        Path(f"{name}.mlir").write_text(MODEL)
    np.savez("inputs.npz", in0=np.ones((64, 1000), np.float32))
    return tmp_path


def write_kernel() -> None:
    """A kernel in the spirv dialect, as kernel.mlir."""
    target = "vulkan:generic"
    ingot(["compile", "model.mlir", "--target", target, "-o", "model.ingot", "--dump-dir", "dump"])
    shutil.copy("dump/vulkan-generic/kernels/model_exp/50-spirv.mlir", "kernel.mlir")


def ingot(words: list[str]) -> None:
    done = CliRunner().invoke(command, words, prog_name="ingot")
    assert done.exit_code == 0, f"ingot {shlex.join(words)}\n{done.output}\n{done.exception!r}"


def test_examples_work_in_their_order(folder: Path) -> None:
    for line in _LINES:
        program, *words = shlex.split(line.partition(" > ")[0])
        assert program == "ingot"
        if words[:2] == ["translate", "kernel.mlir"]:
            write_kernel()
        if "*.mlir" in words:
            at = words.index("*.mlir")
            words[at : at + 1] = sorted(map(str, Path().glob("*.mlir")))
        ingot(words)


def test_no_command_is_without_an_example() -> None:
    assert all(described.examples for described in commands())
