"""What a shell is offered, through click's protocol and through Bash itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.driver.registry import ingot_passes
from ingot.targets.bundle.writer import write_bundle
from ingot.targets.profiles import PROFILES
from ingot.tools.main import COMMANDS

EXAMPLE = Path(__file__).parents[3] / "examples" / "softmax.mlir"
INGOT = Path(sys.executable).parent / "ingot"


def offered(line: str, folder: Path | None = None) -> list[str]:
    """The words, or kinds of words, for a command line that ends at the cursor, as Bash asks."""
    heavy = ("xdsl", "rich", "ingot.passes.tensor.")
    program = (
        "import sys\n"
        "from ingot.tools.main import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        f"heavy = [m for m in sys.modules if m.startswith({heavy})]\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, "_INGOT_COMPLETE": "bash_complete", "COMP_LINE": line},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    lines = (line.partition(",") for line in done.stdout.splitlines() if line)
    return [value if kind == "plain" else f"<{kind}>" for kind, _, value in lines]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a bundle."""
    from ingot.compiler.driver.compile import compile_module

    path = tmp_path_factory.mktemp("bundles")
    options = CompileOptions(targets=("vulkan:generic",))
    bundle = compile_module(EXAMPLE.read_text("utf-8"), "softmax.mlir", options)
    (path / "softmax.ingot").write_bytes(write_bundle(bundle))
    return path


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ingot ", list(COMMANDS)),
        ("ingot comp", ["compile", "completion"]),
        ("ingot compile --target ", list(PROFILES)),
        ("ingot compile --target vulkan:g", ["generic"]),
        ("ingot compile --target=vulkan:", ["generic", "lavapipe", "hopper"]),
        ("ingot compile --targ", ["--target"]),
        ("ingot compile @words.txt --emit m", ["mlir", "msl"]),
        ("ingot compile ", ["<file>"]),
        ("ingot compile --out-dir ", ["<dir>"]),
        ("ingot opt -p canonicalize-tensor,dispatch-f", ["canonicalize-tensor,dispatch-form"]),
        ("ingot opt --print-after ", list(ingot_passes())),
        ("ingot run softmax.ingot --function ", ["softmax"]),
        ("ingot inspect softmax.ingot --msl soft", ["softmax_softmax"]),
        ("ingot inspect missing.ingot --msl ", []),
    ],
)
def test_words_that_fit_are_offered(line: str, words: list[str], folder: Path) -> None:
    assert offered(line, folder) == words


def test_plugins_are_not_run(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("raise SystemExit('ran')\n")
    for file in ("mine.py", "missing.py"):
        assert "--passes" in offered(f"ingot opt --load-pass-plugin {file} --pass", tmp_path)


def test_devices_are_the_back_ends() -> None:
    assert {"metal", "vulkan", "host"} <= set(offered("ingot run a.ingot --device "))


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_completes() -> None:
    script = f"""
        eval "$({INGOT} completion bash)"
        complete -p ingot
        COMP_LINE='ingot compile --target metal:apple1' COMP_POINT=35
        _ingot_completion {INGOT}
        echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["complete -o nosort -F _ingot_completion ingot", "apple10"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_a_script(shell: str) -> None:
    done = subprocess.run(
        [str(INGOT), "completion", shell], capture_output=True, text=True, check=True
    )
    assert f"_INGOT_COMPLETE={shell}_complete" in done.stdout
    if (program := shutil.which(shell)) is not None:
        words = [program, "--no-execute"] if shell == "fish" else [program, "-n"]
        subprocess.run(words, input=done.stdout, text=True, check=True)
