"""L1 to L1: structured ops on tensors, canonical and fused."""

from __future__ import annotations

PASSES: tuple[str, ...] = (
    "linalg-generalize-named-ops",
    "canonicalize-tensor",
    "linalg-fold-unit-dims",
    "linalg-fuse-elementwise",
)
"""Names of the passes of this level, in the order in which a program meets them."""
