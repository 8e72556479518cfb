"""Cooperative matrices (SPV_KHR_cooperative_matrix): one matrix held by a subgroup together."""

from __future__ import annotations

from typing import Self

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue, TypeAttribute
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.dialects.spirv.base import (
    EnumerantId,
    Instruction,
    Kind,
    MemoryOperands,
    Operand,
    SpirvOp,
    TypeWord,
    instruction,
    parse_attributes,
    parse_operands,
    parse_types,
    print_attributes,
    print_operands,
    print_types,
)
from ingot.compiler.dialects.spirv.enums import (
    Capability,
    CooperativeMatrixLayout,
    CooperativeMatrixLayoutAttr,
    CooperativeMatrixUse,
    MemoryAccess,
    MemoryAccessAttr,
    flag_names,
)
from ingot.compiler.dialects.spirv.families import Value
from ingot.compiler.dialects.spirv.types import CooperativeMatrixType, PointerType

_MATRIX_CAPABILITY = (Capability.CooperativeMatrixKHR,)
_MATRIX_EXTENSION = ("SPV_KHR_cooperative_matrix",)
_LAYOUT = EnumerantId("matrix_layout", CooperativeMatrixLayoutAttr)
_ACCESS = MemoryOperands("memory_operand")


def matrix_type(value: SSAValue) -> CooperativeMatrixType:
    """The type of a cooperative matrix; raises VerifyException for any other value."""
    if not isinstance(value.type, CooperativeMatrixType):
        raise VerifyException(f"expected a !spirv.coopmatrix, got {value.type}")
    return value.type


class MatrixAccessOp(SpirvOp):
    """The layout and the memory operands that matrix loads and stores share."""

    matrix_layout: CooperativeMatrixLayoutAttr = prop_def(CooperativeMatrixLayoutAttr)
    memory_operand: MemoryAccessAttr | None = opt_prop_def(MemoryAccessAttr)

    def print_access(self, printer: Printer) -> None:
        printer.print_string(f", <{self.matrix_layout.data.name}>")
        if self.memory_operand is not None:
            printer.print_string(f", <{flag_names(self.memory_operand.data)}>")

    def verify_(self) -> None:
        access = self.memory_operand
        self.expect(
            access is None or MemoryAccess.Aligned not in access.data,
            "an alignment of a matrix access is not supported",
        )


def _access_properties(
    layout: CooperativeMatrixLayout, access: MemoryAccess | None
) -> dict[str, Attribute]:
    properties: dict[str, Attribute] = {"matrix_layout": CooperativeMatrixLayoutAttr(layout)}
    if access is not None:
        properties["memory_operand"] = MemoryAccessAttr(access)
    return properties


def _parse_access(parser: Parser) -> dict[str, Attribute]:
    """`<RowMajor>, <NonPrivatePointer>`, the second part if present."""
    layout = CooperativeMatrixLayoutAttr.parse_parameter(parser)
    access = None
    if parser.parse_optional_punctuation(","):
        access = MemoryAccessAttr.parse_parameter(parser)
    return _access_properties(layout, access)


@instruction(
    Instruction(
        4457,
        (Operand(0), _LAYOUT, Operand(1), _ACCESS),
        _MATRIX_CAPABILITY,
        _MATRIX_EXTENSION,
    )
)
class CooperativeMatrixLoadOp(MatrixAccessOp):
    """`spirv.KHR.CooperativeMatrixLoad %ptr, %stride, <RowMajor> :
    !spirv.ptr<f32, StorageBuffer>, i32 -> !spirv.coopmatrix<8x8xf32, Subgroup, MatrixA>`

    `stride` counts elements of what `pointer` points to from one row (or column) to the next.
    """

    name = "spirv.KHR.CooperativeMatrixLoad"

    pointer = operand_def(PointerType)
    stride = operand_def()
    result = result_def(CooperativeMatrixType)
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        pointer: Value,
        stride: Value,
        layout: CooperativeMatrixLayout,
        result_type: CooperativeMatrixType,
        access: MemoryAccess | None = None,
    ) -> None:
        super().__init__(
            operands=[pointer, stride],
            result_types=[result_type],
            properties=_access_properties(layout, access),
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        unresolved = [parser.parse_unresolved_operand()]
        parser.parse_punctuation(",")
        unresolved.append(parser.parse_unresolved_operand())
        parser.parse_punctuation(",")
        properties = _parse_access(parser)
        attributes = parse_attributes(parser)
        operands = parser.resolve_operands(unresolved, parse_types(parser), position)
        parser.parse_punctuation("->")
        return cls.create(
            operands=operands,
            result_types=[parser.parse_type()],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_operands(printer, self.operands)
        self.print_access(printer)
        print_attributes(printer, self)
        print_types(printer, [operand.type for operand in self.operands])
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        super().verify_()
        self.expect_kind(self.stride, Kind.INTEGER, "stride")


@instruction(
    Instruction(
        4458,
        (Operand(0), Operand(1), _LAYOUT, Operand(2), _ACCESS),
        _MATRIX_CAPABILITY,
        _MATRIX_EXTENSION,
    )
)
class CooperativeMatrixStoreOp(MatrixAccessOp):
    """`spirv.KHR.CooperativeMatrixStore %ptr, %matrix, %stride, <RowMajor> :
    !spirv.ptr<f32, StorageBuffer>, !spirv.coopmatrix<8x8xf32, Subgroup, MatrixAcc>, i32`"""

    name = "spirv.KHR.CooperativeMatrixStore"

    pointer = operand_def(PointerType)
    object = operand_def(CooperativeMatrixType)
    stride = operand_def()
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        pointer: Value,
        object: Value,
        stride: Value,
        layout: CooperativeMatrixLayout,
        access: MemoryAccess | None = None,
    ) -> None:
        super().__init__(
            operands=[pointer, object, stride], properties=_access_properties(layout, access)
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        unresolved = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_punctuation(",")
            unresolved.append(parser.parse_unresolved_operand())
        parser.parse_punctuation(",")
        properties = _parse_access(parser)
        attributes = parse_attributes(parser)
        return cls.create(
            operands=parser.resolve_operands(unresolved, parse_types(parser), position),
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_operands(printer, self.operands)
        self.print_access(printer)
        print_attributes(printer, self)
        print_types(printer, [operand.type for operand in self.operands])

    def verify_(self) -> None:
        super().verify_()
        self.expect_kind(self.stride, Kind.INTEGER, "stride")


@instruction(
    Instruction(
        4459,
        (Operand(0), Operand(1), Operand(2)),
        _MATRIX_CAPABILITY,
        _MATRIX_EXTENSION,
    )
)
class CooperativeMatrixMulAddOp(SpirvOp):
    """`spirv.KHR.CooperativeMatrixMulAdd %a, %b, %c : A, B -> C`: a * b + c."""

    name = "spirv.KHR.CooperativeMatrixMulAdd"

    a = operand_def(CooperativeMatrixType)
    b = operand_def(CooperativeMatrixType)
    c = operand_def(CooperativeMatrixType)
    result = result_def(CooperativeMatrixType)

    def __init__(self, a: Value, b: Value, c: Value) -> None:
        super().__init__(operands=[a, b, c], result_types=[SSAValue.get(c).type])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        unresolved = parse_operands(parser)
        attributes = parse_attributes(parser)
        types = parse_types(parser)
        parser.parse_punctuation("->")
        types.append(parser.parse_type())
        op = cls(*parser.resolve_operands(unresolved, types, position))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_operands(printer, self.operands)
        print_attributes(printer, self)
        print_types(printer, [self.a.type, self.b.type])
        printer.print_string(" -> ")
        printer.print_attribute(self.c.type)

    def verify_(self) -> None:
        a, b, c = (matrix_type(operand) for operand in (self.a, self.b, self.c))
        uses = (a.use, b.use, c.use)
        self.expect(
            uses
            == (
                CooperativeMatrixUse.MatrixA,
                CooperativeMatrixUse.MatrixB,
                CooperativeMatrixUse.MatrixAcc,
            ),
            "operands must be a MatrixA, a MatrixB and a MatrixAcc",
        )
        self.expect(
            (a.rows, a.columns, b.columns) == (c.rows, b.rows, c.columns),
            f"shapes do not multiply: {a.rows}x{a.columns} by {b.rows}x{b.columns} "
            f"to {c.rows}x{c.columns}",
        )
        self.expect(self.result.type == c, "result must have the accumulator's type")


@instruction(
    Instruction(4460, (TypeWord("cooperative_matrix_type"),), _MATRIX_CAPABILITY, _MATRIX_EXTENSION)
)
class CooperativeMatrixLengthOp(SpirvOp):
    """`spirv.KHR.CooperativeMatrixLength : !spirv.coopmatrix<...>`: elements of one invocation."""

    name = "spirv.KHR.CooperativeMatrixLength"

    cooperative_matrix_type: TypeAttribute = prop_def(TypeAttribute)
    result = result_def(i32)

    def __init__(self, type: CooperativeMatrixType) -> None:
        super().__init__(result_types=[i32], properties={"cooperative_matrix_type": type})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parse_attributes(parser)
        properties: dict[str, Attribute] = {"cooperative_matrix_type": parser.parse_type()}
        return cls.create(result_types=[i32], properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        print_attributes(printer, self)
        printer.print_attribute(self.cooperative_matrix_type)
