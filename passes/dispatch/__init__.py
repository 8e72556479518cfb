"""L1 to L2: dispatches, kernels, and the memory plan of the host program."""

from __future__ import annotations

PASSES: tuple[str, ...] = (
    "dispatch-pack-inputs",
    "dispatch-form",
    "dispatch-unfold-convolutions",
    "dispatch-collapse-dims",
    "dispatch-outline",
    "dispatch-merge-kernels",
    "dispatch-plan-memory",
)
"""Names of the passes of this level, in the order in which a program meets them."""
