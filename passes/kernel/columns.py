"""Emit reductions whose results lie side by side: the threads of a threadgroup share each of them.

Neighbouring threads take neighbouring columns, and the rows go to the threads in turn. What each of
them has combined lies in threadgroup memory then, and the threads of the first rows combine it in
order, compute what follows, and store.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.dialects.scf import ForOp, IfOp, YieldOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.utils.type import get_element_type_or_self

from ingot.compiler.analysis.schedule import Schedule
from ingot.compiler.analysis.structured import match_combiner, reduction_loops, shape_of
from ingot.compiler.dialects.arith import CmpiOp
from ingot.compiler.dialects.bufferization import MaterializeInDestinationOp
from ingot.compiler.dialects.gpu import BarrierOp
from ingot.compiler.dialects.linalg import GenericOp
from ingot.passes.kernel.cooperative import allocate_threadgroup_memory, combine, thread_id
from ingot.passes.kernel.emitter import Lanes
from ingot.passes.kernel.evaluate import Evaluator
from ingot.passes.kernel.joint_reduction import Reduced, Share, reduce_jointly
from ingot.passes.kernel.linear import Linear
from ingot.passes.kernel.memory import View
from ingot.passes.kernel.store import store


def emit_columns(evaluator: Evaluator, ops: Sequence[Operation], schedule: Schedule) -> None:
    """What a threadgroup does for its tile of columns."""
    _Columns(evaluator, ops, schedule).emit()


class _Columns:
    def __init__(self, evaluator: Evaluator, ops: Sequence[Operation], schedule: Schedule) -> None:
        self.evaluator = evaluator
        self.ops = ops
        self.schedule = schedule
        self.width = schedule.vector
        across = schedule.threadgroup[-1] // self.width
        thread = thread_id(evaluator)
        self.column = Linear.of(evaluator.apply(AffineDimExpr(0) % across, thread)) * self.width
        self.part = evaluator.apply(AffineDimExpr(0) // across, thread)

    def emit(self) -> None:
        evaluator = self.evaluator
        reductions = [self._reduced(op) for op in self.ops if _is_reduction(op)]
        share = Share(self.part, self.schedule.splits, self.schedule.unroll)
        starts = [reduced.neutral(evaluator) for reduced in reductions]
        values = reduce_jointly(evaluator, reductions, starts, share)
        buffers = [self._exchange(value) for (value,) in values]
        evaluator.emit(BarrierOp())
        zero = evaluator.index_value(0)
        first = evaluator.pure(CmpiOp, self.part, zero, "eq")
        block = Block()
        with evaluator.inside(block):
            for reduced, view in zip(reductions, buffers, strict=True):
                (init,) = reduced.init(evaluator)
                reduced.remember(evaluator, [self._total(reduced, view, init)])
            for op in self.ops:
                if isinstance(op, MaterializeInDestinationOp):
                    self._store(op)
            evaluator.emit(YieldOp())
        evaluator.emit(IfOp(first, [], Region(block)))

    def _reduced(self, op: Operation) -> Reduced:
        assert isinstance(op, GenericOp)
        combiner = match_combiner(op)
        assert combiner is not None, "threads share reductions with plain combiners"
        at, lanes = self._place(op.results[0])
        return Reduced(op, combiner, [at], lanes)

    def _place(self, value: SSAValue) -> tuple[tuple[Linear, ...], Lanes | None]:
        """Where the thread's vector is in the threadgroup's tile of `value`."""
        rank = len(shape_of(value))
        lanes = Lanes(rank - 1, self.width) if self.width > 1 else None
        return (*[Linear()] * (rank - 1), self.column), lanes

    def _exchange(self, value: SSAValue) -> View:
        """Put what each thread has into threadgroup memory: a row for each part."""
        evaluator = self.evaluator
        shape = (self.schedule.splits, self.schedule.threadgroup[-1])
        element = get_element_type_or_self(value.type)
        buffer = allocate_threadgroup_memory(shape, element, self.ops[0], "parts")
        view = View(buffer, [Linear()] * 2, [False] * 2, padded=True)
        index = (Linear.of(self.part), self.column)
        store(evaluator, view, index, self._exchanged, value)
        return view

    @property
    def _exchanged(self) -> Lanes | None:
        return Lanes(1, self.width) if self.width > 1 else None

    def _total(self, reduced: Reduced, view: View, init: SSAValue) -> SSAValue:
        """`init` combined with what the parts have, in order."""
        evaluator = self.evaluator
        bounds = (evaluator.index_value(n) for n in (0, self.schedule.splits, 1))
        lower, upper, one = bounds
        block = Block(arg_types=[IndexType(), init.type])
        with evaluator.inside(block):
            index = (Linear.of(block.args[0]), self.column)
            value = evaluator.load(view, index, self._exchanged)
            total = combine(evaluator, reduced.combiner, block.args[1], value)
            evaluator.emit(YieldOp(total))
        loop = ForOp(lower, upper, one, [init], block)
        loop.location = reduced.op.location
        return evaluator.emit(loop).results[0]

    def _store(self, op: MaterializeInDestinationOp) -> None:
        evaluator = self.evaluator
        view = evaluator.view(op.dest)
        assert view is not None
        at, lanes = self._place(op.source)
        store(evaluator, view, at, lanes, evaluator.element(op.source, at, lanes))


def _is_reduction(op: Operation) -> bool:
    return isinstance(op, GenericOp) and bool(reduction_loops(op))
