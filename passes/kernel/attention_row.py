"""A row of attention: where a thread is in the ops of one, and what it carries from key to key."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import affine
from xdsl.dialects.builtin import AffineMapAttr, f32
from xdsl.dialects.math import Exp2Op, ExpOp
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from ingot.compiler.analysis.attention import Attention, RowReduction
from ingot.compiler.analysis.schedule import Schedule
from ingot.compiler.analysis.structured import indexing_maps, loop_extents
from ingot.compiler.dialects.arith import CmpfOp, CmpiOp, MinSIOp, SelectOp, SubfOp
from ingot.compiler.dialects.linalg import GenericOp
from ingot.passes.kernel.cooperative import combine, identity_of, thread_id
from ingot.passes.kernel.evaluate import Evaluator
from ingot.passes.kernel.linear import Linear, linear_of_expr
from ingot.passes.kernel.reduction import widen_accumulator

LANES = 4
"""Elements of a head that are loaded and multiplied together, and keys of one step."""


@dataclass
class State:
    """What a thread carries from key to key."""

    softmax: list[SSAValue]
    """The maximum so far, and the sum of exponentials for it; nothing without a softmax."""
    others: list[SSAValue]
    """The running values of reductions that do not depend on the maximum."""
    sums: list[SSAValue]
    """The weighted sums of values, in vectors."""

    def values(self) -> list[SSAValue]:
        """All of it, as a loop carries it."""
        return [*self.softmax, *self.others, *self.sums]

    def like(self, values: Sequence[SSAValue]) -> State:
        """The same state with other values."""
        rest = iter(values)
        parts = [[next(rest) for _ in part] for part in (self.softmax, self.others, self.sums)]
        return State(*parts)


@dataclass
class AttentionRow:
    """One of the rows of a thread."""

    evaluator: Evaluator
    attention: Attention
    schedule: Schedule
    number: int
    """Which of them."""
    valid: SSAValue | None = None
    """Whether the row exists; None when it always does."""
    point: dict[int, Linear] = field(default_factory=dict[int, Linear])
    """Where the row is, in loops of the product over queries."""

    def place(self) -> None:
        """Find the row: adjacent threads have adjacent ones."""
        evaluator, attention = self.evaluator, self.attention
        extents = loop_extents(attention.product)
        self.point = dict.fromkeys((*attention.batch_loops, *attention.row_loops), Linear())
        row_loop = attention.row_loop
        threads = self.schedule.threads // self.schedule.splits
        position = Linear.of(thread_id(evaluator))
        if self.schedule.splits > 1:
            quotient = AffineDimExpr(0) // self.schedule.splits
            position = evaluator.once("row", lambda: self._of_thread(quotient))
        position = position + self.number * threads
        if 0 <= extents[row_loop] < (self.number + 1) * threads:
            at = evaluator.materialize(position)
            end = evaluator.index_value(extents[row_loop])
            last = evaluator.index_value(extents[row_loop] - 1)
            self.valid = evaluator.pure(CmpiOp, at, end, "slt")
            position = Linear.of(evaluator.pure(MinSIOp, at, last))
        self.point[row_loop] = position

    def split(self) -> Linear:
        """Which of the threads that share the row this one is."""
        splits = self.schedule.splits
        if splits == 1:
            return Linear()
        return self.evaluator.once("split", lambda: self._of_thread(AffineDimExpr(0) % splits))

    def _of_thread(self, expr: AffineExpr) -> Linear:
        map_ = AffineMapAttr(AffineMap(1, 0, (expr,)))
        apply = affine.ApplyOp([thread_id(self.evaluator)], map_)
        return Linear.of(self.evaluator.emit(apply).result)

    def loops(self, loops: Sequence[int | None], key: Linear) -> list[Linear]:
        """A point of an op whose loops are those of the product given."""
        at = self.point | {self.attention.key_loop: key}
        return [at.get(loop, Linear()) if loop is not None else Linear() for loop in loops]

    def product_loops(self, column: Linear) -> list[Linear]:
        """The point of the product in one of its columns."""
        at = self.point | {self.attention.value_loop: column}
        count = len(self.attention.product.iterator_types.data)
        return [at.get(loop, Linear()) for loop in range(count)]

    def index(self, op: GenericOp, loops: Sequence[Linear]) -> tuple[Linear, ...]:
        """Where the result of `op` is written at a point of its loops."""
        forms = (linear_of_expr(e, loops) for e in indexing_maps(op)[-1].results)
        return tuple(form for form in forms if form is not None)

    def wide(self, value: SSAValue) -> SSAValue:
        """A float, scalar or vector, in f32."""
        return widen_accumulator(self.evaluator, value, f32)

    def streamed(self) -> list[RowReduction]:
        """The reductions that do not depend on the maximum."""
        return [r for r in self.attention.sums if not r.exponentials]

    def identity(self, reduction: RowReduction) -> SSAValue:
        """What leaves the result of a reduction as it is."""
        element = reduction.combiner.contribution.type
        return self.evaluator.constant(identity_of(reduction.combiner.name, element), element)

    def init(self, reduction: RowReduction) -> SSAValue:
        """What a reduction starts from."""
        index = self.index(reduction.op, self.loops(reduction.loops, Linear()))
        return self.evaluator.element(reduction.op.outputs[0], index)

    def combined(self, reduction: RowReduction, parts: Sequence[SSAValue]) -> SSAValue:
        """The parts, combined in order."""
        total, *rest = parts
        for part in rest:
            total = combine(self.evaluator, reduction.combiner, total, part)
        return total

    def finite(self, maximum: SSAValue) -> SSAValue:
        """The maximum, or zero while it is minus infinity: exponentials are zero then, not NaN."""
        evaluator = self.evaluator
        none = evaluator.constant(-math.inf, f32)
        condition = evaluator.emit(CmpfOp(maximum, none, "oeq")).result
        return evaluator.emit(SelectOp(condition, evaluator.constant(0.0, f32), maximum)).result

    def exp(self, value: SSAValue, reference: SSAValue) -> SSAValue:
        """The exponential of a difference."""
        difference = self.evaluator.emit(SubfOp(value, reference)).result
        kind = ExpOp if self.attention.base == "math.exp" else Exp2Op
        return self.evaluator.emit(kind(difference)).result
