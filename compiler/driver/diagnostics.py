"""From an exception to what the user reads.

Every failure that a user can cause ends in

    file:line:col: error: what is wrong
      the source line
              ^
    help: what to do instead

An exception outside the closed set below is a bug in Ingot; the commands say so and leave a file
that reproduces it (`reproducer`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from xdsl.utils.exceptions import DiagnosticException, ParseError

from ingot.compiler.analysis.diagnostics import Refusal, file_line_col
from ingot.compiler.plugins import PluginError
from ingot.targets.msl import MslError
from ingot.targets.pyspirv import SpirvCrossError
from ingot.targets.spirv.errors import SpirvError

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Diagnostic:
    """One message; `line` and `column` start at 1 and are 0 where the place is unknown."""

    severity: Severity
    message: str
    filename: str = ""
    line: int = 0
    column: int = 0
    hint: str | None = None

    @property
    def position(self) -> str:
        """`file:line:col`, as far as it is known."""
        if not self.filename:
            return ""
        return f"{self.filename}:{self.line}:{self.column}" if self.line else self.filename


class CompileError(Exception):
    """A failure of the driver itself (a file, an option, a tool), in one sentence and a hint."""

    def __init__(self, message: str, hint: str | None = None, filename: str = "") -> None:
        super().__init__(message)
        if hint is not None:
            self.add_note(f"help: {hint}")
        self.hint = hint
        self.filename = filename


def is_user_error(error: BaseException) -> bool:
    """Whether the exception is a way of saying no, rather than a bug.

    Among them a missing tool, and SPIR-V that the user handed in; what the compiler itself makes
    and a tool then refuses never gets here (see `kernels`).
    """
    from ingot.compiler.driver.pass_pipeline import PipelineError
    from ingot.compiler.driver.registry import UnknownPass

    expected = (Refusal, ParseError, DiagnosticException, CompileError, PipelineError, UnknownPass)
    return isinstance(error, (*expected, PluginError, SpirvError, SpirvCrossError, MslError))


def diagnose(error: BaseException, filename: str = "") -> Diagnostic:
    """The diagnostic of an exception for which `is_user_error` holds."""
    if isinstance(error, Refusal):
        where = file_line_col(error.location)
        name, line, column = where if where is not None else (filename, 0, 0)
        return Diagnostic("error", error.message, name, line, column, error.hint)
    if isinstance(error, ParseError):
        place = error.span.get_location()
        return Diagnostic("error", _parse_message(error.msg), place.file, place.line, place.col)
    if isinstance(error, CompileError):
        return Diagnostic("error", str(error), error.filename or filename, hint=error.hint)
    first = str(error).strip().splitlines()
    return Diagnostic("error", first[0] if first else type(error).__name__, filename)


def render(diagnostic: Diagnostic, sources: Mapping[str, str]) -> str:
    """The text a person reads; `sources` maps file names to their text, for the line and caret."""
    prefix = f"{diagnostic.position}: " if diagnostic.position else ""
    lines = [f"{prefix}{diagnostic.severity}: {diagnostic.message}"]
    source = sources.get(diagnostic.filename)
    if source is not None and diagnostic.line:
        lines += _excerpt(source, diagnostic.line, diagnostic.column)
    if diagnostic.hint:
        lines.append(f"help: {diagnostic.hint}")
    return "\n".join(lines)


def _excerpt(source: str, line: int, column: int, width: int = 160) -> list[str]:
    """The source line and a caret below it, cut to `width` characters around the caret."""
    lines = source.split("\n")
    if line > len(lines):
        return []
    text = lines[line - 1].rstrip("\r").expandtabs(1)
    offset = max(column - 1, 0)
    start = max(0, offset - width // 2) if len(text) > width else 0
    shown = text[start : start + width]
    return [f"  {shown}", "  " + " " * (offset - start) + "^"]


def _parse_message(message: str) -> str:
    """The parser's sentence, on one line and without a capital or a full stop."""
    text = re.sub(r"\s+", " ", message).strip().rstrip(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
