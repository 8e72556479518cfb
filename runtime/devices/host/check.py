"""What Apple's compiler would refuse in an MSL text, found without it.

clang's C++ for OpenCL has the address spaces of MSL under other names, so it sees a pointer into
the wrong one, and every ordinary error of types and names. What it allows and MSL does not is found
in the tokens (check_rules.py). No compiler of Apple's was at hand to compare with: the measure is
the MSL specification.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from ingot.runtime.devices.cache import digest
from ingot.runtime.devices.host.cache import (
    build_once,
    cache_directory,
    headers_digest,
    include_directory,
)
from ingot.runtime.devices.host.check_rules import Diagnostic, token_diagnostics
from ingot.runtime.devices.host.compile import COMMON_FLAGS, precompiled_header
from ingot.runtime.devices.host.errors import KernelCompileError
from ingot.runtime.devices.host.reflection import reflect
from ingot.runtime.devices.host.rewrite import for_checking
from ingot.runtime.devices.host.tokens import EditedText, line_and_column, offset_of
from ingot.runtime.devices.host.toolchain import Clang, find_checker

__all__ = ["Diagnostic", "check_msl"]

_FLAGS = (
    "-x",
    "clcpp",
    "-cl-std=clc++2021",
    "-cl-no-stdinc",
    *COMMON_FLAGS,
    "-w",
    "-fno-color-diagnostics",
    "-fno-caret-diagnostics",
)
_LOCATED = re.compile(
    r"(?P<file>[^\n]*?):(?P<line>\d+):(?P<column>\d+): (?P<kind>[a-z ]+): (?P<text>.*)"
)
_ALLOWED = "can only be declared in the outermost scope of a kernel function"
"""OpenCL's rule for threadgroup variables; MSL allows them in any block of a kernel."""
_CONSTANT_COPY = re.compile(
    r"the implicit (copy|move) (constructor|assignment operator)\) not viable: cannot bind "
    r"reference in address space '__constant'"
)
"""Structures cannot be copied out of OpenCL's constant address space; out of MSL's they can."""
_SPACES = {
    "__global": "device",
    "__constant": "constant",
    "__local": "threadgroup",
    "__private": "thread",
    "global address space": "device address space",
    "local address space": "threadgroup address space",
    "private address space": "thread address space",
}


def check_msl(msl: str) -> list[Diagnostic]:
    """Return what is wrong with an MSL text, in the order of the text; empty when nothing is.

    Raises `ClangNotFoundError` when there is no clang with C++ for OpenCL.
    """
    clang = find_checker()
    found = reflect(msl)
    edited = for_checking(found)
    diagnostics = [*token_diagnostics(found), *_clang_diagnostics(clang, edited)]
    return sorted(set(diagnostics), key=lambda d: (d.line, d.column, d.message))


def _clang_diagnostics(clang: Clang, edited: EditedText) -> Iterator[Diagnostic]:
    for error, notes in _errors(_clang_output(clang, edited.text)):
        if _ALLOWED in error["text"] or any(_CONSTANT_COPY.search(n["text"]) for n in notes):
            continue
        # Inside a header: a note says which line of the text led there.
        place = next((m for m in (error, *notes) if m["file"] == "<stdin>"), error)
        yield _diagnostic(edited, place, error["text"])


def _clang_output(clang: Clang, text: str) -> str:
    """What clang says about a text, from the cache when it was asked before."""
    command = [*clang.command, *_FLAGS, "-isystem", str(include_directory())]
    key = digest(clang.identity, headers_digest(), *command, text)

    def run(file: Path) -> None:
        arguments = [*command, *precompiled_header(clang, command), "-fsyntax-only", "-"]
        done = subprocess.run(arguments, input=text, capture_output=True, text=True)
        if done.returncode and not any(_errors(done.stderr)):
            raise KernelCompileError(f"clang failed to check an MSL text: {done.stderr.strip()}")
        file.write_text(done.stderr, "utf-8")

    return build_once(cache_directory() / f"check-{key}.txt", run).read_text("utf-8")


def _errors(output: str) -> Iterator[tuple[re.Match[str], list[re.Match[str]]]]:
    """clang's errors, each with the notes that follow it."""
    error: re.Match[str] | None = None
    notes: list[re.Match[str]] = []
    for line in output.splitlines():
        match = _LOCATED.match(line)
        if match is None:
            continue
        if match["kind"] == "note":
            notes.append(match)
            continue
        if error is not None:
            yield error, notes
        error, notes = (match if "error" in match["kind"] else None), []
    if error is not None:
        yield error, notes


def _diagnostic(edited: EditedText, match: re.Match[str], text: str) -> Diagnostic:
    offset = offset_of(edited.text, int(match["line"]), int(match["column"]))
    line, column = line_and_column(edited.source, edited.origin(offset))
    for ours, theirs in _SPACES.items():
        text = text.replace(ours, theirs)
    return Diagnostic(line, column, re.sub(r"\b__generic ", "", text))
