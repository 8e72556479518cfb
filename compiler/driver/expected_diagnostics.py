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
    r"expected-(?P<severity>error|warning|note)(?P<regex>-re)?"
    r"(?:@(?P<where>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*?)\}\}(?!\})"
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
    found: list[Expectation] = []
    previous_designator_line = first_line
    for number, line in enumerate(text.split("\n"), first_line):
        if "expected-" not in line:
            previous_designator_line = number
            continue
        comments = list(_COMMENT.finditer(line))
        for comment in comments:
            match comment["where"]:
                case None:
                    target = number
                case "above":
                    target = previous_designator_line
                case "below":
                    target = _next_code_line(text, number, first_line)
                case "unknown":
                    target = 0
                case offset:
                    target = number + int(offset)
            found.append(
                Expectation(
                    comment["severity"], target, comment["text"], bool(comment["regex"]), number
                )
            )
        if not comments:
            previous_designator_line = number
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


def _next_code_line(text: str, number: int, first_line: int) -> int:
    lines = text.split("\n")
    for index in range(number - first_line + 1, len(lines)):
        if "expected-" not in lines[index]:
            return first_line + index
    return number + 1
