"""Which loops and operands of a contraction are its rows, its columns and its depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir.affine import AffineDimExpr, AffineMap

from ingot.compiler.analysis.structured import indexing_maps, reduction_loops
from ingot.compiler.dialects.linalg import GenericOp
from ingot.passes.kernel.linear import Linear


@dataclass(frozen=True)
class ContractionLoops:
    """Positions of loops, and of the inputs that vary with them."""

    rows: int
    """The loop of the result's last dimension but one."""
    columns: int
    """The loop of the result's last dimension."""
    depth: int
    """The reduction."""
    row_input: int
    column_input: int

    def across(self, position: int) -> int:
        """The loop other than the depth that input `position` varies with."""
        return self.rows if position == self.row_input else self.columns

    def at(self, count: int, row: Linear, column: Linear, depth: Linear) -> list[Linear]:
        """A point of `count` loops; all others than these three are at 0 of their tile."""
        loops = [Linear()] * count
        loops[self.rows], loops[self.columns], loops[self.depth] = row, column, depth
        return loops


def contraction_loops(op: GenericOp) -> ContractionLoops:
    """The loops of a contraction whose result's last two dimensions are rows and columns."""
    *inputs, out = indexing_maps(op)
    (depth,) = reduction_loops(op)
    rows, columns = (_position(out, i) for i in (-2, -1))
    row_input = 0 if rows in inputs[0].used_dims() else 1
    return ContractionLoops(rows, columns, depth, row_input, 1 - row_input)


def operand_index(map_: AffineMap, loops: Sequence[Linear]) -> tuple[Linear, ...]:
    """The index of the element that a contraction's operand has at a point of the loops."""
    return tuple(loops[_position(map_, i)] for i in range(len(map_.results)))


def _position(map_: AffineMap, result: int) -> int:
    expr = map_.results[result]
    assert isinstance(expr, AffineDimExpr), "a contraction's operands are indexed by plain loops"
    return expr.position
