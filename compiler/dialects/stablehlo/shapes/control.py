"""Control flow: what regions take and return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType, i1
from xdsl.ir import Attribute, Region

from ingot.compiler.dialects.stablehlo.shapes.common import (
    Rule,
    agree,
    first,
    returned,
    scalars,
    tensor,
)

if TYPE_CHECKING:
    from ingot.compiler.dialects.stablehlo.base import StableHLOOp


def _returns(region: Region, types: Sequence[Attribute]) -> str | None:
    """What a region returns; sizes may be open on one side."""
    values = returned(region)
    if isinstance(values, str):
        return values
    found = [value.type for value in values]
    if len(found) != len(types):
        return (
            f"needs regions that return {len(types)} values, but has one that returns {len(found)}"
        )
    for own, wanted in zip(found, types, strict=True):
        if not _may_be(own, wanted):
            return f"needs regions that return {wanted}, but has one that returns {own}"
    return None


def _may_be(own: Attribute, wanted: Attribute) -> bool:
    left, right = tensor(own), tensor(wanted)
    if left is None or right is None:
        return own == wanted
    return left.element_type == right.element_type and agree(left.get_shape(), right.get_shape())


def _while(op: StableHLOOp) -> str | None:
    condition, body = op.bodies
    if len(op.outs) != len(op.ins) or not all(map(_may_be, op.operand_types, op.result_types)):
        return "needs results of the types of its operands"
    return _returns(condition, [TensorType(i1, [])]) or _returns(body, list(op.operand_types))


def _branches(op: StableHLOOp) -> str | None:
    if (broken := scalars("an index or a condition", op.ins)) is not None:
        return broken
    if any(block.args for region in op.bodies for block in region.blocks):
        return "needs regions without arguments"
    return first(_returns(region, list(op.result_types)) for region in op.bodies)


RULES: dict[str, Rule] = {
    "stablehlo.while": _while,
    "stablehlo.if": _branches,
    "stablehlo.case": _branches,
}
