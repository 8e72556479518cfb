"""Other ops with a syntax of their own, and the list of all such."""

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
    i32,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_prop_def, traits_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.dialects.stablehlo.attributes import (
    ComparisonDirectionAttr,
    ComparisonTypeAttr,
)
from ingot.compiler.dialects.stablehlo.base import (
    FormattedOp,
    PureOp,
    StableHLOOp,
    real_like,
)
from ingot.compiler.dialects.stablehlo.products import ConvolutionOp, DotGeneralOp, DotOp
from ingot.compiler.dialects.stablehlo.regions import ReduceOp, WhileOp


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
    def computations(self) -> list[SymbolRefAttr]:
        """The functions of the module that the call names."""
        called = self.called_computations
        symbols = (
            list(cast("ArrayAttr[Attribute]", called)) if isinstance(called, ArrayAttr) else []
        )
        return [symbol for symbol in symbols if isinstance(symbol, SymbolRefAttr)]

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
