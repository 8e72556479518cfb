"""Text that depends on the version of SPIRV-Cross, made the same for all of them."""

from __future__ import annotations

import re

from .functions import substitute_function_body
from .math_mode import contraction_pragmas
from .tokens import (
    closing_index,
    is_identifier,
    next_index,
    previous_index,
    rename,
    split_commas,
    tokenize,
)

_WARNING = re.compile(r"^#pragma clang diagnostic ignored .*\n", re.MULTILINE)

# Wrappers that add bool and, in newer versions, 64-bit forms; `legalize` leaves no use for either.
_SIMD_WRAPPERS = {
    "spvSubgroupBroadcast": "simd_broadcast",
    "spvSubgroupBroadcastFirst": "simd_broadcast_first",
    "spvSubgroupShuffle": "simd_shuffle",
    "spvSubgroupShuffleXor": "simd_shuffle_xor",
    "spvSubgroupShuffleUp": "simd_shuffle_up",
    "spvSubgroupShuffleDown": "simd_shuffle_down",
}
_SPELLINGS = {"thread_execution_width": "threads_per_simdgroup"}

_HALF_CONSTANTS = {
    "half(1.0 / 0.0)": "half(INFINITY)",
    "half(-1.0 / 0.0)": "half(-INFINITY)",
    "half(0.0 / 0.0)": "half(NAN)",
}
# Functions that SPIRV-Cross keeps the optimizer away from, and the operators of the decorated ones.
_OUT_OF_LINE = "[[clang::optnone]] "
_UNFUSED = {"spvFAdd": "+", "spvFSub": "-", "spvFMul": "*"}


def settle_versions(text: str) -> str:
    """Undo the differences between versions that do not change what a kernel computes.

    - warning pragmas come in one order;
    - SIMD-group functions are called by their own names, without wrapper templates;
    - of the helper templates only those that are called stay;
    - operations that must not be contracted are operators under a pragma, which may be inlined and
      keep the sign of zero;
    - a float atomic addition, which 1.3.239 prints as GLSL's, is Metal's;
    - infinities and NaN of half are constants, not divisions by zero.
    """
    for printed, wanted in _HALF_CONSTANTS.items():
        text = text.replace(printed, wanted)
    tokens = rename(_unwrap_simd(tokenize(text)), _SPELLINGS)
    text = "".join(_drop_unused_helpers(_float_atomics(tokens)))
    return _sort_warnings(_inline_unfused(text))


def _sort_warnings(text: str) -> str:
    warnings = sorted(set(_WARNING.findall(text)))
    body = _WARNING.sub("", text).lstrip("\n")
    return "".join(warnings) + ("\n" if warnings else "") + body


def _unwrap_simd(tokens: list[str]) -> list[str]:
    for name in _SIMD_WRAPPERS:
        if name in tokens:
            tokens = _remove_templates(tokens, name)
    return rename(tokens, _SIMD_WRAPPERS)


def _drop_unused_helpers(tokens: list[str]) -> list[str]:
    for name in sorted({x for x in tokens if x.startswith("spv")}):
        uses = [index for index, token in enumerate(tokens) if token == name]
        if all(_definition_end(tokens, index) is not None for index in uses):
            tokens = _remove_templates(tokens, name)
    return tokens


def _inline_unfused(text: str) -> str:
    for name, operator in _UNFUSED.items():
        if name in text:
            body = "\n".join((*contraction_pragmas(), f"return $0 {operator} $1;"))
            text = substitute_function_body(text, name, body)
    return text.replace(_OUT_OF_LINE, "inline ")


def _remove_templates(tokens: list[str], name: str) -> list[str]:
    """Drop every `template<...> inline T name(...) {...}` with the blank line after it."""
    result = list(tokens)
    index = len(result) - 1
    while index >= 0:
        if result[index] == name and (end := _definition_end(result, index)) is not None:
            start = index
            while result[start] not in ("template", "}", ";"):
                start -= 1
            if result[start] != "template":
                start = next_index(result, start)
            if end < len(result) and result[end].isspace():
                end += 1
            del result[start:end]
            index = start
        index -= 1
    return result


def _definition_end(tokens: list[str], index: int) -> int | None:
    """Index after the body of the function whose name is at `index`; None for a call."""
    before = previous_index(tokens, index)
    if before < 0 or not (is_identifier(tokens[before]) or tokens[before] == ">"):
        return None
    opening = next_index(tokens, index)
    if opening >= len(tokens) or tokens[opening] != "(":
        return None
    brace = next_index(tokens, closing_index(tokens, opening))
    if brace >= len(tokens) or tokens[brace] != "{":
        return None
    return closing_index(tokens, brace) + 1


def _float_atomics(tokens: list[str]) -> list[str]:
    """`atomicAdd(x, v)` is how 1.3.239 prints OpAtomicFAddEXT: name Metal's function."""
    index = 0
    while "atomicAdd" in tokens[index:]:
        index = tokens.index("atomicAdd", index)
        opening = next_index(tokens, index)
        closing = closing_index(tokens, opening)
        target, value = ("".join(x).strip() for x in split_commas(tokens[opening + 1 : closing]))
        call = (
            "atomic_fetch_add_explicit("
            f"(device atomic_float*)&{target}, {value}, memory_order_relaxed)"
        )
        tokens = tokens[:index] + tokenize(call) + tokens[closing + 1 :]
    return tokens
