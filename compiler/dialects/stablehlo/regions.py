"""Ops whose regions have a syntax of their own: `reduce`, `while`, and what ends regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    i64,
)
from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.ir import Attribute, Block, Region
from xdsl.irdl import irdl_op_definition, opt_prop_def, traits_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.dialects.stablehlo.attributes import (
    parse_ints,
)
from ingot.compiler.dialects.stablehlo.base import (
    FormattedOp,
    StableHLOOp,
)


@irdl_op_definition
class ReturnOp(AbstractYieldOperation[Attribute]):
    """The results of a region."""

    name = "stablehlo.return"

    traits = traits_def(IsTerminator(), Pure())


@irdl_op_definition
class ReduceOp(FormattedOp):
    """`stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [0] : ...`.

    Operands are the inputs, then the initial values. The body takes accumulators, then elements.
    """

    name = "stablehlo.reduce"
    REGIONS: ClassVar[int] = 1

    dimensions = opt_prop_def(Attribute)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        inputs: list[UnresolvedOperand] = []
        inits: list[UnresolvedOperand] = []
        while True:
            with parser.in_parens():
                inputs.append(parser.parse_unresolved_operand())
                parser.parse_keyword("init")
                parser.parse_punctuation(":")
                inits.append(parser.parse_unresolved_operand())
            if parser.parse_optional_punctuation(",") is None:
                break
        applied = parser.parse_identifier() if parser.parse_optional_keyword("applies") else None
        parser.parse_keyword("across")
        parser.parse_keyword("dimensions")
        parser.parse_punctuation("=")
        dimensions = DenseArrayBase.from_list(i64, parse_ints(parser))
        op = cls.finish(parser, [*inputs, *inits], {"dimensions": dimensions})
        if applied is None:
            parser.parse_keyword("reducer")
            pairs = [_parse_pair_of_arguments(parser) for _ in inputs]
            body = parser.parse_region([arg for side in zip(*pairs, strict=True) for arg in side])
        else:
            body = _applied_body(parser, applied, op.ins[len(inputs) :])
        op.add_region(body)
        return op

    def print(self, printer: Printer) -> None:
        count = len(self.ins) // 2
        for i in range(count):
            printer.print_string(", (" if i else "(")
            printer.print_ssa_value(self.ins[i])
            printer.print_string(" init: ")
            printer.print_ssa_value(self.ins[count + i])
            printer.print_string(")")
        printer.print_string(f" across dimensions = {list(self.ints('dimensions') or ())}")
        rest = {k: v for k, v in self.properties.items() if k != "dimensions"} | self.attributes
        printer.print_op_attributes(rest)
        printer.print_string(" : ")
        printer.print_operation_type(self)
        printer.print_string(" reducer")
        block = self.bodies[0].block
        for i in range(count):
            printer.print_string("(" if i == 0 else " (")
            printer.print_block_argument(block.args[i])
            printer.print_string(", ")
            printer.print_block_argument(block.args[count + i])
            printer.print_string(")")
        printer.print_string(" ")
        printer.print_region(self.bodies[0], print_entry_block_args=False)

    def verify_(self) -> None:
        super().verify_()
        if len(self.ins) % 2 or len(self.ins) != 2 * len(self.outs):
            raise VerifyException("takes an input and an initial value for each result")
        if len(self.bodies[0].block.args) != len(self.ins):
            raise VerifyException("its body takes two arguments for each result")


def _parse_pair_of_arguments(parser: Parser) -> tuple[Parser.Argument, Parser.Argument]:
    with parser.in_parens():
        left = parser.parse_argument()
        parser.parse_punctuation(",")
        return left, parser.parse_argument()


def _applied_body(parser: Parser, name: str, inits: Sequence[object]) -> Region:
    """The region of the short form: one op on accumulator and element."""
    op_class = parser.ctx.get_optional_op(name)
    if op_class is None or not issubclass(op_class, StableHLOOp) or len(inits) != 1:
        parser.raise_error(f"'{name}' cannot be applied in a reduction")
    type_ = cast("Attribute", getattr(inits[0], "type"))  # noqa: B009
    block = Block(arg_types=[type_, type_])
    combined = op_class(list(block.args), [type_])
    block.add_ops([combined, ReturnOp(combined.results[0])])
    return Region(block)


@irdl_op_definition
class WhileOp(FormattedOp):
    """`stablehlo.while(%i = %0) : T cond { ... } do { ... }`."""

    name = "stablehlo.while"
    REGIONS: ClassVar[int] = 2

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        def entry() -> tuple[Parser.UnresolvedArgument, UnresolvedOperand]:
            argument = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            return argument, parser.parse_unresolved_operand()

        pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, entry)
        position = parser.pos
        types: list[Attribute] = []
        if parser.parse_optional_punctuation(":"):
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        if len(types) == 1:
            types = types * len(pairs)
        operands = parser.resolve_operands([operand for _, operand in pairs], types, position)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        regions: list[Region] = []
        for keyword in ("cond", "do"):
            parser.parse_keyword(keyword)
            arguments = [a.resolve(t) for (a, _), t in zip(pairs, types, strict=True)]
            regions.append(parser.parse_region(arguments))
        return cls(operands, types, {}, attributes.data if attributes else {}, regions)

    def print(self, printer: Printer) -> None:
        cond, body = self.bodies
        for i, (argument, start) in enumerate(zip(cond.block.args, self.ins, strict=True)):
            printer.print_string(", " if i else "(")
            name = printer.print_ssa_value(argument)
            # One name stands for the arguments of both regions.
            printer._ssa_values[body.block.args[i]] = name.removeprefix("%")  # pyright: ignore[reportPrivateUsage]
            printer.print_string(" = ")
            printer.print_ssa_value(start)
        printer.print_string(")" if self.ins else "()")
        if self.ins:
            printer.print_string(" : ")
            printer.print_list(self.operand_types, printer.print_attribute)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" cond ")
        printer.print_region(cond, print_entry_block_args=False)
        printer.print_string(" do ")
        printer.print_region(body, print_entry_block_args=False)

    def verify_(self) -> None:
        super().verify_()
        for region in self.bodies:
            if [arg.type for arg in region.block.args] != list(self.operand_types):
                raise VerifyException("its regions take arguments of the types of its operands")
