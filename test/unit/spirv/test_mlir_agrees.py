"""MLIR reads the dialect's text and writes the same program as our writer."""

from __future__ import annotations

import shutil
import subprocess
from random import Random

import pytest
from unit.spirv.every_instruction import examples
from unit.spirv.meaning import meaning
from unit.spirv.random_modules import RandomKernel

from ingot.compiler.dialects import spirv
from ingot.targets.spirv import deserialize, disassemble, serialize

TRANSLATE = shutil.which("mlir-translate-19") or shutil.which("mlir-translate")
pytestmark = pytest.mark.skipif(TRANSLATE is None, reason="mlir-translate is not installed")

MARKER = "==== next module ===="
UNKNOWN_TO_MLIR = {
    f"spirv.{name}"
    for name in (
        "GL.FindILsb",
        "GL.FindSMsb",
        "GL.Fract",
        "GL.Asinh",
        "GL.Acosh",
        "GL.Atanh",
        "GL.Atan2",
        "GL.Exp2",
        "GL.Log2",
        "GL.Trunc",
        "GL.NMin",
        "GL.NMax",
        "GL.NClamp",
    )
}
"""Instructions that MLIR 19 has no op for."""


def translate(modules: list[spirv.ModuleOp]) -> list[bytes]:
    """The binaries that mlir-translate makes of the printed modules, in one run."""
    assert TRANSLATE is not None
    text = "\n// -----\n".join(str(module) for module in modules)
    command = [TRANSLATE, "--no-implicit-module", "--serialize-spirv", "--split-input-file"]
    command.append(f"--output-split-marker={MARKER}")
    run = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    assert run.returncode == 0, run.stderr.decode()
    return run.stdout.split(f"{MARKER}\n".encode())


def assert_same_meaning(modules: list[spirv.ModuleOp]) -> None:
    binaries = translate(modules)
    assert len(binaries) == len(modules)
    for module, theirs in zip(modules, binaries, strict=True):
        ours = serialize(module)
        expected = meaning(disassemble(theirs, friendly_names=False))
        assert meaning(disassemble(ours, friendly_names=False)) == expected, str(module)


def test_every_instruction_has_mlir_s_encoding() -> None:
    known = [op for op in spirv.INSTRUCTION_OPS if op.name not in UNKNOWN_TO_MLIR]
    assert_same_meaning([module for op in known for module in examples(op)])


def test_structured_control_flow_is_written_as_mlir_writes_it() -> None:
    random = Random(0)
    assert_same_meaning([RandomKernel(random, results=False).module() for _ in range(40)])


def test_what_mlir_writes_is_read() -> None:
    random = Random(1)
    modules = [RandomKernel(random, results=False).module() for _ in range(10)]
    for theirs in translate(modules):
        again = serialize(deserialize(theirs))
        assert meaning(disassemble(again, friendly_names=False)) == meaning(
            disassemble(theirs, friendly_names=False)
        )
