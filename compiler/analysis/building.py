"""Where new ops go: builders at the usual places.

What is inserted beside an op comes from the same place of the source, where it says nothing else.
"""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.dialects.builtin import LocationAttr, UnknownLoc
from xdsl.ir import Block, Operation
from xdsl.rewriter import InsertPoint


def before(op: Operation, location: LocationAttr | None = None) -> Builder:
    """A builder that inserts before `op`; what has no location gets `location`, or that of `op`."""
    return _at(InsertPoint.before(op), location or op.location)


def after(op: Operation) -> Builder:
    """A builder that inserts after `op`."""
    return _at(InsertPoint.after(op), op.location)


def at_start(block: Block) -> Builder:
    """A builder that inserts at the start of `block`."""
    return Builder(InsertPoint.at_start(block))


def at_end(block: Block, location: LocationAttr | None = None) -> Builder:
    """A builder that appends to `block`; what has no location gets `location`."""
    return _at(InsertPoint.at_end(block), location)


def _at(place: InsertPoint, location: LocationAttr | None) -> Builder:
    if location is None or isinstance(location, UnknownLoc):
        return Builder(place)

    def locate(op: Operation) -> None:
        if isinstance(op.location, UnknownLoc):
            op.location = location

    return Builder(place, operation_insertion_handler=[locate])
