"""Every stage of a program verifies after each pass, and MLIR reads what is printed at L1 to L4."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from support.harness import EXAMPLES, SHARED, TARGETS

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.driver.compile import compile_module
from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.driver.verification import InvalidIR

PROGRAMS = [
    *sorted(EXAMPLES.glob("*.mlir")),
    *(
        pytest.param(path, marks=pytest.mark.slow)
        for folder in ("linalg_torch", "linalg_jax")
        for path in sorted((SHARED / "programs" / folder).glob("*.mlir"))
    ),
]
OWN_OPS = ("ingot.scan", "host.", "simdgroup.")


def mlir_opt() -> str | None:
    return shutil.which("mlir-opt-19") or shutil.which("mlir-opt")


@pytest.mark.parametrize("target", TARGETS.values())
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_every_pass_leaves_valid_ir_that_mlir_reads(
    path: Path, target: str, tmp_path: Path
) -> None:
    options = CompileOptions(targets=(target,), dump_dir=tmp_path, verify_each=True)
    try:
        compile_module(path.read_text(), path.name, options)
    except InvalidIR:
        raise
    except Refusal as refusal:
        pytest.skip(str(refusal))
    opt = mlir_opt()
    if opt is None:
        pytest.skip("no mlir-opt here; the IR verified")
    folder = tmp_path / target.replace(":", "-")
    texts = [folder / "10-tensor.mlir", *folder.glob("kernels/*/[234]0-*.mlir")]
    assert len(texts) > 3
    for text in texts:
        if any(op in text.read_text() for op in OWN_OPS):
            continue
        done = subprocess.run([opt, text, "-o", "/dev/null"], capture_output=True, text=True)
        assert done.returncode == 0, f"{text.relative_to(tmp_path)}: {done.stderr[:500]}"
