"""What shapes and dimension numbers of StableHLO ops have to fit, by op.

Of the specification's constraints these are the ones that a lowering relies on; element types are
checked on the ops that it makes. Sizes that are open fit anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType

from ingot.compiler.dialects.stablehlo.shapes import (
    control,
    elements,
    gathers,
    moves,
    products,
    slices,
    windows,
)
from ingot.compiler.dialects.stablehlo.shapes.common import Rule

if TYPE_CHECKING:
    from ingot.compiler.dialects.stablehlo.base import StableHLOOp

_RULES: dict[str, Rule] = {
    **control.RULES,
    **elements.RULES,
    **moves.RULES,
    **slices.RULES,
    **windows.RULES,
    **gathers.RULES,
    **products.RULES,
}


def broken_shape(op: StableHLOOp) -> str | None:
    """The sentence for a rule about shapes that the op breaks, or None."""
    rule = _rule(op.name)
    if rule is None or not all(isinstance(value.type, TensorType) for value in (*op.ins, *op.outs)):
        return None
    if not op.outs and op.name not in control.RULES:
        return "needs a result"
    return rule(op)


def _rule(name: str) -> Rule | None:
    if name.startswith("chlo.broadcast_"):
        return elements.broadcasting
    return _RULES.get(name, elements.elementwise if name.startswith("chlo.") else None)
