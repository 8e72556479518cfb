"""Walk over ops with one generator for each op that has regions.

xDSL's walk makes a generator for every op, which hands each op up through those of all ops around:
a tenth of the time of passes over small modules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from xdsl.ir import Block, Operation, Region

XDSLS: dict[type, Any] = {cls: cls.walk for cls in (Operation, Region, Block)}
"""What walks in other orders."""


def install() -> None:
    """Make xDSL walk so; doing it twice does no more."""
    for cls, walk in WALKS.items():
        cls.walk = walk


def _walk(theirs: Any, in_order: Callable[[Any], Iterator[Operation]]) -> Any:
    def walk(
        self: Any, *, reverse: bool = False, region_first: bool = False
    ) -> Iterator[Operation]:
        """Iterate over the ops inside, and an op itself; by default each before what it holds."""
        if reverse or region_first:
            return theirs(self, reverse=reverse, region_first=region_first)
        return in_order(self)

    return walk


def _with_inner(op: Operation) -> Iterator[Operation]:
    yield op
    for region in op.regions:
        yield from _in_region(region)


def _in_region(region: Region) -> Iterator[Operation]:
    block = region.first_block
    while block is not None:
        following = block.next_block
        yield from _in_block(block)
        block = following


def _in_block(block: Block) -> Iterator[Operation]:
    op = block.first_op
    while op is not None:
        following = op.next_op  # what is walked over may be moved or erased
        yield op
        for region in op.regions:
            yield from _in_region(region)
        op = following


WALKS: dict[Any, Any] = {
    Operation: _walk(XDSLS[Operation], _with_inner),
    Region: _walk(XDSLS[Region], _in_region),
    Block: _walk(XDSLS[Block], _in_block),
}
