"""Replacing the body of a helper function in MSL text by a native one.

SPIR-V cannot say everything that the hardware does. A kernel then calls a function whose body is
portable and correct; SPIRV-Cross prints it as one definition, and the text gets a body of
intrinsics instead. The portable body stays in the SPIR-V and defines the meaning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .tokens import (
    closing_index,
    is_blank,
    is_identifier,
    next_index,
    previous_index,
    split_commas,
    tokenize,
)

_PLACEHOLDER = re.compile(r"\$(\d+)")


class FunctionNotFound(ValueError):
    """The text has no such function, or more than one."""


@dataclass(frozen=True)
class Function:
    """A function definition in a text."""

    name: str
    parameters: tuple[str, ...]
    """Parameter names in order; SPIRV-Cross appends the builtins that the body reads."""
    declarations: tuple[str, ...]
    """The parameters as they are declared: `thread const float2& a`."""
    body: tuple[int, int]
    """Token indices of the braces of the body."""


def find_function(tokens: list[str], name: str) -> Function:
    """The definition of `name` among `tokens`. Raises `FunctionNotFound`."""
    found: list[Function] = []
    for index, token in enumerate(tokens):
        if token != name:
            continue
        opening = next_index(tokens, index)
        before = previous_index(tokens, index)
        # A definition has a type before its name; a call has an operator, a bracket or a keyword.
        if (
            opening >= len(tokens)
            or tokens[opening] != "("
            or before < 0
            or not (is_identifier(tokens[before]) or tokens[before] in (">", "&", "*"))
            or tokens[before] in ("return", "else")
        ):
            continue
        closing = closing_index(tokens, opening)
        brace = next_index(tokens, closing)
        if brace >= len(tokens) or tokens[brace] != "{":
            continue
        pieces = split_commas(tokens[opening + 1 : closing])
        found.append(
            Function(
                name,
                tuple(_parameter_name(piece) for piece in pieces),
                tuple("".join(piece).strip() for piece in pieces),
                (brace, closing_index(tokens, brace)),
            )
        )
    if len(found) != 1:
        count = "no definition" if not found else f"{len(found)} definitions"
        raise FunctionNotFound(f"the MSL text has {count} of a function {name!r}")
    return found[0]


def substitute_function_body(text: str, name: str, body: str) -> str:
    """The text with the body of function `name` replaced by `body`.

    `body` is the lines between the braces, indented from column 0; `$0`, `$1`, ... stand for the
    function's parameters, whatever SPIRV-Cross named them. Raises `FunctionNotFound` when the text
    does not define `name` exactly once, `ValueError` for a parameter that it does not have.
    """
    tokens = tokenize(text)
    function = find_function(tokens, name)

    def parameter(match: re.Match[str]) -> str:
        index = int(match.group(1))
        if index >= len(function.parameters):
            raise ValueError(
                f"the native body of {name!r} uses parameter {index}; "
                f"the function has {len(function.parameters)}"
            )
        return function.parameters[index]

    lines = _PLACEHOLDER.sub(parameter, body.strip("\n")).splitlines()
    # Preprocessor lines stay where a preprocessor expects them.
    inner = "".join(f"{'' if not x or x.startswith('#') else '    '}{x}\n" for x in lines)
    start, end = function.body
    return "".join(tokens[: start + 1]) + "\n" + inner + "".join(tokens[end:])


def _parameter_name(piece: list[str]) -> str:
    """`uint lane [[thread_index_in_simdgroup]]` is `lane`; `thread float (&a)[2]` is `a`."""
    if "[[" in piece:
        piece = piece[: piece.index("[[")]
    if "(" in piece:
        opening = piece.index("(")
        piece = piece[opening + 1 : closing_index(piece, opening)]
    elif "[" in piece:
        piece = piece[: piece.index("[")]
    return next(x for x in reversed(piece) if not is_blank(x) and is_identifier(x))
