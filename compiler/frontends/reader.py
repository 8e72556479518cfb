"""Reads a program: text in, module out, and every way of saying no at its place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.utils.exceptions import ParseError

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.frontends.module_parser import ModuleParser
from ingot.compiler.frontends.source import SourceText

if TYPE_CHECKING:
    from xdsl.context import Context


def read_module(
    text: str | bytes | SourceText,
    filename: str,
    context: Context,
    *,
    keep_positions: bool = False,
) -> ModuleOp:
    """Parse a module of MLIR text, or of index notation (a `.tin` file, or text that begins with a
    declaration).

    Ops are located where the text says they come from, or else where they stand in it; with
    `keep_positions` always there, too.

    Raises `Refusal`, with the position in the text, for syntax errors, unknown ops and bytecode.
    The module is not verified.
    """
    if isinstance(text, bytes):
        if text.startswith(b"ML\xefR"):
            raise Refusal(
                f"{filename} holds MLIR bytecode, and only text is read",
                hint=f"convert it with `mlir-opt {filename} -o text.mlir`",
            )
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Refusal(f"{filename} is not UTF-8 text") from error
    source = SourceText.of(text) if isinstance(text, str) else text
    # An empty text has no token that could make xDSL's parser start.
    if not source.text.strip():
        raise Refusal(f"{filename} is empty", _at(filename, 1, 1))
    if _is_index_notation(source.text, filename):
        from ingot.compiler.frontends.index_notation import lower_program, parse_program

        return lower_program(parse_program(source.text, filename))
    parser = None
    try:
        parser = ModuleParser(context, source, filename, keep_positions=keep_positions)
        return parser.parse_module()
    except ParseError as error:
        line, column = source.place(error.span.start)
        message, _, hint = _sentence(error.msg).partition("\nhelp: ")
        raise Refusal(message, _at(filename, line, column), hint or None) from error
    except Exception as error:
        # What xDSL's parsers meet unprepared, such as an attribute that they cannot hold.
        assert parser is not None
        sentence = _sentence(str(error)) or "this cannot be read"
        raise Refusal(sentence, parser.position_of(parser.pos)) from error


def _is_index_notation(text: str, filename: str) -> bool:
    """No MLIR begins with `@`; both may begin with lines of `#`."""
    return filename.endswith(".tin") or re.match(r"(?:\s|#.*\n)*@\w", text) is not None


def _sentence(message: str) -> str:
    """One of xDSL's messages in the words of ours."""
    message = re.sub(r"^('.+?') expected\b", r"expected \1", message.strip().rstrip("!."))
    return message[:1].lower() + message[1:] if message[1:2].islower() else message


def _at(filename: str, line: int, column: int) -> FileLineColLoc:
    return FileLineColLoc(StringAttr(filename), IntAttr(line), IntAttr(column))
