"""Instructions on vectors, arrays and structs, and the GLSL functions of odd shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, VectorType, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.dialects.spirv.base import (
    Instruction,
    InstructionSet,
    IntegerWords,
    Kind,
    Operand,
    Operands,
    SpirvOp,
    i32_array,
    instruction,
    operand_fields,
    parse_operands,
    parse_types,
    print_operands,
    print_types,
)
from ingot.compiler.dialects.spirv.families import Value
from ingot.compiler.dialects.spirv.types import (
    CooperativeMatrixType,
    SpirvArrayType,
    StructType,
    element_at,
    with_element,
)

Indices = ArrayAttr[IntegerAttr]


def _element_along(type: Attribute, indices: Sequence[int]) -> Attribute:
    for index in indices:
        type = element_at(type, index)
    return type


def _numbers(indices: Indices) -> list[int]:
    return [index.value.data for index in indices]


def _parse_indices(parser: Parser) -> Indices:
    position = parser.pos
    attribute = parser.parse_attribute()
    if not isinstance(attribute, ArrayAttr):
        parser.raise_error("expected a list of i32 indices", position)
    indices: list[IntegerAttr] = []
    for index in attribute:
        if not isinstance(index, IntegerAttr) or index.type != i32:
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
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        parser.parse_punctuation("->")
        op = cls(parser.resolve_operands(unresolved, types, position), parser.parse_type())
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_operands(printer, self.operands)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        with printer.in_parens():
            print_types(printer, [operand.type for operand in self.operands])
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        given: list[Attribute] = []
        for operand in self.operands:
            type = operand.type
            if isinstance(self.result.type, VectorType) and isinstance(type, VectorType):
                given += [type.element_type] * type.get_shape()[0]
            else:
                given.append(type)
        expected = _constituents(self.result.type)
        self.expect(
            given == expected,
            f"{self.result.type} is not made of ({', '.join(str(o.type) for o in self.operands)})",
        )


def _constituents(type: Attribute) -> list[Attribute]:
    match type:
        case VectorType():
            return [type.element_type] * type.get_shape()[0]
        case SpirvArrayType():
            return [type.element_type] * type.count
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
        indices = _parse_indices(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        composite = parser.resolve_operand(unresolved, parser.parse_type())
        op = cls(composite, _numbers(indices))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.composite)
        printer.print_attribute(self.indices)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.composite.type)

    def verify_(self) -> None:
        expected = _element_along(self.composite.type, _numbers(self.indices))
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
        indices = _parse_indices(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        value = parser.resolve_operand(object, parser.parse_type())
        parser.parse_keyword("into")
        whole = parser.resolve_operand(composite, parser.parse_type())
        op = cls(value, whole, _numbers(indices))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_operands(printer, self.operands)
        printer.print_attribute(self.indices)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.object.type)
        printer.print_string(" into ")
        printer.print_attribute(self.composite.type)

    def verify_(self) -> None:
        expected = _element_along(self.composite.type, _numbers(self.indices))
        self.expect(
            self.object.type == expected, f"object must be {expected}, got {self.object.type}"
        )
        self.expect(
            self.result.type == self.composite.type, "result must have the composite's type"
        )


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
        type = SSAValue.get(vector1).type
        if not isinstance(type, VectorType):
            raise VerifyException(f"spirv.VectorShuffle takes vectors, got {type}")
        super().__init__(
            operands=[vector1, vector2],
            result_types=[VectorType(type.element_type, [len(components)])],
            properties={"components": i32_array(components)},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        components = _parse_indices(parser)
        position = parser.pos
        unresolved = parse_operands(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
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
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        print_types(printer, [operand.type for operand in self.operands])
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        total = self.vector1.type.get_shape()[0] + self.vector2.type.get_shape()[0]
        self.expect_kind(self.result, Kind.VALUE, "result")
        self.expect(
            all(-1 <= c < total for c in _numbers(self.components)),
            f"components must lie between -1 and {total - 1}",
        )
        self.expect(
            self.result.type.get_shape() == (len(self.components),),
            f"result must have {len(self.components)} components, got {self.result.type}",
        )
        element = self.result.type.element_type
        self.expect(
            self.vector1.type.element_type == element and self.vector2.type.element_type == element,
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
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        operands = parser.resolve_operands([vector, index], parse_types(parser), parser.pos)
        op = cls(*operands)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.vector)
        with printer.in_square_brackets():
            printer.print_ssa_value(self.index)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        print_types(printer, [self.vector.type, self.index.type])

    def verify_(self) -> None:
        self.expect_kind(self.index, Kind.INTEGER, "index")
        self.expect(
            self.result.type == self.vector.type.element_type,
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
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
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
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        print_types(printer, [self.vector.type, self.index.type])

    def verify_(self) -> None:
        self.expect_kind(self.index, Kind.INTEGER, "index")
        self.expect(
            self.component.type == self.vector.type.element_type,
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
            self.scalar.type == self.vector.type.element_type,
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
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
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
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.vector1.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        self.expect_kind(self.vector1, Kind.FLOAT)
        self.expect(self.vector1.type == self.vector2.type, "both vectors must have one type")
        self.expect(
            self.result.type == self.vector1.type.element_type,
            "result must have the vectors' element type",
        )


def _glsl(opcode: int, arity: int) -> Instruction:
    return Instruction(opcode, operand_fields(arity), instruction_set=InstructionSet.GLSL)


@instruction(_glsl(46, 3))
class GLFMixOp(SpirvOp):
    """`spirv.GL.FMix %x : f32, %y : f32, %a : f32 -> f32`: x * (1 - a) + y * a."""

    name = "spirv.GL.FMix"

    x = operand_def()
    y = operand_def()
    a = operand_def()
    result = result_def()
    traits = traits_def(Pure())
    assembly_format = (
        "attr-dict $x `:` type($x) `,` $y `:` type($y) `,` $a `:` type($a) `->` type($result)"
    )

    def __init__(self, x: Value, y: Value, a: Value) -> None:
        super().__init__(operands=[x, y, a], result_types=[SSAValue.get(x).type])

    def verify_(self) -> None:
        self.expect_kind(self.x, Kind.FLOAT)
        for value in (self.y, self.a, self.result):
            self.expect(value.type == self.x.type, "operands and result must have one type")


@instruction(_glsl(53, 2))
class GLLdexpOp(SpirvOp):
    """`spirv.GL.Ldexp %x : f32, %exp : i32 -> f32`: x * 2^exp."""

    name = "spirv.GL.Ldexp"

    x = operand_def()
    exp = operand_def()
    y = result_def()
    traits = traits_def(Pure())
    assembly_format = "attr-dict $x `:` type($x) `,` $exp `:` type($exp) `->` type($y)"

    def __init__(self, x: Value, exp: Value) -> None:
        super().__init__(operands=[x, exp], result_types=[SSAValue.get(x).type])

    def verify_(self) -> None:
        self.expect_kind(self.x, Kind.FLOAT)
        self.expect_kind(self.exp, Kind.INTEGER, "exponent")
        self.expect(self.y.type == self.x.type, "result must have the operand's type")
        self.expect(
            with_element(self.x.type, i32) == with_element(self.exp.type, i32),
            "operand and exponent must have one shape",
        )


@instruction(_glsl(52, 1))
class GLFrexpStructOp(SpirvOp):
    """`spirv.GL.FrexpStruct %x : f32 -> !spirv.struct<(f32, i32)>`: significand and exponent."""

    name = "spirv.GL.FrexpStruct"

    operand = operand_def()
    result = result_def(StructType)
    traits = traits_def(Pure())
    assembly_format = "attr-dict $operand `:` type($operand) `->` type($result)"

    def __init__(self, operand: Value) -> None:
        type = SSAValue.get(operand).type
        super().__init__(
            operands=[operand], result_types=[StructType.get([type, with_element(type, i32)])]
        )

    def verify_(self) -> None:
        self.expect_kind(self.operand, Kind.FLOAT)
        type = self.operand.type
        self.expect(
            self.result.type.members == (type, with_element(type, i32)),
            f"result must be a struct of {type} and {with_element(type, i32)}",
        )
