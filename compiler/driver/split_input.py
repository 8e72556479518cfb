"""`--split-input-file` and `--verify-diagnostics`: work on the parts of a file between `// -----`.

Each part is a program of its own; one that is refused does not stop the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from ingot.compiler.driver.diagnostics import Diagnostic, diagnose, is_user_error
from ingot.compiler.driver.expected_diagnostics import expectations, mismatches

_SPLIT = re.compile(r"^[ \t]*// -----[^\n]*\n?", re.M)

Output = TypeVar("Output")


@dataclass(frozen=True)
class PartsResult(Generic[Output]):
    """What became of the parts."""

    outputs: tuple[Output, ...]
    """Of the parts that were not refused."""
    refused: tuple[Diagnostic, ...]
    """Empty where diagnostics are verified."""
    problems: tuple[str, ...]
    """Where diagnostics are verified: what differs from the comments."""


def run_parts(
    text: str,
    filename: str,
    work: Callable[[str], Output],
    *,
    split: bool,
    verify_diagnostics: bool,
) -> PartsResult[Output]:
    """Do `work` on each part of a text, or on all of it; raises what is no refusal.

    Blank lines before a part keep the positions that it has in the file.
    """
    outputs: list[Output] = []
    refused: list[Diagnostic] = []
    problems: list[str] = []
    for part, lines_before in _parts(text) if split else [(text, 0)]:
        produced: list[Diagnostic] = []
        try:
            outputs.append(work("\n" * lines_before + part))
        except Exception as error:
            if not is_user_error(error):
                raise
            produced.append(diagnose(error, filename))
        if verify_diagnostics:
            problems += mismatches(expectations(part, lines_before + 1), produced, filename)
        else:
            refused += produced
    return PartsResult(tuple(outputs), tuple(refused), tuple(problems))


def _parts(text: str) -> list[tuple[str, int]]:
    """The parts of a text that hold anything, each with the number of lines before it."""
    parts: list[tuple[str, int]] = []
    start = 0
    for separator in _SPLIT.finditer(text):
        parts.append((text[start : separator.start()], text.count("\n", 0, start)))
        start = separator.end()
    parts.append((text[start:], text.count("\n", 0, start)))
    return [(part, line) for part, line in parts if part.strip()]
