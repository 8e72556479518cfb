"""Which SPIR-V instructions each line of MSL says.

SPIRV-Cross prints a `#line` directive where the SPIR-V has an `OpLine`. The module is compiled once
more with an `OpLine` before each instruction that holds the instruction's own number; without the
directives the text must be the one that is asked about. An instruction without a statement of its
own is part of the statement that uses its result.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .. import pyspirv
from .cross_compile import MslOptions, cross_compile
from .words import HEADER_WORDS, Instruction, instructions, read_words

_STRING, _LINE, _FUNCTION, _PARAMETER, _FUNCTION_END = 7, 8, 54, 55, 56
_VARIABLE, _PHI, _LOOP_MERGE, _SELECTION_MERGE, _LABEL, _BRANCH = 59, 245, 246, 247, 248, 249
_UNMARKED = frozenset({_FUNCTION, _PARAMETER, _FUNCTION_END, _VARIABLE, _PHI, _LABEL})
_EXTENDED = 12
_GROUP_ARITHMETIC = range(349, 365)
_TYPES = frozenset({*range(19, 40), 4456})
_LITERALS_FROM = {59: 3, 61: 4, 62: 3, 79: 5, 81: 4, 82: 5}
"""Variables, loads, stores, shuffles, extracts, inserts: where their words are no ids any more."""
_AFTER_STRINGS = frozenset({5, 6, 71, 72, *_TYPES})
"""Names, decorations and types: the first of them ends the part that `OpString` may stand in."""
_DIRECTIVE = re.compile(r'^\s*#line (\d+) "i"$')
_ID = re.compile(r"\b_(\d+)\b")
_NAME = 0x69
"""The file name `i` as a word."""


@dataclass(frozen=True)
class Statement:
    """What a line of MSL says; instructions are counted from 0 over the module."""

    root: int
    taken_in: tuple[int, ...]
    """Instructions whose results are only part of this line."""


def line_table(
    spirv: bytes,
    text: str,
    *,
    kernel_name: str,
    options: MslOptions,
    library: pyspirv.Library | None = None,
) -> tuple[Statement | None, ...] | None:
    """For each line of `text` what it says; None for lines that no instruction is for.

    None for all where `library` (the one that is found by default) makes another text from `spirv`.
    Raises what `cross_compile` does.
    """
    words = read_words(spirv)
    module = list(instructions(words))
    marked = _marked(words, module)
    debug = cross_compile(
        marked,
        kernel_name=kernel_name,
        options=replace(options, line_directives=True),
        library=library,
    ).text
    lines, roots = _without_directives(debug)
    wanted = text.splitlines()
    head = _header_length(wanted)
    if lines[_header_length(lines) :] != wanted[head:]:
        return None
    roots = [None] * head + roots[_header_length(lines) :]
    return tuple(_statements(module, wanted, roots))


def _marked(words: array[int], module: list[Instruction]) -> bytes:
    """The module with an `OpLine` before each instruction that may be a statement."""
    result = words[:HEADER_WORDS]
    file = result[3]
    result[3] += 1
    unmarked = _loop_blocks(module)
    in_function = named = False
    block = previous = 0
    for number, instruction in enumerate(module):
        opcode = instruction.opcode
        if not named and opcode in _AFTER_STRINGS:
            result.extend((3 << 16 | _STRING, file, _NAME))
            named = True
        in_function = in_function or opcode == _FUNCTION
        if opcode == _LABEL:
            block = instruction.words[1]
        after_merge = previous in (_LOOP_MERGE, _SELECTION_MERGE)
        if in_function and not after_merge and opcode not in _UNMARKED and block not in unmarked:
            result.extend((4 << 16 | _LINE, file, number, 0))
        result.extend(instruction.words)
        previous = opcode
    return result.tobytes()


def _loop_blocks(module: list[Instruction]) -> set[int]:
    """Headers and continue targets of loops, and the blocks that they branch to at once: a
    directive in them would make SPIRV-Cross print another kind of loop."""
    blocks: set[int] = set()
    block = 0
    for instruction in module:
        match instruction.opcode:
            case 248:
                block = instruction.words[1]
            case 246:
                blocks |= {block, instruction.words[2]}
            case 249 if block in blocks:
                blocks.add(instruction.words[1])
            case _:
                pass
    return blocks


def _without_directives(text: str) -> tuple[list[str], list[int | None]]:
    """The lines that are no directives, and the number in the directive just before each."""
    lines: list[str] = []
    roots: list[int | None] = []
    current: int | None = None
    for line in text.splitlines():
        directive = _DIRECTIVE.match(line)
        if directive is not None:
            current = int(directive.group(1))
            continue
        lines.append(line)
        # A directive in front of a function is that of its first statement.
        roots.append(current if line.startswith(" ") else None)
        current = None
    return lines, roots


def _header_length(lines: list[str]) -> int:
    return next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))


def _statements(
    module: list[Instruction], lines: list[str], roots: list[int | None]
) -> Iterator[Statement | None]:
    defined = _definitions(module)
    printed = {root for root in roots if root is not None}
    for line, root in zip(lines, roots, strict=True):
        if root is None:
            # Loops and the like: the names in the text are the ids of the module.
            ids = (defined.get(int(name)) for name in _ID.findall(line))
            root = next((number for number in ids if number is not None), None)
        if root is None:
            yield None
            continue
        taken: set[int] = set()
        waiting = [root]
        while waiting:
            for word in _operands(module[waiting.pop()]):
                number = defined.get(word, root)
                is_own = number in printed or module[number].opcode in _UNMARKED
                if number not in taken and number != root and not is_own:
                    taken.add(number)
                    waiting.append(number)
        yield Statement(root, tuple(sorted(taken)))


def _definitions(module: list[Instruction]) -> dict[int, int]:
    """Which instruction of a function gives each id: one whose first operand is a type."""
    types = {i.words[1] for i in module if i.opcode in _TYPES}
    defined: dict[int, int] = {}
    in_function = False
    for number, instruction in enumerate(module):
        in_function = in_function or instruction.opcode == _FUNCTION
        if in_function and len(instruction.words) > 2 and instruction.words[1] in types:
            defined[instruction.words[2]] = number
    return defined


def _operands(instruction: Instruction) -> array[int]:
    """The ids that an instruction of a function uses, and no literals."""
    words = instruction.words
    if instruction.opcode == _EXTENDED or instruction.opcode in _GROUP_ARITHMETIC:
        return words[5:]
    return words[: _LITERALS_FROM.get(instruction.opcode, len(words))][1:]
