"""Every command that the README and the guides show is run, and prints what they say.

A block marked `console` is a session: `$ command`, then its output; `...` stands for anything.
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

PAGES = [ROOT / "README.md", EXAMPLES / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```console\n(.*?)^```", re.M | re.S)


def sessions() -> list[tuple[str, list[tuple[str, str]]]]:
    """For each page that has any: its commands with the expected output."""
    found: list[tuple[str, list[tuple[str, str]]]] = []
    for page in PAGES:
        steps: list[tuple[str, str]] = []
        for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
            for step in re.split(r"^\$ ", block, flags=re.M)[1:]:
                command, _, output = step.partition("\n")
                while command.endswith("\\"):
                    more, _, output = output.partition("\n")
                    command = command[:-1] + more.lstrip("> ")
                steps.append((command, output))
        if steps:
            found.append((str(page.relative_to(ROOT)), steps))
    return found


def pattern(expected: str) -> str:
    return r"\s*".join(re.escape(part.strip()) for part in expected.split("...")).replace(
        r"\s*", r"[\s\S]*"
    )


@pytest.mark.parametrize(
    ("page", "steps"), sessions(), ids=lambda v: v if isinstance(v, str) else ""
)
def test_commands_print_what_the_page_says(
    page: str, steps: list[tuple[str, str]], tmp_path: Path
) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command, expected in steps:
        if command.startswith("make "):
            continue  # the targets that run these tests
        done = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env={**os.environ, "PATH": path, "COLUMNS": "100"},
            capture_output=True,
            text=True,
        )
        printed = (done.stdout + done.stderr).strip()
        assert re.fullmatch(pattern(expected), printed), (
            f"{page}: $ {command}\nexpected:\n{expected}\nprinted:\n{printed}"
        )
