"""The result of a contraction in matrix units whose fragments are vectors of known place.

An 8x8 matrix is spread over the 32 lanes of a SIMD-group, two elements of a row in each: with
q = lane / 4, row (q & 4) + (lane / 2) % 4, columns (q & 2) * 2 + (lane % 2) * 2 and the next.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from ingot.compiler.analysis.schedule import Schedule
from ingot.compiler.dialects.gpu import LaneIdOp, SubgroupIdOp
from ingot.compiler.dialects.linalg import GenericOp
from ingot.compiler.dialects.simdgroup import MultiplyAccumulateOp
from ingot.passes.kernel.contraction_loops import SIMD_WIDTH, ContractionLoops
from ingot.passes.kernel.distributed_tile import DistributedTile, Point
from ingot.passes.kernel.evaluate import Evaluator
from ingot.passes.kernel.linear import Linear
from ingot.passes.kernel.staging import VECTOR_BYTES, Layout, StagedTile

_SIDE = 8
"""Rows, columns and depth of a fragment."""
_PER_LANE = 2
"""Elements of a fragment that a lane holds."""


class FragmentTile(DistributedTile):
    """Each SIMD-group holds a grid of fragments, and multiplies fragments of the staged tiles."""

    def __init__(
        self, evaluator: Evaluator, schedule: Schedule, op: GenericOp, loops: ContractionLoops
    ) -> None:
        assert schedule.unit == (_SIDE,) * 3, "fragments of known place are 8x8"
        self.schedule = schedule
        super().__init__(evaluator, op, loops, _PER_LANE)

    def layout(self, position: int) -> Layout:
        """Fragments are read along the rows of their matrices: rows of A run along the depth."""
        return Layout("depth" if position == self.loops.row_input else "across", VECTOR_BYTES)

    def make_points(self) -> list[Point]:
        evaluator = self.evaluator
        rows, columns = self.loops.sides(self.schedule.subgroup)
        across = self.schedule.threadgroup[-1] // columns
        lane = evaluator.once("lane", lambda: evaluator.emit(LaneIdOp()).result)
        group = evaluator.once("subgroup", lambda: evaluator.emit(SubgroupIdOp()).result)
        evaluator.below |= {lane: SIMD_WIDTH, group: self.schedule.threads // SIMD_WIDTH}
        d, part = AffineDimExpr(0), evaluator.form
        self.lane_row = part(d // 16, lane) * 4 + part((d // 2) % 4, lane)
        self.lane_column = part((d // 8) % 2, lane) * 4 + part(d % 2, lane) * 2
        down, along = part(d // across, group) * rows, part(d % across, group) * columns
        self.rows = [down + start for start in range(0, rows, _SIDE)]
        self.columns = [along + start for start in range(0, columns, _SIDE)]
        return [
            (row + self.lane_row, column + self.lane_column)
            for row in self.rows
            for column in self.columns
        ]

    def step(
        self, staged: Sequence[StagedTile], stage: Linear, accumulators: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """The products of all fragments along the depth of the tile, each loaded once."""
        left, right = staged[self.loops.row_input], staged[self.loops.column_input]
        values: list[SSAValue] = list(accumulators)
        for start in range(0, self.schedule.reduction, _SIDE):
            along = self.lane_column + start
            lefts = [
                left.read(row + self.lane_row, along, stage, "depth", _PER_LANE)
                for row in self.rows
            ]
            down = self.lane_row + start
            rights = [
                right.read(column + self.lane_column, down, stage, "across", _PER_LANE)
                for column in self.columns
            ]
            pairs = ((a, b) for a in lefts for b in rights)
            for number, (a, b) in enumerate(pairs):
                product = MultiplyAccumulateOp(a, b, values[number])
                values[number] = self.evaluator.emit(product).result
        return values
