"""The end of a row of attention: from the sums over keys to the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import VectorType, f32, i1, i32
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ingot.compiler.analysis.attention import RowReduction, Step
from ingot.compiler.analysis.expressions import Origin
from ingot.compiler.analysis.shared_loops import shared_dims
from ingot.compiler.analysis.structured import (
    element_type,
    indexing_maps,
    loop_extents,
    shape_of,
    starts_at_zero,
)
from ingot.compiler.dialects.arith import (
    AddfOp,
    AndIOp,
    CmpfOp,
    CmpiOp,
    ConstantOp,
    DivfOp,
    ExtUIOp,
    MulfOp,
    SelectOp,
    TruncIOp,
)
from ingot.compiler.dialects.bufferization import MaterializeInDestinationOp
from ingot.compiler.dialects.gpu import ShuffleMode, ShuffleOp
from ingot.passes.kernel.attention_row import LANES, AttentionRow, State
from ingot.passes.kernel.cooperative import combine
from ingot.passes.kernel.emitter import Lanes
from ingot.passes.kernel.linear import Linear, linear_of_expr
from ingot.passes.kernel.reduction import narrow
from ingot.passes.kernel.store import store


@dataclass(frozen=True)
class _Piece:
    """Four elements of the result, which this thread stores."""

    start: Linear
    value: SSAValue
    valid: SSAValue | None


class RowEnd:
    """What becomes of a row's sums."""

    def __init__(self, row: AttentionRow, state: State) -> None:
        self.row = row
        self.evaluator = row.evaluator
        with self.evaluator.on_behalf_of(row.attention.product):
            state = self._merged(state)
            self.pieces = self._own(state.sums)
            if row.attention.maximum is not None:
                self.pieces = self._finished(state, row.attention.maximum, self.pieces)

    # Threads that share the row

    def _merged(self, state: State) -> State:
        """The state of all threads that share the row, which every one of them gets."""
        row, evaluator = self.row, self.evaluator
        if row.schedule.splits == 1:
            return state
        sums = state.sums
        softmax: list[SSAValue] = []
        most = row.attention.maximum
        if most is not None:
            before, total = state.softmax
            maximum = self._shuffled(before, lambda a, b: row.combined(most, [a, b]))
            scale = row.exp(before, row.finite(maximum))
            scales = evaluator.widen(scale, LANES)
            total = evaluator.emit(MulfOp(total, scale)).result
            softmax = [maximum, self._shuffled(total, self._add)]
            sums = [evaluator.emit(MulfOp(value, scales)).result for value in sums]
        others = [
            self._shuffled(value, lambda a, b, r=reduction: row.combined(r, [a, b]))
            for value, reduction in zip(state.others, row.streamed(), strict=True)
        ]
        return State(softmax, others, [self._shuffled_lanes(value) for value in sums])

    def _add(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.evaluator.emit(AddfOp(lhs, rhs)).result

    def _shuffled(
        self, value: SSAValue, combined: Callable[[SSAValue, SSAValue], SSAValue]
    ) -> SSAValue:
        """A value combined over the threads that share the row."""
        distance = 1
        while distance < self.row.schedule.splits:
            value = combined(value, self._from(value, distance))
            distance *= 2
        return value

    def _shuffled_lanes(self, vector: SSAValue) -> SSAValue:
        lanes = [self._shuffled(self.evaluator.lane(vector, i), self._add) for i in range(LANES)]
        return self.evaluator.from_elements(lanes)

    def _from(self, value: SSAValue, distance: int) -> SSAValue:
        """The value of the thread whose number differs in one bit; flags travel as integers."""
        evaluator = self.evaluator
        offset, width = (
            evaluator.emit(ConstantOp.from_int_and_width(n, 32)).result for n in (distance, 32)
        )
        word = evaluator.emit(ExtUIOp(value, i32)).result if value.type == i1 else value
        found = evaluator.emit(ShuffleOp(ShuffleMode.XOR, word, offset, width)).shuffle_result
        return evaluator.emit(TruncIOp(found, i1)).result if value.type == i1 else found

    def _own(self, sums: Sequence[SSAValue]) -> list[_Piece]:
        """The parts of the row that this thread finishes: every n-th, if n threads share it."""
        evaluator, splits = self.evaluator, self.row.schedule.splits
        split = self.row.split()
        pieces: list[_Piece] = []
        for first in range(0, len(sums), splits):
            mine, *rest = sums[first : first + splits]
            valid = self.row.valid
            for number, value in enumerate(rest, 1):
                here = self._compare(split, number, "eq")
                condition = evaluator.widen(here, LANES)
                mine = evaluator.emit(SelectOp(condition, value, mine)).result
            if 1 + len(rest) < splits:
                inside = self._compare(split, 1 + len(rest), "slt")
                valid = inside if valid is None else evaluator.pure(AndIOp, valid, inside)
            pieces.append(_Piece((split + first) * LANES, mine, valid))
        return pieces

    def _compare(self, position: Linear, number: int, predicate: str) -> SSAValue:
        at = self.evaluator.materialize(position)
        constant = self.evaluator.index_value(number)
        return self.evaluator.pure(CmpiOp, at, constant, predicate)

    # What is done to weights

    def _finished(self, state: State, most: RowReduction, pieces: Sequence[_Piece]) -> list[_Piece]:
        """The weighted sums, with all that is done to weights done to them."""
        row, evaluator, attention = self.row, self.evaluator, self.row.attention
        self._forget_scores()
        maximum, total = state.softmax
        self._remember(most, maximum)
        reference = maximum
        if attention.reference is not None:
            reference = row.wide(self._row_value(attention.reference))
        # One where the reference is the maximum; NaN where that is minus infinity, as the
        # exponential of -inf - -inf is.
        factor = row.exp(row.finite(maximum), reference)
        zero = evaluator.constant(0.0, f32)
        nothing = evaluator.emit(CmpfOp(total, zero, "oeq")).result
        total = evaluator.emit(MulfOp(total, factor)).result
        others = iter(state.others)
        for reduction in attention.sums:
            value = total if reduction.exponentials else next(others)
            init = row.init(reduction)
            init = row.wide(init) if reduction.exponentials else init
            self._remember(reduction, combine(evaluator, reduction.combiner, init, value))
        steps = [(step, self._row_value(step.row)) for step in attention.steps]
        condition, zeros = evaluator.widen(nothing, LANES), evaluator.widen(zero, LANES)
        finished: list[_Piece] = []
        for piece in pieces:
            # Weights that are all zero leave zero, or NaN where a value is infinite.
            none = evaluator.emit(SelectOp(condition, piece.value, zeros)).result
            value = evaluator.emit(MulfOp(piece.value, evaluator.widen(factor, LANES))).result
            for step, operand in steps:
                with evaluator.on_behalf_of(step.row.op):
                    value = self._apply(step, operand, value, none)
            finished.append(_Piece(piece.start, value, piece.valid))
        return finished

    def _apply(self, step: Step, operand: SSAValue, value: SSAValue, none: SSAValue) -> SSAValue:
        evaluator = self.evaluator
        match step.kind:
            case "div":
                divisor = evaluator.widen(self.row.wide(operand), LANES)
                return evaluator.emit(DivfOp(value, divisor)).result
            case "mul":
                factor = evaluator.widen(self.row.wide(operand), LANES)
                return evaluator.emit(MulfOp(value, factor)).result
            case "zero_where":
                return evaluator.emit(SelectOp(evaluator.widen(operand, LANES), none, value)).result
            case "zero_unless":
                return evaluator.emit(SelectOp(evaluator.widen(operand, LANES), value, none)).result

    def _forget_scores(self) -> None:
        """Values of the row may sit in bodies that also read scores, which they do not need."""
        row, op = self.row, self.row.attention.scores
        index = row.index(op, row.loops(row.attention.score_loops, Linear()))
        zero = self.evaluator.zero(element_type(op.results[0]))
        self.evaluator.remember(op.results[0], index, None, zero)

    def _remember(self, reduction: RowReduction, value: SSAValue) -> None:
        result = reduction.op.results[0]
        index = self.row.index(reduction.op, self.row.loops(reduction.loops, Linear()))
        self.evaluator.remember(result, index, None, narrow(self.evaluator, value, result))

    def _row_value(self, origin: Origin) -> SSAValue:
        """A value of the row, from the body that computes it."""
        owner = origin.value.owner
        block = owner if isinstance(owner, Block) else owner.parent_block()
        if block is not origin.op.body.block:
            return origin.value
        at = self.row.product_loops(Linear())
        loops = [linear_of_expr(e, at) or Linear() for e in origin.loops]
        (value,) = self.evaluator.inline(origin.op, loops, None, until=origin.value)
        return value

    # The result

    def store(self, op: MaterializeInDestinationOp) -> None:
        """Store the row, with what is computed of it on the way to `op`."""
        evaluator, product = self.evaluator, self.row.attention.product
        column = self.row.attention.value_loop
        view = evaluator.view(op.dest)
        block = op.parent_block()
        assert view is not None and block is not None
        rank = len(shape_of(op.source))
        known = shared_dims(list(block.ops), op.source, rank)[product.results[0]]
        # Which dimension of what is stored each loop of the product runs along.
        dims = {
            e.position: dim
            for e, dim in zip(indexing_maps(product)[-1].results, known, strict=True)
            if isinstance(e, AffineDimExpr) and dim is not None
        }
        for start, value, valid in self._vectors():
            loops = self.row.product_loops(start)
            width = LANES if isinstance(value.type, VectorType) else 1
            self._remember_result(loops, value, width)
            index = [Linear()] * rank
            for loop, dim in dims.items():
                index[dim] = loops[loop]
            lanes = Lanes(dims[column], width) if width > 1 else None
            store(evaluator, view, index, lanes, evaluator.element(op.source, index, lanes), valid)

    def _vectors(self) -> list[tuple[Linear, SSAValue, SSAValue | None]]:
        """The pieces; the last one as scalars, where it reaches past the end of the row."""
        extent = loop_extents(self.row.attention.product)[self.row.attention.value_loop]
        found: list[tuple[Linear, SSAValue, SSAValue | None]] = []
        for piece in self.pieces:
            start = piece.start.known
            if start is None or start + LANES <= extent:
                found.append((piece.start, piece.value, piece.valid))
                continue
            for i in range(extent - start):
                lane = self.evaluator.lane(piece.value, i)
                found.append((Linear((), start + i), lane, piece.valid))
        return found

    def _remember_result(self, loops: Sequence[Linear], value: SSAValue, width: int) -> None:
        evaluator, op = self.evaluator, self.row.attention.product
        index = self.row.index(op, loops)
        lanes = None
        if width > 1:
            along = AffineDimExpr(self.row.attention.value_loop)
            lanes = Lanes(indexing_maps(op)[-1].results.index(along), width)
        if not starts_at_zero(op):
            init = evaluator.element(op.outputs[0], index, lanes)
            init = evaluator.widen(init, None if lanes is None else width)
            value = evaluator.emit(AddfOp(self.row.wide(init), value)).result
        evaluator.remember(op.results[0], index, lanes, narrow(evaluator, value, op.results[0]))
