"""Tokens of MSL text, and edits that keep track of where every character came from."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
      (?P<space>\s+|//[^\n]*|/\*.*?\*/)
    | (?P<name>[A-Za-z_]\w*)
    | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
    | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    | (?P<directive>\#(?:\\\n|[^\n])*)
    | (?P<mark>\[\[|\]\]|::|->|<<=|>>=|&&|\|\||[-+*/%&|^=!<>]=|\+\+|--|.)
    """,
    re.DOTALL | re.VERBOSE,
)


class Token(NamedTuple):
    """One token; `start` is its offset in the source."""

    kind: str
    """`string`, `number`, `name`, `mark` or `directive` (a whole preprocessor line)."""
    text: str
    start: int

    @property
    def end(self) -> int:
        """Offset after the last character."""
        return self.start + len(self.text)


def tokenize(source: str) -> list[Token]:
    """Return the tokens of `source` without white space and comments."""
    return [
        Token(str(match.lastgroup), match.group(), match.start())
        for match in _TOKEN.finditer(source)
        if match.lastgroup != "space"
    ]


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the characters from `start` to `end` by `text`."""

    start: int
    end: int
    text: str


def blank(source: str, start: int, end: int) -> Edit:
    """Replace a range by spaces; line breaks stay, so that line numbers do."""
    return Edit(start, end, re.sub(r"[^\n]", " ", source[start:end]))


class EditedText:
    """The text after edits, able to tell where a place in it lay before."""

    def __init__(self, source: str, edits: Iterable[Edit]) -> None:
        self.source = source
        pieces: list[str] = []
        self._starts: list[int] = []
        self._origins: list[tuple[int, int]] = []
        position = length = 0

        def add(text: str, origin: int, last: int) -> None:
            nonlocal length
            if text:
                self._starts.append(length)
                self._origins.append((origin, last))
                pieces.append(text)
                length += len(text)

        for edit in sorted(edits, key=lambda e: (e.start, e.end)):
            add(source[position : edit.start], position, edit.start)
            add(edit.text, edit.start, edit.end)
            position = edit.end
        add(source[position:], position, len(source))
        self.text = "".join(pieces)

    def origin(self, offset: int) -> int:
        """Where the character at `offset` was in the source, or where it was inserted."""
        index = bisect_right(self._starts, offset) - 1
        if index < 0:
            return 0
        start, last = self._origins[index]
        return min(start + offset - self._starts[index], last)


def line_and_column(source: str, offset: int) -> tuple[int, int]:
    """Line and column, from 1, of an offset."""
    return source.count("\n", 0, offset) + 1, offset - source.rfind("\n", 0, offset)


def offset_of(source: str, line: int, column: int) -> int:
    """The offset of a line and column, from 1; the end of the text when there is no such line."""
    position = 0
    for _ in range(line - 1):
        position = source.find("\n", position) + 1
        if position == 0:
            return len(source)
    return min(position + column - 1, len(source))


def matching_brackets(tokens: Sequence[Token]) -> dict[int, int]:
    """The index of the closing bracket for every index of an opening (, [, [[ or {."""
    closing = {"(": ")", "[": "]", "{": "}", "[[": "]]"}
    pairs: dict[int, int] = {}
    stack: list[tuple[int, str]] = []
    for index, token in enumerate(tokens):
        if token.kind != "mark":
            continue
        if token.text in closing:
            stack.append((index, closing[token.text]))
        elif stack and token.text == stack[-1][1]:
            pairs[stack.pop()[0]] = index
        elif token.text == "]]" and len(stack) > 1 and stack[-1][1] == stack[-2][1] == "]":
            # a[b[i]]: two brackets that only look like the end of an attribute
            pairs[stack.pop()[0]] = index
            pairs[stack.pop()[0]] = index
    return pairs
