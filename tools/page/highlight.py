"""Colours of program text, as runs of classes instead of markup: small, and safe to put together.

A line's runs are `K5_2V3`: five characters of class K, two of no class, three of class V. Lengths
are in base 36. What follows the last run has no class.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import ClassVar, Literal

from pygments.lexer import Lexer, RegexLexer
from pygments.lexers.c_cpp import CppLexer
from pygments.token import Comment, Keyword, Name, Number, String, Token

Language = Literal["mlir", "spirv", "msl", "text"]

LONGEST = 2000
"""Characters of a line that are shown; constants may be far longer."""

_CLASSES: dict[tuple[str, ...], str] = {
    Comment: "C",
    String: "S",
    Number: "N",
    Keyword.Type: "T",
    Keyword: "K",
    Name.Builtin: "K",
    Name.Function: "F",
    Name.Label: "F",
    Name.Variable: "V",
}


class MlirLexer(RegexLexer):
    """MLIR in any dialect, also for Pygments at large, as `mlir`."""

    name = "MLIR"
    aliases = ("mlir",)
    tokens: ClassVar = {
        "root": [
            (r"//.*?$", Comment),
            (r'"(?:\\.|[^"\\\n])*"', String),
            (r"%[\w$.#-]+", Name.Variable),
            (r"[@^][\w$.-]+", Name.Function),
            (
                r"(?:\b|(?<=[\d?]x))"
                r"(?:tensor|memref|vector|index|none|complex|b?f\d+|[su]?i\d+)\b",
                Keyword.Type,
            ),
            (r"[#!][\w$.]+", Keyword.Type),
            (r"\b[a-z_]\w*(?:\.[a-z_]\w*)+\b", Keyword),
            (r"(?<![\w%])(?:(?:\d+|\?)x)+(?=[a-z!])", Number),
            (r"-?\b(?:0x[0-9A-Fa-f]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)", Number),
            (r"[A-Za-z_]\w*", Token),
            (r"\s+|.", Token),
        ]
    }


class _SpirvLexer(RegexLexer):
    name = "SPIR-V assembly"
    tokens: ClassVar = {
        "root": [
            (r";.*?$", Comment),
            (r'"(?:\\.|[^"\\\n])*"', String),
            (r"%\w+", Name.Variable),
            (r"\bOp\w+", Keyword),
            (r"-?\b\d[\w.+-]*", Number),
            (r"[A-Za-z_]\w*", Token),
            (r"\s+|.", Token),
        ]
    }


@cache
def _lexer(language: Language) -> Lexer:
    options = {"stripnl": False, "ensurenl": False}
    match language:
        case "mlir":
            return MlirLexer(**options)
        case "spirv":
            return _SpirvLexer(**options)
        case _:
            return CppLexer(**options)


def runs(lines: Sequence[str], language: Language) -> list[str]:
    """The runs of each line."""
    if language == "text":
        return [""] * len(lines)
    result: list[str] = []
    line: list[tuple[str, int]] = []
    for kind, text in _lexer(language).get_tokens("\n".join(lines)):
        for number, part in enumerate(text.split("\n")):
            if number:
                result.append(_encoded(line))
                line = []
            if part:
                line.append((_class(kind), len(part)))
    result.append(_encoded(line))
    return result[: len(lines)] + [""] * (len(lines) - len(result))


@cache
def _class(kind: tuple[str, ...]) -> str:
    parents = (kind[:length] for length in range(len(kind), 0, -1))
    return next((_CLASSES[k] for k in parents if k in _CLASSES), "_")


def _encoded(line: list[tuple[str, int]]) -> str:
    merged: list[tuple[str, int]] = []
    for letter, length in line:
        if merged and merged[-1][0] == letter:
            length += merged.pop()[1]
        merged.append((letter, length))
    if merged and merged[-1][0] == "_":
        merged.pop()
    return "".join(f"{letter}{_base36(length)}" for letter, length in merged)


_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def _base36(number: int) -> str:
    text = ""
    while number:
        number, digit = divmod(number, 36)
        text = _DIGITS[digit] + text
    return text or "0"
