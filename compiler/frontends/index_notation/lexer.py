"""Tokens of index notation."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.frontends.index_notation.syntax import Place

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r]+|\#[^\n]*)
    |(?P<newline>\n|;)
    |(?P<number>(?:\d+\.\d+|\d+\.(?![\w.])|\.\d+|\d+)(?:[eE][+-]?\d+)?)
    |(?P<update>max=(?!=)|min=(?!=))
    |(?P<name>[^\W\d]\w*)
    |(?P<symbol>:=|\+=|-=|\*=|&=|\|=|\|>|<\||==|!=|<=|>=|&&|\|\||[-+*/^%÷√≤≥≠∈=<>!?:,@&|()\[\]])
    """,
    re.VERBOSE,
)

_SPELLINGS = {"≤": "<=", "≥": ">=", "≠": "!=", "∈": "in"}


@dataclass(frozen=True)
class Token:
    """One token; `glued` says that no space lies before it, as in `2x`."""

    kind: str
    text: str
    place: Place
    glued: bool


def tokens(text: str, filename: str) -> list[Token]:
    """The tokens of `text`, newlines included, ended by one of kind `end`.

    Raises `Refusal` at a character that begins no token.
    """
    found: list[Token] = []
    line, start, position, glued = 1, 0, 0, False
    while position < len(text):
        place = Place(filename, line, position - start + 1)
        match = _TOKEN.match(text, position)
        if match is None:
            raise Refusal(f"unexpected character `{text[position]}`", place.location)
        kind, piece = match.lastgroup or "", match.group()
        position = match.end()
        if kind == "space":
            glued = False
            continue
        found.append(Token(kind, _SPELLINGS.get(piece, piece), place, glued))
        glued = kind != "newline"
        if piece == "\n":
            line, start = line + 1, position
    found.append(Token("end", "", Place(filename, line, position - start + 1), False))
    return found
