"""TOSA to L1."""

from __future__ import annotations

PASSES: tuple[str, ...] = (
    "tosa-upgrade",
    "tosa-to-linalg",
)
"""Names of the passes of this level, in the order in which a program meets them."""

CONSUMES: dict[str, tuple[str, ...]] = {
    "tosa-upgrade": ("tosa.",),
    "tosa-to-linalg": ("tosa.",),
}
"""Passes that change nothing in a module without these ops, by name or by `dialect.`."""
