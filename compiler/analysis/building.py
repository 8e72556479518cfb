"""Where new ops go: builders at the usual places."""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.ir import Block, Operation
from xdsl.rewriter import InsertPoint


def before(op: Operation) -> Builder:
    """A builder that inserts before `op`."""
    return Builder(InsertPoint.before(op))


def after(op: Operation) -> Builder:
    """A builder that inserts after `op`."""
    return Builder(InsertPoint.after(op))


def at_start(block: Block) -> Builder:
    """A builder that inserts at the start of `block`."""
    return Builder(InsertPoint.at_start(block))


def at_end(block: Block) -> Builder:
    """A builder that appends to `block`."""
    return Builder(InsertPoint.at_end(block))
