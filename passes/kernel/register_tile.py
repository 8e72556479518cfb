"""The result of a contraction in the registers of threads, computed by multiply and add.

A thread holds a grid of small blocks rather than one large one: neighbouring threads then read
neighbouring vectors of a staged tile, without conflicts between banks.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import IndexType
from xdsl.dialects.scf import ForOp, YieldOp
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ingot.compiler.analysis.schedule import Schedule
from ingot.compiler.analysis.structured import indexing_maps, loop_extents
from ingot.compiler.dialects.linalg import GenericOp
from ingot.passes.kernel.contraction_loops import ContractionLoops, operand_index
from ingot.passes.kernel.cooperative import thread_id
from ingot.passes.kernel.distributed_tile import DistributedTile, Point
from ingot.passes.kernel.emitter import Lanes
from ingot.passes.kernel.evaluate import Evaluator
from ingot.passes.kernel.linear import Linear
from ingot.passes.kernel.reduction import accumulate
from ingot.passes.kernel.staging import Layout, StagedTile

_BLOCK = 4
"""Rows of a block, and its columns where vectors are as wide."""
_PATCH = (4, 8)
"""Threads of a SIMD-group of 32, down and across."""


class RegisterTile(DistributedTile):
    """Each thread adds up its elements with the contraction's own body."""

    def __init__(
        self, evaluator: Evaluator, schedule: Schedule, op: GenericOp, loops: ContractionLoops
    ) -> None:
        self.op = op
        self.schedule = schedule
        super().__init__(evaluator, op, loops, schedule.vector)

    def layout(self, position: int) -> Layout:
        """The depth counts lines: a thread reads vectors of rows and of columns."""
        return Layout("across", 16)

    def make_points(self) -> list[Point]:
        schedule = self.schedule
        group, tile = self.loops.sides(schedule.threadgroup), self.loops.sides(schedule.thread)
        across = group[1] // tile[1]
        self.block = min(_BLOCK, tile[0])
        threads_down = group[0] // tile[0]
        down, along = self._place(threads_down, across)
        rows = [
            down * self.block + (start * threads_down + i)
            for start in range(0, tile[0], self.block)
            for i in range(self.block)
        ]
        columns = [along * self.width + start * across for start in range(0, tile[1], self.width)]
        return [(row, column) for row in rows for column in columns]

    def _place(self, down: int, across: int) -> tuple[Linear, Linear]:
        """The thread's place in the grid of threads, `down` by `across`.

        Neighbouring threads are a block of the grid where it is large enough: together they read
        fewer different vectors than a line of them would.
        """
        d = AffineDimExpr(0)
        thread = thread_id(self.evaluator)
        if down % _PATCH[0] or across % _PATCH[1]:
            places = d // across, d % across
        else:
            lane, patch = d % prod(_PATCH), d // prod(_PATCH)
            patches = across // _PATCH[1]
            places = (
                patch // patches * _PATCH[0] + lane // _PATCH[1],
                patch % patches * _PATCH[1] + lane % _PATCH[1],
            )
        row, column = (self.evaluator.form(place, thread) for place in places)
        return row, column

    def step(
        self, staged: Sequence[StagedTile], stage: Linear, accumulators: Sequence[SSAValue]
    ) -> list[SSAValue]:
        extent, unroll = self.schedule.reduction, self.schedule.unroll
        if extent <= unroll:
            return self._steps(staged, stage, Linear(), extent, accumulators)
        evaluator = self.evaluator
        bounds = [evaluator.index_value(n) for n in (0, extent, unroll)]
        block = Block(arg_types=[IndexType(), *(v.type for v in accumulators)])
        block.args[0].name_hint = "kk"
        with evaluator.inside(block):
            at = Linear.of(block.args[0])
            evaluator.emit(YieldOp(*self._steps(staged, stage, at, unroll, block.args[1:])))
        loop = ForOp(bounds[0], bounds[1], bounds[2], accumulators, block)
        return list(evaluator.emit(loop).results)

    def _steps(
        self,
        staged: Sequence[StagedTile],
        stage: Linear,
        start: Linear,
        count: int,
        accumulators: Sequence[SSAValue],
    ) -> list[SSAValue]:
        values = list(accumulators)
        for number in range(count):
            values = self._single(staged, stage, start + number, values)
        return values

    def _single(
        self,
        staged: Sequence[StagedTile],
        stage: Linear,
        depth: Linear,
        accumulators: Sequence[SSAValue],
    ) -> list[SSAValue]:
        """One step of the reduction: an outer product of a few rows and columns."""
        evaluator, op, loops = self.evaluator, self.op, self.loops
        count = len(loop_extents(op))
        maps = indexing_maps(op)
        lanes = None if self.width == 1 else Lanes(loops.columns, self.width)
        rows = list(dict.fromkeys(row for row, _ in self.points))
        for first in range(0, len(rows), self.block):
            tile = staged[loops.row_input]
            vector = tile.read(rows[first], depth, stage, "across", self.block)
            for i, row in enumerate(rows[first : first + self.block]):
                index = operand_index(maps[loops.row_input], loops.at(count, row, Linear(), depth))
                evaluator.remember(
                    op.inputs[loops.row_input], index, None, evaluator.lane(vector, i)
                )
        column_map = maps[loops.column_input]
        for column in dict.fromkeys(column for _, column in self.points):
            index = operand_index(column_map, loops.at(count, Linear(), column, depth))
            own = None
            if lanes is not None:
                own = Lanes(column_map.results.index(AffineDimExpr(loops.columns)), self.width)
            value = staged[loops.column_input].read(column, depth, stage, "across", self.width)
            evaluator.remember(op.inputs[loops.column_input], index, own, value)
        return [
            accumulate(evaluator, op, loops.at(count, row, column, depth), lanes, accumulator)
            for (row, column), accumulator in zip(self.points, accumulators, strict=True)
        ]
