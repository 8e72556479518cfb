"""Calls and returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import (
    FlatSymbolRefAttrConstr,
    FunctionType,
    SymbolRefAttr,
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsTerminator,
    SymbolTable,
)
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.dialects.spirv.base import (
    SpirvOp,
    parse_attributes,
    print_attributes,
    print_operands,
)
from ingot.compiler.dialects.spirv.families import Value
from ingot.compiler.dialects.spirv.structure import FuncOp


@irdl_op_definition
class FunctionCallOp(SpirvOp):
    """`%r = spirv.FunctionCall @f(%a) : (f32) -> f32`"""

    name = "spirv.FunctionCall"

    callee: SymbolRefAttr = prop_def(FlatSymbolRefAttrConstr)
    arguments = var_operand_def()
    return_value = var_result_def()

    def __init__(
        self, callee: FuncOp | str, arguments: Sequence[Value], results: Sequence[Attribute] = ()
    ) -> None:
        """`results` is needed only where the callee is given by name."""
        if isinstance(callee, FuncOp):
            callee, results = callee.sym_name.data, callee.function_type.outputs.data
        super().__init__(
            operands=[arguments],
            result_types=[results],
            properties={"callee": SymbolRefAttr(callee)},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        callee = parser.parse_symbol_name()
        position = parser.pos
        unresolved = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        attributes = parse_attributes(parser)
        type = parser.parse_function_type()
        operands = parser.resolve_operands(unresolved, type.inputs.data, position)
        op = cls(callee.data, operands, type.outputs.data)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.callee)
        with printer.in_parens():
            print_operands(printer, self.arguments)
        print_attributes(printer, self)
        printer.print_operation_type(self)

    def verify_(self) -> None:
        self.expect(len(self.results) <= 1, "a function returns one value or none")
        callee = SymbolTable.lookup_symbol(self, self.callee)
        if not isinstance(callee, FuncOp):
            raise VerifyException(f"{self.name}: there is no function {self.callee}")
        type = FunctionType.from_lists(
            [argument.type for argument in self.arguments],
            [result.type for result in self.results],
        )
        self.expect(
            callee.function_type == type,
            f"{self.callee} has the type {callee.function_type}, called as {type}",
        )


@irdl_op_definition
class ReturnOp(SpirvOp):
    """`spirv.Return`"""

    name = "spirv.Return"
    traits = traits_def(IsTerminator())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class ReturnValueOp(SpirvOp):
    """`spirv.ReturnValue %a : f32`"""

    name = "spirv.ReturnValue"

    value = operand_def()
    traits = traits_def(IsTerminator())
    assembly_format = "$value attr-dict `:` type($value)"

    def __init__(self, value: Value) -> None:
        super().__init__(operands=[value])
