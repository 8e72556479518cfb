"""TOSA's control flow: `cond_if`, `while_loop` and `yield`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import TensorType, i1
from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class YieldOp(AbstractYieldOperation[Attribute]):
    """The values of a region."""

    name = "tosa.yield"

    traits = traits_def(IsTerminator(), Pure())


@irdl_op_definition
class CondIfOp(IRDLOperation):
    """One of two computations, by a `tensor<i1>`, of the inputs or of values from above.

    Both regions take the inputs, and the text shows the names of arguments twice:
    `tosa.cond_if %c (%a = %x) : tensor<i1> (T) -> T { ^bb0(%a: T): ... } else { ... }`.
    """

    name = "tosa.cond_if"

    condition = operand_def()
    inputs = var_operand_def()
    outs = var_result_def()
    then_region = region_def("single_block")
    else_region = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        condition: SSAValue,
        inputs: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        then_region: Region,
        else_region: Region,
    ):
        super().__init__(
            operands=[condition, list(inputs)],
            result_types=[list(result_types)],
            regions=[then_region, else_region],
        )

    def verify_(self) -> None:
        for region in (self.then_region, self.else_region):
            if len(region.block.args) != len(self.inputs):
                raise VerifyException("the regions must take the inputs")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_unresolved_operand()
        arguments, operands = _parse_assignments(parser)
        # LLVM 19 and 20 leave the type of the condition out.
        type_: Attribute = TensorType(i1, [])
        input_types: Sequence[Attribute] = ()
        if parser.parse_optional_punctuation(":"):
            type_ = parser.parse_type()
            if operands:
                input_types = parser.parse_comma_separated_list(
                    parser.Delimiter.PAREN, parser.parse_type
                )
        condition = parser.resolve_operand(name, type_)
        inputs = parser.resolve_operands(operands, input_types, parser.pos)
        parser.parse_punctuation("->")
        results = _parse_types(parser)
        then_region = _parse_region(parser, arguments, input_types)
        parser.parse_keyword("else")
        else_region = _parse_region(parser, arguments, input_types)
        return cls(condition, inputs, results, then_region, else_region)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.condition)
        _print_assignments(printer, self.then_region, self.inputs)
        printer.print_string(" : ")
        printer.print_attribute(self.condition.type)
        if self.inputs:
            printer.print_string(" ")
            with printer.in_parens():
                printer.print_list(self.inputs.types, printer.print_attribute)
        printer.print_string(" -> ")
        with printer.in_parens():
            printer.print_list(self.outs.types, printer.print_attribute)
        printer.print_string(" ")
        printer.print_region(self.then_region)
        printer.print_string(" else ")
        printer.print_region(self.else_region)


@irdl_op_definition
class WhileLoopOp(IRDLOperation):
    """Repeats `body` on the values while `condition` of them yields true."""

    name = "tosa.while_loop"

    inputs = var_operand_def()
    outs = var_result_def()
    condition = region_def("single_block")
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        condition: Region,
        body: Region,
    ):
        super().__init__(
            operands=[list(inputs)],
            result_types=[list(result_types)],
            regions=[condition, body],
        )

    def verify_(self) -> None:
        for region in (self.condition, self.body):
            if len(region.block.args) != len(self.inputs):
                raise VerifyException("the regions must take the values of the loop")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        arguments, operands = _parse_assignments(parser)
        parser.parse_punctuation(":")
        type_ = parser.parse_function_type()
        inputs = parser.resolve_operands(operands, type_.inputs.data, parser.pos)
        condition = _parse_region(parser, arguments, type_.inputs.data)
        parser.parse_keyword("do")
        return cls(inputs, type_.outputs.data, condition, parser.parse_region())

    def print(self, printer: Printer) -> None:
        _print_assignments(printer, self.condition, self.inputs)
        printer.print_string(" : ")
        printer.print_operation_type(self)
        printer.print_string(" ")
        printer.print_region(self.condition, print_entry_block_args=False)
        printer.print_string(" do ")
        printer.print_region(self.body)


def _parse_types(parser: Parser) -> Sequence[Attribute]:
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if types is None else types


def _parse_assignments(
    parser: Parser,
) -> tuple[list[UnresolvedOperand], list[UnresolvedOperand]]:
    """`(%argument = %value, ...)`, or nothing."""
    arguments: list[UnresolvedOperand] = []
    values: list[UnresolvedOperand] = []

    def entry() -> None:
        arguments.append(parser.parse_unresolved_operand())
        parser.parse_punctuation("=")
        values.append(parser.parse_unresolved_operand())

    parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, entry)
    return arguments, values


def _parse_region(
    parser: Parser, arguments: Sequence[UnresolvedOperand], types: Sequence[Attribute]
) -> Region:
    """A region whose arguments are named before it, and perhaps again at its block."""
    after_brace = parser.lexer.input.content[parser.pos + 1 :].lstrip()
    if after_brace.startswith("^"):
        return parser.parse_region()
    resolved = [
        parser.Argument(name.span, type_) for name, type_ in zip(arguments, types, strict=True)
    ]
    return parser.parse_region(resolved)


def _print_assignments(printer: Printer, region: Region, values: Sequence[SSAValue]) -> None:
    if not values:
        return
    printer.print_string(" ")
    with printer.in_parens():
        pairs = list(zip(region.block.args, values, strict=True))

        def entry(pair: tuple[SSAValue, SSAValue]) -> None:
            printer.print_ssa_value(pair[0])
            printer.print_string(" = ")
            printer.print_ssa_value(pair[1])

        printer.print_list(pairs, entry)


CONTROL_OPS = (YieldOp, CondIfOp, WhileLoopOp)
"""The ops with regions, and their terminator."""
