"""The names of the source in SPIRV-Cross's text.

SPIRV-Cross renames what it thinks reserved, and other versions think otherwise. So the kernel, its
buffers and their blocks go through it under placeholders, which the final names replace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .buffers import BufferVariable
from .identifiers import msl_identifier
from .tokens import closing_index, is_blank, is_identifier, rename, tokenize

KERNEL = "ingot_kernel"
MEMBER = "ingot_data"
PUSH_CONSTANTS = "ingot_push"

# SPIRV-Cross's own names for an argument buffer, and what they are called in ours.
_ARGUMENTS = {"spvDescriptorSet0": "arguments", "spvDescriptorSetBuffer0": "Arguments"}


@dataclass(frozen=True)
class Named:
    """The text with its final names."""

    text: str
    kernel: str
    buffers: tuple[str, ...]


def placeholder(number: int, block: int) -> tuple[str, str]:
    """Names of buffer `number` and of its struct, whose type id is `block`."""
    return f"ingot_buffer_{number}", f"ingot_block_{block}"


def final_names(
    text: str, kernel_name: str, buffer_names: Sequence[str], buffers: Sequence[BufferVariable]
) -> Named:
    """Put the names of the source in the place of the placeholders.

    `buffer_names` are the source's, in the order of `buffers`; an empty one becomes `arg` and its
    position. A name that the text uses already, where the buffer is seen, gets a number.
    """
    tokens = tokenize(text)
    blocks = {buffer.block for buffer in buffers}
    ours = {KERNEL, MEMBER, PUSH_CONSTANTS, *_ARGUMENTS, *blocks, *(x.variable for x in buffers)}
    taken = _names_in_reach(tokens, ours)
    renames: dict[str, str] = {MEMBER: "data"}

    def choose(name: str, wanted: str) -> str:
        renames[name] = msl_identifier(wanted, taken)
        taken.add(renames[name])
        return renames[name]

    kernel = choose(KERNEL, kernel_name)
    names = tuple(
        choose(buffer.variable, name or f"arg{index}")
        for index, (buffer, name) in enumerate(zip(buffers, buffer_names, strict=True))
    )
    for buffer, name in zip(buffers, names, strict=True):
        if buffer.block in tokens and buffer.block not in renames:
            choose(buffer.block, f"{name}_buffer")
    for name, wanted in ((PUSH_CONSTANTS, "push"), *_ARGUMENTS.items()):
        if name in tokens:
            choose(name, wanted)
    return Named("".join(rename(tokens, renames)), kernel, names)


def _names_in_reach(tokens: Sequence[str], ours: set[str]) -> set[str]:
    """Identifiers at file scope, and inside the functions and structs that mention `ours`."""
    names: set[str] = set()
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token == "#":
            # A directive names nothing: `h` of <simd/simd.h> is free.
            while index < len(tokens) and "\n" not in tokens[index]:
                index += 1
            continue
        if token in ("(", "{", "[["):
            end = closing_index(tokens, index)
            # A function's parameters and body are one scope.
            after = end + 1
            while after < len(tokens) and is_blank(tokens[after]):
                after += 1
            if token == "(" and after < len(tokens) and tokens[after] == "{":
                end = closing_index(tokens, after)
            # Members (`.x`) live in a scope of their own.
            inside = {
                x
                for before, x in pairwise(tokens[index : end + 1])
                if is_identifier(x) and before not in (".", "->")
            }
            if not ours.isdisjoint(tokens[index : end + 1]):
                names |= inside
            index = end + 1
            continue
        if is_identifier(token):
            names.add(token)
        index += 1
    return names - ours
