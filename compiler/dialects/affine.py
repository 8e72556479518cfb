"""xDSL's `affine` with `affine.max`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects import affine
from xdsl.dialects.builtin import AffineMapAttr, IndexType
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class MaxOp(IRDLOperation):
    """The largest result of an affine map."""

    name = "affine.max"

    arguments = var_operand_def(IndexType())
    result = result_def(IndexType())
    map = prop_def(AffineMapAttr)

    traits = traits_def(Pure())

    def __init__(self, arguments: Sequence[SSAValue | Operation], map: AffineMapAttr):
        super().__init__(operands=[arguments], properties={"map": map}, result_types=[IndexType()])

    def verify_(self) -> None:
        expected = self.map.data.num_dims + self.map.data.num_symbols
        if len(self.arguments) != expected:
            raise VerifyException(f"the map takes {expected} operands")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        map = parser.parse_attribute()
        if not isinstance(map, AffineMapAttr):
            parser.raise_error("expected an affine map", position)
        operands: list[SSAValue] = []
        for delimiter in (Parser.Delimiter.PAREN, Parser.Delimiter.SQUARE):
            operands += (
                parser.parse_optional_comma_separated_list(
                    delimiter, lambda: parser.parse_operand(IndexType())
                )
                or ()
            )
        op = cls(operands, map)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        dims = self.map.data.num_dims
        printer.print_string(" ")
        printer.print_attribute(self.map)
        with printer.in_parens():
            printer.print_list(self.arguments[:dims], printer.print_ssa_value)
        if self.arguments[dims:]:
            with printer.in_square_brackets():
                printer.print_list(self.arguments[dims:], printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)


Affine = Dialect("affine", [*affine.Affine.operations, MaxOp], list(affine.Affine.attributes))
