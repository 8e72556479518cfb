"""The math mode in the text: which variants of functions it names, and what the pragmas say.

Metal has a fast and a precise variant of each single-precision function. SPIRV-Cross names one or
the other, or leaves the choice to the compile options, and which of these depends on its version:
here the text is made to say the same for every version.

- `safe` and `strict`: no `fast::` is left, and every function whose variants differ is named
  `precise::`. `precise::max` of a NaN and a number is the number; kernels that must propagate NaN
  compare for themselves. `strict` also forbids contraction to fma by pragma.
- `fast`: unqualified names, which the compile options resolve. What SPIR-V defines for NaN
  (`NMin`, `NMax`, `NClamp`) and what is plainly wrong when fast (`tanh`, `atan2`) stays
  `precise::`.

Half precision has no variants; `legalize` computes these functions of halves in single precision.
The runtime compiles with fast math off and precise functions, whatever the text says.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from .tokens import next_index, previous_index, tokenize

MathMode = Literal["safe", "fast", "strict"]

VARIANTS: dict[int, str] = {
    13: "sin",
    14: "cos",
    15: "tan",
    16: "asin",
    17: "acos",
    18: "atan",
    19: "sinh",
    20: "cosh",
    21: "tanh",
    22: "asinh",
    23: "acosh",
    24: "atanh",
    25: "atan2",
    26: "pow",
    27: "exp",
    28: "log",
    29: "exp2",
    30: "log2",
    31: "sqrt",
    32: "rsqrt",
}
"""GLSL.std.450 instruction and the MSL function that SPIRV-Cross prints for it."""

# Pow is defined for x >= 0 alone: `pow` in older versions, `powr` in newer ones.
_SPELLINGS = {"powr": "pow"}
_NAMES = frozenset({"min", "max", "clamp", "normalize", *VARIANTS.values()})
# min, max and clamp are precise only for SPIR-V's NaN-aware forms; the fast tanh of 100 is NaN.
_PRECISE_ALWAYS = frozenset({"min", "max", "clamp", "tanh", "atan2"})


def contraction_pragmas() -> tuple[str, ...]:
    """Lines that forbid contraction to fma; Metal compilers before MSL 3.2 know the second only."""
    return ("#pragma METAL fp contract(off)", "#pragma clang fp contract(off)")


def pragmas(mode: MathMode) -> tuple[str, ...]:
    """Pragma lines for the whole text; compilers that do not know them ignore them."""
    if mode == "fast":
        return ()
    safe = "#pragma METAL fp math_mode(safe)"
    return (safe, *contraction_pragmas()) if mode == "strict" else (safe,)


def apply_math_mode(text: str, mode: MathMode, functions: Collection[int]) -> str:
    """Name the variants of functions that `mode` asks for.

    `functions` are the GLSL.std.450 instructions of `VARIANTS` that the module uses; only their
    names are touched where they stand unqualified.
    """
    tokens = tokenize(text)
    used = {VARIANTS[number] for number in functions}
    result: list[str] = []
    for index, token in enumerate(tokens):
        name = _SPELLINGS.get(token, token)
        if name not in _NAMES or not _is_called(tokens, index):
            result.append(token)
            continue
        before = previous_index(tokens, index)
        qualifier = _qualifier(tokens, before)
        if qualifier:
            # Drop `precise::` or `fast::` as it was printed; the mode decides anew below.
            while result and result[-1] != qualifier:
                result.pop()
            result.pop()
        elif name not in used or _is_member(tokens, before):
            result.append(token)
            continue
        result.append(_variant(name, qualifier, mode))
    return "".join(result)


def _variant(name: str, qualifier: str, mode: MathMode) -> str:
    if mode != "fast" or (qualifier == "precise" and name in _PRECISE_ALWAYS):
        return f"precise::{name}"
    return name


def _is_called(tokens: list[str], index: int) -> bool:
    after = next_index(tokens, index)
    return after < len(tokens) and tokens[after] == "("


def _qualifier(tokens: list[str], before: int) -> str:
    if before < 0 or tokens[before] != "::":
        return ""
    name = tokens[previous_index(tokens, before)]
    return name if name in ("precise", "fast") else ""


def _is_member(tokens: list[str], before: int) -> bool:
    return before >= 0 and tokens[before] in (".", "->", "::")
