"""MSL text as tokens: what the text functions of this room work on.

A token is a string; whitespace and comments are tokens too, so joining the tokens gives the text
back. Working on tokens keeps a rename from reaching into a longer identifier, a comment or a
string.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

_TOKEN = re.compile(
    r"""
      \s+
    | //[^\n]*
    | /\*.*?\*/
    | "(?:\\.|[^"\\])*"
    | '(?:\\.|[^'\\])*'
    | [A-Za-z_]\w*
    | \.?\d(?:[eEpP][+-]|[\w.])*
    | ::|->|<<=|>>=|<<|\[\[|\]\]
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z")

_BRACKETS = frozenset({"[", "[[", "]", "]]"})
_PAIRS = {"(": ")", "[": "]", "{": "}", "[[": "]]"}


def tokenize(text: str) -> list[str]:
    """Split text into tokens; `"".join` of the result is the text.

    `[[` and `]]` are one token where they stand for an attribute's brackets; an index that ends in
    `]]` (`a[b[i]]`) is two `]`.
    """
    raw: list[str] = _TOKEN.findall(text)
    if "]]" not in text:
        return raw
    # `a[b[i]]` closes two single brackets: only an open `[[` may take `]]` whole.
    split: list[int] = []
    open_brackets: list[str] = []
    for index in [i for i, token in enumerate(raw) if token in _BRACKETS]:
        token = raw[index]
        if token in ("[", "[["):
            open_brackets.append(token)
        elif token == "]]" and open_brackets and open_brackets[-1] == "[":
            del open_brackets[-2:]
            split.append(index)
        elif open_brackets:
            open_brackets.pop()
    if not split:
        return raw
    tokens: list[str] = []
    start = 0
    for index in split:
        tokens += raw[start:index]
        tokens += ("]", "]")
        start = index + 1
    return tokens + raw[start:]


def is_identifier(token: str) -> bool:
    """Whether a token is an identifier or keyword."""
    return _IDENTIFIER.match(token) is not None


def is_blank(token: str) -> bool:
    """Whether a token is whitespace or a comment."""
    return token[:1].isspace() or token.startswith(("//", "/*"))


def rename(tokens: Iterable[str], names: Mapping[str, str]) -> list[str]:
    """Replace whole identifiers."""
    return [names.get(token, token) for token in tokens]


def next_index(tokens: Sequence[str], index: int) -> int:
    """Index of the first token after `index` that is not blank; the length when there is none."""
    index += 1
    while index < len(tokens) and is_blank(tokens[index]):
        index += 1
    return index


def previous_index(tokens: Sequence[str], index: int) -> int:
    """Index of the last token before `index` that is not blank; -1 when there is none."""
    index -= 1
    while index >= 0 and is_blank(tokens[index]):
        index -= 1
    return index


def closing_index(tokens: Sequence[str], index: int) -> int:
    """Index of the bracket that closes the one at `index`. Raises `ValueError` when it is open."""
    opening = tokens[index]
    closing = _PAIRS[opening]
    depth = 0
    for position in range(index, len(tokens)):
        if tokens[position] == opening:
            depth += 1
        elif tokens[position] == closing:
            depth -= 1
            if depth == 0:
                return position
    raise ValueError(f"no {closing!r} closes the {opening!r} of {''.join(tokens[index:])[:40]!r}")


def split_commas(tokens: Sequence[str]) -> list[list[str]]:
    """Split at the commas outside any bracket; no piece for an empty list."""
    pieces: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        if token in _PAIRS or token == "<":
            depth += 1
        elif token in (")", "]", "}", "]]", ">"):
            depth -= 1
        if token == "," and depth == 0:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return [piece for piece in pieces if "".join(piece).strip()]
