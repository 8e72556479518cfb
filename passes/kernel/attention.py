"""Emit attention: every thread computes a few rows, key by key, and keeps no row of weights.

Keys and values come in tiles through threadgroup memory. For each of its rows a thread holds the
query, the running maximum, the running sum of exponentials and the weighted sum of values in
registers; when the maximum grows, both sums are scaled to it. All of this is in f32, whatever the
operands are.

Where several threads share a row, each takes every n-th group of keys, and SIMD-group shuffles
combine what they found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IndexType, f32
from xdsl.dialects.scf import ForOp, YieldOp
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ingot.compiler.analysis.attention import Attention, RowReduction
from ingot.compiler.analysis.schedule import Schedule
from ingot.compiler.analysis.structured import (
    indexing_maps,
    loop_extents,
    starts_at_zero,
)
from ingot.compiler.dialects.arith import AddfOp, MinSIOp, MulfOp
from ingot.compiler.dialects.bufferization import MaterializeInDestinationOp
from ingot.compiler.dialects.gpu import BarrierOp
from ingot.compiler.dialects.scf import ForallOp
from ingot.passes.kernel.attention_end import RowEnd
from ingot.passes.kernel.attention_lines import Lines, StagedLines, line_vector
from ingot.passes.kernel.attention_row import LANES, AttentionRow, State
from ingot.passes.kernel.cooperative import thread_id
from ingot.passes.kernel.emitter import Lanes
from ingot.passes.kernel.evaluate import Evaluator
from ingot.passes.kernel.linear import Linear
from ingot.passes.kernel.reduction import narrow, rescaled


def emit_attention(
    evaluator: Evaluator, attention: Attention, schedule: Schedule, blocks: ForallOp
) -> None:
    """Compute and store the rows of one threadgroup, at the insertion point of `evaluator`.

    `blocks` is the loop over threadgroups, whose body holds the ops and the store of the result.
    """
    rows = [AttentionRow(evaluator, attention, schedule, i) for i in range(schedule.rows)]
    for row in rows:
        row.place()
    with evaluator.on_behalf_of(attention.product):
        states = _Keys(rows, blocks).run()
    stores = [op for op in blocks.body.block.ops if isinstance(op, MaterializeInDestinationOp)]
    for row, state in zip(rows, states, strict=True):
        end = RowEnd(row, state)
        for op in stores:
            end.store(op)


class _Keys:
    """The loop over keys."""

    def __init__(self, rows: Sequence[AttentionRow], blocks: ForallOp) -> None:
        self.rows = rows
        self.evaluator = rows[0].evaluator
        self.schedule, self.attention = rows[0].schedule, rows[0].attention
        self.size = self.schedule.reduction
        attention = self.attention
        product, scores = attention.product, attention.scores
        head = attention.score_loops.index(None)
        self.count = loop_extents(product)[attention.key_loop]
        own = tuple(range(len(loop_extents(product))))
        keys = Lines(scores, 1 - attention.query, head, attention.score_loops)
        values = Lines(product, 1 - attention.weights, attention.value_loop, own)
        self.keys = StagedLines(rows[0], keys, "tile_keys", blocks)
        self.values = StagedLines(rows[0], values, "tile_values", blocks)
        queries = Lines(scores, attention.query, head, attention.score_loops)
        self.queries = [
            [
                row.wide(line_vector(queries, row, Linear(), Linear((), start)))
                for start in range(0, queries.width, LANES)
            ]
            for row in rows
        ]

    def run(self) -> list[State]:
        """Go over all keys, tile by tile; the last few, which fill no vector, one by one."""
        evaluator, size = self.evaluator, self.size
        tiles, whole = -(-self.count // size), self.count - self.count % LANES
        states = [self._start(row) for row in self.rows]
        if tiles == 1:
            self._load(Linear())
            if whole:
                end = evaluator.index_value(whole)
                states = self._tile(Linear(), 0, end, LANES, states)
        else:

            def tile(iv: SSAValue, states: list[State]) -> list[State]:
                evaluator.emit(BarrierOp())  # the last tile's readers come first
                base = Linear.of(iv)
                self._load(base)
                end = evaluator.index_value(size)
                if whole < tiles * size:
                    left = evaluator.materialize(base * -1 + whole)
                    end = evaluator.pure(MinSIOp, left, end)
                return self._tile(base, 0, end, LANES, states)

            zero = evaluator.index_value(0)
            thread_id(evaluator)
            end = evaluator.index_value(self.count)
            states = self._loop(zero, end, size, states, tile)
        if whole < self.count:
            base = (tiles - 1) * size
            end = evaluator.index_value(self.count - base)
            states = self._tile(Linear((), base), whole - base, end, 1, states)
        return states

    def _load(self, base: Linear) -> None:
        """Copy a tile of keys and values to threadgroup memory."""
        self.keys.copy(base)
        self.values.copy(base)
        self.evaluator.emit(BarrierOp())

    def _start(self, row: AttentionRow) -> State:
        evaluator = self.evaluator
        zero = evaluator.constant(0.0, f32)
        most = row.attention.maximum
        return State(
            [] if most is None else [row.wide(row.init(most)), zero],
            [row.identity(r) for r in row.streamed()],
            [evaluator.widen(zero, LANES)] * (self.values.lines.width // LANES),
        )

    def _tile(
        self, base: Linear, first: int, end: SSAValue, width: int, states: list[State]
    ) -> list[State]:
        """The thread's keys of a tile from `first` to `end`, `width` at a time."""
        start = self.rows[0].split() * width + first
        return self._loop(
            self.evaluator.materialize(start),
            end,
            width * self.schedule.splits,
            states,
            lambda iv, current: self._step(base, Linear.of(iv), width, current),
        )

    def _loop(
        self,
        lower: SSAValue,
        upper: SSAValue,
        step: int,
        states: list[State],
        body: Callable[[SSAValue, list[State]], list[State]],
    ) -> list[State]:
        evaluator = self.evaluator
        carried = [v for state in states for v in state.values()]
        count = len(carried) // len(states)

        def like(values: Sequence[SSAValue]) -> list[State]:
            return [s.like(values[i * count : (i + 1) * count]) for i, s in enumerate(states)]

        advance = evaluator.index_value(step)
        block = Block(arg_types=[IndexType(), *(v.type for v in carried)])
        with evaluator.inside(block):
            after = body(block.args[0], like(block.args[1:]))
            evaluator.emit(YieldOp(*(v for state in after for v in state.values())))
        loop = ForOp(lower, upper, advance, carried, block)
        loop.location = self.attention.product.location
        return like(evaluator.emit(loop).results)

    # One step

    def _step(self, base: Linear, local: Linear, width: int, states: list[State]) -> list[State]:
        """Take `width` keys into account."""
        evaluator = self.evaluator
        with evaluator.on_behalf_of(self.attention.scores):
            scores = [self._dots(local + i) for i in range(width)]
        steps = [
            self._weigh(row, [s[i] for s in scores], base + local, state)
            for i, (row, state) in enumerate(zip(self.rows, states, strict=True))
        ]
        for chunk in range(len(states[0].sums)):
            for step in steps:
                if step.scale is not None:
                    step.state.sums[chunk] = rescaled(evaluator, step.state.sums[chunk], step.scale)
            for i in range(width):
                part = self.values.read(local + i, chunk)
                for step in steps:
                    product = evaluator.emit(MulfOp(step.weights[i], part)).result
                    added = AddfOp(step.state.sums[chunk], product)
                    step.state.sums[chunk] = evaluator.emit(added).result
        return [step.state for step in steps]

    def _dots(self, key: Linear) -> list[SSAValue]:
        """The products of the queries and a key."""
        evaluator = self.evaluator
        totals: list[SSAValue | None] = [None] * len(self.queries)
        for chunk in range(len(self.queries[0])):
            part = self.keys.read(key, chunk)
            for i, query in enumerate(self.queries):
                product = evaluator.emit(MulfOp(query[chunk], part)).result
                total = totals[i]
                totals[i] = (
                    product if total is None else evaluator.emit(AddfOp(total, product)).result
                )
        return [self._sum_of_lanes(total) for total in totals if total is not None]

    def _sum_of_lanes(self, vector: SSAValue) -> SSAValue:
        lanes = [self.evaluator.lane(vector, i) for i in range(LANES)]
        while len(lanes) > 1:
            pairs = zip(lanes[::2], lanes[1::2], strict=True)
            lanes = [self.evaluator.emit(AddfOp(a, b)).result for a, b in pairs]
        return lanes[0]

    def _weigh(
        self, row: AttentionRow, scores: Sequence[SSAValue], key: Linear, state: State
    ) -> _Weighed:
        """The weights of some keys, whose scores are given, and what they change in the state."""
        evaluator, width = self.evaluator, len(scores)
        most = self.attention.maximum
        self._remember_scores(row, scores, key)
        if most is None:
            weights = [evaluator.widen(w, LANES) for w in self._plain_weights(row, key, width)]
            return _Weighed(State([], [], list(state.sums)), None, weights)
        before, total = state.softmax
        with evaluator.on_behalf_of(most.op):
            logits = [row.wide(v) for v in self._contributions(row, most, key, width)]
            maximum = row.combined(most, [before, *logits])
            reference = row.finite(maximum)
        with evaluator.on_behalf_of(self.attention.exponential):
            scale = row.exp(before, reference)
            weights = [row.exp(logit, reference) for logit in logits]
            total = rescaled(evaluator, total, scale)
            for weight in weights:
                total = evaluator.emit(AddfOp(total, weight)).result
        others = [
            row.combined(r, [value, *self._contributions(row, r, key, width)])
            for r, value in zip(row.streamed(), state.others, strict=True)
        ]
        return _Weighed(
            State([maximum, total], others, list(state.sums)),
            evaluator.widen(scale, LANES),
            [evaluator.widen(weight, LANES) for weight in weights],
        )

    def _plain_weights(self, row: AttentionRow, key: Linear, width: int) -> list[SSAValue]:
        """The weights that are functions of their scores."""
        op, position = self.attention.product, self.attention.weights
        loops = row.product_loops(Linear())
        loops[self.attention.key_loop] = key
        lanes = Lanes(self.attention.key_loop, width) if width > 1 else None
        map_ = indexing_maps(op)[position]
        weights = self.evaluator.operand_element(op.inputs[position], map_, loops, lanes)
        return [row.wide(self.evaluator.lane(weights, i)) for i in range(width)]

    def _remember_scores(self, row: AttentionRow, scores: Sequence[SSAValue], key: Linear) -> None:
        """Let the ops that follow the scores find them."""
        evaluator, op = self.evaluator, self.attention.scores
        loops = self.attention.score_loops
        index = row.index(op, row.loops(loops, key))
        along = AffineDimExpr(loops.index(self.attention.key_loop))
        width = len(scores) if len(scores) > 1 else None
        lanes = None
        value = scores[0]
        if width is not None:
            lanes = Lanes(indexing_maps(op)[-1].results.index(along), width)
            value = evaluator.from_elements(scores)
        if not starts_at_zero(op):
            init = evaluator.widen(evaluator.element(op.outputs[0], index, lanes), width)
            value = evaluator.emit(AddfOp(row.wide(init), value)).result
        evaluator.remember(op.results[0], index, lanes, narrow(evaluator, value, op.results[0]))

    def _contributions(
        self, row: AttentionRow, reduction: RowReduction, key: Linear, width: int
    ) -> list[SSAValue]:
        """What a reduction combines at `width` keys."""
        along = reduction.loops.index(self.attention.key_loop)
        (part,) = self.evaluator.inline(
            reduction.op,
            row.loops(reduction.loops, key),
            Lanes(along, width) if width > 1 else None,
            [row.identity(reduction)],
            until=reduction.combiner.contribution,
        )
        return [self.evaluator.lane(part, i) for i in range(width)]


@dataclass(frozen=True)
class _Weighed:
    """The state of a row after some keys but for the weighted sums, which are still to be scaled
    and added to."""

    state: State
    scale: SSAValue | None
    weights: list[SSAValue]
