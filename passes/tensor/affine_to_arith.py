"""Compute `affine.apply`, `affine.min` and `affine.max` on tensors' level with arith ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.affine import ApplyOp, MinOp
from xdsl.dialects.builtin import AffineMapAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)
from xdsl.passes import ModulePass

from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, erase
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.affine import MaxOp

_OPS: dict[AffineBinaryOpKind, Callable[[SSAValue, SSAValue], Operation]] = {
    AffineBinaryOpKind.Add: arith.AddiOp,
    AffineBinaryOpKind.Mul: arith.MuliOp,
    AffineBinaryOpKind.FloorDiv: arith.FloorDivSIOp,
    AffineBinaryOpKind.CeilDiv: arith.CeilDivSIOp,
}


@dataclass(frozen=True)
class _Expressions:
    """Emits affine expressions over the operands of one op."""

    emit: Emitter
    dims: Sequence[SSAValue]
    symbols: Sequence[SSAValue]

    def value(self, expr: AffineExpr) -> SSAValue:
        """The value of an expression; divisions round as affine maps say, for negatives too."""
        match expr:
            case AffineConstantExpr():
                return self.emit.index(expr.value)
            case AffineDimExpr():
                return self.dims[expr.position]
            case AffineSymExpr():
                return self.symbols[expr.position]
            case AffineBinaryOpExpr():
                left, right = self.value(expr.lhs), self.value(expr.rhs)
                if expr.kind is AffineBinaryOpKind.Mod:
                    whole = self._binary(AffineBinaryOpKind.FloorDiv, left, right)
                    product = self._binary(AffineBinaryOpKind.Mul, whole, right)
                    return self.emit.add(arith.SubiOp(left, product)).result
                return self._binary(expr.kind, left, right)
            case _:
                raise ValueError(f"{expr} is no affine expression")

    def _binary(self, kind: AffineBinaryOpKind, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.emit.add(_OPS[kind](left, right)).results[0]


def _convert(op: ApplyOp | MinOp | MaxOp) -> None:
    attribute = op.properties["map"]
    assert isinstance(attribute, AffineMapAttr)
    map_ = attribute.data
    emit = Emitter.before(op)
    operands = list(op.operands)
    expressions = _Expressions(emit, operands[: map_.num_dims], operands[map_.num_dims :])
    result, *others = (expressions.value(expr) for expr in map_.results)
    choose = arith.MinSIOp if isinstance(op, MinOp) else arith.MaxSIOp
    for other in others:
        result = emit.add(choose(result, other)).result
    result.name_hint = result.name_hint or op.results[0].name_hint
    op.results[0].replace_all_uses_with(result)
    erase(op)


@dataclass(frozen=True)
class AffineToArithPass(ModulePass):
    """Compute affine maps of scalars with arith ops, in host functions and in bodies (L1 to L1).

        %n = affine.apply affine_map<()[s0] -> (s0 ceildiv 8)>()[%m]
    becomes
        %n = arith.ceildivsi %m, %c8 : index
    """

    name = "affine-to-arith"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions."""
        for function in host_functions(op):
            for inner in list(function.body.walk()):
                if isinstance(inner, ApplyOp | MinOp | MaxOp):
                    _convert(inner)
