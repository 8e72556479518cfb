"""Docstrings and tables as Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from itertools import groupby

_CODE = re.compile(r"(`+[^`]*`+)")


def prose(text: str) -> str:
    """`text` with what Markdown would take for HTML, emphasis or a link escaped outside of code."""
    parts = _CODE.split(text)
    parts[::2] = [re.sub(r"([<>*_\[\]])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def cell(text: str) -> str:
    """`text` as the content of a table's cell: one line, pipes outside of code escaped."""
    parts = _CODE.split(text.replace("\n", " "))
    parts[::2] = [part.replace("|", "\\|") for part in parts[::2]]
    return "".join(parts)


def code(text: str) -> str:
    """`text` in a code span, with a fence that is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, ending with a newline."""
    lines = [headings, ["---"] * len(headings), *([cell(c) for c in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def summary(doc: str | None) -> str:
    """The first paragraph of a docstring as one line of Markdown; "" for none."""
    first = inspect.cleandoc(doc or "").partition("\n\n")[0]
    return prose(" ".join(first.split()))


def docstring(doc: str | None, language: str = "mlir") -> str:
    """A docstring as Markdown; what is fenced stays.

    Indented lines become fenced code, and so do lines that begin with `before:` and `after:`.
    """
    blocks: list[str] = []
    parts = re.split(r"^(```.*?^```)$", inspect.cleandoc(doc or ""), flags=re.M | re.S)
    for index, part in enumerate(parts):
        if index % 2:
            blocks.append(part)
        else:
            blocks += _indented_as_code(part, language)
    return "\n\n".join(blocks) + "\n"


def _indented_as_code(text: str, language: str) -> list[str]:
    """The paragraphs and the indented blocks of a text, in order."""
    blocks: list[str] = []

    def kind(line: str) -> str:
        if not line.strip():
            return "blank"
        return "code" if re.match(r"    |before:  |after:  ", line) else "prose"

    # A blank line inside of code belongs to the code, as does a label to what it follows.
    lines = text.splitlines()
    kinds = [kind(line) for line in lines]
    for index, name in enumerate(kinds):
        if name == "prose" and index and kinds[index - 1] == "code" and lines[index][0] == " ":
            kinds[index] = "code"
        if name == "blank" and 0 < index < len(kinds) - 1:
            following = next((k for k in kinds[index:] if k != "blank"), "")
            if kinds[index - 1] == following == "code":
                kinds[index] = "code"
    for name, group in groupby(zip(kinds, lines, strict=True), key=lambda pair: pair[0]):
        block = "\n".join(line for _, line in group)
        if name == "code":
            blocks.append(f"```{language}\n{inspect.cleandoc(chr(10) + block)}\n```")
        elif name == "prose":
            blocks.append(prose(block))
    return blocks
