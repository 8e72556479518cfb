"""Instructions on vectors: shuffles, elements by index, products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.dialects.spirv.base import (
    Instruction,
    IntegerWords,
    Kind,
    Operand,
    SpirvOp,
    i32_array,
    instruction,
    operand_fields,
    parse_attributes,
    parse_operands,
    parse_types,
    print_attributes,
    print_operands,
    print_types,
)
from ingot.compiler.dialects.spirv.composite import Indices, index_numbers, parse_indices
from ingot.compiler.dialects.spirv.families import Value
from ingot.compiler.dialects.spirv.types import AnyVector, as_vector, element_at


def vector_type(value: Value) -> AnyVector:
    """The type of a vector; raises VerifyException for any other value."""
    vector = as_vector(SSAValue.get(value).type)
    if vector is None:
        raise VerifyException(f"expected a vector, got {SSAValue.get(value).type}")
    return vector


@instruction(Instruction(79, (Operand(0), Operand(1), IntegerWords("components"))))
class VectorShuffleOp(SpirvOp):
    """`spirv.VectorShuffle [0 : i32, 4 : i32] %a, %b : vector<4xf32>, vector<4xf32> ->
    vector<2xf32>`: components by number through both vectors; -1 is an undefined one."""

    name = "spirv.VectorShuffle"

    vector1 = operand_def(VectorType)
    vector2 = operand_def(VectorType)
    components: Indices = prop_def(Indices)
    result = result_def(VectorType)
    traits = traits_def(Pure())

    def __init__(self, vector1: Value, vector2: Value, components: Sequence[int]) -> None:
        type = vector_type(vector1)
        super().__init__(
            operands=[vector1, vector2],
            result_types=[VectorType(type.element_type, [len(components)])],
            properties={"components": i32_array(components)},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        components = parse_indices(parser)
        position = parser.pos
        unresolved = parse_operands(parser)
        attributes = parse_attributes(parser)
        operands = parser.resolve_operands(unresolved, parse_types(parser), position)
        parser.parse_punctuation("->")
        return cls.create(
            operands=operands,
            result_types=[parser.parse_type()],
            properties={"components": components},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.components)
        printer.print_string(" ")
        print_operands(printer, self.operands)
        print_attributes(printer, self)
        print_types(printer, [operand.type for operand in self.operands])
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        first, second, result = map(vector_type, (self.vector1, self.vector2, self.result))
        total = first.get_shape()[0] + second.get_shape()[0]
        self.expect_kind(self.result, Kind.VALUE, "result")
        self.expect(
            all(-1 <= c < total for c in index_numbers(self.components)),
            f"components must lie between -1 and {total - 1}",
        )
        self.expect(
            result.get_shape() == (len(self.components),),
            f"result must have {len(self.components)} components, got {self.result.type}",
        )
        self.expect(
            first.element_type == second.element_type == result.element_type,
            "all vectors must have one element type",
        )


@instruction(Instruction(77, operand_fields(2)))
class VectorExtractDynamicOp(SpirvOp):
    """`spirv.VectorExtractDynamic %vector[%index] : vector<4xf32>, i32`"""

    name = "spirv.VectorExtractDynamic"

    vector = operand_def(VectorType)
    index = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, vector: Value, index: Value) -> None:
        type = element_at(SSAValue.get(vector).type, None)
        super().__init__(operands=[vector, index], result_types=[type])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        vector = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            index = parser.parse_unresolved_operand()
        attributes = parse_attributes(parser)
        operands = parser.resolve_operands([vector, index], parse_types(parser), parser.pos)
        op = cls(*operands)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.vector)
        with printer.in_square_brackets():
            printer.print_ssa_value(self.index)
        print_attributes(printer, self)
        print_types(printer, [self.vector.type, self.index.type])

    def verify_(self) -> None:
        self.expect_kind(self.index, Kind.INTEGER, "index")
        self.expect(
            self.result.type == vector_type(self.vector).element_type,
            "result must have the vector's element type",
        )


@instruction(Instruction(78, operand_fields(3)))
class VectorInsertDynamicOp(SpirvOp):
    """`spirv.VectorInsertDynamic %component, %vector[%index] : vector<4xf32>, i32`"""

    name = "spirv.VectorInsertDynamic"

    vector = operand_def(VectorType)
    component = operand_def()
    index = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, vector: Value, component: Value, index: Value) -> None:
        super().__init__(
            operands=[vector, component, index], result_types=[SSAValue.get(vector).type]
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        component = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        vector = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            index = parser.parse_unresolved_operand()
        attributes = parse_attributes(parser)
        type = parser.parse_type()
        parser.parse_punctuation(",")
        op = cls(
            parser.resolve_operand(vector, type),
            parser.resolve_operand(component, element_at(type, None)),
            parser.resolve_operand(index, parser.parse_type()),
        )
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_operands(printer, [self.component, self.vector])
        with printer.in_square_brackets():
            printer.print_ssa_value(self.index)
        print_attributes(printer, self)
        print_types(printer, [self.vector.type, self.index.type])

    def verify_(self) -> None:
        self.expect_kind(self.index, Kind.INTEGER, "index")
        self.expect(
            self.component.type == vector_type(self.vector).element_type,
            "component must have the vector's element type",
        )
        self.expect(self.result.type == self.vector.type, "result must have the vector's type")


@instruction(Instruction(142, operand_fields(2)))
class VectorTimesScalarOp(SpirvOp):
    """`spirv.VectorTimesScalar %vector, %scalar : (vector<4xf32>, f32) -> vector<4xf32>`"""

    name = "spirv.VectorTimesScalar"

    vector = operand_def(VectorType)
    scalar = operand_def()
    result = result_def(VectorType)
    traits = traits_def(Pure())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def __init__(self, vector: Value, scalar: Value) -> None:
        super().__init__(operands=[vector, scalar], result_types=[SSAValue.get(vector).type])

    def verify_(self) -> None:
        self.expect_kind(self.vector, Kind.FLOAT)
        self.expect(
            self.scalar.type == vector_type(self.vector).element_type,
            "scalar must have the vector's element type",
        )
        self.expect(self.result.type == self.vector.type, "result must have the vector's type")


@instruction(Instruction(148, operand_fields(2)))
class DotOp(SpirvOp):
    """`spirv.Dot %a, %b : vector<4xf32> -> f32`"""

    name = "spirv.Dot"

    vector1 = operand_def(VectorType)
    vector2 = operand_def(VectorType)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, vector1: Value, vector2: Value) -> None:
        type = element_at(SSAValue.get(vector1).type, None)
        super().__init__(operands=[vector1, vector2], result_types=[type])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        unresolved = parse_operands(parser)
        attributes = parse_attributes(parser)
        type = parser.parse_type()
        parser.parse_punctuation("->")
        return cls.create(
            operands=parser.resolve_operands(unresolved, [type, type], position),
            result_types=[parser.parse_type()],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_operands(printer, self.operands)
        print_attributes(printer, self)
        printer.print_attribute(self.vector1.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        self.expect_kind(self.vector1, Kind.FLOAT)
        self.expect(self.vector1.type == self.vector2.type, "both vectors must have one type")
        self.expect(
            self.result.type == vector_type(self.vector1).element_type,
            "result must have the vectors' element type",
        )
