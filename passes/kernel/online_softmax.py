"""The maximum of a long row and the sum of exponentials for it, in one pass over the row.

A row that does not fit in registers would be read once for its maximum and again for the sum. A
thread sums exponentials for the maximum so far instead, and scales the sum when that grows (online
softmax, Milakov and Gimelshein, https://arxiv.org/abs/1805.02867).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IndexType, f32
from xdsl.dialects.math import ExpOp
from xdsl.dialects.scf import ForOp, YieldOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ingot.compiler.analysis.expressions import Expressions, Leaf, float_constant, plain_index
from ingot.compiler.analysis.schedule import Schedule
from ingot.compiler.analysis.structured import (
    Combiner,
    indexing_maps,
    loop_extents,
    match_combiner,
    reduced_extents,
    reduction_loops,
)
from ingot.compiler.dialects.arith import AddfOp, CmpfOp, MulfOp, SelectOp, SubfOp
from ingot.compiler.dialects.gpu import AllReduceOp, AllReduceOperation
from ingot.compiler.dialects.linalg import GenericOp
from ingot.passes.kernel.cooperative import RowPlace, combine, row_of, thread_id
from ingot.passes.kernel.emitter import Lanes
from ingot.passes.kernel.evaluate import Evaluator
from ingot.passes.kernel.linear import Linear
from ingot.passes.kernel.reduction import narrow, rescaled, widen_accumulator

_TOGETHER = 4
"""Vectors that are compared with the maximum before the sum is scaled once."""


@dataclass(frozen=True)
class OnlineSoftmax:
    """Two reductions of one row."""

    maximum: GenericOp
    combiner: Combiner
    total: GenericOp


def find_online(ops: Iterable[Operation]) -> dict[GenericOp, OnlineSoftmax]:
    """The pairs of a maximum and the sum of exponentials for it, by the op of the maximum."""
    found: dict[GenericOp, OnlineSoftmax] = {}
    for op in ops:
        if isinstance(op, GenericOp) and reduction_loops(op):
            pair = _match(op)
            if pair is not None:
                found.setdefault(pair.maximum, pair)
    return found


def _match(total: GenericOp) -> OnlineSoftmax | None:
    summed = match_combiner(total)
    if summed is None or summed.name != "add":
        return None
    count = len(total.iterator_types.data)
    expressions = Expressions(count)
    own = tuple(AffineDimExpr(i) for i in range(count))
    number = expressions.of(total, summed.contribution, own)
    if number is None:
        return None
    exponential = expressions.apply(expressions.without_casts(number), "math.exp")
    operands = exponential and expressions.apply(exponential[0], "arith.subf")
    if not operands:
        return None
    element, reference = operands[0], expressions.without_casts(operands[1])
    if compared := expressions.apply(reference, "arith.maximumf"):
        # JAX compares the maximum with minus infinity once more.
        constants = [float_constant(expressions.nodes[i]) for i in compared]
        if -math.inf in constants:
            reference = compared[1 - constants.index(-math.inf)]
    leaf = expressions.nodes[reference]
    maximum = leaf.tensor.owner if isinstance(leaf, Leaf) else None
    if not isinstance(leaf, Leaf) or not isinstance(maximum, GenericOp):
        return None
    combiner = match_combiner(maximum)
    loops = reduction_loops(maximum)
    at, written = plain_index(leaf.index), plain_index(indexing_maps(maximum)[-1].results)
    if combiner is None or combiner.name != "maximumf" or at is None or written is None:
        return None
    dims = [AffineDimExpr(0)] * len(maximum.iterator_types.data)
    for loop, dim in zip(written, at, strict=True):
        dims[loop] = AffineDimExpr(dim)
    if len(loops) != len(reduction_loops(total)) or {*written, *loops} != {*range(len(dims))}:
        return None
    for loop, dim in zip(loops, reduction_loops(total), strict=True):
        dims[loop] = AffineDimExpr(dim)
    if expressions.of(maximum, combiner.contribution, tuple(dims)) != element:
        return None
    return OnlineSoftmax(maximum, combiner, total)


def is_long(op: GenericOp, schedule: Schedule) -> bool:
    """Whether a thread's part of the row that `op` reduces does not stay in registers."""
    row = row_of(reduced_extents(op), schedule)
    return row.chunks > row.unroll


def reduce_online(
    evaluator: Evaluator, pair: OnlineSoftmax, schedule: Schedule, place: RowPlace
) -> None:
    """Compute both reductions of a row; every thread gets them."""
    with evaluator.on_behalf_of(pair.total):
        _Reduction(evaluator, pair, schedule, place).run()


class _Reduction:
    def __init__(
        self, evaluator: Evaluator, pair: OnlineSoftmax, schedule: Schedule, place: RowPlace
    ) -> None:
        self.evaluator = evaluator
        self.pair = pair
        self.place = place
        self.inner = reduction_loops(pair.maximum)
        extents = loop_extents(pair.maximum)
        self.row = row_of([extents[i] for i in self.inner], schedule)
        self.lanes = Lanes(self.inner[-1], self.row.width) if self.row.width > 1 else None

    def _widen(self, value: SSAValue) -> SSAValue:
        return self.evaluator.widen(value, self.row.width if self.lanes else None)

    def run(self) -> None:
        evaluator, pair = self.evaluator, self.pair
        state = [self._widen(evaluator.constant(n, f32)) for n in (-math.inf, 0.0)]
        whole = self.row.chunks // _TOGETHER
        bounds = [evaluator.index_value(n) for n in (0, whole, 1)]
        thread_id(evaluator)
        block = Block(arg_types=[IndexType(), *(v.type for v in state)])
        with evaluator.inside(block):
            first = Linear.of(block.args[0]) * _TOGETHER
            evaluator.emit(YieldOp(*self._steps(first, _TOGETHER, block.args[1:])))
        loop = ForOp(bounds[0], bounds[1], bounds[2], state, block)
        loop.location = pair.total.location
        state = list(evaluator.emit(loop).results)
        rest = self.row.chunks - whole * _TOGETHER
        if rest:
            state = self._steps(Linear((), whole * _TOGETHER), rest, state)
        self._finish(*self._of_thread(*state))

    def _steps(self, first: Linear, count: int, state: Sequence[SSAValue]) -> list[SSAValue]:
        """Take `count` vectors into account."""
        evaluator = self.evaluator
        before, total = state
        values = [self._element(first + number) for number in range(count)]
        maximum = before
        for value in values:
            maximum = combine(evaluator, self.pair.combiner, maximum, value)
        reference = self._finite(maximum)
        total = rescaled(evaluator, total, self._exp(before, reference))
        for value in values:
            total = evaluator.emit(AddfOp(total, self._exp(value, reference))).result
        return [maximum, total]

    def _element(self, number: Linear) -> SSAValue:
        """The vector of the row that the thread takes in a step; minus infinity past the end."""
        evaluator = self.evaluator
        chunk = self.row.chunk(evaluator, number)
        at = self.place.loops(self.pair.maximum)
        for loop, form in zip(self.inner, chunk.index, strict=True):
            at[loop] = form
        combiner = self.pair.combiner
        none = evaluator.constant(-math.inf, combiner.contribution.type)
        (value,) = evaluator.inline(
            self.pair.maximum, at, self.lanes, [none], until=combiner.contribution
        )
        value = widen_accumulator(evaluator, self._widen(value), f32)
        if chunk.valid is None:
            return value
        neutral = self._widen(evaluator.constant(-math.inf, f32))
        return evaluator.emit(SelectOp(self._widen(chunk.valid), value, neutral)).result

    def _of_thread(self, maxima: SSAValue, totals: SSAValue) -> tuple[SSAValue, SSAValue]:
        """The maximum and the sum of all lanes of a thread."""
        evaluator = self.evaluator
        if self.lanes is None:
            return maxima, totals
        lanes = [evaluator.lane(maxima, i) for i in range(self.row.width)]
        maximum = lanes[0]
        for lane in lanes[1:]:
            maximum = combine(evaluator, self.pair.combiner, maximum, lane)
        scales = self._exp(maxima, self._widen(self._finite(maximum)))
        scaled = evaluator.emit(MulfOp(totals, scales)).result
        total = evaluator.lane(scaled, 0)
        for i in range(1, self.row.width):
            total = evaluator.emit(AddfOp(total, evaluator.lane(scaled, i))).result
        return maximum, total

    def _finish(self, maximum: SSAValue, total: SSAValue) -> None:
        """Combine all threads; let the evaluator know both results."""
        evaluator, pair = self.evaluator, self.pair
        name = AllReduceOperation(pair.combiner.name)
        most = evaluator.emit(AllReduceOp(maximum, name)).result
        reached = self._finite(most)
        total = evaluator.emit(MulfOp(total, self._exp(maximum, reached))).result
        total = evaluator.emit(AllReduceOp(total, AllReduceOperation("add"))).result
        most = combine(evaluator, pair.combiner, self._init(pair.maximum), most)
        # One, but for a row of minus infinities, whose exponentials are NaN.
        total = evaluator.emit(MulfOp(total, self._exp(reached, most))).result
        total = evaluator.emit(AddfOp(self._init(pair.total), total)).result
        for op, value in ((pair.maximum, most), (pair.total, total)):
            index = self.place.index(op.results[0])
            evaluator.remember(op.results[0], index, None, narrow(evaluator, value, op.outputs[0]))

    def _init(self, op: GenericOp) -> SSAValue:
        value = self.evaluator.element(op.outputs[0], self.place.index(op.outputs[0]))
        return widen_accumulator(self.evaluator, value, f32)

    def _exp(self, value: SSAValue, reference: SSAValue) -> SSAValue:
        difference = self.evaluator.emit(SubfOp(value, reference)).result
        return self.evaluator.emit(ExpOp(difference)).result

    def _finite(self, maximum: SSAValue) -> SSAValue:
        """The maximum, or zero while it is minus infinity: exponentials are zero then, not NaN."""
        evaluator = self.evaluator
        width = None if maximum.type == f32 else self.row.width
        none, zero = (evaluator.widen(evaluator.constant(n, f32), width) for n in (-math.inf, 0.0))
        condition = evaluator.emit(CmpfOp(maximum, none, "oeq")).result
        return evaluator.emit(SelectOp(condition, zero, maximum)).result
