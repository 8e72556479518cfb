"""The manual page says what the commands say, and manual readers find nothing wrong with it."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from reference import man

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_is_current() -> None:
    assert man.page() == man.PAGE.read_text("utf-8"), "run `make man`"


def test_the_wheel_has_it() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    listed = config["tool"]["setuptools"]["data-files"]["share/man/man1"]
    assert [ROOT / path for path in listed] == [man.PAGE]


@pytest.mark.parametrize(
    "words",
    [["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z"], ["mandoc", "-T", "lint"]],
    ids=lambda words: words[0],
)
def test_readers_find_nothing_wrong(words: list[str]) -> None:
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]} here")
    done = subprocess.run([*words, str(man.PAGE)], capture_output=True, text=True)
    found = done.stdout if words[0] == "mandoc" else done.stderr
    # mandoc asks for a date, which would change the page without any reason.
    problems = [line for line in found.splitlines() if "missing date" not in line]
    assert not problems


def test_text_is_text() -> None:
    assert man.roff("`-o` writes \\b") == "\\fB\\-o\\fR writes \\eb"
    assert list(man.paragraph(".dots begin 'requests'")) == ["\\&.dots begin 'requests'"]
