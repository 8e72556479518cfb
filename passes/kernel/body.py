"""Emit the body of a structured op, on scalars or on vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.dialects import affine, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerAttr,
    VectorType,
)
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.structured import (
    shape_of,
)
from ingot.compiler.dialects.arith import (
    AddiOp,
    Arith,
    ConstantOp,
    MaxSIOp,
    MinSIOp,
    MuliOp,
    SubiOp,
)
from ingot.compiler.dialects.linalg import IndexOp, YieldOp
from ingot.passes.kernel.emitter import Lanes
from ingot.passes.kernel.linear import (
    Linear,
    is_multiple,
    linear_of,
    linear_of_expr,
)
from ingot.passes.kernel.memory import View

if TYPE_CHECKING:
    from ingot.passes.kernel.evaluate import Evaluator


@dataclass
class Body:
    """Emits the ops of a structured op's body, on scalars or on vectors."""

    evaluator: Evaluator
    values: dict[SSAValue, SSAValue]
    loops: Sequence[Linear]
    lanes: Lanes | None
    partial: bool
    """Some loops belong to a partial tile and run past its edge."""
    forms: dict[SSAValue, tuple[Linear, int]] = field(
        default_factory=dict[SSAValue, tuple[Linear, int]]
    )
    """Index values of the body: the form in lane 0, and the step from lane to lane."""

    def emit_block(self, block: Block) -> list[SSAValue]:
        """Emit all ops of a block and return what its terminator yields."""
        for op in block.ops:
            if isinstance(op, YieldOp):
                return [self.get(v) for v in op.operands]
            self.emit(op)
        raise AssertionError("the body of a structured op yields")

    def get(self, value: SSAValue) -> SSAValue:
        """What stands for a value of the body; values from outside stand for themselves."""
        if value in self.values:
            return self.values[value]
        if value in self.forms:
            self.values[value] = self._materialize(value)
            return self.values[value]
        return self.evaluator.replaced.get(value, value)

    def _materialize(self, value: SSAValue) -> SSAValue:
        form, step = self.forms[value]
        evaluator = self.evaluator
        if self.lanes is None or step == 0:
            return evaluator.materialize(form)
        return evaluator.from_elements(
            [evaluator.materialize(form + step * i) for i in range(self.lanes.width)]
        )

    def emit(self, op: Operation) -> None:
        """Emit one op."""
        if self._index_form(op):
            return
        if isinstance(op, tensor.ExtractOp):
            self.values[op.result] = self._extract(op)
            return
        evaluator = self.evaluator
        operands = [self.get(v) for v in op.operands]
        if op.regions:
            if any(isinstance(v.type, VectorType) for v in operands) or self.lanes is not None:
                raise refuse(op, "internal: control flow in a vectorized body")
            self._emit_with_regions(op, operands)
            return
        width = None
        if any(isinstance(v.type, VectorType) for v in operands):
            assert self.lanes is not None
            width = self.lanes.width
            if isinstance(op, affine.ApplyOp):
                self.values[op.result] = self._apply_by_lane(op, operands, width)
                return
            operands = [evaluator.widen(v, width) for v in operands]
        types = [r.type if width is None else VectorType(r.type, [width]) for r in op.results]
        new = _VECTOR_CLASSES.get(op.name, type(op)).create(
            operands=operands,
            result_types=types,
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
        new.location = op.location
        evaluator.emit(new)
        for old, result in zip(op.results, new.results, strict=True):
            self.values[old] = result

    def _apply_by_lane(self, op: affine.ApplyOp, operands: list[SSAValue], width: int) -> SSAValue:
        evaluator = self.evaluator
        return evaluator.from_elements(
            [
                evaluator.emit(
                    affine.ApplyOp([evaluator.lane(v, lane) for v in operands], op.map)
                ).result
                for lane in range(width)
            ]
        )

    def _emit_with_regions(self, op: Operation, operands: list[SSAValue]) -> None:
        regions: list[Region] = []
        for region in op.regions:
            blocks: list[Block] = []
            for block in region.blocks:
                copy = Block(arg_types=block.arg_types)
                for old, arg in zip(block.args, copy.args, strict=True):
                    self.values[old] = arg
                with self.evaluator.inside(copy):
                    for inner in block.ops:
                        self.emit(inner)
                blocks.append(copy)
            regions.append(Region(blocks))
        new = type(op).create(
            operands=operands,
            result_types=list(op.result_types),
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            regions=regions,
        )
        new.location = op.location
        self.evaluator.emit(new)
        for old, result in zip(op.results, new.results, strict=True):
            self.values[old] = result

    def _index_form(self, op: Operation) -> bool:
        """Track index arithmetic as linear forms instead of emitting it."""
        if isinstance(op, IndexOp):
            loop = op.dim.value.data
            step = 1 if self.lanes is not None and self.lanes.dim == loop else 0
            self.forms[op.result] = (self.loops[loop], step)
            return True
        if len(op.results) != 1 or not isinstance(op.results[0].type, IndexType):
            return False
        if not isinstance(op, _INDEX_OPS):
            return False
        forms: dict[SSAValue, tuple[Linear, int]] = {}
        for operand in op.operands:
            if operand in self.forms:
                forms[operand] = self.forms[operand]
            elif operand in self.values:
                return False
            else:
                forms[operand] = (self.evaluator.linear(operand), 0)
        combined = _combine(op, forms)
        if combined is None and isinstance(op, affine.ApplyOp) and not op.map.data.num_symbols:
            combined = self._divided(op.map.data.results[0], [forms[v] for v in op.operands])
        if combined is None:
            return False
        self.forms[op.results[0]] = combined
        return True

    def _divided(
        self, expr: AffineExpr, operands: list[tuple[Linear, int]]
    ) -> tuple[Linear, int] | None:
        """The form of an expression with quotients and remainders by constants.

        Lanes that start at a multiple of their number stay within one period of the divisor.
        """
        match expr:
            case AffineConstantExpr(value):
                return Linear((), value), 0
            case AffineDimExpr(position):
                return operands[position]
            case AffineBinaryOpExpr(kind, lhs, rhs):
                left, right = self._divided(lhs, operands), self._divided(rhs, operands)
            case _:
                return None
        if left is None or right is None:
            return None
        (form, step), (other, other_step) = left, right
        if kind is AffineBinaryOpKind.Add:
            return form + other, step + other_step
        number = other.known
        if number is None or other_step:
            return None
        if kind is AffineBinaryOpKind.Mul:
            return form * number, step * number
        width = self.lanes.width if self.lanes is not None else 1
        divides = kind is AffineBinaryOpKind.FloorDiv
        if number <= 0 or not (divides or kind is AffineBinaryOpKind.Mod):
            return None
        if step and (step != 1 or number % width or not is_multiple(form, width)):
            return None
        if form.known is not None:
            quotient, remainder = divmod(form.known, number)
            return Linear((), quotient if divides else remainder), 0 if divides else step
        evaluator = self.evaluator

        def make() -> Linear:
            d = AffineDimExpr(0)
            rounded = d // number if divides else d % number
            return Linear.of(evaluator.apply(rounded, evaluator.materialize(form)))

        return evaluator.once((kind, form, number), make), 0 if divides else step

    def _extract(self, op: tensor.ExtractOp) -> SSAValue:
        """Read an element of a captured tensor, in every lane."""
        evaluator = self.evaluator
        source = op.tensor
        view = evaluator.view(source)
        forms = [
            self.forms.get(v) or self._constant_form(v) or self._clamped_form(v, size)
            for v, size in zip(op.indices, shape_of(source), strict=True)
        ]
        known = [f for f in forms if f is not None]
        # Loops count from zero, so only the upper end can be passed, by partial tiles.
        inside = not self.partial or all(_is_nonnegative(*f) for f in known)
        if view is not None and len(known) == len(forms) and inside:
            return self._load(view, known)
        indices = [self.get(v) for v in op.indices]
        width = self.lanes.width if self.lanes is not None else 1
        if not any(isinstance(v.type, VectorType) for v in indices):
            return self._gather(source, op, indices)
        elements = [
            self._gather(source, op, [evaluator.lane(v, lane) for v in indices])
            for lane in range(width)
        ]
        return evaluator.from_elements(elements)

    def _load(self, view: View, forms: list[tuple[Linear, int]]) -> SSAValue:
        evaluator = self.evaluator
        if self.partial:
            view = View(view.buffer, view.offsets, [True] * len(view.partial))
        index = [form for form, _ in forms]
        moving = [i for i, (_, step) in enumerate(forms) if step]
        if self.lanes is None or not moving:
            return evaluator.load(view, index, None)
        if len(moving) == 1 and forms[moving[0]][1] == 1:
            return evaluator.load(view, index, Lanes(moving[0], self.lanes.width))
        return evaluator.from_elements(
            [
                evaluator.load(view, [form + step * lane for form, step in forms], None)
                for lane in range(self.lanes.width)
            ]
        )

    def _constant_form(self, value: SSAValue) -> tuple[Linear, int] | None:
        if value in self.values:
            return None
        form = linear_of(value)
        return (form, 0) if form.known is not None else None

    def _clamped_form(self, value: SSAValue, size: int) -> tuple[Linear, int] | None:
        """An index that is the same in all lanes, and that the body keeps inside the tensor."""
        if not _is_clamped(value, size) or value in self.forms:
            return None
        code = self.get(value)
        return None if isinstance(code.type, VectorType) else (Linear.of(code), 0)

    def _gather(self, source: SSAValue, op: tensor.ExtractOp, indices: list[SSAValue]) -> SSAValue:
        """Read at computed indices, kept inside the tensor: an index outside reads its edge."""
        evaluator = self.evaluator
        inside: list[Linear] = []
        for size, original, index in zip(shape_of(source), op.indices, indices, strict=True):
            clamped = index
            if size != DYNAMIC_INDEX and not _is_clamped(original, size):
                zero = evaluator.index_value(0)
                last = evaluator.index_value(max(0, size - 1))
                clamped = evaluator.pure(MaxSIOp, index, zero)
                clamped = evaluator.pure(MinSIOp, clamped, last)
            inside.append(linear_of(clamped))
        return evaluator.element(source, inside)


def _is_nonnegative(form: Linear, step: int) -> bool:
    return step >= 0 and form.constant >= 0 and all(c > 0 for _, c in form.terms)


def _is_clamped(index: SSAValue, size: int) -> bool:
    """Whether an index is min(max(x, low), high), or the reverse, with bounds inside the tensor."""
    bounds: dict[type[Operation], int] = {}
    while not isinstance(index, BlockArgument) and isinstance(index.owner, MinSIOp | MaxSIOp):
        owner = index.owner
        bound = linear_of(owner.rhs).known
        if bound is None:
            return False
        bounds.setdefault(type(owner), bound)
        index = owner.lhs
    return bounds.get(MaxSIOp, -1) >= 0 and bounds.get(MinSIOp, size) < size


def _combine(op: Operation, forms: dict[SSAValue, tuple[Linear, int]]) -> tuple[Linear, int] | None:
    operands = [forms[v] for v in op.operands]
    match op:
        case ConstantOp() if isinstance(op.value, IntegerAttr):
            return Linear((), op.value.value.data), 0
        case AddiOp():
            return operands[0][0] + operands[1][0], operands[0][1] + operands[1][1]
        case SubiOp():
            return operands[0][0] + operands[1][0] * -1, operands[0][1] - operands[1][1]
        case MuliOp():
            for (lhs, step), (rhs, other) in (operands, operands[::-1]):
                if rhs.known is not None and other == 0:
                    return lhs * rhs.known, step * rhs.known
            return None
        case affine.ApplyOp() if op.map.data.num_symbols == 0:
            expr = op.map.data.results[0]
            form = linear_of_expr(expr, [f for f, _ in operands])
            step = linear_of_expr(expr, [Linear((), s) for _, s in operands])
            if form is None or step is None or step.known is None:
                return None
            base = linear_of_expr(expr, [Linear()] * len(operands))
            assert base is not None and base.known is not None
            return form, step.known - base.known
        case _:
            return None


_VECTOR_CLASSES = {op.name: op for op in Arith.operations}
"""The classes of arith ops that take vectors; xDSL's own rewrites make ops that do not."""

_INDEX_OPS = (ConstantOp, AddiOp, SubiOp, MuliOp, affine.ApplyOp)
