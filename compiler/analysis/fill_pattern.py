"""The bytes that a fill repeats."""

from __future__ import annotations

from xdsl.dialects.builtin import FloatAttr, IntegerAttr

from ingot.compiler.analysis.constants import constant_array

MOST_BYTES = 4
"""The longest pattern of a fill command."""


def fill_pattern(scalar: IntegerAttr | FloatAttr) -> bytes | None:
    """The shortest pattern whose repetition is a tensor of `scalar`; None if it is too long."""
    pattern = constant_array(scalar).tobytes()
    while len(pattern) > 1 and pattern[: len(pattern) // 2] * 2 == pattern:
        pattern = pattern[: len(pattern) // 2]
    return pattern if len(pattern) <= MOST_BYTES else None
