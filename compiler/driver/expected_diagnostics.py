"""`--verify-diagnostics`: compare the diagnostics of a file with its `expected-error` comments.

The comments are MLIR's: `// expected-error {{text}}` on the line of the error, with `@+N`, `@-N`,
`@above`, `@below` or `@unknown` for another place, and `expected-error-re` for `{{regex}}` parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ingot.compiler.driver.diagnostics import Diagnostic

_COMMENT = re.compile(
    r"expected-(?P<severity>error|warning|note|remark)(?P<regex>-re)?"
    r"(?:@(?P<where>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*)\}\}\s*$"
)


@dataclass(frozen=True)
class Expectation:
    """One comment: `line` counts from 1 in the file, 0 stands for an unknown place."""

    severity: str
    line: int
    text: str
    regex: bool
    written_on: int

    def matches(self, diagnostic: Diagnostic) -> bool:
        """Whether the diagnostic is the expected one: a substring of its message suffices."""
        if diagnostic.severity != self.severity or diagnostic.line != self.line:
            return False
        if self.regex:
            parts = re.split(r"\{\{(.*?)\}\}", self.text)
            pattern = "".join(p if i % 2 else re.escape(p) for i, p in enumerate(parts))
            return re.search(pattern, diagnostic.message) is not None
        return self.text in diagnostic.message


def expectations(text: str, first_line: int = 1) -> list[Expectation]:
    """All expectations in a text whose first line is number `first_line` of its file."""
    lines = text.split("\n")
    found: list[Expectation] = []
    code_line = first_line
    for number, line in enumerate(lines, first_line):
        comment = _COMMENT.search(line) if "expected-" in line else None
        if comment is None or not line.lstrip().startswith("//"):
            code_line = number
        if comment is None:
            continue
        match comment["where"]:
            case None:
                target = number
            case "above":
                target = code_line
            case "below":
                target = _next_code_line(lines, number, first_line)
            case "unknown":
                target = 0
            case offset:
                target = number + int(offset)
        severity, regex = comment["severity"], bool(comment["regex"])
        found.append(Expectation(severity, target, comment["text"], regex, number))
    return found


def mismatches(
    expected: Iterable[Expectation], produced: Iterable[Diagnostic], filename: str
) -> list[str]:
    """What differs, one sentence each, empty when the diagnostics are the expected ones."""
    left = list(expected)
    problems: list[str] = []
    for diagnostic in produced:
        match = next((e for e in left if e.matches(diagnostic)), None)
        if match is not None:
            left.remove(match)
        else:
            place = diagnostic.position or filename
            problems.append(
                f"{place}: error: unexpected {diagnostic.severity}: {diagnostic.message}"
            )
    problems += [
        f'{filename}:{e.written_on}:1: error: expected {e.severity} "{e.text}" was not produced'
        for e in left
    ]
    return problems


def _next_code_line(lines: list[str], number: int, first_line: int) -> int:
    for index in range(number - first_line + 1, len(lines)):
        if "expected-" not in lines[index]:
            return first_line + index
    return number + 1
