"""What regions use from outside."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, Region, SSAValue


def captured_values(regions: Sequence[Region]) -> list[SSAValue]:
    """The values that regions use and do not make, each once, in order of first use."""
    inside: set[Operation | Block] = set()
    for region in regions:
        inside.update(region.blocks)
        for op in region.walk():
            inside.add(op)
            inside.update(block for nested in op.regions for block in nested.blocks)
    found: dict[SSAValue, None] = {}
    for region in regions:
        for op in region.walk():
            found.update((value, None) for value in op.operands if value.owner not in inside)
    return list(found)
