"""Buffer arguments as pointers: `const device float* x` in place of a struct of one array.

SPIR-V wraps every buffer in a struct, SPIRV-Cross prints the struct and refers to its member, and
versions differ in whether a buffer that is only read is `const`. Here the arguments become what a
person would write, `const` where the SPIR-V says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .tokens import closing_index, is_blank, next_index, previous_index, tokenize


@dataclass(frozen=True)
class BufferVariable:
    """A buffer of a text, by the names it has there."""

    variable: str
    block: str
    """Name of the struct type; several variables may share one."""
    member: str
    """Name of the struct's only member, a runtime array."""
    read_only: bool


def simplify_buffers(text: str, buffers: Sequence[BufferVariable]) -> str:
    """Turn struct references of `buffers` into pointers to their elements, with their `const`.

    Blocks that the text does not declare in the expected way stay as they are.
    """
    tokens = tokenize(text)
    by_variable = {buffer.variable: buffer for buffer in buffers}
    elements: dict[str, list[str]] = {}
    for block in {buffer.block: buffer for buffer in buffers}.values():
        declaration = _find_declaration(tokens, block)
        if declaration is None:
            continue
        start, end, element = declaration
        elements[block.block] = element
        del tokens[start:end]
    tokens = _declare(tokens, by_variable, elements)
    tokens = _dereference(tokens, by_variable, elements)
    return "".join(tokens)


def _find_declaration(
    tokens: list[str], buffer: BufferVariable
) -> tuple[int, int, list[str]] | None:
    """Token range of `struct BLOCK { ELEMENT MEMBER[1]; };` and the element type's tokens."""
    for index, token in enumerate(tokens):
        if token != "struct":
            continue
        name = next_index(tokens, index)
        brace = next_index(tokens, name)
        if tokens[name] != buffer.block or tokens[brace] != "{":
            continue
        close = closing_index(tokens, brace)
        semicolon = next_index(tokens, close)
        inside = [x for x in tokens[brace + 1 : close] if not is_blank(x)]
        if inside[-5:] != [buffer.member, "[", "1", "]", ";"] or inside.count(";") != 1:
            return None
        # The blank line that sets structs apart goes with the struct.
        end = semicolon + 1
        if end < len(tokens) and tokens[end].isspace():
            end += 1
        return index, end, inside[:-5]
    return None


def _declare(
    tokens: list[str],
    buffers: Mapping[str, BufferVariable],
    elements: Mapping[str, list[str]],
) -> list[str]:
    """Rewrite `device BLOCK& x`, and `device BLOCK* x` of argument buffers."""
    result: list[str] = []
    index = 0
    blocks = {buffer.block for buffer in buffers.values()}
    while index < len(tokens):
        token = tokens[index]
        if token not in blocks:
            result.append(token)
            index += 1
            continue
        sign = next_index(tokens, index)
        name = next_index(tokens, sign)
        if name < len(tokens) and tokens[sign] in ("&", "*") and tokens[name] in buffers:
            buffer = buffers[tokens[name]]
            if buffer.read_only:
                _make_const(result)
            element = elements.get(buffer.block)
            result += [token, tokens[sign]] if element is None else [*_spaced(element), "*"]
            result += [" ", tokens[name]]
            index = name + 1
            continue
        result.append(token)
        index += 1
    return result


def _spaced(element: list[str]) -> list[str]:
    """Type tokens with the spaces that keywords need: `packed_float3`, `unsigned int`."""
    spaced: list[str] = []
    for token in element:
        if spaced and token[0].isalnum() and spaced[-1][-1].isalnum():
            spaced.append(" ")
        spaced.append(token)
    return spaced


def _make_const(result: list[str]) -> None:
    """Put `const` before the `device` that `result` ends with, unless it is there."""
    index = len(result)
    while index > 0 and (is_blank(result[index - 1]) or result[index - 1].isidentifier()):
        index -= 1
        if result[index] == "const":
            return
        if result[index] == "device":
            before = previous_index(result, index)
            if before < 0 or result[before] != "const":
                result[index:index] = ["const", " "]
            return


def _dereference(
    tokens: list[str],
    buffers: Mapping[str, BufferVariable],
    elements: Mapping[str, list[str]],
) -> list[str]:
    """`x.data[i]` becomes `x[i]`; `(*set.x).data[i]` and a bare `(*set.x)` become `set.x...`."""
    result: list[str] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        buffer = buffers.get(token)
        if buffer is None or buffer.block not in elements:
            result.append(token)
            index += 1
            continue
        end = index + 1
        opening = _argument_buffer_dereference(result)
        if opening is not None and tokens[end : end + 1] == [")"]:
            del result[opening : opening + 2]
            end += 1
        result.append(token)
        if tokens[end : end + 2] == [".", buffer.member]:
            end += 2
        index = end
    return result


def _argument_buffer_dereference(result: list[str]) -> int | None:
    """Index of the parenthesis of a `(*set.` that `result` ends with."""
    if len(result) < 4 or result[-1] != "." or result[-3:-2] != ["*"] or result[-4] != "(":
        return None
    return len(result) - 4
