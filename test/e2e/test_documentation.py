"""What README, guides and examples have their reader do works, and prints what they say.

Sessions (`console`) and blocks of Python are run in the order of the page, in a folder that has
`examples/`; a file that the page shows under its path is written there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.harness import EXAMPLES, ROOT
from support.pages import PAGES, Command, Script, Write, as_pattern, steps, unchecked_blocks

BIN = Path(sys.executable).parent


def relative(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a reader has the repository's examples and its C library."""
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    (tmp_path / "runtime").symlink_to(ROOT / "runtime")
    return tmp_path


def run(words: str | list[str], folder: Path) -> tuple[str, int]:
    """What a command prints, and its exit status."""
    done = subprocess.run(
        words,
        shell=isinstance(words, str),
        cwd=folder,
        env={**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"},
        capture_output=True,
        text=True,
    )
    return (done.stdout + done.stderr).strip(), done.returncode


@pytest.mark.parametrize("page", [page for page in PAGES if steps(page)], ids=relative)
def test_the_page_works(page: Path, folder: Path) -> None:
    for step in steps(page):
        match step:
            case Write(path, text):
                (folder / path).write_text(text, "utf-8")
            case Script(text):
                if missing := step.missing():
                    pytest.skip(f"the page from here on needs {', '.join(missing)}")
                printed, status = run([sys.executable, "-c", text], folder)
                assert status == 0, (
                    f"{relative(page)} (<!-- not run: REASON --> above a block excuses it):\n"
                    f"{text}\n{printed}"
                )
            case Command(line, output):
                if line.startswith(("make ", ". ")):
                    continue  # what sets up and runs these tests
                printed, _ = run(line, folder)
                assert re.fullmatch(as_pattern(output), printed), (
                    f"{relative(page)}: $ {line}\nexpected:\n{output}\nprinted:\n{printed}"
                )


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_shell_is_run_or_says_why_not(page: Path) -> None:
    assert not unchecked_blocks(page), (
        "write ```console with `$ ` before commands, or <!-- not run: REASON --> above the block"
    )
