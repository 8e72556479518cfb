"""Reductions over equal loops in one loop nest, so that what several of them read is read once.

One thread runs the nest, or threads share it: each takes every n-th iteration of the longest loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IndexType
from xdsl.dialects.scf import ForOp, IfOp, YieldOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ingot.compiler.analysis.building import at_end
from ingot.compiler.analysis.structured import (
    Combiner,
    captured_tensors,
    indexing_maps,
    match_combiner,
    reduced_extents,
    reduction_loops,
)
from ingot.compiler.dialects.arith import CmpiOp
from ingot.compiler.dialects.linalg import GenericOp
from ingot.passes.kernel.cooperative import identity_of
from ingot.passes.kernel.emitter import Lanes
from ingot.passes.kernel.evaluate import Evaluator, loops_of
from ingot.passes.kernel.linear import Linear
from ingot.passes.kernel.reduction import (
    accumulate,
    narrow,
    wide_accumulator,
    widen_accumulator,
)

_Turn = Callable[[Linear, Sequence[SSAValue]], list[SSAValue]]
"""Emits the turn of a loop with this number: the values after it from those before it."""


@dataclass(frozen=True)
class Share:
    """The part of the longest loop that a thread takes."""

    part: SSAValue
    """Its number: the first iteration."""
    parts: int
    unroll: int
    """Iterations that are emitted together."""


@dataclass(frozen=True)
class Reduced:
    """A reduction with a plain combiner, and the points of its result that a thread computes."""

    op: GenericOp
    combiner: Combiner
    points: Sequence[tuple[Linear, ...]]
    lanes: Lanes | None

    def init(self, evaluator: Evaluator) -> list[SSAValue]:
        """What the reduction starts from at each point, in the type that it is summed in."""
        values = (evaluator.element(self.op.outputs[0], at, self.lanes) for at in self.points)
        return [self._widen(evaluator, value) for value in values]

    def neutral(self, evaluator: Evaluator) -> list[SSAValue]:
        """What combines with any other value to that value, for each point."""
        element = wide_accumulator(self.op.results[0]) or self.combiner.contribution.type
        number = evaluator.constant(identity_of(self.combiner.name, element), element)
        return [self._widen(evaluator, number)] * len(self.points)

    def _widen(self, evaluator: Evaluator, value: SSAValue) -> SSAValue:
        value = evaluator.widen(value, None if self.lanes is None else self.lanes.width)
        return widen_accumulator(evaluator, value, wide_accumulator(self.op.results[0]))

    def step(
        self, evaluator: Evaluator, iteration: Sequence[Linear], values: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """Combine what one iteration contributes at each point."""
        out = indexing_maps(self.op)[-1]
        after: list[SSAValue] = []
        for at, value in zip(self.points, values, strict=True):
            loops, lanes = loops_of(out, at, self.lanes)
            for loop, form in zip(reduction_loops(self.op), iteration, strict=True):
                loops[loop] = form
            after.append(accumulate(evaluator, self.op, loops, lanes, value))
        return after

    def remember(self, evaluator: Evaluator, values: Sequence[SSAValue]) -> None:
        """Let the evaluator know the result at each point."""
        result = self.op.results[0]
        for at, value in zip(self.points, values, strict=True):
            code = narrow(evaluator, value, self.op.outputs[0])
            evaluator.remember(result, at, self.lanes, code)


def joint_reductions(ops: Sequence[Operation]) -> dict[GenericOp, Combiner]:
    """The reductions among `ops`, when they are several with plain combiners over equal loops and
    none needs another."""
    found = [op for op in ops if isinstance(op, GenericOp) and reduction_loops(op)]
    combiners = {op: combiner for op in found if (combiner := match_combiner(op)) is not None}
    extents = {reduced_extents(op) for op in found}
    static = all(n >= 0 for each in extents for n in each)
    alike = len(found) > 1 and len(combiners) == len(found) and len(extents) == 1
    return combiners if alike and static and not _need_each_other(found) else {}


def _need_each_other(ops: Sequence[GenericOp]) -> bool:
    """Whether one of the ops is computed, perhaps by way of others, from another."""
    waiting: list[Operation] = list(ops)
    seen: set[Operation] = set()
    while waiting:
        op = waiting.pop()
        for value in (*op.operands, *captured_tensors(op)):
            owner = value.owner
            if owner in ops:
                return True
            if isinstance(owner, Operation) and owner not in seen:
                seen.add(owner)
                waiting.append(owner)
    return False


def reduce_jointly(
    evaluator: Evaluator,
    reductions: Sequence[Reduced],
    starts: Sequence[Sequence[SSAValue]],
    share: Share | None = None,
) -> list[list[SSAValue]]:
    """Run one loop nest for all reductions from `starts`; the values at the points of each."""
    return _Nest(evaluator, reductions, share).run(starts)


class _Nest:
    def __init__(
        self, evaluator: Evaluator, reductions: Sequence[Reduced], share: Share | None
    ) -> None:
        self.evaluator = evaluator
        self.reductions = reductions
        self.share = share
        self.extents = reduced_extents(reductions[0].op)
        loops = range(len(self.extents))
        self.order = list(loops)
        if share is not None:
            self.order.sort(key=lambda loop: -self.extents[loop])

    def run(self, starts: Sequence[Sequence[SSAValue]]) -> list[list[SSAValue]]:
        values = [value for start in starts for value in start]
        iteration = [Linear()] * len(self.extents)
        if self.share is None:
            values = self._loops(self.order, iteration, values)
        else:
            values = self._shared(self.share, iteration, values)
        remaining = iter(values)
        return [[next(remaining) for _ in start] for start in starts]

    def _loops(
        self, order: Sequence[int], iteration: list[Linear], values: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """The loops of `order`, outermost first, around one step of each reduction."""
        if not order:
            return self._step(iteration, values)
        loop, *rest = order
        if self.extents[loop] == 1:
            return self._loops(rest, iteration, values)

        def turn(number: Linear, current: Sequence[SSAValue]) -> list[SSAValue]:
            return self._loops(rest, _placed(iteration, loop, number), current)

        return self._loop(self.extents[loop], values, turn)

    def _shared(
        self, share: Share, iteration: list[Linear], values: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """Turns of `unroll` iterations for every part, single ones, and one for some parts."""
        loop, *rest = self.order
        part = Linear.of(share.part)

        def single(number: Linear, current: Sequence[SSAValue]) -> list[SSAValue]:
            at = _placed(iteration, loop, number * share.parts + part)
            return self._loops(rest, at, current)

        def turn(number: Linear, current: Sequence[SSAValue]) -> list[SSAValue]:
            for step in range(share.unroll):
                current = single(number * share.unroll + step, current)
            return list(current)

        whole, left = divmod(self.extents[loop], share.parts)
        turns = whole // share.unroll
        values = self._loop(turns, values, turn)
        for number in range(turns * share.unroll, whole):
            values = single(Linear.of(number), values)
        if left:
            values = self._where_part_is_below(left, share.part, Linear.of(whole), values, single)
        return values

    def _loop(self, count: int, values: Sequence[SSAValue], turn: _Turn) -> list[SSAValue]:
        evaluator = self.evaluator
        if count < 2:
            return turn(Linear(), values) if count else list(values)
        lower, upper, one = (evaluator.index_value(n) for n in (0, count, 1))
        block = Block(arg_types=[IndexType(), *(value.type for value in values)])
        with evaluator.inside(block):
            evaluator.emit(YieldOp(*turn(Linear.of(block.args[0]), block.args[1:])))
        op = ForOp(lower, upper, one, values, block)
        op.location = self.reductions[0].op.location
        return list(evaluator.emit(op).results)

    def _where_part_is_below(
        self, count: int, part: SSAValue, number: Linear, values: Sequence[SSAValue], turn: _Turn
    ) -> list[SSAValue]:
        evaluator = self.evaluator
        limit = evaluator.index_value(count)
        condition = evaluator.pure(CmpiOp, part, limit, "slt")
        block, other = Block(), Block()
        with evaluator.inside(block):
            evaluator.emit(YieldOp(*turn(number, values)))
        at_end(other).insert(YieldOp(*values))
        types = [value.type for value in values]
        return list(evaluator.emit(IfOp(condition, types, Region(block), Region(other))).results)

    def _step(self, iteration: Sequence[Linear], values: Sequence[SSAValue]) -> list[SSAValue]:
        remaining = list(values)
        after: list[SSAValue] = []
        for reduced in self.reductions:
            own = remaining[: len(reduced.points)]
            del remaining[: len(own)]
            after += reduced.step(self.evaluator, iteration, own)
        return after


def _placed(iteration: Sequence[Linear], loop: int, number: Linear) -> list[Linear]:
    return [number if i == loop else form for i, form in enumerate(iteration)]
