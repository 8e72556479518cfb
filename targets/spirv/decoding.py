"""A binary as a list of instructions."""

from __future__ import annotations

import sys
from array import array
from enum import IntEnum, IntFlag
from typing import NamedTuple, TypeVar

from ingot.compiler.dialects.spirv.base import INSTRUCTION_OPS, InstructionSet
from ingot.targets.spirv.errors import MalformedSpirv
from ingot.targets.spirv.grammar import HEADER_WORDS, MAGIC, Op

_BYTE_SWAPPED_MAGIC = int.from_bytes(MAGIC.to_bytes(4, "little"), "big")
_MAX_BOUND = 0x3FFFFF
"""The largest id bound that the specification lets a module have (2.17)."""


_OPCODE_NAMES = {op.value: op.name for op in Op} | {
    cls.INFO.opcode: cls.name.removeprefix("spirv.")
    for cls in INSTRUCTION_OPS
    if cls.INFO.instruction_set is InstructionSet.CORE
}

E = TypeVar("E", bound=IntEnum)
F = TypeVar("F", bound=IntFlag)


class Raw(NamedTuple):
    """One instruction: its operand words without the first, and where that stands (in words)."""

    opcode: int
    words: tuple[int, ...]
    offset: int

    def error(self, message: str) -> MalformedSpirv:
        name = _OPCODE_NAMES.get(self.opcode, str(self.opcode))
        return MalformedSpirv(f"word {self.offset}: Op{name}: {message}")


class Binary(NamedTuple):
    """The version 1.`minor`, the id bound and the instructions."""

    minor: int
    bound: int
    instructions: list[Raw]


def decode(binary: bytes) -> Binary:
    """Split `binary` into instructions; raises MalformedSpirv where it is none."""
    if len(binary) % 4 or len(binary) < 4 * HEADER_WORDS:
        raise MalformedSpirv(
            f"a SPIR-V binary has a header of {4 * HEADER_WORDS} bytes and whole 4-byte words, "
            f"got {len(binary)} bytes"
        )
    words = array("I", binary)
    if sys.byteorder == "big":
        words.byteswap()
    magic, version, _, bound, _ = words[:HEADER_WORDS]
    if magic == _BYTE_SWAPPED_MAGIC:
        raise MalformedSpirv("the binary is big-endian; SPIR-V is read as little-endian here")
    if magic != MAGIC:
        raise MalformedSpirv(f"not a SPIR-V binary: it begins with 0x{magic:08x}")
    major, minor = version >> 16, version >> 8 & 0xFF
    if major != 1 or minor > 6:
        raise MalformedSpirv(f"SPIR-V {major}.{minor} is not supported, only 1.0 to 1.6")
    if bound > _MAX_BOUND:
        raise MalformedSpirv(f"the id bound {bound} is larger than {_MAX_BOUND}")
    instructions: list[Raw] = []
    offset = HEADER_WORDS
    while offset < len(words):
        count, opcode = words[offset] >> 16, words[offset] & 0xFFFF
        if count == 0 or offset + count > len(words):
            raise MalformedSpirv(f"word {offset}: an instruction of {count} words does not fit")
        instructions.append(Raw(opcode, tuple(words[offset + 1 : offset + count]), offset))
        offset += count
    return Binary(minor, bound, instructions)


def read_string(raw: Raw, start: int) -> tuple[str, int]:
    """The string literal from operand `start` on, and the operand after it."""
    data = bytearray()
    for index in range(start, len(raw.words)):
        data += raw.words[index].to_bytes(4, "little")
        if 0 in data[-4:]:
            text, _, _ = bytes(data).partition(b"\0")
            try:
                return text.decode(), index + 1
            except UnicodeDecodeError:
                raise raw.error("a name is not UTF-8") from None
    raise raw.error("a string does not end")


def enumerant(raw: Raw, enum: type[E], value: int) -> E:
    """The member of `enum` that has the number `value`."""
    try:
        return enum(value)
    except ValueError:
        raise raw.error(f"{value} is no {enum.__name__} known here") from None


def flags(raw: Raw, enum: type[F], value: int) -> F:
    """The set of `enum`'s bits in `value`."""
    known = 0
    for member in enum:
        known |= member.value
    if value & ~known:
        raise raw.error(f"0x{value:x} has bits that are no {enum.__name__} known here")
    return enum(value)
