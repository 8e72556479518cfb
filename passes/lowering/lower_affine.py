"""The pass `lower-affine`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects import affine
from xdsl.dialects.builtin import AffineMapAttr, IndexType, ModuleOp
from xdsl.ir import Attribute, Block, Operation
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import kernel_functions
from ingot.compiler.analysis.index_range import is_non_negative
from ingot.compiler.dialects.arith import MaxSIOp, MinSIOp
from ingot.passes.lowering.emitter import Emitter, Value, replace_op

_MAPS = frozenset({"affine.apply", "affine.min", "affine.max"})


@dataclass(frozen=True)
class LowerAffinePass(ModulePass):
    """Computes `affine.apply`, `affine.min` and `affine.max` with `arith`, on L4 kernels.

    Unlike xDSL's pass of the name it knows minima, rounds divisions down for negative indices too,
    and divides without signs where an index is known not to be negative. What several maps have in
    common is emitted once.

    ```mlir
    %1 = affine.min affine_map<(d0) -> (4, -d0 + 10)>(%0)
    ```
    becomes
    ```mlir
    %d = arith.subi %c10, %0 : index
    %1 = arith.minsi %c4, %d : index
    ```
    """

    name = "lower-affine"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernel_functions(op):
            known: Known = {}
            for inner in [inner for inner in kernel.walk() if inner.name in _MAPS]:
                _lower(inner, known)


Known: TypeAlias = "dict[tuple[Block, Hashable], Value]"
"""What was emitted in a block so far, by what it computes."""


@dataclass
class _SharingEmitter(Emitter):
    """Emits nothing that was emitted for an earlier op in the same block or around it."""

    known: Known = field(default_factory=dict[tuple[Block, Hashable], Value])

    def math(self, op_type: type[Operation], *operands: Value) -> Value:
        key = (op_type, *(operand.ssa for operand in operands))
        return self._once(key, lambda: Emitter.math(self, op_type, *operands))

    def const(self, number: float | int, type_: Attribute) -> Value:
        return self._once((number, type_), lambda: Emitter.const(self, number, type_))

    def _once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        block: Block | None = self.block
        while block is not None:
            if (found := self.known.get((block, key))) is not None:
                return self.value(found.ssa)
            block = block.parent_block()
        made = self.known[self.block, key] = make()
        return made


def _lower(op: Operation, known: Known) -> None:
    assert isinstance(op, affine.ApplyOp | affine.MinOp) or op.name == "affine.max"
    attribute = op.properties["map"]
    assert isinstance(attribute, AffineMapAttr)
    map_: AffineMap = attribute.data
    e = _SharingEmitter.before_op(op)
    e.known = known
    operands = [e.value(operand) for operand in op.operands]
    dims, symbols = operands[: map_.num_dims], operands[map_.num_dims :]
    values = [_Expressions(e, op, dims, symbols).value(expr) for expr in map_.results]
    result = values[0]
    for value in values[1:]:
        result = e.math(MaxSIOp if op.name == "affine.max" else MinSIOp, result, value)
    replace_op(op, result)


@dataclass(frozen=True)
class _Expressions:
    """Emits affine expressions over the operands of one op."""

    emitter: Emitter
    op: Operation
    dims: Sequence[Value]
    symbols: Sequence[Value]

    def value(self, expr: AffineExpr) -> Value:
        match expr:
            case AffineConstantExpr():
                # In a body that runs in lanes the operands, and so the constants, are vectors.
                type_ = self.op.operands[0].type if self.op.operands else IndexType()
                return self.emitter.const(expr.value, type_)
            case AffineDimExpr():
                return self.dims[expr.position]
            case AffineSymExpr():
                return self.symbols[expr.position]
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add):
                return self._sum(expr)
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul):
                return self.value(expr.lhs) * self.value(expr.rhs)
            case AffineBinaryOpExpr(kind=kind, rhs=AffineConstantExpr(value=divisor)):
                if divisor > 0:
                    return self._division(kind, self.value(expr.lhs), divisor)
            case _:
                pass
        raise refuse(self.op, "an affine map that divides by something not a positive constant")

    def _sum(self, expr: AffineBinaryOpExpr) -> Value:
        """`a + -b` is `a - b`."""
        for first, second in ((expr.lhs, expr.rhs), (expr.rhs, expr.lhs)):
            match second:
                case AffineBinaryOpExpr(
                    kind=AffineBinaryOpKind.Mul, rhs=AffineConstantExpr(value=-1), lhs=negated
                ):
                    return self.value(first) - self.value(negated)
                case _:
                    pass
        return self.value(expr.lhs) + self.value(expr.rhs)

    def _division(self, kind: AffineBinaryOpKind, a: Value, divisor: int) -> Value:
        unsigned = is_non_negative(a.ssa)
        match kind:
            case AffineBinaryOpKind.FloorDiv:
                return _floor(a, divisor, unsigned)
            case AffineBinaryOpKind.CeilDiv:
                return _floor(a + (divisor - 1), divisor, unsigned)
            case _:
                if unsigned:
                    return a.remainder(divisor, signed=False)
                return a - _floor(a, divisor, unsigned) * divisor


def _floor(a: Value, divisor: int, unsigned: bool) -> Value:
    """a / divisor rounded down."""
    if unsigned:
        return a.divide(divisor, signed=False)
    # what is below zero is moved so that rounding towards zero rounds down
    shifted = a.lt(0).select(a - (divisor - 1), a)
    return shifted.divide(divisor, signed=True)
