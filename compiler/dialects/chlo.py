"""CHLO, the ops that JAX and torch-mlir mix with StableHLO: `chlo.erf %x : T -> T`."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import irdl_attr_definition, irdl_op_definition, opt_prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from ingot.compiler.dialects.stablehlo.attributes import WordAttr
from ingot.compiler.dialects.stablehlo.base import OpSpec, PureOp, define

UNARY = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i1e", "conj", "cosh", "digamma",
    "erf", "erf_inv", "erfc", "is_inf", "is_neg_inf", "is_pos_inf", "lgamma", "sinh", "square",
    "tan", "constant_like",
)  # fmt: skip
BINARY = (
    "next_after", "polygamma", "zeta", "broadcast_add", "broadcast_and", "broadcast_atan2",
    "broadcast_compare", "broadcast_complex", "broadcast_divide", "broadcast_maximum",
    "broadcast_minimum", "broadcast_multiply", "broadcast_next_after", "broadcast_or",
    "broadcast_polygamma", "broadcast_power", "broadcast_remainder", "broadcast_shift_left",
    "broadcast_shift_right_arithmetic", "broadcast_shift_right_logical", "broadcast_subtract",
    "broadcast_xor", "broadcast_zeta",
)  # fmt: skip


@irdl_attr_definition
class ComparisonDirectionAttr(WordAttr):
    """The relation of a comparison."""

    name = "chlo.comparison_direction"
    WORDS: ClassVar[tuple[str, ...]] = ("EQ", "NE", "GE", "GT", "LE", "LT")


@irdl_attr_definition
class ComparisonTypeAttr(WordAttr):
    """How a comparison reads its operands."""

    name = "chlo.comparison_type"
    WORDS: ClassVar[tuple[str, ...]] = ("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")


class ChloOp(PureOp):
    """An op that prints its types as `operands -> results`."""

    def print_types(self, printer: Printer) -> None:
        printer.print_list(self.operand_types, printer.print_attribute)
        printer.print_string(" -> ")
        if len(self.outs) == 1:
            printer.print_attribute(self.outs[0].type)
            return
        with printer.in_parens():
            printer.print_list(self.result_types, printer.print_attribute)


@irdl_op_definition
class TopKOp(ChloOp):
    """`chlo.top_k(%x, k = 2) : T -> (T, T)`: the largest of each row, and where they were."""

    name = "chlo.top_k"
    OPERANDS: ClassVar[int | None] = 1

    k = opt_prop_def(Attribute)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        with parser.in_parens():
            operand = parser.parse_unresolved_operand()
            parser.parse_punctuation(",")
            parser.parse_keyword("k")
            parser.parse_punctuation("=")
            k = IntegerAttr(parser.parse_integer(), i64)
        return cls.finish(parser, [operand], {"k": k})

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        printer.print_ssa_value(self.ins[0])
        printer.print_string(f", k = {self.int('k')})")
        self.print_rest(printer, {"k"})


_BINARY_PROPERTIES = ("broadcast_dimensions", "comparison_direction", "compare_type")

SPECS: tuple[OpSpec, ...] = (
    *(OpSpec(f"chlo.{name}", 1, properties=("value",)) for name in UNARY),
    *(OpSpec(f"chlo.{name}", 2, properties=_BINARY_PROPERTIES) for name in BINARY),
    OpSpec("chlo.broadcast_select", 3),
)

Chlo = Dialect(
    "chlo",
    [*(define(spec, ChloOp) for spec in SPECS), TopKOp],
    [ComparisonDirectionAttr, ComparisonTypeAttr],
)
