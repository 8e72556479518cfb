"""The one way a pass or front end says no.

Whatever a user did wrong, or a target cannot do, is raised as a `Refusal` that carries the source
location; the driver turns it into `file:line:col: error: ...` with the source line and a caret.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from ingot.compiler.analysis.locations import positions


@dataclass
class Refusal(Exception):
    """A program that cannot be compiled, in one sentence, and what to do instead.

    `hint` completes the sentence "help: ...". `location` is unknown for programs built in memory.
    """

    message: str
    location: LocationAttr | None = None
    hint: str | None = None

    def __str__(self) -> str:
        return self.message


def refuse(
    where: Operation | SSAValue | LocationAttr, message: str, hint: str | None = None
) -> Refusal:
    """Build the `Refusal` to raise for the op, value or location `where`."""
    match where:
        case OpResult():
            location = where.op.location
        case BlockArgument() | Operation():
            location = where.location
        case SSAValue():
            location = None
        case _:
            location = where
    return Refusal(message, location, hint)


def file_line_col(location: LocationAttr | Attribute | None) -> tuple[str, int, int] | None:
    """The first file position inside a location, or None when there is none.

    Of a call site the callee's, of a fused location the first that has one.
    """
    return next(positions(location), None)
