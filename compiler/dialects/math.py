"""xDSL's `math` with the ops that LLVM 20 added: predicates, `sincos` and `clampf`."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects import math
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import AnyFloatConstr, container_of, i1
from xdsl.ir import Dialect
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from ingot.compiler.dialects.arith import bool_like


class FloatPredicate(IRDLOperation):
    """A property of a float, as i1."""

    operand = operand_def(container_of(AnyFloatConstr))
    result = result_def(container_of(i1))
    fastmath = prop_def(FastMathFlagsAttr, default_value=FastMathFlagsAttr("none"))

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        return cls.build(
            operands=[parser.resolve_operand(operand, type)],
            result_types=[bool_like(type)],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operand.type)


@irdl_op_definition
class IsNaNOp(FloatPredicate):
    """Whether a float is NaN."""

    name = "math.isnan"


@irdl_op_definition
class IsInfOp(FloatPredicate):
    """Whether a float is an infinity."""

    name = "math.isinf"


@irdl_op_definition
class IsFiniteOp(FloatPredicate):
    """Whether a float is neither NaN nor an infinity."""

    name = "math.isfinite"


@irdl_op_definition
class IsNormalOp(FloatPredicate):
    """Whether a float is neither zero, subnormal, infinite nor NaN."""

    name = "math.isnormal"


@irdl_op_definition
class SincosOp(IRDLOperation):
    """Sine and cosine of one angle."""

    name = "math.sincos"

    T: ClassVar = VarConstraint("T", container_of(AnyFloatConstr))

    operand = operand_def(T)
    sin = result_def(T)
    cos = result_def(T)
    fastmath = prop_def(FastMathFlagsAttr, default_value=FastMathFlagsAttr("none"))

    traits = traits_def(Pure())

    assembly_format = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($sin)"


@irdl_op_definition
class ClampFOp(IRDLOperation):
    """The value limited to the range from `min` to `max`."""

    name = "math.clampf"

    T: ClassVar = VarConstraint("T", container_of(AnyFloatConstr))

    value = operand_def(T)
    min = operand_def(T)
    max = operand_def(T)
    result = result_def(T)
    fastmath = prop_def(FastMathFlagsAttr, default_value=FastMathFlagsAttr("none"))

    traits = traits_def(Pure())

    assembly_format = (
        "$value `to` `[` $min `,` $max `]` (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    )


Math = Dialect(
    "math",
    [*math.Math.operations, IsNaNOp, IsInfOp, IsFiniteOp, IsNormalOp, SincosOp, ClampFOp],
    list(math.Math.attributes),
)
