"""Which attentions of a program are kernels, and with which ops around them. Pure functions."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block

from ingot.compiler.analysis.affine_maps import permutation_of
from ingot.compiler.analysis.attention import Attention, match_attention
from ingot.compiler.analysis.attention_schedule import (
    FEWEST_ROWS,
    LARGEST_HEAD,
    MOST_KEYS,
    MOST_WORK,
)
from ingot.compiler.analysis.structured import (
    indexing_maps,
    is_parallel,
    loop_extents,
    reduction_loops,
    users_of,
)
from ingot.compiler.dialects.linalg import GenericOp


def find_attention(block: Block) -> list[Attention]:
    """Every attention of a block; they share no ops."""
    found: list[Attention] = []
    taken: set[GenericOp] = set()
    for op in block.ops:
        if isinstance(op, GenericOp) and reduction_loops(op):
            attention = match_attention(op)
            if attention is not None and taken.isdisjoint(attention.members):
                found.append(attention)
                taken.update(attention.members)
    return found


def find_products(block: Block) -> list[Attention]:
    """Every two matrix products in a row; they may share ops."""
    pairs = (
        match_attention(op, softmax=False)
        for op in block.ops
        if isinstance(op, GenericOp) and reduction_loops(op)
    )
    return [pair for pair in pairs if pair is not None]


def kernel_attention(block: Block) -> Attention:
    """The attention, or the two products in a row, that a kernel of this kind computes."""
    return [*find_attention(block), *find_products(block)][0]


def attention_kernels(block: Block, *, merge_products: bool = True) -> list[tuple[GenericOp, ...]]:
    """The ops of each attention that one kernel can compute, with what follows it elementwise.

    With `merge_products`, two products in a row are one where they are so small that a dispatch
    takes longer.
    """
    found: list[tuple[GenericOp, ...]] = []
    pairs = find_products(block) if merge_products else []
    small = [pair for pair in pairs if pair.work <= MOST_WORK]
    taken: set[GenericOp] = set()
    for attention in [*find_attention(block), *sorted(small, key=lambda pair: pair.work)]:
        if not taken.isdisjoint(attention.members):
            continue
        taken.update(attention.members)
        extents = loop_extents(attention.product)
        head = loop_extents(attention.scores)[attention.score_loops.index(None)]
        largest = max(head, extents[attention.value_loop])
        if largest > LARGEST_HEAD or head == 0 or DYNAMIC_INDEX in extents or 0 in extents:
            continue
        rows = prod(extents[i] for i in attention.row_loops)
        if rows >= FEWEST_ROWS or extents[attention.key_loop] <= MOST_KEYS:
            found.append((*attention.members, *_epilogue(attention)))
    return found


def _epilogue(attention: Attention) -> list[GenericOp]:
    """The elementwise ops that follow the result one by one, each the only reader of the last."""
    found: list[GenericOp] = []
    op = attention.product
    while len(users := users_of(op)) == 1:
        (user,) = users
        if not isinstance(user, GenericOp) or not all(is_parallel(user)) or len(user.results) != 1:
            break
        maps = indexing_maps(user)
        positions = [i for i, v in enumerate(user.operands) if v.owner is op]
        order = permutation_of(maps[-1])
        if order is None or len(order) != len(user.iterator_types.data):
            break
        if (
            any(
                i >= len(user.inputs) or set(permutation_of(maps[i]) or ()) != set(order)
                for i in positions
            )
            or not positions
        ):
            break
        found.append(user)
        op = user
    return found
