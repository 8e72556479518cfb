"""Emit a contraction that all threads of a threadgroup compute together.

The tiles of both inputs along the reduction go through threadgroup memory (`staging`), and each
thread keeps its part of the result in registers (`register_tile`, `fragment_tile`) or in matrix
units (`matrix_tile`). Elementwise ops around the contraction run at the elements that a thread has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from xdsl.dialects import affine
from xdsl.dialects.builtin import AffineMapAttr, IndexType
from xdsl.dialects.scf import ForOp, YieldOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap

from ingot.compiler.analysis.index_range import constant_int
from ingot.compiler.analysis.schedule import Schedule
from ingot.compiler.analysis.structured import match_contraction
from ingot.compiler.dialects.bufferization import MaterializeInDestinationOp
from ingot.compiler.dialects.gpu import BarrierOp
from ingot.compiler.dialects.linalg import GenericOp
from ingot.passes.kernel.contraction_loops import ContractionLoops, contraction_loops
from ingot.passes.kernel.cooperative import thread_id
from ingot.passes.kernel.evaluate import Evaluator
from ingot.passes.kernel.fragment_tile import FragmentTile
from ingot.passes.kernel.linear import Linear
from ingot.passes.kernel.matrix_tile import MatrixTile
from ingot.passes.kernel.register_tile import RegisterTile
from ingot.passes.kernel.staging import Layout, StagedTile


class ResultTile(Protocol):
    """How the threads share out the tile of the result."""

    def layout(self, position: int) -> Layout:
        """How the tile of input `position` lies in threadgroup memory."""
        ...

    def start(self, init: SSAValue) -> list[SSAValue]:
        """The accumulators of one thread, from the tile `init`."""
        ...

    def step(
        self, staged: Sequence[StagedTile], stage: Linear, accumulators: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """Add the products of one staged tile of the reduction."""
        ...

    def finish(self, result: SSAValue, accumulators: Sequence[SSAValue]) -> None:
        """Let the evaluator know the elements of `result` that a thread holds."""
        ...

    def store(self, stores: Sequence[MaterializeInDestinationOp]) -> None:
        """Store those elements of the tiles that are computed from the result."""
        ...


@dataclass
class ContractionEmitter:
    """Rewrites the ops of one threadgroup."""

    evaluator: Evaluator
    schedule: Schedule

    def emit(self, ops: Sequence[Operation]) -> None:
        """Emit the reduction loop, then what follows it."""
        self.evaluator.below[thread_id(self.evaluator)] = self.schedule.threads
        (loop,) = (op for op in ops if isinstance(op, ForOp))
        tile = self._loop(loop)
        tile.store([op for op in ops if isinstance(op, MaterializeInDestinationOp)])

    def _loop(self, op: ForOp) -> ResultTile:
        contraction = next(
            o for o in op.body.block.ops if isinstance(o, GenericOp) and match_contraction(o)
        )
        with self.evaluator.on_behalf_of(contraction):
            return self._reduced(op, contraction)

    def _reduced(self, op: ForOp, contraction: GenericOp) -> ResultTile:
        body = op.body.block
        loops = contraction_loops(contraction)
        tile = self._result_tile(contraction, loops)
        staged = self._staged(contraction, loops, tile)
        bounds = [constant_int(value) for value in (op.lb, op.ub, op.step)]
        assert None not in bounds, "the extent of a reduction is known"
        accumulators = tile.start(op.iter_args[0])
        reduction = _Reduction(self.evaluator, tile, staged, body.args[0])
        upper, step = bounds[1] or 0, bounds[2] or 1
        if upper <= step:
            reduction.fill(self.evaluator.index_value(0), Linear())
            self.evaluator.emit(BarrierOp())
            results = tile.step(staged, Linear(), accumulators)
        else:
            results = reduction.run(upper, step, self.schedule.stages, accumulators)
        tile.finish(op.results[0], results)
        return tile

    def _staged(self, op: GenericOp, loops: ContractionLoops, tile: ResultTile) -> list[StagedTile]:
        """The tiles of both inputs; small ones are copied by different threads."""

        def stage(position: int, first: int) -> StagedTile:
            layout = tile.layout(position)
            return StagedTile(self.evaluator, self.schedule, op, loops, position, layout, first)

        left = stage(0, 0)
        taken = left.share.blocks
        return [left, stage(1, taken if 2 * taken <= self.schedule.threads else 0)]

    def _result_tile(self, op: GenericOp, loops: ContractionLoops) -> ResultTile:
        if self.schedule.unit:
            kind = FragmentTile if self.schedule.unit == (8, 8, 8) else MatrixTile
            return kind(self.evaluator, self.schedule, op, loops)
        return RegisterTile(self.evaluator, self.schedule, op, loops)


@dataclass
class _Reduction:
    """The loop over staged tiles."""

    evaluator: Evaluator
    tile: ResultTile
    staged: Sequence[StagedTile]
    position: SSAValue
    """The loop's index as the tiles know it."""

    def fill(self, position: SSAValue, stage: Linear) -> None:
        """Copy the tiles at `position` of the reduction to threadgroup memory."""
        self.evaluator.replaced[self.position] = position
        for tile in self.staged:
            tile.store(tile.load(), stage)

    def run(
        self, upper: int, step: int, stages: int, accumulators: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """Load the next tiles into registers, compute, store them to threadgroup memory, wait.

        With two stages they go where nobody reads; with one, after all threads have computed. The
        last iteration has no next tiles and loads its own again, so that no branch is needed.
        """
        evaluator = self.evaluator
        last = (upper - 1) // step * step
        self.fill(evaluator.index_value(0), Linear())
        evaluator.emit(BarrierOp())

        def body(position: SSAValue, current: Sequence[SSAValue]) -> list[SSAValue]:
            number = AffineDimExpr(0) // step
            exprs = (AffineDimExpr(0) + step, AffineConstantExpr(last))
            following = affine.MinOp([position], AffineMapAttr(AffineMap(1, 0, exprs)))
            evaluator.replaced[self.position] = evaluator.emit(following).result
            values = [tile.load() for tile in self.staged]
            stage, other = Linear(), Linear()
            if stages == 2:
                stage = evaluator.form(number % 2, position)
                other = evaluator.form((number + 1) % 2, position)
            results = self.tile.step(self.staged, stage, current)
            if stages == 1:
                evaluator.emit(BarrierOp())
            for tile, loaded in zip(self.staged, values, strict=True):
                tile.store(loaded, other)
            evaluator.emit(BarrierOp())
            return results

        return self._for(upper, step, accumulators, body)

    def _for(
        self,
        upper: int,
        step: int,
        accumulators: Sequence[SSAValue],
        body: Callable[[SSAValue, Sequence[SSAValue]], list[SSAValue]],
    ) -> list[SSAValue]:
        """`scf.for` over the positions of the tiles."""
        evaluator = self.evaluator
        bounds = [evaluator.index_value(n) for n in (0, upper, step)]
        block = Block(arg_types=[IndexType(), *(v.type for v in accumulators)])
        block.args[0].name_hint = "k"
        # The loop comes first: what divides its index is known from its step.
        loop = evaluator.emit(ForOp(bounds[0], bounds[1], bounds[2], accumulators, block))
        with evaluator.inside(block):
            evaluator.emit(YieldOp(*body(block.args[0], block.args[1:])))
        return list(loop.results)
