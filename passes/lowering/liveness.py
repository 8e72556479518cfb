"""Which ops of a function matter: those with effects, and what they need."""

from __future__ import annotations

from xdsl.ir import Block, Operation

_EFFECTS = frozenset(
    {"memref.store", "vector.store", "gpu.subgroup_mma_store_matrix", "gpu.barrier"}
)


def live_ops(body: Block) -> set[Operation]:
    """The ops of a function, nested ones included, that it cannot do without."""
    live: set[Operation] = set()
    effects = {op for op in body.walk() if op.name in _EFFECTS}
    holders: set[Operation] = set()
    for op in effects:
        parent = op.parent_op()
        while parent is not None and parent not in holders:
            holders.add(parent)
            parent = parent.parent_op()
    _mark(body, effects, holders, live)
    return live


def _mark(
    block: Block, effects: set[Operation], holders: set[Operation], live: set[Operation]
) -> None:
    """Mark the live ops of a block from its end; its terminator is live."""
    last = block.last_op
    for op in reversed(block.ops):
        needed = op is last or op in effects or op in holders
        if not needed:
            needed = any(use.operation in live for result in op.results for use in result.uses)
        if needed:
            live.add(op)
            for region in op.regions:
                for inner in region.blocks:
                    _mark(inner, effects, holders, live)
