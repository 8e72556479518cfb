"""What every StableHLO op is made of, and the one syntax that most of them share.

    %r = stablehlo.NAME %a, %b, field = value, ... {attributes} : types

Types are one type for all, `(operands) -> results`, or `operands -> results` in chlo.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.dialects.stablehlo.attributes import WordAttr, parse_ints
from ingot.compiler.dialects.stablehlo.shapes import broken_shape

FieldKind = Literal["ints", "int", "bool", "words"] | type[WordAttr]


@dataclass(frozen=True)
class Field:
    """A property that the custom form prints as `keyword = value`."""

    keyword: str
    property: str
    kind: FieldKind


class StableHLOOp(IRDLOperation):
    """An op of StableHLO or CHLO; what is known of its operands is checked by `verify_`."""

    ins = var_operand_def()
    outs = var_result_def()
    bodies = var_region_def()

    FIELDS: ClassVar[tuple[Field, ...]] = ()
    OPERANDS: ClassVar[int | None] = None
    """How many operands there are; None for any number."""
    REGIONS: ClassVar[int] = 0

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        operands: Sequence[SSAValue | Operation],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute | None] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ):
        super().__init__(
            operands=[list(operands)],
            result_types=[list(result_types)],
            properties=dict(properties or {}),
            attributes=dict(attributes or {}),
            regions=[list(regions)],
        )

    # Reading properties

    def ints(self, name: str) -> tuple[int, ...] | None:
        """A list of integers: `array<i64: ...>`, or `dense<...>` in row-major order."""
        match self.properties.get(name):
            case DenseArrayBase() as array:
                return tuple(map(int, cast("DenseArrayBase[IntegerType]", array).get_values()))
            case DenseIntOrFPElementsAttr() as dense:
                return tuple(int(cast("int", value)) for value in dense.get_values())
            case _:
                return None

    def int(self, name: str, default: int = 0) -> int:
        """An integer or boolean."""
        value = self.properties.get(name)
        if not isinstance(value, IntegerAttr):
            return default
        number: int = value.value.data
        return number

    def flag(self, name: str) -> bool:
        """A boolean; False when it is left out."""
        return self.int(name) != 0

    def word(self, name: str, default: str = "") -> str:
        """An enum's word."""
        value = self.properties.get(name)
        return value.word.data if isinstance(value, WordAttr) else default

    # Checks

    def verify_(self) -> None:
        if self.OPERANDS is not None and len(self.ins) != self.OPERANDS:
            raise VerifyException(f"takes {self.OPERANDS} operands, but has {len(self.ins)}")
        if self.REGIONS >= 0 and len(self.bodies) != self.REGIONS:
            raise VerifyException(f"takes {self.REGIONS} regions, but has {len(self.bodies)}")
        if (broken := broken_shape(self)) is not None:
            raise VerifyException(broken)


class FormattedOp(StableHLOOp):
    """An op with a custom form; the others are printed in the generic one, as upstream does."""

    @classmethod
    def field(cls, keyword: str) -> Field | None:
        """The field of a keyword."""
        return next((field for field in cls.FIELDS if field.keyword == keyword), None)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands: list[UnresolvedOperand] = []
        properties: dict[str, Attribute] = {}
        while True:
            operand = parser.parse_optional_unresolved_operand()
            if operand is not None:
                operands.append(operand)
            elif (keyword := parser.parse_optional_identifier()) is not None:
                field = cls.field(keyword)
                if field is None:
                    parser.raise_error(f"'{keyword}' is not a field of {cls.name}")
                parser.parse_punctuation("=")
                properties[field.property] = parse_field(parser, field.kind)
            if parser.parse_optional_punctuation(",") is None:
                break
        return cls.finish(parser, operands, properties)

    @classmethod
    def finish(
        cls,
        parser: Parser,
        operands: Sequence[UnresolvedOperand],
        properties: dict[str, Attribute],
        regions: Sequence[Region] = (),
    ) -> Self:
        """Parse attributes and types, and build the op."""
        attributes = parser.parse_optional_attr_dict()
        for name in cls.get_irdl_definition().properties:
            if name in attributes:
                properties[name] = attributes.pop(name)
        position = parser.pos
        parser.parse_punctuation(":")
        operand_types, result_types = cls.parse_types(parser, len(operands))
        resolved = parser.resolve_operands(operands, operand_types, position)
        return cls(resolved, result_types, properties, attributes, regions)

    @classmethod
    def parse_types(
        cls, parser: Parser, count: int
    ) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
        """Parse the types of `count` operands, and of the results."""
        if (listed := parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_type
        )) is None:  # fmt: skip
            listed = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
            if parser.parse_optional_punctuation("->") is None:
                return cls.expand_types(listed, count)
        else:
            parser.parse_punctuation("->")
        results = parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_type
        )
        return listed, [parser.parse_type()] if results is None else results

    @classmethod
    def expand_types(
        cls, types: Sequence[Attribute], count: int
    ) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
        """The types that a list without an arrow stands for: one for all, or one for each."""
        return (list(types) * count, types) if len(types) == 1 else (types, types)

    def print(self, printer: Printer) -> None:
        first = True
        for operand in self.ins:
            printer.print_string(" " if first else ", ")
            printer.print_ssa_value(operand)
            first = False
        for field in self.FIELDS:
            value = self.properties.get(field.property)
            if value is not None:
                printer.print_string(f"{' ' if first else ', '}{field.keyword} = ")
                print_field(printer, value)
                first = False
        self.print_rest(printer, {field.property for field in self.FIELDS})

    def print_rest(self, printer: Printer, shown: set[str]) -> None:
        """Print the attributes that are not `shown`, and the types."""
        rest = {k: v for k, v in self.properties.items() if k not in shown} | self.attributes
        printer.print_op_attributes(rest)
        printer.print_string(" : ")
        self.print_types(printer)

    def print_types(self, printer: Printer) -> None:
        """Print one type where all are the same, and a function type otherwise."""
        types = {*self.operand_types, *self.result_types}
        if len(types) == 1 and len(self.outs) == 1:
            printer.print_attribute(self.outs[0].type)
        else:
            printer.print_operation_type(self)


def parse_field(parser: Parser, kind: FieldKind) -> Attribute:
    """Parse the value of a field."""
    match kind:
        case "ints":
            return DenseArrayBase.from_list(i64, parse_ints(parser))
        case "int":
            return IntegerAttr(parser.parse_integer(), i64)
        case "bool":
            return BoolAttr.from_bool(parser.parse_boolean())
        case "words":
            return parser.parse_attribute()
        case _:
            return kind.read(parser)


def print_field(printer: Printer, value: Attribute) -> None:
    """Print the value of a field."""
    match value:
        case DenseArrayBase():
            numbers = cast("DenseArrayBase[IntegerType]", value).get_values()
            printer.print_string(f"[{', '.join(map(str, numbers))}]")
        case IntegerAttr():
            number: int = value.value.data
            boolean = value.type != i64
            printer.print_string(str(bool(number)).lower() if boolean else str(number))
        case WordAttr():
            printer.print_string(value.word.data)
        case _:
            printer.print_attribute(value)


def words(values: Attribute | None) -> list[str]:
    """The words of a list of enum attributes."""
    if not isinstance(values, ArrayAttr):
        return []
    listed = cast("ArrayAttr[Attribute]", values)
    return [item.word.data for item in listed if isinstance(item, WordAttr)]


class PureOp(FormattedOp):
    """An op whose only effect is its results."""

    traits = traits_def(Pure())


@dataclass(frozen=True)
class OpSpec:
    """A row of the table of ops: name, fields of the custom form, other properties."""

    name: str
    operands: int | None = None
    fields: tuple[Field, ...] = ()
    properties: tuple[str, ...] = ()
    regions: int = 0
    generic: bool = False
    """Whether upstream prints the generic form although the op has no region."""


def define(spec: OpSpec, base: type[StableHLOOp] | None = None) -> type[StableHLOOp]:
    """The class of an op of the table."""
    if base is None:
        base = StableHLOOp if spec.regions or spec.generic else PureOp
    stem = spec.name.partition(".")[2]
    class_name = "".join(part.capitalize() for part in stem.split("_")) + "Op"
    members: dict[str, object] = {
        "name": spec.name,
        "FIELDS": spec.fields,
        "OPERANDS": spec.operands,
        "REGIONS": spec.regions,
        "__annotations__": {
            "FIELDS": ClassVar[tuple[Field, ...]],
            "OPERANDS": ClassVar[int | None],
            "REGIONS": ClassVar[int],
        },
    }
    for name in (*(field.property for field in spec.fields), *spec.properties):
        members[name] = opt_prop_def(Attribute)
    return irdl_op_definition(cast("type[StableHLOOp]", type(class_name, (base,), members)))


def real_like(type_: Attribute) -> Attribute:
    """The tensor of the real or imaginary parts of a complex tensor."""
    assert isinstance(type_, TensorType)
    tensor = cast("TensorType[Attribute]", type_)
    element = tensor.element_type
    part = (
        cast("ComplexType", element).element_type if isinstance(element, ComplexType) else element
    )
    return TensorType(cast("Attribute", part), tensor.get_shape())
