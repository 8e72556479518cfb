"""Instructions that make composites and take them apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, IntegerType, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from ingot.compiler.dialects.spirv.base import (
    Instruction,
    IntegerWords,
    Operand,
    Operands,
    SpirvOp,
    i32_array,
    instruction,
    parse_attributes,
    parse_operands,
    print_attributes,
    print_operands,
    print_types,
)
from ingot.compiler.dialects.spirv.families import Value
from ingot.compiler.dialects.spirv.types import (
    CooperativeMatrixType,
    StructType,
    as_vector,
    element_at,
    uniform_elements,
)

Indices = ArrayAttr[IntegerAttr]


def _element_along(type: Attribute, indices: Sequence[int]) -> Attribute:
    for index in indices:
        type = element_at(type, index)
    return type


def index_numbers(indices: Indices) -> list[int]:
    return [index.value.data for index in indices]


def parse_indices(parser: Parser) -> Indices:
    position = parser.pos
    attribute = parser.parse_attribute()
    if not isinstance(attribute, ArrayAttr):
        parser.raise_error("expected a list of i32 indices", position)
    indices: list[IntegerAttr] = []
    for index in cast("ArrayAttr[Attribute]", attribute):
        if not isa(index, IntegerAttr[IntegerType]) or index.type != i32:
            parser.raise_error("expected i32 indices", position)
        indices.append(IntegerAttr(index.value.data, i32))
    return ArrayAttr(indices)


@instruction(Instruction(80, (Operands(0),)))
class CompositeConstructOp(SpirvOp):
    """`spirv.CompositeConstruct %a, %b : (f32, f32) -> vector<2xf32>`

    A vector may be made of vectors and scalars; other composites take one operand a member.
    """

    name = "spirv.CompositeConstruct"

    constituents = var_operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, constituents: Sequence[Value], result_type: Attribute) -> None:
        super().__init__(operands=[constituents], result_types=[result_type])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        unresolved = parse_operands(parser)
        attributes = parse_attributes(parser)
        types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        parser.parse_punctuation("->")
        op = cls(parser.resolve_operands(unresolved, types, position), parser.parse_type())
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_operands(printer, self.operands)
        print_attributes(printer, self)
        with printer.in_parens():
            print_types(printer, [operand.type for operand in self.operands])
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        given: list[Attribute] = []
        vectors_unfold = as_vector(self.result.type) is not None
        for operand in self.operands:
            vector = as_vector(operand.type) if vectors_unfold else None
            if vector is None:
                given.append(operand.type)
            else:
                given += [vector.element_type] * vector.get_shape()[0]
        expected = _constituents(self.result.type)
        self.expect(
            given == expected,
            f"{self.result.type} is not made of ({', '.join(str(o.type) for o in self.operands)})",
        )


def _constituents(type: Attribute) -> list[Attribute]:
    if (uniform := uniform_elements(type)) is not None:
        element, count = uniform
        return [element] * count
    match type:
        case StructType():
            return list(type.members)
        case CooperativeMatrixType():
            return [type.element_type]
        case _:
            raise VerifyException(f"spirv.CompositeConstruct cannot make {type}")


@instruction(Instruction(81, (Operand(0), IntegerWords("indices"))))
class CompositeExtractOp(SpirvOp):
    """`spirv.CompositeExtract %composite[1 : i32] : vector<4xf32>`"""

    name = "spirv.CompositeExtract"

    composite = operand_def()
    indices: Indices = prop_def(Indices)
    component = result_def()
    traits = traits_def(Pure())

    def __init__(self, composite: Value, indices: Sequence[int]) -> None:
        super().__init__(
            operands=[composite],
            result_types=[_element_along(SSAValue.get(composite).type, indices)],
            properties={"indices": i32_array(indices)},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        unresolved = parser.parse_unresolved_operand()
        indices = parse_indices(parser)
        attributes = parse_attributes(parser)
        composite = parser.resolve_operand(unresolved, parser.parse_type())
        op = cls(composite, index_numbers(indices))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.composite)
        printer.print_attribute(self.indices)
        print_attributes(printer, self)
        printer.print_attribute(self.composite.type)

    def verify_(self) -> None:
        expected = _element_along(self.composite.type, index_numbers(self.indices))
        self.expect(
            self.component.type == expected,
            f"result must be {expected}, got {self.component.type}",
        )


@instruction(Instruction(82, (Operand(0), Operand(1), IntegerWords("indices"))))
class CompositeInsertOp(SpirvOp):
    """`spirv.CompositeInsert %object, %composite[1 : i32] : f32 into vector<4xf32>`"""

    name = "spirv.CompositeInsert"

    object = operand_def()
    composite = operand_def()
    indices: Indices = prop_def(Indices)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, object: Value, composite: Value, indices: Sequence[int]) -> None:
        super().__init__(
            operands=[object, composite],
            result_types=[SSAValue.get(composite).type],
            properties={"indices": i32_array(indices)},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        object = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        composite = parser.parse_unresolved_operand()
        indices = parse_indices(parser)
        attributes = parse_attributes(parser)
        value = parser.resolve_operand(object, parser.parse_type())
        parser.parse_keyword("into")
        whole = parser.resolve_operand(composite, parser.parse_type())
        op = cls(value, whole, index_numbers(indices))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_operands(printer, self.operands)
        printer.print_attribute(self.indices)
        print_attributes(printer, self)
        printer.print_attribute(self.object.type)
        printer.print_string(" into ")
        printer.print_attribute(self.composite.type)

    def verify_(self) -> None:
        expected = _element_along(self.composite.type, index_numbers(self.indices))
        self.expect(
            self.object.type == expected, f"object must be {expected}, got {self.object.type}"
        )
        self.expect(
            self.result.type == self.composite.type, "result must have the composite's type"
        )
