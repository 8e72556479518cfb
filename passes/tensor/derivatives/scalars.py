"""The body of a structured op without control flow, and backwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import scf, tensor
from xdsl.ir import Block, Operation, Region, SSAValue

from ingot.compiler.analysis.derivative_rules import REFUSED, RULES, WITHOUT_GRADIENT
from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, clamp
from ingot.compiler.analysis.scalar_folding import int_of
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.dialects import arith

from .activity import is_float
from .formulas import FormulaEmitter, constant

MOST_UNROLLED = 64
"""Iterations of a loop in a body that are written out to be differentiated."""

_PASSES_ON = frozenset({"g", "-g", "cast(g)"})
"""Formulas that are 0 wherever the cotangent is: all others could make NaN of 0 times infinity."""


class Flattener:
    """Copies a body without its branches and loops: both sides are computed, one is selected."""

    def __init__(self, emit: Emitter, values: dict[SSAValue, SSAValue]) -> None:
        self.emit = emit
        self.values = values
        self._depth = 0

    def get(self, value: SSAValue) -> SSAValue:
        """The copy of a value; what comes from above stands for itself."""
        return self.values.get(value, value)

    def block(self, block: Block) -> list[SSAValue]:
        """Copy the ops; returns what the terminator yields."""
        for op in block.ops:
            if op is block.last_op:
                return [self.get(v) for v in op.operands]
            self._op(op)
        return []

    def _op(self, op: Operation) -> None:
        if not op.regions or not any(is_float(r.type) for r in op.results):
            self._copy(op)
            return
        match op:
            case scf.IfOp():
                self._if(op)
            case scf.ForOp():
                self._for(op)
            case _:
                raise refuse(
                    op,
                    f"{op.name} inside a structured op cannot be differentiated: "
                    "how often it runs depends on data",
                )

    def _copy(self, op: Operation) -> None:
        new = self.emit.builder.insert(op.clone(self.values))
        new.location = op.location
        if self._depth and isinstance(new, tensor.ExtractOp):
            # The side that is not taken may have an index of no element.
            sizes = shape_of(new.tensor)
            here = Emitter.before(new)
            for i, (index, size) in enumerate(zip(new.indices, sizes, strict=True)):
                new.operands[1 + i] = clamp(here, index, 0, max(0, size - 1))

    def _if(self, op: scf.IfOp) -> None:
        condition = self.get(op.cond)
        self._depth += 1
        taken, other = self.block(op.true_region.block), self.block(op.false_region.block)
        self._depth -= 1
        for result, a, b in zip(op.results, taken, other, strict=True):
            self.values[result] = self.emit.add(arith.SelectOp(condition, a, b)).result

    def _for(self, op: scf.ForOp) -> None:
        lower, upper, step = (int_of(self.get(v)) for v in (op.lb, op.ub, op.step))
        if lower is None or upper is None or not step or step < 0:
            raise refuse(
                op,
                "scf.for inside a structured op cannot be differentiated: "
                "how often it runs is not known here",
            )
        times = range(lower, upper, step)
        if len(times) > MOST_UNROLLED:
            raise refuse(
                op,
                f"scf.for of {len(times)} iterations inside a structured op cannot be "
                f"differentiated: the most is {MOST_UNROLLED}",
                "make the loop a reduction of the structured op",
            )
        carried = [self.get(v) for v in op.iter_args]
        induction, *arguments = op.body.block.args
        for index in times:
            self.values[induction] = constant(self.emit, index, induction.type)
            self.values.update(zip(arguments, carried, strict=True))
            carried = self.block(op.body.block)
        self.values.update(zip(op.results, carried, strict=True))


@dataclass(frozen=True)
class Cotangent:
    """The cotangent of a scalar; where `condition` is false it is 0, and stays it."""

    value: SSAValue
    condition: SSAValue | None = None


@dataclass
class ScalarReverse:
    """Runs flat scalar ops backwards; `dependent` are the values that have a cotangent."""

    emit: Emitter
    dependent: set[SSAValue]
    cotangents: dict[SSAValue, Cotangent] = field(default_factory=dict[SSAValue, Cotangent])

    def add(self, value: SSAValue, cotangent: Cotangent) -> None:
        """Add to the cotangent of a value."""
        if value not in self.dependent:
            return
        known = self.cotangents.get(value)
        if known is not None:
            total = self.emit.add(arith.AddfOp(known.value, cotangent.value)).result
            cotangent = Cotangent(total, self._either(known.condition, cotangent.condition))
        self.cotangents[value] = cotangent

    def run(self, ops: Sequence[Operation]) -> None:
        """Go through the ops from the last to the first."""
        for op in reversed(ops):
            found = [self.cotangents.get(result) for result in op.results]
            if any(found) and op.operands:
                self._op(op, found)

    def _op(self, op: Operation, found: Sequence[Cotangent | None]) -> None:
        if op.name in WITHOUT_GRADIENT or isinstance(op, tensor.ExtractOp):
            return
        if op.name in REFUSED or op.name not in RULES:
            why = REFUSED.get(op.name, "it has no derivative rule")
            raise refuse(
                op,
                f"{op.name} cannot be differentiated: {why}",
                "leave the arguments that it depends on out of the gradient",
            )
        self.emit.location = op.location
        names = dict(zip("abc", op.operands, strict=False)) | {"r": op.results[0]}
        for i, (result, cotangent) in enumerate(zip(op.results, found, strict=True), 1):
            names[f"r{i}"] = result
            names[f"g{i}"] = (
                constant(self.emit, 0.0, result.type) if cotangent is None else cotangent.value
            )
        names["g"] = names["g1"]
        condition = found[0].condition if len(found) == 1 and found[0] else None
        rule = RULES[op.name]
        if isinstance(op, arith.MulfOp) and op.lhs is op.rhs:
            rule = ("g * (a + a)", None)
        for operand, formula in zip(op.operands, rule, strict=True):
            if formula is None or operand not in self.dependent:
                continue
            formulas = FormulaEmitter(self.emit, names, operand.type)
            value, chosen = formulas.chosen(formula)
            if condition is not None and chosen is None and formula not in _PASSES_ON:
                value = self._where(condition, value)
            self.add(operand, Cotangent(value, self._both(condition, chosen)))

    def _where(self, condition: SSAValue, value: SSAValue) -> SSAValue:
        zero = constant(self.emit, 0.0, value.type)
        return self.emit.add(arith.SelectOp(condition, value, zero)).result

    def _both(self, a: SSAValue | None, b: SSAValue | None) -> SSAValue | None:
        if a is None or b is None or a is b:
            return a if b is None else b
        return self.emit.add(arith.AndIOp(a, b)).result

    def _either(self, a: SSAValue | None, b: SSAValue | None) -> SSAValue | None:
        if a is None or b is None or a is b:
            return a if a is b else None
        return self.emit.add(arith.OrIOp(a, b)).result


def depends_on(ops: Sequence[Operation], leaf: SSAValue) -> set[SSAValue]:
    """The floats among the results of flat ops that depend on `leaf`, and `leaf`.

    A float that is put together from the bits of one depends on it as well, and is refused when its
    cotangent comes.
    """
    found, bits = {leaf}, set[SSAValue]()
    for op in ops:
        if isinstance(op, arith.BitcastOp):
            (operand,) = op.operands
            if operand in found or operand in bits:
                (found if is_float(op.result.type) else bits).add(op.result)
        elif op.name in WITHOUT_GRADIENT:
            if any(operand in bits for operand in op.operands):
                bits.update(r for r in op.results if not is_float(r.type))
        else:
            rule = RULES.get(op.name)
            for i, operand in enumerate(op.operands):
                carries = rule is None or rule[i] is not None
                if carries and operand in found:
                    found.update(r for r in op.results if is_float(r.type))
                elif operand in bits:
                    bits.update(r for r in op.results if not is_float(r.type))
    return found


def erase_unused(region: Region) -> None:
    """Remove the ops of a flat body whose results nobody uses."""
    for op in reversed(list(region.block.ops)):
        if op.results and not any(r.uses for r in op.results):
            op.detach()
            op.erase()
