"""Read the assembly format of an op when the op is first parsed or printed in it.

xDSL reads the formats of all ops of a dialect when the dialect is imported: 230 formats of which a
compilation uses about a dozen, a tenth of its time. `docs/upstream` has the patch for xDSL; until
then importing `ingot.compiler.dialects` puts the same change in place. A format that cannot be read
is found by the tests, which parse and print every op.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from xdsl.irdl.declarative_assembly_format import FormatProgram

if TYPE_CHECKING:
    from xdsl.irdl import IRDLOperation, OpDef
    from xdsl.parser import Parser
    from xdsl.printer import Printer

T = TypeVar("T", bound="IRDLOperation")

_read = FormatProgram.from_str


class LazyFormatProgram:
    """Stands for the `FormatProgram` of `text`, and makes it when it is needed."""

    __slots__ = ("_definition", "_program", "_text")

    def __init__(self, text: str, definition: OpDef) -> None:
        self._text = text
        self._definition = definition
        self._program: FormatProgram | None = None

    @property
    def program(self) -> FormatProgram:
        """The format; raises `ParseError` where the text is none."""
        if self._program is None:
            self._program = _read(self._text, self._definition)
        return self._program

    def parse(self, parser: Parser, op_type: type[T]) -> T:
        """Parse an op of this type in the format."""
        return self.program.parse(parser, op_type)

    def print(self, printer: Printer, op: IRDLOperation) -> None:
        """Print `op` in the format."""
        self.program.print(printer, op)


def install() -> None:
    """Make xDSL's op definitions keep their formats as text; doing it twice does no more."""
    FormatProgram.from_str = LazyFormatProgram  # pyright: ignore[reportAttributeAccessIssue]
