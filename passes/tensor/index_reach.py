"""How far an affine index goes over loops whose sizes a call decides."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from ingot.compiler.analysis.generics import Emitter
from ingot.compiler.dialects import arith

Number = int | SSAValue
Reach = tuple[Number, Number]
"""The least and the greatest value."""


def reaches(expr: AffineExpr, extents: Sequence[Number], emit: Emitter) -> Reach | None:
    """The range of `expr` over loops from 0 to `extents`, computed at `emit` where it has to be.

    It is exact for sums in which no loop occurs twice, and never too small. None where a factor, a
    divisor or a modulus is no constant.
    """
    return _Reach(extents, emit).of(expr)


class _Reach:
    """Interval arithmetic on numbers of the host program."""

    def __init__(self, extents: Sequence[Number], emit: Emitter):
        self.extents = extents
        self.emit = emit

    def of(self, expr: AffineExpr) -> Reach | None:
        """The range of an expression."""
        match expr:
            case AffineConstantExpr():
                return expr.value, expr.value
            case AffineDimExpr():
                return 0, self._add(self.extents[expr.position], -1)
            case AffineBinaryOpExpr():
                left, right = self.of(expr.lhs), self.of(expr.rhs)
                if left is None or right is None:
                    return None
                return self._binary(expr.kind, left, right)
            case _:
                return None

    def _binary(self, kind: AffineBinaryOpKind, left: Reach, right: Reach) -> Reach | None:
        if kind is AffineBinaryOpKind.Add:
            return self._add(left[0], right[0]), self._add(left[1], right[1])
        factor = right[0]
        if not isinstance(factor, int) or factor != right[1]:
            return None
        (low, high) = left
        match kind:
            case AffineBinaryOpKind.Mul:
                low, high = (low, high) if factor >= 0 else (high, low)
                return self._scaled(low, factor), self._scaled(high, factor)
            case AffineBinaryOpKind.FloorDiv if factor > 0:
                return self._divided(low, factor), self._divided(high, factor)
            case AffineBinaryOpKind.Mod if factor > 0:
                starts_at_0 = isinstance(low, int) and low >= 0
                return 0, self._least(high, factor - 1) if starts_at_0 else factor - 1
            case _:
                return None

    def _value(self, number: Number) -> SSAValue:
        return self.emit.index(number) if isinstance(number, int) else number

    def _add(self, a: Number, b: Number) -> Number:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        return self.emit.add(arith.AddiOp(self._value(a), self._value(b))).result

    def _scaled(self, a: Number, factor: int) -> Number:
        if isinstance(a, int):
            return a * factor
        return self.emit.add(arith.MuliOp(a, self._value(factor))).result

    def _divided(self, a: Number, divisor: int) -> Number:
        if isinstance(a, int):
            return a // divisor
        return self.emit.add(arith.FloorDivSIOp(a, self._value(divisor))).result

    def _least(self, a: Number, b: int) -> Number:
        if isinstance(a, int):
            return min(a, b)
        return self.emit.add(arith.MinSIOp(a, self._value(b))).result
