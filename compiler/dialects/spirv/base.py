"""What every op of the dialect shares: its instruction's encoding and the kinds of its operands.

An op class that stands for one instruction carries an `Instruction` in `INFO`: the opcode, the
order of the words, and what the module must declare. The binary writer and reader read that row
and nothing else, so an op is written, read and described in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.dialects.spirv.enums import Capability, EnumerantAttr, FlagsAttr
from ingot.compiler.dialects.spirv.types import (
    is_boolean,
    is_float,
    is_integer,
    is_scalar,
    is_vector,
    scalar_of,
)


class Kind(Enum):
    """Which scalars, and vectors of them, an instruction takes."""

    FLOAT = "f16, f32 or f64"
    INTEGER = "i8, i16, i32 or i64"
    NUMBER = "a float or an integer"
    BOOLEAN = "i1"
    VALUE = "a scalar"

    def accepts(self, type: Attribute) -> bool:
        """Whether `type` is such a scalar, or a vector of 2 to 4 of them."""
        element = scalar_of(type)
        return (element is type or is_vector(type)) and _SCALAR_TESTS[self](element)


_SCALAR_TESTS: dict[Kind, Callable[[Attribute], bool]] = {
    Kind.FLOAT: is_float,
    Kind.INTEGER: is_integer,
    Kind.NUMBER: lambda t: is_float(t) or is_integer(t),
    Kind.BOOLEAN: is_boolean,
    Kind.VALUE: is_scalar,
}


class InstructionSet(Enum):
    CORE = "SPIR-V"
    GLSL = "GLSL.std.450"


AnyEnumerant = EnumerantAttr[Any]
AnyFlags = FlagsAttr[Any]


@dataclass(frozen=True)
class Operand:
    """The id of the op's operand `index`."""

    index: int


@dataclass(frozen=True)
class Operands:
    """The ids of all operands from `start` on."""

    start: int


@dataclass(frozen=True)
class EnumerantId:
    """The id of an i32 constant that holds the enumerant in `property` (scopes, semantics)."""

    property: str
    attribute: type[AnyEnumerant] | type[AnyFlags]


@dataclass(frozen=True)
class EnumerantWord:
    """The enumerant in `property`, as a literal word."""

    property: str
    attribute: type[AnyEnumerant] | type[AnyFlags]


@dataclass(frozen=True)
class IntegerWords:
    """The i32 numbers of the array in `property`, as literal words to the end."""

    property: str


@dataclass(frozen=True)
class MemoryOperands:
    """The optional mask in `property`, and `alignment` in bytes where it says Aligned."""

    property: str


@dataclass(frozen=True)
class TypeWord:
    """The id of the type in `property`."""

    property: str


Field = Operand | Operands | EnumerantId | EnumerantWord | IntegerWords | MemoryOperands | TypeWord


@dataclass(frozen=True)
class Instruction:
    """How an op is encoded after its result type and result id, and what the module must declare.

    What depends on operand types (Float16, Int64, ...) is not here but in `requirements`.
    """

    opcode: int
    layout: tuple[Field, ...]
    capabilities: tuple[Capability, ...] = ()
    extensions: tuple[str, ...] = ()
    instruction_set: InstructionSet = field(default=InstructionSet.CORE)


class SpirvOp(IRDLOperation):
    """An op that stands for one instruction."""

    INFO: ClassVar[Instruction]

    def expect(self, holds: bool, message: str) -> None:
        """Raise a VerifyException that begins with the op's name unless `holds`."""
        if not holds:
            raise VerifyException(f"{self.name}: {message}")

    def expect_kind(self, value: SSAValue, kind: Kind, what: str = "operand") -> None:
        if not kind.accepts(value.type):
            raise VerifyException(
                f"{self.name}: {what} must be {kind.value}, or a vector of 2 to 4 of them, "
                f"got {value.type}"
            )


INSTRUCTION_OPS: list[type[SpirvOp]] = []
"""Every op class with a row, in the order of definition."""

OpT = TypeVar("OpT", bound=SpirvOp)


def instruction(row: Instruction) -> Callable[[type[OpT]], type[OpT]]:
    """Class decorator: an IRDL definition whose encoding is `row`."""

    def define(cls: type[OpT]) -> type[OpT]:
        definition = irdl_op_definition(cls)
        definition.INFO = row  # after it: IRDL refuses a class field that it does not know
        INSTRUCTION_OPS.append(definition)
        return definition

    return define


def define_row(
    family: type[OpT], mnemonic: str, row: Instruction, **constants: object
) -> type[OpT]:
    """A new op class of `family`: one line of the instruction table."""
    namespace: dict[str, Any] = {
        "name": f"spirv.{mnemonic}",
        "__module__": family.__module__,
        "__annotations__": dict.fromkeys(constants, ClassVar),
        **constants,
    }
    cls = cast("type[OpT]", type(f"{mnemonic.replace('.', '')}Op", (family,), namespace))
    return instruction(row)(cls)


def operand_fields(count: int) -> tuple[Field, ...]:
    return tuple(Operand(i) for i in range(count))


def parse_operands(parser: Parser) -> list[UnresolvedOperand]:
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)


def parse_types(parser: Parser) -> list[Attribute]:
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)


def print_types(printer: Printer, types: Sequence[Attribute]) -> None:
    printer.print_list(types, printer.print_attribute)


def print_operands(printer: Printer, operands: Sequence[SSAValue]) -> None:
    printer.print_list(operands, printer.print_ssa_value)


def i32_array(values: Sequence[int]) -> ArrayAttr[IntegerAttr]:
    """`[1 : i32, 2 : i32]`"""
    return ArrayAttr([IntegerAttr(v, i32) for v in values])


def parse_attributes(parser: Parser) -> dict[str, Attribute]:
    """The attribute dictionary, if present, and the colon before an op's types."""
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    return attributes


def print_attributes(printer: Printer, op: Operation) -> None:
    """The attribute dictionary, if it holds anything, and the colon before an op's types."""
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
