"""The result of a contraction in matrix units whose elements lie where only the device knows.

Such a matrix is loaded, multiplied and stored as a whole, by all lanes of a SIMD-group. To get at
the elements of the result, each of its matrices is stored to threadgroup memory at the end, and
every lane takes a few vectors of it from there.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FloatAttr, MemRefType, f32
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from ingot.compiler.analysis.schedule import Schedule
from ingot.compiler.analysis.structured import element_type, shape_of
from ingot.compiler.dialects.arith import AddfOp, ConstantOp
from ingot.compiler.dialects.bufferization import MaterializeInDestinationOp
from ingot.compiler.dialects.gpu import BarrierOp, LaneIdOp, SubgroupIdOp
from ingot.compiler.dialects.gpu_matrix import (
    MatrixOperand,
    MMAMatrixType,
    SubgroupMmaComputeOp,
    SubgroupMmaConstantMatrixOp,
    SubgroupMmaStoreMatrixOp,
)
from ingot.compiler.dialects.linalg import FillOp, GenericOp
from ingot.passes.kernel.contraction_loops import SIMD_WIDTH, ContractionLoops
from ingot.passes.kernel.cooperative import allocate_threadgroup_memory
from ingot.passes.kernel.emitter import Lanes
from ingot.passes.kernel.evaluate import Evaluator
from ingot.passes.kernel.linear import Linear
from ingot.passes.kernel.memory import View
from ingot.passes.kernel.reduction import narrow, widen_accumulator
from ingot.passes.kernel.staging import VECTOR_BYTES, Layout, StagedTile
from ingot.passes.kernel.store import store

_WIDEST_COPY = 8
"""Elements of 16 bits that a thread copies at once: vectors of any length may be copied."""


class MatrixTile:
    """Each SIMD-group holds a grid of matrices."""

    def __init__(
        self, evaluator: Evaluator, schedule: Schedule, op: GenericOp, loops: ContractionLoops
    ) -> None:
        self.evaluator = evaluator
        self.schedule = schedule
        self.op = op
        self.loops = loops
        rows, columns = loops.sides(schedule.subgroup)
        across = schedule.threadgroup[-1] // columns
        group = evaluator.once("subgroup", lambda: evaluator.emit(SubgroupIdOp()).result)
        evaluator.below[group] = schedule.threads // SIMD_WIDTH
        d = AffineDimExpr(0)
        self.group = evaluator.form(d, group)
        down = evaluator.form(d // across, group) * rows
        along = evaluator.form(d % across, group) * columns
        m, n, k = schedule.unit
        self.rows = [down + start for start in range(0, rows, m)]
        self.columns = [along + start for start in range(0, columns, n)]
        element = element_type(op.inputs[0])
        self.left = MMAMatrixType.get(m, k, element, MatrixOperand.A)
        self.right = MMAMatrixType.get(k, n, element, MatrixOperand.B)
        self.sum = MMAMatrixType.get(m, n, f32, MatrixOperand.C)
        # Lines lie 16 bytes apart, in other banks.
        self.pitch = n + VECTOR_BYTES // 4
        lines = schedule.threads // SIMD_WIDTH * m
        self.exchange = allocate_threadgroup_memory((lines, self.pitch), f32, op, "exchange")

    def layout(self, position: int) -> Layout:
        """As in the input: matrices can be loaded along their rows or their columns."""
        return Layout(None, VECTOR_BYTES, _WIDEST_COPY)

    def start(self, init: SSAValue) -> list[SSAValue]:
        """Zeros; what the result begins with is added at the end."""
        self.init = init
        zero = self.evaluator.zero(f32)
        matrix = self.evaluator.emit(SubgroupMmaConstantMatrixOp(zero, self.sum)).res
        return [matrix] * (len(self.rows) * len(self.columns))

    def step(
        self, staged: Sequence[StagedTile], stage: Linear, accumulators: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """The products of all matrices along the depth of the tile, each loaded once."""
        left, right = staged[self.loops.row_input], staged[self.loops.column_input]
        values: list[SSAValue] = list(accumulators)
        for start in range(0, self.schedule.reduction, self.schedule.unit[2]):
            depth = Linear((), start)
            lefts = [left.read_matrix(row, depth, stage, "across", self.left) for row in self.rows]
            rights = [
                right.read_matrix(column, depth, stage, "depth", self.right)
                for column in self.columns
            ]
            pairs = ((a, b) for a in lefts for b in rights)
            for number, (a, b) in enumerate(pairs):
                values[number] = self.evaluator.emit(SubgroupMmaComputeOp(a, b, values[number])).res
        return values

    def finish(self, result: SSAValue, accumulators: Sequence[SSAValue]) -> None:
        """Keep the matrices until their elements are needed."""
        self.result = result
        self.matrices = accumulators

    def store(self, stores: Sequence[MaterializeInDestinationOp]) -> None:
        """Exchange one matrix of each SIMD-group after the other, and store what is made of it."""
        evaluator = self.evaluator
        places = [(row, column) for row in self.rows for column in self.columns]
        line = self.group * self.schedule.unit[0]
        for (row, column), matrix in zip(places, self.matrices, strict=True):
            indices = [evaluator.materialize(f) for f in (line, Linear())]
            evaluator.emit(SubgroupMmaStoreMatrixOp(matrix, self.exchange, indices, self.pitch))
            evaluator.emit(BarrierOp())
            self._store_elements(stores, line, row, column)
            evaluator.emit(BarrierOp())

    def _store_elements(
        self,
        stores: Sequence[MaterializeInDestinationOp],
        line: Linear,
        row: Linear,
        column: Linear,
    ) -> None:
        """The lane's vectors of the matrix that lies in the lines from `line` on."""
        evaluator, width = self.evaluator, self.schedule.vector
        m, n, _ = self.schedule.unit
        assert isinstance(self.exchange.type, MemRefType)
        view = View(self.exchange, [Linear(), Linear()], [False, False])
        lane = evaluator.once("lane", lambda: evaluator.emit(LaneIdOp()).result)
        rank = len(shape_of(self.result))
        lanes = Lanes(rank - 1, width) if width > 1 else None
        own = Lanes(1, width) if width > 1 else None
        per_line = n // width
        d = AffineDimExpr(0)
        for start in range(0, m, SIMD_WIDTH // per_line):
            down = evaluator.form(d // per_line, lane) + start
            along = evaluator.form(d % per_line, lane) * width
            value = evaluator.load(view, (line + down, along), own)
            index = self.loops.result_index(rank, row + down, column + along)
            if not _is_zero(self.init):
                init = evaluator.element(self.init, index, lanes)
                init = evaluator.widen(init, None if lanes is None else width)
                init = widen_accumulator(evaluator, init, f32)
                value = evaluator.emit(AddfOp(init, value)).result
            evaluator.remember(self.result, index, lanes, narrow(evaluator, value, self.result))
            for op in stores:
                target = evaluator.view(op.dest)
                assert target is not None
                store(evaluator, target, index, lanes, evaluator.element(op.source, index, lanes))


def _is_zero(init: SSAValue) -> bool:
    """Whether a tile is filled with zeros, of either sign."""
    fill = init.owner
    if not isinstance(fill, FillOp):
        return False
    number = fill.inputs[0].owner
    if not isinstance(number, ConstantOp) or not isinstance(number.value, FloatAttr):
        return False
    return number.value.value.data == 0.0
