"""SPIR-V as words: reading the instructions of a module."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass

HEADER_WORDS = 5
_MAGIC = 0x07230203


@dataclass(frozen=True)
class Instruction:
    """One instruction: its opcode, its operands, and all of its words."""

    opcode: int
    words: array[int]

    @property
    def operands(self) -> array[int]:
        """The words after the first."""
        return self.words[1:]


def read_words(spirv: bytes) -> array[int]:
    """The module's words in the machine's byte order. Raises `ValueError` for other bytes."""
    if len(spirv) % 4 or len(spirv) < 4 * HEADER_WORDS:
        raise ValueError(f"{len(spirv)} bytes are not a SPIR-V module")
    words = array("I", spirv)
    if words[0] != _MAGIC:
        words.byteswap()
    if words[0] != _MAGIC:
        raise ValueError("these bytes are not a SPIR-V module")
    return words


def instructions(words: array[int]) -> Iterator[Instruction]:
    """Every instruction of a module. Raises `ValueError` where the word counts do not add up."""
    index = HEADER_WORDS
    while index < len(words):
        count, opcode = words[index] >> 16, words[index] & 0xFFFF
        if count == 0 or index + count > len(words):
            raise ValueError(f"the SPIR-V instruction at word {index} is cut off")
        yield Instruction(opcode, words[index : index + count])
        index += count
