"""Barriers and subgroup (SIMD-group) instructions."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import VectorType, i1, i32
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from ingot.compiler.dialects.spirv.base import (
    EnumerantId,
    EnumerantWord,
    Instruction,
    Kind,
    Operand,
    Operands,
    SpirvOp,
    define_row,
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
    GroupOperation,
    GroupOperationAttr,
    MemorySemantics,
    MemorySemanticsAttr,
    Scope,
    ScopeAttr,
)
from ingot.compiler.dialects.spirv.families import Value

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
        attributes = parse_attributes(parser)
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
        print_attributes(printer, self)
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
        attributes = parse_attributes(parser)
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
        attributes = parse_attributes(parser)
        return cls.create(
            operands=[parser.resolve_operand(predicate, i1)],
            result_types=[parser.parse_type()],
            properties={"execution_scope": scope},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" <{self.execution_scope.data.name}> ")
        printer.print_ssa_value(self.predicate)
        print_attributes(printer, self)
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
        attributes = parse_attributes(parser)
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
        print_attributes(printer, self)
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
