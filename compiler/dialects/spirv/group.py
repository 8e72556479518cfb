"""Barriers, subgroup (SIMD-group) instructions and cooperative matrices."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import TypeAttribute, VectorType, i1, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from ingot.compiler.dialects.spirv.base import (
    EnumerantId,
    EnumerantWord,
    Instruction,
    Kind,
    MemoryOperands,
    Operand,
    Operands,
    SpirvOp,
    TypeWord,
    define_row,
    instruction,
    parse_operands,
    parse_types,
    print_operands,
    print_types,
)
from ingot.compiler.dialects.spirv.enums import (
    Capability,
    CooperativeMatrixLayout,
    CooperativeMatrixLayoutAttr,
    CooperativeMatrixUse,
    GroupOperation,
    GroupOperationAttr,
    MemoryAccess,
    MemoryAccessAttr,
    MemorySemantics,
    MemorySemanticsAttr,
    Scope,
    ScopeAttr,
    flag_names,
)
from ingot.compiler.dialects.spirv.families import Value
from ingot.compiler.dialects.spirv.types import CooperativeMatrixType, PointerType

_EXECUTION = EnumerantId("execution_scope", ScopeAttr)
_MEMORY = EnumerantId("memory_scope", ScopeAttr)
_SEMANTICS = EnumerantId("memory_semantics", MemorySemanticsAttr)


@instruction(Instruction(224, (_EXECUTION, _MEMORY, _SEMANTICS)))
class ControlBarrierOp(SpirvOp):
    """`spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory>`"""

    name = "spirv.ControlBarrier"

    execution_scope: ScopeAttr = prop_def(ScopeAttr)
    memory_scope: ScopeAttr = prop_def(ScopeAttr)
    memory_semantics: MemorySemanticsAttr = prop_def(MemorySemanticsAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$execution_scope `,` $memory_scope `,` $memory_semantics attr-dict"

    def __init__(self, execution: Scope, memory: Scope, semantics: MemorySemantics) -> None:
        super().__init__(
            properties={
                "execution_scope": ScopeAttr(execution),
                "memory_scope": ScopeAttr(memory),
                "memory_semantics": MemorySemanticsAttr(semantics),
            }
        )


@instruction(Instruction(225, (_MEMORY, _SEMANTICS)))
class MemoryBarrierOp(SpirvOp):
    """`spirv.MemoryBarrier <Device>, <AcquireRelease|UniformMemory>`"""

    name = "spirv.MemoryBarrier"

    memory_scope: ScopeAttr = prop_def(ScopeAttr)
    memory_semantics: MemorySemanticsAttr = prop_def(MemorySemanticsAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$memory_scope `,` $memory_semantics attr-dict"

    def __init__(self, memory: Scope, semantics: MemorySemantics) -> None:
        super().__init__(
            properties={
                "memory_scope": ScopeAttr(memory),
                "memory_semantics": MemorySemanticsAttr(semantics),
            }
        )


class GroupOp(SpirvOp):
    """An instruction that all active invocations of `execution_scope` take part in.

    It is not pure: moving it into other control flow changes who takes part.
    """

    execution_scope: ScopeAttr = prop_def(ScopeAttr)
    result = result_def()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """`<Subgroup> %value, %id : f32, i32`"""
        scope = ScopeAttr(ScopeAttr.parse_parameter(parser))
        position = parser.pos
        unresolved = parse_operands(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        operands = parser.resolve_operands(unresolved, parse_types(parser), position)
        return cls.create(
            operands=operands,
            result_types=[operands[0].type],
            properties={"execution_scope": scope},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" <{self.execution_scope.data.name}> ")
        print_operands(printer, self.operands)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        print_types(printer, [operand.type for operand in self.operands])

    def verify_(self) -> None:
        self.expect(
            self.execution_scope.data in (Scope.Workgroup, Scope.Subgroup),
            "execution scope must be Workgroup or Subgroup",
        )


@instruction(Instruction(333, (_EXECUTION,), (Capability.GroupNonUniform,)))
class GroupNonUniformElectOp(GroupOp):
    """`spirv.GroupNonUniformElect <Subgroup> : i1`: true in one active invocation."""

    name = "spirv.GroupNonUniformElect"

    def __init__(self, scope: Scope) -> None:
        super().__init__(result_types=[i1], properties={"execution_scope": ScopeAttr(scope)})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        scope = ScopeAttr.parse_parameter(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        parser.parse_keyword("i1")
        op = cls(scope)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" <{self.execution_scope.data.name}>")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : i1")

    def verify_(self) -> None:
        super().verify_()
        self.expect(self.result.type == i1, f"result must be i1, got {self.result.type}")


class GroupIndexOp(GroupOp):
    """`spirv.GroupNonUniformShuffle <Subgroup> %value, %id : f32, i32`"""

    value = operand_def()
    index = operand_def()

    def __init__(self, scope: Scope, value: Value, index: Value) -> None:
        super().__init__(
            operands=[value, index],
            result_types=[SSAValue.get(value).type],
            properties={"execution_scope": ScopeAttr(scope)},
        )

    def verify_(self) -> None:
        super().verify_()
        self.expect_kind(self.value, Kind.VALUE, "value")
        self.expect_kind(self.index, Kind.INTEGER, "id")
        self.expect(self.result.type == self.value.type, "result must have the value's type")


@instruction(Instruction(339, (_EXECUTION, Operand(0)), (Capability.GroupNonUniformBallot,)))
class GroupNonUniformBallotOp(GroupOp):
    """`spirv.GroupNonUniformBallot <Subgroup> %predicate : vector<4xi32>`"""

    name = "spirv.GroupNonUniformBallot"

    predicate = operand_def()

    def __init__(self, scope: Scope, predicate: Value) -> None:
        super().__init__(
            operands=[predicate],
            result_types=[VectorType(i32, [4])],
            properties={"execution_scope": ScopeAttr(scope)},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        scope = ScopeAttr(ScopeAttr.parse_parameter(parser))
        predicate = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(
            operands=[parser.resolve_operand(predicate, i1)],
            result_types=[parser.parse_type()],
            properties={"execution_scope": scope},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" <{self.execution_scope.data.name}> ")
        printer.print_ssa_value(self.predicate)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        super().verify_()
        self.expect(self.predicate.type == i1, f"predicate must be i1, got {self.predicate.type}")
        expected = VectorType(i32, [4])
        self.expect(
            self.result.type == expected, f"result must be {expected}, got {self.result.type}"
        )


class GroupReduceOp(SpirvOp):
    """`spirv.GroupNonUniformFAdd "Subgroup" "ClusteredReduce" %v cluster_size(%c) : f32`"""

    KIND: ClassVar[Kind]

    execution_scope: ScopeAttr = prop_def(ScopeAttr)
    group_operation: GroupOperationAttr = prop_def(GroupOperationAttr)
    value = operand_def()
    cluster_size = opt_operand_def()
    result = result_def()

    def __init__(
        self,
        scope: Scope,
        operation: GroupOperation,
        value: Value,
        cluster_size: Value | None = None,
    ) -> None:
        super().__init__(
            operands=[value, cluster_size],
            result_types=[SSAValue.get(value).type],
            properties={
                "execution_scope": ScopeAttr(scope),
                "group_operation": GroupOperationAttr(operation),
            },
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        scope, operation = parser.parse_str_literal(), parser.parse_str_literal()
        if scope not in Scope.__members__ or operation not in GroupOperation.__members__:
            parser.raise_error("expected a scope and a group operation", position)
        value = parser.parse_unresolved_operand()
        size = None
        if parser.parse_optional_keyword("cluster_size"):
            with parser.in_parens():
                size = parser.resolve_operand(parser.parse_unresolved_operand(), i32)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(
            Scope[scope],
            GroupOperation[operation],
            parser.resolve_operand(value, parser.parse_type()),
            size,
        )
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        scope, operation = self.execution_scope.data.name, self.group_operation.data.name
        printer.print_string(f' "{scope}" "{operation}" ')
        printer.print_ssa_value(self.value)
        if self.cluster_size is not None:
            printer.print_string(" cluster_size(")
            printer.print_ssa_value(self.cluster_size)
            printer.print_string(")")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        self.expect(
            self.execution_scope.data in (Scope.Workgroup, Scope.Subgroup),
            "execution scope must be Workgroup or Subgroup",
        )
        self.expect_kind(self.value, self.KIND, "value")
        self.expect(self.result.type == self.value.type, "result must have the value's type")
        clustered = self.group_operation.data is GroupOperation.ClusteredReduce
        self.expect(
            clustered == (self.cluster_size is not None),
            "a cluster size comes with ClusteredReduce and with it alone",
        )


def _reduce(mnemonic: str, opcode: int, kind: Kind) -> type[GroupReduceOp]:
    layout = (_EXECUTION, EnumerantWord("group_operation", GroupOperationAttr), Operands(0))
    row = Instruction(opcode, layout, (Capability.GroupNonUniformArithmetic,))
    return define_row(GroupReduceOp, f"GroupNonUniform{mnemonic}", row, KIND=kind)


def _index(mnemonic: str, opcode: int, capability: Capability) -> type[GroupIndexOp]:
    row = Instruction(opcode, (_EXECUTION, Operand(0), Operand(1)), (capability,))
    return define_row(GroupIndexOp, f"GroupNonUniform{mnemonic}", row)


_SHUFFLE, _RELATIVE = (
    Capability.GroupNonUniformShuffle,
    Capability.GroupNonUniformShuffleRelative,
)

GroupNonUniformBroadcastOp = _index("Broadcast", 337, Capability.GroupNonUniformBallot)
GroupNonUniformShuffleOp = _index("Shuffle", 345, _SHUFFLE)
GroupNonUniformShuffleXorOp = _index("ShuffleXor", 346, _SHUFFLE)
GroupNonUniformShuffleUpOp = _index("ShuffleUp", 347, _RELATIVE)
GroupNonUniformShuffleDownOp = _index("ShuffleDown", 348, _RELATIVE)
GroupNonUniformIAddOp = _reduce("IAdd", 349, Kind.INTEGER)
GroupNonUniformFAddOp = _reduce("FAdd", 350, Kind.FLOAT)
GroupNonUniformIMulOp = _reduce("IMul", 351, Kind.INTEGER)
GroupNonUniformFMulOp = _reduce("FMul", 352, Kind.FLOAT)
GroupNonUniformSMinOp = _reduce("SMin", 353, Kind.INTEGER)
GroupNonUniformUMinOp = _reduce("UMin", 354, Kind.INTEGER)
GroupNonUniformFMinOp = _reduce("FMin", 355, Kind.FLOAT)
GroupNonUniformSMaxOp = _reduce("SMax", 356, Kind.INTEGER)
GroupNonUniformUMaxOp = _reduce("UMax", 357, Kind.INTEGER)
GroupNonUniformFMaxOp = _reduce("FMax", 358, Kind.FLOAT)
GroupNonUniformBitwiseAndOp = _reduce("BitwiseAnd", 359, Kind.INTEGER)
GroupNonUniformBitwiseOrOp = _reduce("BitwiseOr", 360, Kind.INTEGER)
GroupNonUniformBitwiseXorOp = _reduce("BitwiseXor", 361, Kind.INTEGER)
GroupNonUniformLogicalAndOp = _reduce("LogicalAnd", 362, Kind.BOOLEAN)
GroupNonUniformLogicalOrOp = _reduce("LogicalOr", 363, Kind.BOOLEAN)
GroupNonUniformLogicalXorOp = _reduce("LogicalXor", 364, Kind.BOOLEAN)


_MATRIX_CAPABILITY = (Capability.CooperativeMatrixKHR,)
_MATRIX_EXTENSION = ("SPV_KHR_cooperative_matrix",)
_LAYOUT = EnumerantId("matrix_layout", CooperativeMatrixLayoutAttr)
_ACCESS = MemoryOperands("memory_operand")


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
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
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
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
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
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(
            operands=parser.resolve_operands(unresolved, parse_types(parser), position),
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_operands(printer, self.operands)
        self.print_access(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
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
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parse_types(parser)
        parser.parse_punctuation("->")
        types.append(parser.parse_type())
        op = cls(*parser.resolve_operands(unresolved, types, position))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_operands(printer, self.operands)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        print_types(printer, [self.a.type, self.b.type])
        printer.print_string(" -> ")
        printer.print_attribute(self.c.type)

    def verify_(self) -> None:
        a, b, c = self.a.type, self.b.type, self.c.type
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
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        properties: dict[str, Attribute] = {"cooperative_matrix_type": parser.parse_type()}
        return cls.create(result_types=[i32], properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.cooperative_matrix_type)
