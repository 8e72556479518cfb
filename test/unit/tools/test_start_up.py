"""What a command must not import: it would make every call slow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "softmax.mlir"

HEAVY = ("xdsl", "numpy", "rich", "ingot.compiler")
PLUGINS = {"ingot.compiler", "ingot.compiler.plugins"}
"""The help of `ingot opt` and `reduce` names the passes of plugins, and need not load them."""


@pytest.mark.parametrize(
    ("arguments", "forbidden", "allowed"),
    [
        (["--help"], HEAVY, set[str]()),
        (["--version"], ("xdsl", "numpy", "ingot.compiler"), set[str]()),
        (["compile", "--help"], HEAVY, set[str]()),
        (["opt", "--help"], HEAVY, PLUGINS),
        (["reduce", "--help"], HEAVY, PLUGINS),
        (["targets", "--json"], HEAVY, set[str]()),
        (["devices", "--json"], ("xdsl", "ingot.compiler"), set[str]()),
    ],
    ids=lambda a: " ".join(a) if isinstance(a, list) else "",
)
def test_start_up_stays_light(
    arguments: list[str], forbidden: tuple[str, ...], allowed: set[str]
) -> None:
    program = (
        "import sys\n"
        "from ingot.tools.main import main\n"
        f"sys.argv[1:] = {arguments!r}\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        f"heavy = [m for m in sys.modules if m.startswith({forbidden!r})"
        f" and m not in {allowed!r}]\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_program_without_arrays_compiles_without_numpy(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from ingot.tools.main import main\n"
        f"sys.argv[1:] = ['compile', {str(EXAMPLE)!r}, '--target', 'vulkan:generic',"
        f" '-o', {str(tmp_path / 'a.ingot')!r}]\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "assert 'numpy' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
