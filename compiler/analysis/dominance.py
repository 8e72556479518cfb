"""Whether every value is defined before it is used; xDSL's verifier does not ask."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl.dominance import DominanceInfo


def first_undefined_use(module: ModuleOp) -> tuple[Operation, SSAValue] | None:
    """The first op with an operand that is not defined where the op stands, and that operand."""
    return _in_region(module.body, set())


def _in_region(region: Region, visible: set[SSAValue]) -> tuple[Operation, SSAValue] | None:
    """Check a region that sees `visible`; in a single block what is defined earlier, too."""
    blocks = list(region.blocks)
    if len(blocks) == 1:
        return _in_block(blocks[0], visible)
    dominance = DominanceInfo(region) if blocks else None
    for block in blocks:
        assert dominance is not None
        seen = set(visible)
        for other in blocks:
            if other is not block and dominance.dominates(other, block):
                seen.update(other.args)
                seen.update(result for op in other.ops for result in op.results)
        if (found := _in_block(block, seen)) is not None:
            return found
    return None


def _in_block(block: Block, outer: set[SSAValue]) -> tuple[Operation, SSAValue] | None:
    visible = outer  # shared with the caller, who drops what this block added
    added: list[SSAValue] = [*block.args]
    visible.update(added)
    try:
        for op in block.ops:
            for operand in op.operands:
                if operand not in visible:
                    return op, operand
            for region in op.regions:
                if (found := _in_region(region, visible)) is not None:
                    return found
            visible.update(op.results)
            added += op.results
    finally:
        visible.difference_update(added)
    return None
