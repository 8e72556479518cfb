"""Source locations: the positions inside of one, and one for what comes from several places."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    NameLoc,
    NoneAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute

Position = tuple[str, int, int]
"""File, line and column; both count from 1."""


def positions(location: Attribute | None) -> Iterator[Position]:
    """Every file position inside a location, in order. Of a call site the callee's count, or else
    the caller's."""
    match location:
        case FileLineColLoc():
            yield location.filename.data, location.line.data, location.column.data
        case NameLoc():
            yield from positions(location.location)
        case CallSiteLoc():
            callee = list(positions(location.callee))
            yield from callee or positions(location.caller)
        case FusedLoc(locations=ArrayAttr(data=parts)):
            for part in parts:
                yield from positions(part)
        case _:
            pass


def fused(*locations: LocationAttr) -> LocationAttr:
    """The location of what comes from all of these places; each counts once."""
    parts: dict[Attribute, None] = {}
    for location in locations:
        match location:
            case FusedLoc(locations=ArrayAttr(data=inner)):
                parts.update(dict.fromkeys(inner))
            case UnknownLoc():
                pass
            case _:
                parts[location] = None
    if len(parts) == 1 and isinstance(only := next(iter(parts)), LocationAttr):
        return only
    return FusedLoc(ArrayAttr(parts), NoneAttr()) if parts else UnknownLoc()
