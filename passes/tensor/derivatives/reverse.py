"""A block of the host program, backwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from ingot.compiler.analysis.generics import Emitter, elementwise
from ingot.compiler.dialects import arith

from .kernels import zeros

Rule = Callable[["Reverse", Operation, Sequence[SSAValue | None]], None]
"""Adds to the cotangents of the operands, given those of the results."""

RULES: dict[type[Operation], Rule] = {}
"""By the class of the op; the modules of this package register theirs."""


def reverses(*ops: type[Operation]) -> Callable[[Rule], Rule]:
    """Register the rule of these ops."""

    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(ops, rule))
        return rule

    return register


def cotangent_type(type_: Attribute) -> TensorType[Attribute]:
    """The type of the cotangent of a tensor, or of a scalar: a tensor of rank 0."""
    if isinstance(type_, TensorType):
        return type_  # pyright: ignore[reportUnknownVariableType]
    return TensorType(type_, [])


@dataclass
class Reverse:
    """Goes through the ops of a block from the last to the first, and emits what each adds to the
    cotangents of its operands; `active` are the values whose cotangents are wanted."""

    emit: Emitter
    active: set[SSAValue]
    cotangents: dict[SSAValue, list[SSAValue]] = field(
        default_factory=dict[SSAValue, list[SSAValue]]
    )

    def add(self, value: SSAValue, cotangent: SSAValue | None) -> None:
        """Add to the cotangent of a value; None is zero."""
        if cotangent is not None and value in self.active:
            self.cotangents.setdefault(value, []).append(cotangent)

    def take(self, value: SSAValue) -> SSAValue | None:
        """The cotangent of a value, None where it is zero; it is complete then."""
        parts = self.cotangents.pop(value, [])
        if len(parts) < 2:
            return parts[0] if parts else None
        type_ = cotangent_type(value.type)

        def total(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
            first, *rest = args
            for other in rest:
                first = emit.add(arith.AddfOp(first, other)).result
            return [first]

        maps = [AffineMap.identity(type_.get_num_dims())] * len(parts)
        return elementwise(self.emit, type_, parts, maps, total)

    def take_or_zeros(self, value: SSAValue) -> SSAValue:
        """The cotangent of a value as a tensor."""
        found = self.take(value)
        return zeros(self.emit, cotangent_type(value.type)) if found is None else found

    def run(self, ops: Sequence[Operation]) -> None:
        """Go through the ops backwards; raises `Refusal` for one without a derivative."""
        for op in reversed(ops):
            wanted = [r in self.active for r in op.results]
            if not any(wanted):
                continue
            found = [self.take(result) for result in op.results]
            if not any(g is not None for g in found):
                continue
            self.emit.location = op.location
            _rule_of(op)(self, op, found)


def _rule_of(op: Operation) -> Rule:
    """The rule of the op's class or of one that it derives from; scalar ops have that of all."""
    return next(RULES[base] for base in type(op).__mro__ if base in RULES)
