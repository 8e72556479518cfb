"""Which loops and operands of a contraction are its rows, its columns and its depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir.affine import AffineDimExpr, AffineMap

from ingot.compiler.analysis.structured import (
    indexing_maps,
    match_contraction,
    reduction_loops,
    row_dimension,
)
from ingot.compiler.dialects.linalg import GenericOp
from ingot.passes.kernel.linear import Linear

SIMD_WIDTH = 32
"""Threads of a SIMD-group."""


@dataclass(frozen=True)
class ContractionLoops:
    """Positions of loops, and of the inputs that vary with them."""

    rows: int
    """The loop of another dimension of the result."""
    columns: int
    """The loop of the result's last dimension."""
    depth: int
    """The reduction."""
    row_input: int
    column_input: int
    row_dim: int
    """The result's dimension of the rows, counted from the end."""

    def sides(self, tile: tuple[int, ...]) -> tuple[int, int]:
        """Rows and columns of a tile that has a size for each dimension of the result."""
        return tile[self.row_dim], tile[-1]

    def result_index(self, rank: int, row: Linear, column: Linear) -> tuple[Linear, ...]:
        """The index in a tile of the result, which has one element along all other dimensions."""
        index = [Linear()] * rank
        index[self.row_dim], index[-1] = row, column
        return tuple(index)

    def across(self, position: int) -> int:
        """The loop other than the depth that input `position` varies with."""
        return self.rows if position == self.row_input else self.columns

    def at(self, count: int, row: Linear, column: Linear, depth: Linear) -> list[Linear]:
        """A point of `count` loops; all others than these three are at 0 of their tile."""
        loops = [Linear()] * count
        loops[self.rows], loops[self.columns], loops[self.depth] = row, column, depth
        return loops


def contraction_loops(op: GenericOp) -> ContractionLoops:
    """The loops of a contraction whose result has columns as its last dimension."""
    *inputs, out = indexing_maps(op)
    (depth,) = reduction_loops(op)
    contraction = match_contraction(op)
    assert contraction is not None
    row_dim = row_dimension(op, contraction)
    assert row_dim is not None, "the schedule of a contraction was chosen for rows and columns"
    rows, columns = _position(out, row_dim), _position(out, -1)
    row_input = 0 if rows in inputs[0].used_dims() else 1
    return ContractionLoops(rows, columns, depth, row_input, 1 - row_input, row_dim)


def operand_index(map_: AffineMap, loops: Sequence[Linear]) -> tuple[Linear, ...]:
    """The index of the element that a contraction's operand has at a point of the loops."""
    return tuple(loops[_position(map_, i)] for i in range(len(map_.results)))


def _position(map_: AffineMap, result: int) -> int:
    expr = map_.results[result]
    assert isinstance(expr, AffineDimExpr), "a contraction's operands are indexed by plain loops"
    return expr.position
