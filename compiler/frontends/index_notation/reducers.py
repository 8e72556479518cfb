"""How values are combined: the ops of the reducers and what they begin with."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, SSAValue

from ingot.compiler.analysis.generics import Emitter
from ingot.compiler.frontends.index_notation.functions import FLOAT_ARITHMETIC, INTEGER_ARITHMETIC
from ingot.compiler.frontends.index_notation.types import bits, constant, is_float


@dataclass(frozen=True)
class Reducer:
    """One of `+ * max min & |` on a type."""

    name: str
    element: Attribute

    def combine(self, emit: Emitter, left: SSAValue, right: SSAValue) -> SSAValue:
        """Both values as one."""
        table = FLOAT_ARITHMETIC if is_float(self.element) else INTEGER_ARITHMETIC
        return emit.add(table[self.name](left, right)).results[0]

    def neutral(self, emit: Emitter) -> SSAValue:
        """What changes no value that it is combined with; a sum begins with 0.0."""
        return emit.add(arith.ConstantOp(self._neutral())).result

    def _neutral(self) -> FloatAttr | IntegerAttr:
        if is_float(self.element):
            values = {"+": 0.0, "*": 1.0, "max": float("-inf"), "min": float("inf")}
            return constant(values[self.name], self.element)
        half = 1 << (bits(self.element) - 1)
        whole = {"+": 0, "*": 1, "max": -half, "min": half - 1, "&": -1, "|": 0}
        return constant(whole[self.name], self.element)
