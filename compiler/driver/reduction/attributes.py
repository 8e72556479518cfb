"""Fewer attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

if TYPE_CHECKING:
    from ingot.compiler.driver.reduction.search import Part


@dataclass(frozen=True)
class DropAttributes:
    """Remove attributes and properties; those that an op needs are missed by its verifier."""

    name = "attributes"

    def parts(self, module: ModuleOp) -> Sequence[Part]:
        """Positions of ops, and numbers of their attributes, then of their properties."""
        return [
            (index, number)
            for index, op in enumerate(module.walk())
            for number in range(len(op.attributes) + len(op.properties))
        ]

    def take(self, module: ModuleOp, parts: Sequence[Part]) -> None:
        """Remove them."""
        ops = list(module.walk())
        for index, number in sorted(parts, reverse=True):
            op = ops[index]
            attributes = len(op.attributes)
            if number < attributes:
                del op.attributes[list(op.attributes)[number]]
            else:
                del op.properties[list(op.properties)[number - attributes]]
