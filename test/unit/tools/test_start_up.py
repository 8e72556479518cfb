"""What a command must not import: it would make every call slow."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("xdsl", "numpy", "rich", "ingot.compiler")


@pytest.mark.parametrize(
    ("arguments", "forbidden"),
    [
        (["--help"], HEAVY),
        (["--version"], ("xdsl", "numpy", "ingot.compiler")),
        (["compile", "--help"], HEAVY),
        (["opt", "--help"], HEAVY),
        (["targets", "--json"], HEAVY),
        (["devices", "--json"], ("xdsl", "ingot.compiler")),
    ],
    ids=lambda a: " ".join(a) if isinstance(a, list) else "",
)
def test_start_up_stays_light(arguments: list[str], forbidden: tuple[str, ...]) -> None:
    program = (
        "import sys\n"
        "from ingot.tools.main import main\n"
        f"try: main({arguments!r})\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        f"heavy = [m for m in sys.modules if m.startswith({forbidden!r})]\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
