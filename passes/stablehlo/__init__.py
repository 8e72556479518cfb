"""StableHLO to L1: one table of lowerings, by the name of the op (`registry.py`)."""

from __future__ import annotations

PASSES: tuple[str, ...] = ("drop-shardings", "stablehlo-expand-composites", "convert-stablehlo")
"""Names of the passes of this level, in the order in which a program meets them."""

CONSUMES: dict[str, tuple[str, ...]] = {
    "drop-shardings": ("sdy.",),
    "stablehlo-expand-composites": ("stablehlo.composite",),
    "convert-stablehlo": (
        *("stablehlo.", "chlo.", "shape."),
        *("!ui2", "!ui4", "!ui8", "!ui16", "!ui32", "!ui64"),
    ),
}
"""Passes that change nothing in a module without any of these: ops by their name or `dialect.`, or
values of a `!type`."""
