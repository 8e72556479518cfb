"""Walk over ops with one generator for each op that has regions.

xDSL's walk makes a generator for every op, which hands each op up through those of all ops around:
a tenth of the time of passes over small modules.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xdsl.ir import Block, Operation, Region

_walk_operation: Any = Operation.walk
_walk_region: Any = Region.walk
_walk_block: Any = Block.walk


def install() -> None:
    """Make xDSL walk so; doing it twice does no more."""
    Operation.walk = _of_operation
    Region.walk = _of_region
    Block.walk = _of_block


def _of_operation(
    self: Operation, *, reverse: bool = False, region_first: bool = False
) -> Iterator[Operation]:
    """`Operation.walk`: the op, then what is in its regions, in order."""
    if reverse or region_first:
        return _walk_operation(self, reverse=reverse, region_first=region_first)
    return _with_inner(self)


def _of_region(
    self: Region, *, reverse: bool = False, region_first: bool = False
) -> Iterator[Operation]:
    """`Region.walk`."""
    if reverse or region_first:
        return _walk_region(self, reverse=reverse, region_first=region_first)
    return _in_region(self)


def _of_block(
    self: Block, *, reverse: bool = False, region_first: bool = False
) -> Iterator[Operation]:
    """`Block.walk`."""
    if reverse or region_first:
        return _walk_block(self, reverse=reverse, region_first=region_first)
    return _in_block(self)


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
