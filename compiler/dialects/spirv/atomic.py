"""Atomic instructions: families, and one line for each op."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.ir import Attribute
from xdsl.irdl import (
    operand_def,
    prop_def,
    result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from ingot.compiler.dialects.spirv.base import (
    EnumerantId,
    Instruction,
    Kind,
    Operand,
    SpirvOp,
    define_row,
    instruction,
    parse_attributes,
    parse_operands,
    print_attributes,
    print_operands,
)
from ingot.compiler.dialects.spirv.enums import (
    Capability,
    MemorySemantics,
    MemorySemanticsAttr,
    Scope,
    ScopeAttr,
    flag_names,
    parse_enumerant,
)
from ingot.compiler.dialects.spirv.families import Value
from ingot.compiler.dialects.spirv.memory import pointer_type
from ingot.compiler.dialects.spirv.types import PointerType


class AtomicOp(SpirvOp):
    """`spirv.AtomicIIncrement <Device> <None> %ptr : !spirv.ptr<i32, StorageBuffer>`

    The result is what memory held before. The subclasses declare the operands, the pointer first
    (IRDL puts a base class's operands after its own).
    """

    KIND: ClassVar[Kind] = Kind.INTEGER
    SEMANTICS: ClassVar[tuple[str, ...]] = ("semantics",)

    memory_scope: ScopeAttr = prop_def(ScopeAttr)
    result = result_def()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        def semantics() -> MemorySemanticsAttr:
            return MemorySemanticsAttr(MemorySemanticsAttr.parse_parameter(parser))

        with parser.in_angle_brackets():
            scope = ScopeAttr(Scope(parse_enumerant(parser, Scope)))
        properties: dict[str, Attribute] = {"memory_scope": scope}
        properties |= {name: semantics() for name in cls.SEMANTICS}
        unresolved = parse_operands(parser)
        attributes = parse_attributes(parser)
        position = parser.pos
        type = parser.parse_type()
        if not isinstance(type, PointerType):
            parser.raise_error("expected a !spirv.ptr", position)
        types = [type] + [type.pointee] * (len(unresolved) - 1)
        return cls.create(
            operands=parser.resolve_operands(unresolved, types, position),
            result_types=[type.pointee],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" <{self.memory_scope.data.name}>")
        for name in self.SEMANTICS:
            semantics = self.properties[name]
            assert isinstance(semantics, MemorySemanticsAttr)
            printer.print_string(f" <{flag_names(semantics.data)}>")
        printer.print_string(" ")
        print_operands(printer, self.operands)
        print_attributes(printer, self)
        printer.print_attribute(self.operands[0].type)

    def verify_(self) -> None:
        type = pointer_type(self.operands[0]).pointee
        self.expect_kind(self.result, self.KIND, "result")
        for value in (*self.operands[1:], self.result):
            self.expect(
                value.type == type, f"value and result must have the type {type}, got {value.type}"
            )


class AtomicStepOp(AtomicOp):
    pointer = operand_def(PointerType)
    semantics: MemorySemanticsAttr = prop_def(MemorySemanticsAttr)

    def __init__(self, scope: Scope, semantics: MemorySemantics, pointer: Value) -> None:
        super().__init__(
            operands=[pointer],
            result_types=[pointer_type(pointer).pointee],
            properties={
                "memory_scope": ScopeAttr(scope),
                "semantics": MemorySemanticsAttr(semantics),
            },
        )


class AtomicUpdateOp(AtomicOp):
    """`spirv.AtomicIAdd <Device> <None> %ptr, %value : !spirv.ptr<i32, StorageBuffer>`"""

    semantics: MemorySemanticsAttr = prop_def(MemorySemanticsAttr)
    pointer = operand_def(PointerType)
    value = operand_def()

    def __init__(
        self, scope: Scope, semantics: MemorySemantics, pointer: Value, value: Value
    ) -> None:
        super().__init__(
            operands=[pointer, value],
            result_types=[pointer_type(pointer).pointee],
            properties={
                "memory_scope": ScopeAttr(scope),
                "semantics": MemorySemanticsAttr(semantics),
            },
        )


_SCOPE = EnumerantId("memory_scope", ScopeAttr)
_SEMANTICS = EnumerantId("semantics", MemorySemanticsAttr)
_UPDATE = (Operand(0), _SCOPE, _SEMANTICS, Operand(1))


def _update(mnemonic: str, opcode: int) -> type[AtomicUpdateOp]:
    return define_row(AtomicUpdateOp, mnemonic, Instruction(opcode, _UPDATE))


@instruction(
    Instruction(
        230,
        (
            Operand(0),
            _SCOPE,
            EnumerantId("equal_semantics", MemorySemanticsAttr),
            EnumerantId("unequal_semantics", MemorySemanticsAttr),
            Operand(1),
            Operand(2),
        ),
    )
)
class AtomicCompareExchangeOp(AtomicOp):
    """`spirv.AtomicCompareExchange <Device> <None> <None> %ptr, %value, %comparator :
    !spirv.ptr<i32, StorageBuffer>`: stores `value` where memory holds `comparator`."""

    name = "spirv.AtomicCompareExchange"
    SEMANTICS: ClassVar[tuple[str, ...]] = ("equal_semantics", "unequal_semantics")

    equal_semantics: MemorySemanticsAttr = prop_def(MemorySemanticsAttr)
    unequal_semantics: MemorySemanticsAttr = prop_def(MemorySemanticsAttr)
    pointer = operand_def(PointerType)
    value = operand_def()
    comparator = operand_def()

    def __init__(
        self,
        scope: Scope,
        equal_semantics: MemorySemantics,
        unequal_semantics: MemorySemantics,
        pointer: Value,
        value: Value,
        comparator: Value,
    ) -> None:
        super().__init__(
            operands=[pointer, value, comparator],
            result_types=[pointer_type(pointer).pointee],
            properties={
                "memory_scope": ScopeAttr(scope),
                "equal_semantics": MemorySemanticsAttr(equal_semantics),
                "unequal_semantics": MemorySemanticsAttr(unequal_semantics),
            },
        )


_STEP = (Operand(0), _SCOPE, _SEMANTICS)

AtomicExchangeOp = define_row(
    AtomicUpdateOp, "AtomicExchange", Instruction(229, _UPDATE), KIND=Kind.NUMBER
)
AtomicIIncrementOp = define_row(AtomicStepOp, "AtomicIIncrement", Instruction(232, _STEP))
AtomicIDecrementOp = define_row(AtomicStepOp, "AtomicIDecrement", Instruction(233, _STEP))
AtomicIAddOp = _update("AtomicIAdd", 234)
AtomicISubOp = _update("AtomicISub", 235)
AtomicSMinOp = _update("AtomicSMin", 236)
AtomicUMinOp = _update("AtomicUMin", 237)
AtomicSMaxOp = _update("AtomicSMax", 238)
AtomicUMaxOp = _update("AtomicUMax", 239)
AtomicAndOp = _update("AtomicAnd", 240)
AtomicOrOp = _update("AtomicOr", 241)
AtomicXorOp = _update("AtomicXor", 242)
AtomicFAddOp = define_row(
    AtomicUpdateOp,
    "EXT.AtomicFAdd",
    Instruction(
        6035,
        _UPDATE,
        (Capability.AtomicFloat32AddEXT,),
        ("SPV_EXT_shader_atomic_float_add",),
    ),
    KIND=Kind.FLOAT,
)
