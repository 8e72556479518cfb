"""The manual page of `ingot`, from the definitions of its commands.

    python -m reference.man        (in docs/tools; `make man` does it)

The page is a file of the repository, so that installing needs nothing to make it; a test checks
that it is what this writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

from ingot.targets import VERSION
from reference.commands import Command, Option, commands

PAGE = Path(__file__).resolve().parents[2] / "man" / "ingot.1"

STATUSES = (
    ("0", "It worked."),
    ("1", "The program, the bundle, the inputs or the device: the message says which."),
    ("2", "The command line: an unknown option, target or function, a file that does not exist."),
)

ENVIRONMENT = (
    ("INGOT_CACHE_DIR", "Where compiled programs and kernels are kept."),
    ("INGOT_CACHE_SIZE", "How large the cache of `ingot compile` may become, in bytes."),
    ("INGOT_CLANG", "The clang of the `host` device; else the newest `clang-N` on the path."),
    ("INGOT_SPIRV_CROSS", "The SPIRV-Cross library, where the system's is not wanted."),
)


def roff(text: str) -> str:
    """Text as roff has it, code in bold."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"`([^`]+)`", r"\\fB\1\\fR", text)


def paragraph(text: str) -> Iterator[str]:
    """The lines of a paragraph, none of which is taken for a request."""
    for line in wrap(roff(text), 78, break_long_words=False, break_on_hyphens=False):
        yield f"\\&{line}" if line[0] in ".'" else line


def _option(option: Option) -> Iterator[str]:
    names = ", ".join(f"\\fB{roff(name)}\\fR" for name in option.spellings)
    yield ".TP"
    yield f"{names} \\fI{roff(option.metavar)}\\fR" if option.metavar else names
    yield from paragraph(option.help)
    if option.default:
        yield f"Default: {roff(option.default)}."


def _examples(lines: tuple[str, ...]) -> Iterator[str]:
    yield ".PP"
    yield ".EX"
    yield from (f"    {roff(line)}" for line in lines)
    yield ".EE"


def _described(command: Command) -> Iterator[str]:
    for index, text in enumerate(command.paragraphs):
        if index:
            yield ".PP"
        yield from paragraph(text)
    for option in command.options:
        if option.spellings[-1] != "--help":
            yield from _option(option)
    if command.examples:
        yield from _examples(command.examples)


def _lines() -> Iterator[str]:
    whole, *parts = commands()
    yield '.\\" Made from the definitions of the commands; `make man` writes it.'
    yield f'.TH INGOT 1 "" "Ingot {VERSION}" "User Commands"'
    yield ".SH NAME"
    yield f"ingot \\- {roff(whole.paragraphs[0][0].lower() + whole.paragraphs[0][1:].rstrip('.'))}"
    yield ".SH SYNOPSIS"
    for index, command in enumerate(parts):
        if index:
            yield ".br"
        name, _, rest = command.usage.removeprefix("ingot ").partition(" ")
        yield f"\\fBingot {roff(name)}\\fR {roff(rest)}"
    yield ".SH DESCRIPTION"
    yield from _described(whole)
    yield ".SH COMMANDS"
    for command in parts:
        yield f".SS {roff(command.name)}"
        yield from _described(command)
    yield ".SH EXIT STATUS"
    for status, meaning in STATUSES:
        yield from (".TP", status, *paragraph(meaning))
    yield ".SH ENVIRONMENT"
    for name, meaning in ENVIRONMENT:
        yield from (".TP", f"\\fB{name}\\fR", *paragraph(meaning))
    yield ".SH SEE ALSO"
    yield ".BR mlir\\-opt (1),"
    yield ".BR spirv\\-val (1)"


def page() -> str:
    """The page as `man` reads it."""
    return "\n".join(_lines()) + "\n"


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), "utf-8")
