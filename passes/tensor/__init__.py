"""L1 to L1: structured ops on tensors, canonical and fused."""

from __future__ import annotations

PASSES: tuple[str, ...] = (
    "lift-cf-to-scf",
    "inline-calls",
    "drop-signedness",
    "linalg-generalize-named-ops",
    "convert-elementwise-to-linalg",
    "convert-tm-tensor",
    "drop-asserts",
    "demote-f64",
    "store-index",
    "unpack-int4",
    "expand-complex",
    "verify-supported",
    "outline-dynamic-shapes",
    "linalg-compact-outputs",
    "canonicalize-tensor",
    "outline-control-flow",
    "gather-to-generic",
    "scatter-to-generic",
    "sort-to-generic",
    "split-scan",
    "generate-to-generic",
    "pack-to-generic",
    "pad-to-generic",
    "slices-to-generic",
    "sink-scalars",
    "widen-index",
    "clamp-extracts",
    "linalg-fold-unit-dims",
    "linalg-propagate-reshapes",
    "linalg-fuse-elementwise",
    "linalg-split-reduction",
)
"""Names of the passes of this level, in the order in which a program meets them."""
