"""The ops with a syntax of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    i32,
    i64,
)
from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.ir import Attribute, Block, Region
from xdsl.irdl import irdl_op_definition, opt_prop_def, traits_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.dialects.stablehlo.attributes import (
    ComparisonDirectionAttr,
    ComparisonTypeAttr,
    ConvAttr,
    DotAttr,
    PrecisionAttr,
    parse_ints,
)
from ingot.compiler.dialects.stablehlo.base import (
    FormattedOp,
    PureOp,
    StableHLOOp,
    real_like,
    words,
)


@irdl_op_definition
class ReturnOp(AbstractYieldOperation[Attribute]):
    """The results of a region."""

    name = "stablehlo.return"

    traits = traits_def(IsTerminator(), Pure())


@irdl_op_definition
class ConstantOp(PureOp):
    """`stablehlo.constant dense<1.0> : tensor<4xf32>`."""

    name = "stablehlo.constant"
    OPERANDS: ClassVar[int | None] = 0

    value = opt_prop_def(Attribute)

    traits = traits_def(Pure(), ConstantLike())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        value = attributes.pop("value", None) or parser.parse_attribute()
        if not isinstance(value, DenseIntOrFPElementsAttr):
            parser.raise_error("expected a dense literal")
        literal = cast("DenseIntOrFPElementsAttr", value)
        return cls([], [cast("Attribute", literal.type)], {"value": literal}, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        if self.value is not None:
            printer.print_attribute(self.value)

    def verify_(self) -> None:
        super().verify_()
        if not isinstance(self.value, DenseIntOrFPElementsAttr):
            raise VerifyException("takes a dense literal")


@irdl_op_definition
class CompareOp(PureOp):
    """`stablehlo.compare LT, %a, %b, TOTALORDER : (T, T) -> tensor<i1>`."""

    name = "stablehlo.compare"
    OPERANDS: ClassVar[int | None] = 2

    comparison_direction = opt_prop_def(Attribute)
    compare_type = opt_prop_def(Attribute)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {
            "comparison_direction": ComparisonDirectionAttr.read(parser)
        }
        operands: list[UnresolvedOperand] = []
        for _ in range(2):
            parser.parse_punctuation(",")
            operands.append(parser.parse_unresolved_operand())
        if parser.parse_optional_punctuation(","):
            properties["compare_type"] = ComparisonTypeAttr.read(parser)
        return cls.finish(parser, operands, properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.word('comparison_direction')}")
        for operand in self.ins:
            printer.print_string(", ")
            printer.print_ssa_value(operand)
        if kind := self.word("compare_type"):
            printer.print_string(f", {kind}")
        self.print_rest(printer, {"comparison_direction", "compare_type"})


@irdl_op_definition
class SelectOp(PureOp):
    """`stablehlo.select %p, %a, %b : tensor<4xi1>, tensor<4xf32>`; `%p` may be of rank 0."""

    name = "stablehlo.select"
    OPERANDS: ClassVar[int | None] = 3

    @classmethod
    def expand_types(
        cls, types: Sequence[Attribute], count: int
    ) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
        if len(types) != 2:
            return super().expand_types(types, count)
        return (types[0], types[1], types[1]), (types[1],)


@irdl_op_definition
class ComplexOp(PureOp):
    """`stablehlo.complex %re, %im : tensor<4xcomplex<f32>>`."""

    name = "stablehlo.complex"
    OPERANDS: ClassVar[int | None] = 2

    @classmethod
    def expand_types(
        cls, types: Sequence[Attribute], count: int
    ) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
        return [real_like(types[0])] * count, types


@irdl_op_definition
class ReducePrecisionOp(PureOp):
    """`stablehlo.reduce_precision %x, format = e5m10 : tensor<4xf32>`."""

    name = "stablehlo.reduce_precision"
    OPERANDS: ClassVar[int | None] = 1

    exponent_bits = opt_prop_def(Attribute)
    mantissa_bits = opt_prop_def(Attribute)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        parser.parse_keyword("format")
        parser.parse_punctuation("=")
        position = parser.pos
        exponent, _, mantissa = parser.parse_identifier().removeprefix("e").partition("m")
        if not (exponent.isdigit() and mantissa.isdigit()):
            parser.raise_error("expected a format such as e5m10", position)
        bits = {"exponent_bits": exponent, "mantissa_bits": mantissa}
        properties: dict[str, Attribute] = {k: IntegerAttr(int(v), i32) for k, v in bits.items()}
        return cls.finish(parser, [operand], properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.ins[0])
        format_ = f"e{self.int('exponent_bits')}m{self.int('mantissa_bits')}"
        printer.print_string(f", format = {format_}")
        self.print_rest(printer, {"exponent_bits", "mantissa_bits"})


@irdl_op_definition
class SliceOp(PureOp):
    """`stablehlo.slice %x [0:4, 2:8:3] : (T) -> T`."""

    name = "stablehlo.slice"
    OPERANDS: ClassVar[int | None] = 1

    start_indices = opt_prop_def(Attribute)
    limit_indices = opt_prop_def(Attribute)
    strides = opt_prop_def(Attribute)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()

        def bounds() -> tuple[int, int, int]:
            start = parser.parse_integer()
            parser.parse_punctuation(":")
            limit = parser.parse_integer()
            return (
                start,
                limit,
                parser.parse_integer() if parser.parse_optional_punctuation(":") else 1,
            )

        ranges = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, bounds)
        names = ("start_indices", "limit_indices", "strides")
        properties: dict[str, Attribute] = {
            name: DenseArrayBase.from_list(i64, [r[i] for r in ranges])
            for i, name in enumerate(names)
        }
        return cls.finish(parser, [operand], properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.ins[0])
        names = ("start_indices", "limit_indices", "strides")
        columns = [self.ints(name) or () for name in names]
        ranges = [
            f"{start}:{limit}" + (f":{stride}" if stride != 1 else "")
            for start, limit, stride in zip(*columns, strict=True)
        ]
        printer.print_string(f" [{', '.join(ranges)}]")
        self.print_rest(printer, set(names))


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


@irdl_op_definition
class CustomCallOp(FormattedOp):
    """`stablehlo.custom_call @name(%a) {backend_config = ""} : (T) -> T`."""

    name = "stablehlo.custom_call"
    REGIONS: ClassVar[int] = 0

    call_target_name = opt_prop_def(Attribute)
    has_side_effect = opt_prop_def(Attribute)
    backend_config = opt_prop_def(Attribute)
    api_version = opt_prop_def(Attribute)
    called_computations = opt_prop_def(Attribute)
    operand_layouts = opt_prop_def(Attribute)
    result_layouts = opt_prop_def(Attribute)
    output_operand_aliases = opt_prop_def(Attribute)

    traits = traits_def()

    @property
    def target(self) -> str:
        """The name of what is called."""
        name = self.call_target_name
        return name.data if isinstance(name, StringAttr) else ""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name()
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        return cls.finish(parser, operands, {"call_target_name": name})

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.target)
        with printer.in_parens():
            printer.print_list(self.ins, printer.print_ssa_value)
        rest = {k: v for k, v in self.properties.items() if k != "call_target_name"}
        printer.print_op_attributes(rest | self.attributes)
        printer.print_string(" : ")
        printer.print_operation_type(self)


@irdl_op_definition
class CompositeOp(FormattedOp):
    """`stablehlo.composite "chlo.erf" %x {decomposition = @f} : (T) -> T`: a call of `@f`."""

    name = "stablehlo.composite"
    REGIONS: ClassVar[int] = -1

    composite_attributes = opt_prop_def(Attribute)
    decomposition = opt_prop_def(Attribute)
    version = opt_prop_def(Attribute)

    @property
    def callee(self) -> str:
        """The function that computes the same."""
        symbol = self.decomposition
        return symbol.root_reference.data if isinstance(symbol, SymbolRefAttr) else ""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = StringAttr(parser.parse_str_literal())
        operands: list[UnresolvedOperand] = []
        while (operand := parser.parse_optional_unresolved_operand()) is not None:
            operands.append(operand)
            if parser.parse_optional_punctuation(",") is None:
                break
        op = cls.finish(parser, operands, {})
        op.attributes["name"] = name
        return op

    def print(self, printer: Printer) -> None:
        name = self.attributes.get("name")
        printer.print_string(" ")
        printer.print_string_literal(name.data if isinstance(name, StringAttr) else "")
        for i, operand in enumerate(self.ins):
            printer.print_string(", " if i else " ")
            printer.print_ssa_value(operand)
        rest = {k: v for k, v in {**self.properties, **self.attributes}.items() if k != "name"}
        printer.print_op_attributes(rest)
        printer.print_string(" : ")
        printer.print_operation_type(self)


@irdl_op_definition
class GetTupleElementOp(PureOp):
    """`stablehlo.get_tuple_element %t[0] : (tuple<T, T>) -> T`."""

    name = "stablehlo.get_tuple_element"
    OPERANDS: ClassVar[int | None] = 1

    index = opt_prop_def(Attribute)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            index = IntegerAttr(parser.parse_integer(), i32)
        return cls.finish(parser, [operand], {"index": index})

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.ins[0])
        printer.print_string(f"[{self.int('index')}] : ")
        printer.print_operation_type(self)


OPERATIONS: tuple[type[StableHLOOp], ...] = (
    ConstantOp,
    CompareOp,
    SelectOp,
    ComplexOp,
    ReducePrecisionOp,
    SliceOp,
    DotOp,
    DotGeneralOp,
    ConvolutionOp,
    ReduceOp,
    WhileOp,
    CustomCallOp,
    CompositeOp,
    GetTupleElementOp,
)
