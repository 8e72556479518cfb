"""Scalar bodies of the named ops: an emitter of arith and math ops that casts as linalg does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ingot.compiler.analysis.types import as_integer
from ingot.compiler.dialects.arith import (
    ExtSIOp,
    ExtUIOp,
    FPToSIOp,
    FPToUIOp,
    IndexCastOp,
    IndexCastUIOp,
    SelectOp,
    SIToFPOp,
    TruncIOp,
    UIToFPOp,
)

if TYPE_CHECKING:
    from collections.abc import Callable


class Emit:
    """Appends scalar ops to the block of a structured op.

    Arithmetic follows linalg's rules for its named ops: i1 adds with `or` and multiplies with
    `and`, `max` and `min` of floats propagate NaN, and a cast goes to the accumulator's type.
    """

    def __init__(self, block: Block):
        self.block = block

    def op(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def end(self, *values: SSAValue) -> None:
        self.block.add_op(YieldOp(*values))

    def constant(self, value: float, type: Attribute) -> SSAValue:
        if isinstance(type, AnyFloat):
            return self.op(arith.ConstantOp(FloatAttr(value, type)))
        if (integer := as_integer(type)) is not None:
            return self.op(arith.ConstantOp(IntegerAttr(int(value), integer)))
        raise NotImplementedError(f"a constant of type {type} in a named op's body")

    def cast(self, value: SSAValue, to: Attribute, unsigned: bool = False) -> SSAValue:
        """Convert `value` to the element type `to`, integers read as signed unless `unsigned`."""
        source = value.type
        if source == to:
            return value
        from_int, to_int = as_integer(source), as_integer(to)
        if (isinstance(source, IndexType) and to_int) or (isinstance(to, IndexType) and from_int):
            return self.op((IndexCastUIOp if unsigned else IndexCastOp)(value, to))
        if isinstance(source, AnyFloat) and isinstance(to, AnyFloat):
            if source.bitwidth < to.bitwidth:
                return self.op(arith.ExtFOp(value, to))
            if source.bitwidth > to.bitwidth:
                return self.op(arith.TruncFOp(value, to))
            # f16 and bf16 have one width: through f32, which holds both.
            from xdsl.dialects.builtin import f32

            return self.op(arith.TruncFOp(self.op(arith.ExtFOp(value, f32)), to))
        if from_int and to_int:
            if from_int.bitwidth < to_int.bitwidth:
                return self.op((ExtUIOp if unsigned else ExtSIOp)(value, to_int))
            return self.op(TruncIOp(value, to_int))
        if from_int and isinstance(to, AnyFloat):
            return self.op((UIToFPOp if unsigned else SIToFPOp)(value, to))
        if isinstance(source, AnyFloat) and to_int:
            return self.op((FPToUIOp if unsigned else FPToSIOp)(value, to_int))
        raise NotImplementedError(f"a cast from {source} to {to} in a named op's body")

    def add(self, a: SSAValue, b: SSAValue) -> SSAValue:
        if a.type == IntegerType(1):
            return self.op(arith.OrIOp(a, b))
        return self._binary(a, b, arith.AddfOp, arith.AddiOp, "AddOp")

    def sub(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._binary(a, b, arith.SubfOp, arith.SubiOp, "SubOp")

    def mul(self, a: SSAValue, b: SSAValue) -> SSAValue:
        if a.type == IntegerType(1):
            return self.op(arith.AndIOp(a, b))
        return self._binary(a, b, arith.MulfOp, arith.MuliOp, "MulOp")

    def div(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._binary(a, b, arith.DivfOp, arith.DivSIOp, "DivOp")

    def div_unsigned(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._binary(a, b, arith.DivfOp, arith.DivUIOp, "DivOp")

    def max(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._binary(a, b, arith.MaximumfOp, arith.MaxSIOp)

    def max_unsigned(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._binary(a, b, arith.MaximumfOp, arith.MaxUIOp)

    def min(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._binary(a, b, arith.MinimumfOp, arith.MinSIOp)

    def min_unsigned(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._binary(a, b, arith.MinimumfOp, arith.MinUIOp)

    def _binary(
        self,
        a: SSAValue,
        b: SSAValue,
        float_op: Callable[[SSAValue, SSAValue], Operation],
        int_op: Callable[[SSAValue, SSAValue], Operation],
        complex_op: str | None = None,
    ) -> SSAValue:
        if isinstance(a.type, AnyFloat):
            return self.op(float_op(a, b))
        if isinstance(a.type, ComplexType) and complex_op is not None:
            from xdsl.dialects import complex as complex_dialect

            return self.op(getattr(complex_dialect, complex_op)(a, b))
        return self.op(int_op(a, b))

    def math(self, name: str, *values: SSAValue) -> SSAValue:
        """One op of the math dialect by its class name, the result of the first operand's type."""
        from xdsl.dialects import math

        return self.op(getattr(math, name)(*values))

    def negf(self, a: SSAValue) -> SSAValue:
        return self.op(arith.NegfOp(a))

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.op(SelectOp(condition, a, b))
