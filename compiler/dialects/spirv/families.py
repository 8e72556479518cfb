"""Families of instructions that differ only in name, opcode and operand kind.

Each family fixes the assembly, the rule for the result type and the verifier; `arithmetic.py` holds
one line for each op.
"""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from ingot.compiler.dialects.spirv.base import (
    Instruction,
    Kind,
    SpirvOp,
    instruction,
    operand_fields,
    parse_attributes,
    parse_operands,
    parse_types,
    print_attributes,
    print_operands,
    print_types,
)
from ingot.compiler.dialects.spirv.types import (
    StructType,
    bit_width,
    is_vector,
    with_element,
)

Value = SSAValue | Operation


class UniformOp(SpirvOp):
    """Operands of one type, which the result's type follows: `spirv.FAdd %a, %b : f32`."""

    KIND: ClassVar[Kind]

    result = result_def()
    traits = traits_def(Pure())

    @classmethod
    def result_type(cls, operand_type: Attribute) -> Attribute:
        """The result's type for operands of `operand_type`."""
        return operand_type

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        unresolved = parse_operands(parser)
        attributes = parse_attributes(parser)
        type = parser.parse_type()
        arity = len(cls.INFO.layout)
        if len(unresolved) != arity:
            parser.raise_error(
                f"{cls.name} takes {arity} operands, got {len(unresolved)}", position
            )
        return cls.create(
            operands=[parser.resolve_operand(operand, type) for operand in unresolved],
            result_types=[cls.result_type(type)],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_operands(printer, self.operands)
        print_attributes(printer, self)
        printer.print_attribute(self.operands[0].type)

    def verify_(self) -> None:
        type = self.operands[0].type
        self.expect_kind(self.operands[0], self.KIND)
        for operand in self.operands:
            self.expect(operand.type == type, f"operands differ: {type} and {operand.type}")
        expected = self.result_type(type)
        self.expect(
            self.result.type == expected, f"result must be {expected}, got {self.result.type}"
        )


class UnaryOp(UniformOp):
    operand = operand_def()

    def __init__(self, operand: Value) -> None:
        value = SSAValue.get(operand)
        super().__init__(operands=[value], result_types=[self.result_type(value.type)])


class BinaryOp(UniformOp):
    lhs = operand_def()
    rhs = operand_def()

    def __init__(self, lhs: Value, rhs: Value) -> None:
        value = SSAValue.get(lhs)
        super().__init__(operands=[value, rhs], result_types=[self.result_type(value.type)])


class TernaryOp(UniformOp):
    first = operand_def()
    second = operand_def()
    third = operand_def()

    def __init__(self, first: Value, second: Value, third: Value) -> None:
        value = SSAValue.get(first)
        super().__init__(
            operands=[value, second, third], result_types=[self.result_type(value.type)]
        )


class PredicateOp(UnaryOp):
    """A Boolean for each component of the operand: `spirv.IsNan %a : f32`."""

    @classmethod
    def result_type(cls, operand_type: Attribute) -> Attribute:
        return with_element(operand_type, i1)


class CompareOp(BinaryOp):
    """A Boolean for each pair of components: `spirv.SLessThan %a, %b : i32`."""

    @classmethod
    def result_type(cls, operand_type: Attribute) -> Attribute:
        return with_element(operand_type, i1)


class CastOp(SpirvOp):
    """A conversion: `spirv.ConvertFToS %a : f32 to i32`."""

    KIND: ClassVar[Kind]
    RESULT_KIND: ClassVar[Kind]

    operand = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, operand: Value, result_type: Attribute) -> None:
        super().__init__(operands=[operand], result_types=[result_type])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        unresolved = parser.parse_unresolved_operand()
        attributes = parse_attributes(parser)
        operand = parser.resolve_operand(unresolved, parser.parse_type())
        parser.parse_keyword("to")
        op = cls(operand, parser.parse_type())
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operand)
        print_attributes(printer, self)
        printer.print_attribute(self.operand.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        source, target = self.operand.type, self.result.type
        self.expect_kind(self.operand, self.KIND)
        self.expect_kind(self.result, self.RESULT_KIND, "result")
        self.expect(
            with_element(source, i1) == with_element(target, i1),
            f"operand and result must have one shape, got {source} and {target}",
        )


class WidthCastOp(CastOp):
    """A conversion that changes the width: SPIR-V has none from a type to itself."""

    def verify_(self) -> None:
        super().verify_()
        self.expect(
            bit_width(self.operand.type) != bit_width(self.result.type),
            f"must change the width, got {self.operand.type} to {self.result.type}",
        )


@instruction(Instruction(124, operand_fields(1)))
class BitcastOp(CastOp):
    """`spirv.Bitcast %a : f32 to i32`: the same bits, as a scalar, vector or pointer."""

    name = "spirv.Bitcast"
    KIND: ClassVar[Kind] = Kind.NUMBER
    RESULT_KIND: ClassVar[Kind] = Kind.NUMBER

    def verify_(self) -> None:
        source, target = self.operand.type, self.result.type
        self.expect_kind(self.operand, Kind.NUMBER)
        self.expect_kind(self.result, Kind.NUMBER, "result")
        self.expect(source != target, f"must change the type, got {source}")
        self.expect(
            bit_width(source) == bit_width(target),
            f"operand and result must have as many bits, got {source} and {target}",
        )


class TypedOperandsOp(SpirvOp):
    """Operands and then their types: `spirv.ShiftLeftLogical %a, %b : i32, i32`.

    The result has the first operand's type. `TYPE_INDEX` says for each operand which of the printed
    types is its own.
    """

    TYPE_INDEX: ClassVar[tuple[int, ...]]

    result = result_def()
    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        unresolved = parse_operands(parser)
        attributes = parse_attributes(parser)
        types = parse_types(parser)
        if len(types) != max(cls.TYPE_INDEX) + 1:
            parser.raise_error(f"{cls.name} needs {max(cls.TYPE_INDEX) + 1} types", position)
        expanded = [types[i] for i in cls.TYPE_INDEX]
        return cls.create(
            operands=parser.resolve_operands(unresolved, expanded, position),
            result_types=[types[0]],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_operands(printer, self.operands)
        print_attributes(printer, self)
        firsts = [self.TYPE_INDEX.index(i) for i in range(max(self.TYPE_INDEX) + 1)]
        print_types(printer, [self.operands[i].type for i in firsts])

    def verify_(self) -> None:
        self.expect_kind(self.operands[0], Kind.INTEGER)
        self.expect(
            self.result.type == self.operands[0].type, "result must have the first operand's type"
        )


class ShiftOp(TypedOperandsOp):
    """`spirv.ShiftLeftLogical %base, %shift : i32, i32`"""

    TYPE_INDEX: ClassVar[tuple[int, ...]] = (0, 1)

    base = operand_def()
    shift = operand_def()

    def __init__(self, base: Value, shift: Value) -> None:
        super().__init__(operands=[base, shift], result_types=[SSAValue.get(base).type])

    def verify_(self) -> None:
        super().verify_()
        self.expect_kind(self.shift, Kind.INTEGER, "shift")
        self.expect(
            with_element(self.base.type, i1) == with_element(self.shift.type, i1),
            f"base and shift must have one shape, got {self.base.type} and {self.shift.type}",
        )


class BitFieldExtractOp(TypedOperandsOp):
    """`spirv.BitFieldSExtract %base, %offset, %count : i32, i32, i32`"""

    TYPE_INDEX: ClassVar[tuple[int, ...]] = (0, 1, 2)

    base = operand_def()
    offset = operand_def()
    count = operand_def()

    def __init__(self, base: Value, offset: Value, count: Value) -> None:
        super().__init__(operands=[base, offset, count], result_types=[SSAValue.get(base).type])

    def verify_(self) -> None:
        super().verify_()
        for operand in (self.offset, self.count):
            self.expect(not is_vector(operand.type), "offset and count must be scalars")
            self.expect_kind(operand, Kind.INTEGER, "offset and count")


@instruction(Instruction(201, operand_fields(4)))
class BitFieldInsertOp(TypedOperandsOp):
    """`spirv.BitFieldInsert %base, %insert, %offset, %count : i32, i32, i32`"""

    name = "spirv.BitFieldInsert"
    TYPE_INDEX: ClassVar[tuple[int, ...]] = (0, 0, 1, 2)

    base = operand_def()
    insert = operand_def()
    offset = operand_def()
    count = operand_def()

    def __init__(self, base: Value, insert: Value, offset: Value, count: Value) -> None:
        type = SSAValue.get(base).type
        super().__init__(operands=[base, insert, offset, count], result_types=[type])

    def verify_(self) -> None:
        super().verify_()
        self.expect(self.insert.type == self.base.type, "insert must have the base's type")
        for operand in (self.offset, self.count):
            self.expect(not is_vector(operand.type), "offset and count must be scalars")
            self.expect_kind(operand, Kind.INTEGER, "offset and count")


class ExtendedBinaryOp(SpirvOp):
    """Two results in a struct: `spirv.IAddCarry %a, %b : !spirv.struct<(i32, i32)>`."""

    lhs = operand_def()
    rhs = operand_def()
    result = result_def(StructType)
    traits = traits_def(Pure())

    def __init__(self, lhs: Value, rhs: Value) -> None:
        type = SSAValue.get(lhs).type
        super().__init__(operands=[lhs, rhs], result_types=[StructType.get([type, type])])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        unresolved = parse_operands(parser)
        attributes = parse_attributes(parser)
        type = parser.parse_type()
        if not isinstance(type, StructType) or len(type.members) != 2 or len(unresolved) != 2:
            parser.raise_error("expected two operands and a struct of two members", position)
        operands = [parser.resolve_operand(operand, type.members[0]) for operand in unresolved]
        return cls.create(operands=operands, result_types=[type], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_operands(printer, self.operands)
        print_attributes(printer, self)
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        self.expect_kind(self.lhs, Kind.INTEGER)
        type = self.lhs.type
        self.expect(self.rhs.type == type, f"operands differ: {type} and {self.rhs.type}")
        self.expect(
            self.result.type.members == (type, type), f"result must be a struct of two {type}"
        )


@instruction(Instruction(169, operand_fields(3)))
class SelectOp(SpirvOp):
    """`spirv.Select %condition, %true, %false : i1, f32`: a choice, component by component."""

    name = "spirv.Select"

    condition = operand_def()
    true_value = operand_def()
    false_value = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, condition: Value, true_value: Value, false_value: Value) -> None:
        type = SSAValue.get(true_value).type
        super().__init__(operands=[condition, true_value, false_value], result_types=[type])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        unresolved = parse_operands(parser)
        attributes = parse_attributes(parser)
        condition, *types = parse_types(parser)
        if len(types) != 1 or len(unresolved) != 3:
            parser.raise_error("expected three operands and two types", position)
        op = cls(*parser.resolve_operands(unresolved, [condition, *types, *types], position))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_operands(printer, self.operands)
        print_attributes(printer, self)
        print_types(printer, [self.condition.type, self.result.type])

    def verify_(self) -> None:
        type = self.result.type
        self.expect_kind(self.condition, Kind.BOOLEAN, "condition")
        self.expect_kind(self.result, Kind.VALUE, "result")
        self.expect(
            self.true_value.type == type and self.false_value.type == type,
            f"both values must have the result's type {type}",
        )
        # A vector chosen by one Boolean came with SPIR-V 1.4.
        expected = with_element(type, i1)
        self.expect(
            self.condition.type == expected,
            f"condition must be {expected}, got {self.condition.type}",
        )
