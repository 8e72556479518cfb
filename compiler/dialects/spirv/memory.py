"""Variables, pointers, loads and stores."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Self

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.dialects.spirv.base import (
    Instruction,
    Kind,
    MemoryOperands,
    Operand,
    Operands,
    SpirvOp,
    instruction,
    parse_attributes,
    parse_operands,
    parse_types,
    print_attributes,
    print_operands,
    print_types,
)
from ingot.compiler.dialects.spirv.enums import (
    MemoryAccess,
    MemoryAccessAttr,
    StorageClass,
    StorageClassAttr,
    flag_names,
    flags_named,
)
from ingot.compiler.dialects.spirv.families import Value
from ingot.compiler.dialects.spirv.types import PointerType, StructType, element_at


def pointer_type(pointer: Value) -> PointerType:
    """The type of a pointer; raises VerifyException for any other value."""
    type = SSAValue.get(pointer).type
    if not isinstance(type, PointerType):
        raise VerifyException(f"expected a !spirv.ptr, got {type}")
    return type


_FUNCTION = StorageClassAttr(StorageClass.Function)


@cache
def _pointer_to(pointee: Attribute, storage: StorageClass) -> PointerType:
    """Few different ones occur, and making one costs more than looking it up."""
    return PointerType(pointee, storage)


@irdl_op_definition
class VariableOp(SpirvOp):
    """A variable of one invocation: `%v = spirv.Variable init(%c) : !spirv.ptr<f32, Function>`

    It lives from the start of the function wherever the op stands, so a value that leaves a
    structured region can be stored in one. An initializer must be a constant.
    """

    name = "spirv.Variable"

    initializer = opt_operand_def()
    storage_class: StorageClassAttr = prop_def(StorageClassAttr)
    pointer = result_def(PointerType)

    def __init__(self, element_type: Attribute, initializer: Value | None = None) -> None:
        super().__init__(
            operands=[initializer],
            result_types=[_pointer_to(element_type, StorageClass.Function)],
            properties={"storage_class": _FUNCTION},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        unresolved = None
        if parser.parse_optional_keyword("init"):
            with parser.in_parens():
                unresolved = parser.parse_unresolved_operand()
        attributes = parse_attributes(parser)
        position = parser.pos
        type = parser.parse_type()
        if not isinstance(type, PointerType):
            parser.raise_error("expected a !spirv.ptr", position)
        initializer = (
            None if unresolved is None else parser.resolve_operand(unresolved, type.pointee)
        )
        op = cls(type.pointee, initializer)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        if self.initializer is not None:
            printer.print_string(" init(")
            printer.print_ssa_value(self.initializer)
            printer.print_string(")")
        print_attributes(printer, self)
        printer.print_attribute(self.pointer.type)

    def verify_(self) -> None:
        self.expect(
            self.storage_class.data is StorageClass.Function
            and self.pointer.type.storage_class is StorageClass.Function,
            "a variable inside a function has the storage class Function; "
            "use spirv.GlobalVariable for the others",
        )
        if self.initializer is not None:
            self.expect(
                self.initializer.type == self.pointer.type.pointee,
                "initializer must have the type that the pointer points to",
            )
            owner = self.initializer.owner
            self.expect(
                isinstance(owner, Operation)
                and owner.name in ("spirv.Constant", "spirv.mlir.addressof"),
                "initializer must be a spirv.Constant",
            )


def access_chain_type(base: Value, indices: Sequence[Value]) -> PointerType:
    """The pointer type after `indices`: struct members are chosen by spirv.Constant alone."""
    type = pointer_type(base)
    pointee = type.pointee
    for index in indices:
        value = SSAValue.get(index)
        pointee = element_at(pointee, _constant_index(value) if _is_struct(pointee) else None)
    return _pointer_to(pointee, type.storage_class)


def _is_struct(type: Attribute) -> bool:
    return isinstance(type, StructType)


def _constant_index(value: SSAValue) -> int | None:
    owner = value.owner
    if isinstance(owner, Operation) and owner.name == "spirv.Constant":
        attribute = owner.properties.get("value")
        if isinstance(attribute, IntegerAttr):
            return attribute.value.data
    return None


@instruction(Instruction(65, (Operand(0), Operands(1))))
class AccessChainOp(SpirvOp):
    """`spirv.AccessChain %base[%i, %j] : !spirv.ptr<..., StorageBuffer>, i32, i32`"""

    name = "spirv.AccessChain"

    base_ptr = operand_def(PointerType)
    indices = var_operand_def()
    component_ptr = result_def(PointerType)
    traits = traits_def(Pure())

    def __init__(self, base_ptr: Value, indices: Sequence[Value]) -> None:
        super().__init__(
            operands=[base_ptr, indices], result_types=[access_chain_type(base_ptr, indices)]
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        unresolved = [parser.parse_unresolved_operand()]
        with parser.in_square_brackets():
            unresolved += parse_operands(parser)
        attributes = parse_attributes(parser)
        operands = parser.resolve_operands(unresolved, parse_types(parser), position)
        try:
            op = cls(operands[0], operands[1:])
        except VerifyException as error:
            parser.raise_error(str(error), position)
        if parser.parse_optional_punctuation("->"):  # as MLIR prints it since LLVM 20
            parser.parse_type()
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.base_ptr)
        with printer.in_square_brackets():
            print_operands(printer, self.indices)
        print_attributes(printer, self)
        print_types(printer, [operand.type for operand in self.operands])

    def verify_(self) -> None:
        for index in self.indices:
            self.expect_kind(index, Kind.INTEGER, "index")
        expected = access_chain_type(self.base_ptr, self.indices)
        self.expect(
            self.component_ptr.type == expected,
            f"result must be {expected}, got {self.component_ptr.type}",
        )


def _access_properties(access: MemoryAccess | None, alignment: int | None) -> dict[str, Attribute]:
    properties: dict[str, Attribute] = {}
    if alignment is not None:
        access = (access or MemoryAccess(0)) | MemoryAccess.Aligned
        properties["alignment"] = IntegerAttr(alignment, i32)
    if access is not None:
        properties["memory_access"] = MemoryAccessAttr(access)
    return properties


def _parse_access(parser: Parser) -> dict[str, Attribute]:
    """`["Volatile|Aligned", 4]`, if present."""
    if not parser.parse_optional_punctuation("["):
        return {}
    position = parser.pos
    names = parser.parse_str_literal().split("|")
    access = MemoryAccess(flags_named(parser, MemoryAccess, names, position))
    alignment = None
    if MemoryAccess.Aligned in access:
        parser.parse_punctuation(",")
        alignment = parser.parse_integer(allow_negative=False, allow_boolean=False)
    parser.parse_punctuation("]")
    return _access_properties(access, alignment)


class _AccessOp(SpirvOp):
    """The assembly and the check of memory operands that loads and stores share."""

    memory_access: MemoryAccessAttr | None = opt_prop_def(MemoryAccessAttr)
    alignment: IntegerAttr | None = opt_prop_def(IntegerAttr)

    def print_access(self, printer: Printer) -> None:
        if self.memory_access is not None:
            printer.print_string(f' ["{flag_names(self.memory_access.data)}"')
            if self.alignment is not None:
                printer.print_string(f", {self.alignment.value.data}")
            printer.print_string("]")

    def verify_access(self) -> None:
        aligned = self.memory_access is not None and MemoryAccess.Aligned in self.memory_access.data
        self.expect(
            aligned == (self.alignment is not None),
            "an alignment comes with the memory access Aligned and with it alone",
        )


@instruction(Instruction(61, (Operand(0), MemoryOperands("memory_access"))))
class LoadOp(_AccessOp):
    """`spirv.Load "StorageBuffer" %ptr ["Aligned", 4] : f32`"""

    name = "spirv.Load"

    ptr = operand_def(PointerType)
    value = result_def()
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self, ptr: Value, access: MemoryAccess | None = None, alignment: int | None = None
    ) -> None:
        super().__init__(
            operands=[ptr],
            result_types=[pointer_type(ptr).pointee],
            properties=_access_properties(access, alignment),
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        storage = _parse_storage_class(parser)
        unresolved = parser.parse_unresolved_operand()
        properties = _parse_access(parser)
        attributes = parse_attributes(parser)
        type = parser.parse_type()
        ptr = parser.resolve_operand(unresolved, PointerType(type, storage))
        return cls.create(
            operands=[ptr], result_types=[type], properties=properties, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f' "{pointer_type(self.ptr).storage_class.name}" ')
        printer.print_ssa_value(self.ptr)
        self.print_access(printer)
        print_attributes(printer, self)
        printer.print_attribute(self.value.type)

    def verify_(self) -> None:
        self.verify_access()
        pointee = pointer_type(self.ptr).pointee
        self.expect(self.value.type == pointee, f"result must be {pointee}, got {self.value.type}")


def _parse_storage_class(parser: Parser) -> StorageClass:
    position = parser.pos
    name = parser.parse_str_literal()
    if name not in StorageClass.__members__:
        parser.raise_error(f"'{name}' is not a storage class", position)
    return StorageClass[name]


@instruction(Instruction(62, (Operand(0), Operand(1), MemoryOperands("memory_access"))))
class StoreOp(_AccessOp):
    """`spirv.Store "StorageBuffer" %ptr, %value ["Aligned", 4] : f32`"""

    name = "spirv.Store"

    ptr = operand_def(PointerType)
    value = operand_def()
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        ptr: Value,
        value: Value,
        access: MemoryAccess | None = None,
        alignment: int | None = None,
    ) -> None:
        super().__init__(operands=[ptr, value], properties=_access_properties(access, alignment))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        storage = _parse_storage_class(parser)
        ptr = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        value = parser.parse_unresolved_operand()
        properties = _parse_access(parser)
        attributes = parse_attributes(parser)
        type = parser.parse_type()
        operands = [
            parser.resolve_operand(ptr, PointerType(type, storage)),
            parser.resolve_operand(value, type),
        ]
        return cls.create(operands=operands, properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(f' "{pointer_type(self.ptr).storage_class.name}" ')
        print_operands(printer, [self.ptr, self.value])
        self.print_access(printer)
        print_attributes(printer, self)
        printer.print_attribute(self.value.type)

    def verify_(self) -> None:
        self.verify_access()
        pointee = pointer_type(self.ptr).pointee
        self.expect(self.value.type == pointee, f"value must be {pointee}, got {self.value.type}")
