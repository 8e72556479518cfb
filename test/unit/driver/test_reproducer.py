"""The files that an internal error leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingot.compiler.driver.reproducer import command_of, split_head, write_reproducer


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_the_command_is_read_as_it_was_written() -> None:
    command = ["opt", "%s", "-p", 'canonicalize,a{names=["b c"]}']
    text = write_reproducer("module {}", command, KeyError("k\nmore")).read_text()
    assert text.startswith("// KeyError: 'k\\nmore'\n// RUN: ingot opt %s -p 'canonicalize,")
    assert text.endswith("\nmodule {}\n")
    assert command_of(text) == command


def test_without_a_command_there_is_no_run_line() -> None:
    text = write_reproducer("module {}", (), ValueError()).read_text()
    assert text == "// ValueError: \nmodule {}\n"
    assert command_of(text) is None


def test_only_the_comments_at_the_start_count() -> None:
    text = "// first\n// second\nmodule {\n// RUN: ingot opt %s -p 'cse'\n}\n"
    head, rest = split_head(text)
    assert head == "// first\n// second\n"
    assert head + rest == text
    assert command_of(text) is None
