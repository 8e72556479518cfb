"""Products of tensors: `dot`, `dot_general` and `convolution`."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from ingot.compiler.dialects.stablehlo.attributes import (
    ConvAttr,
    DotAttr,
    PrecisionAttr,
    parse_ints,
)
from ingot.compiler.dialects.stablehlo.base import (
    PureOp,
    words,
)


def _parse_precision(parser: Parser) -> ArrayAttr[Attribute]:
    return ArrayAttr(
        parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: PrecisionAttr.read(parser)
        )
    )


def _print_precision(printer: Printer, value: Attribute | None) -> None:
    if value is not None:
        printer.print_string(f", precision = [{', '.join(words(value))}]")


@irdl_op_definition
class DotOp(PureOp):
    """`stablehlo.dot %a, %b, precision = [DEFAULT, DEFAULT] : (T, T) -> T`."""

    name = "stablehlo.dot"
    OPERANDS: ClassVar[int | None] = 2

    precision_config = opt_prop_def(Attribute)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = [parser.parse_unresolved_operand()]
        parser.parse_punctuation(",")
        operands.append(parser.parse_unresolved_operand())
        properties: dict[str, Attribute] = {}
        if parser.parse_optional_punctuation(","):
            parser.parse_keyword("precision")
            parser.parse_punctuation("=")
            properties["precision_config"] = _parse_precision(parser)
        return cls.finish(parser, operands, properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.ins, printer.print_ssa_value)
        _print_precision(printer, self.precision_config)
        self.print_rest(printer, {"precision_config"})


@irdl_op_definition
class DotGeneralOp(PureOp):
    """`stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]`."""

    name = "stablehlo.dot_general"
    OPERANDS: ClassVar[int | None] = 2

    dot_dimension_numbers = opt_prop_def(Attribute)
    precision_config = opt_prop_def(Attribute)
    algorithm = opt_prop_def(Attribute)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = [parser.parse_unresolved_operand()]
        parser.parse_punctuation(",")
        operands.append(parser.parse_unresolved_operand())
        batching: list[list[int]] = [[], []]
        contracting: list[list[int]] = [[], []]
        properties: dict[str, Attribute] = {}
        while parser.parse_optional_punctuation(","):
            keyword = parser.parse_identifier()
            parser.parse_punctuation("=")
            match keyword:
                case "batching_dims":
                    batching = _parse_pair(parser)
                case "contracting_dims":
                    contracting = _parse_pair(parser)
                case "precision":
                    properties["precision_config"] = _parse_precision(parser)
                case "algorithm":
                    properties["algorithm"] = _parse_algorithm(parser)
                case _:
                    parser.raise_error(f"'{keyword}' is not a field of {cls.name}")
        properties["dot_dimension_numbers"] = DotAttr.of(batching, contracting)
        return cls.finish(parser, operands, properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.ins, printer.print_ssa_value)
        numbers = self.dot_dimension_numbers
        if isinstance(numbers, DotAttr):
            for keyword, name in (("batching", "batching"), ("contracting", "contracting")):
                left, right = (
                    numbers.list_of(f"{side}_{name}_dimensions") for side in ("lhs", "rhs")
                )
                if left or right:
                    printer.print_string(f", {keyword}_dims = {list(left)} x {list(right)}")
        _print_precision(printer, self.precision_config)
        if isinstance(self.algorithm, StringAttr):
            printer.print_string(f", algorithm = {self.algorithm.data}")
        self.print_rest(printer, {"dot_dimension_numbers", "precision_config", "algorithm"})


def _parse_pair(parser: Parser) -> list[list[int]]:
    left = parse_ints(parser)
    parser.parse_keyword("x")
    return [left, parse_ints(parser)]


def _parse_algorithm(parser: Parser) -> StringAttr:
    """The fields between angle brackets as text: every algorithm is computed the same way."""

    def entry() -> str:
        name = parser.parse_identifier()
        parser.parse_punctuation("=")
        word = parser.parse_optional_identifier()
        return f"{name} = {word if word is not None else parser.parse_integer()}"

    parts = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, entry)
    return StringAttr(f"<{', '.join(parts)}>")


_WINDOW = {
    "stride": "window_strides",
    "pad": "padding",
    "lhs_dilate": "lhs_dilation",
    "rhs_dilate": "rhs_dilation",
    "reverse": "window_reversal",
}


@irdl_op_definition
class ConvolutionOp(PureOp):
    """`stablehlo.convolution(%x, %w) dim_numbers = ..., window = {...} {...} : (T, T) -> T`."""

    name = "stablehlo.convolution"
    OPERANDS: ClassVar[int | None] = 2

    window_strides = opt_prop_def(Attribute)
    padding = opt_prop_def(Attribute)
    lhs_dilation = opt_prop_def(Attribute)
    rhs_dilation = opt_prop_def(Attribute)
    window_reversal = opt_prop_def(Attribute)
    dimension_numbers = opt_prop_def(Attribute)
    feature_group_count = opt_prop_def(Attribute)
    batch_group_count = opt_prop_def(Attribute)
    precision_config = opt_prop_def(Attribute)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        parser.parse_keyword("dim_numbers")
        parser.parse_punctuation("=")
        properties: dict[str, Attribute] = {"dimension_numbers": ConvAttr.read(parser)}
        parser.parse_punctuation(",")
        parser.parse_keyword("window")
        parser.parse_punctuation("=")

        def entry() -> None:
            keyword = parser.parse_identifier()
            if keyword not in _WINDOW:
                parser.raise_error(f"'{keyword}' is not a field of a window")
            parser.parse_punctuation("=")
            properties[_WINDOW[keyword]] = _parse_window_field(parser, keyword)

        parser.parse_comma_separated_list(parser.Delimiter.BRACES, entry)
        return cls.finish(parser, operands, properties)

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            printer.print_list(self.ins, printer.print_ssa_value)
        numbers = self.dimension_numbers
        text = numbers.text() if isinstance(numbers, ConvAttr) else ""
        parts: list[str] = []
        for keyword, name in _WINDOW.items():
            values = self.ints(name)
            if values is None:
                continue
            if keyword == "pad":
                pairs = [list(values[i : i + 2]) for i in range(0, len(values), 2)]
                parts.append(f"pad = {pairs}")
            elif keyword == "reverse":
                flags = ", ".join(str(value != 0).lower() for value in values)
                parts.append(f"reverse = [{flags}]")
            else:
                parts.append(f"{keyword} = {list(values)}")
        printer.print_string(f" dim_numbers = {text}, window = {{{', '.join(parts)}}}")
        self.print_rest(printer, {"dimension_numbers", *_WINDOW.values()})


def _parse_window_field(parser: Parser, keyword: str) -> Attribute:
    if keyword == "reverse":
        flags = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: int(parser.parse_boolean())
        )
        return DenseArrayBase.from_list(i64, flags)
    if keyword == "pad":
        pairs = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parse_ints(parser)
        )
        flat = [value for pair in pairs for value in pair]
        return DenseIntOrFPElementsAttr.from_list(TensorType(i64, [len(pairs), 2]), flat)
    return DenseArrayBase.from_list(i64, parse_ints(parser))
