"""The few facts about a SPIR-V module that SPIRV-Cross's reflection does not give."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

_HEADER_WORDS = 5
_MAGIC = 0x07230203

_NO_CONTRACTION = 42
_GLSL_STD_450 = b"GLSL.std.450\0"


class Op(IntEnum):
    """The opcodes that matter here."""

    EXT_INST_IMPORT = 11
    EXT_INST = 12
    TYPE_FLOAT = 22
    TYPE_VECTOR = 23
    DECORATE = 71


@dataclass(frozen=True)
class Instruction:
    """One instruction: opcode, operands, and the word range it covers."""

    opcode: int
    operands: array[int]
    start: int
    end: int


def read_words(spirv: bytes) -> array[int]:
    """The module's words in the machine's byte order. Raises `ValueError` for other bytes."""
    if len(spirv) % 4 or len(spirv) < 4 * _HEADER_WORDS:
        raise ValueError(f"{len(spirv)} bytes are not a SPIR-V module")
    words = array("I", spirv)
    if words[0] != _MAGIC:
        words.byteswap()
    if words[0] != _MAGIC:
        raise ValueError("these bytes are not a SPIR-V module")
    return words


def instructions(words: array[int]) -> Iterator[Instruction]:
    """Every instruction of a module. Raises `ValueError` where the word counts do not add up."""
    index = _HEADER_WORDS
    while index < len(words):
        count, opcode = words[index] >> 16, words[index] & 0xFFFF
        if count == 0 or index + count > len(words):
            raise ValueError(f"the SPIR-V instruction at word {index} is cut off")
        yield Instruction(opcode, words[index + 1 : index + count], index, index + count)
        index += count


def allow_contraction(words: array[int]) -> array[int]:
    """The module without its `NoContraction` decorations.

    SPIRV-Cross would turn each decorated operation into a call that the optimizer may not touch,
    and whose product of -0 is +0; a pragma over the whole text says the same to Metal's compiler.
    """
    drop = [
        (x.start, x.end)
        for x in instructions(words)
        if x.opcode == Op.DECORATE and len(x.operands) > 1 and x.operands[1] == _NO_CONTRACTION
    ]
    kept = array("I")
    position = 0
    for start, end in drop:
        kept += words[position:start]
        position = end
    kept += words[position:]
    return kept


def float_widths(words: array[int]) -> dict[int, frozenset[int]]:
    """GLSL.std.450 instruction numbers that give floats, each with the widths it is used at."""
    glsl: set[int] = set()
    width_of: dict[int, int] = {}
    widths: dict[int, set[int]] = {}
    for instruction in instructions(words):
        operands = instruction.operands
        match instruction.opcode:
            case Op.EXT_INST_IMPORT if _literal_string(operands[1:]).startswith(_GLSL_STD_450):
                glsl.add(operands[0])
            case Op.TYPE_FLOAT:
                width_of[operands[0]] = operands[1]
            case Op.TYPE_VECTOR if operands[1] in width_of:
                width_of[operands[0]] = width_of[operands[1]]
            case Op.EXT_INST if operands[2] in glsl and operands[0] in width_of:
                widths.setdefault(operands[3], set()).add(width_of[operands[0]])
            case _:
                pass
    return {number: frozenset(found) for number, found in widths.items()}


def _literal_string(words: array[int]) -> bytes:
    if sys.byteorder == "big":
        words = words[:]
        words.byteswap()
    return words.tobytes()
