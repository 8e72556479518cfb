"""L1 to L2: dispatches, kernels, and the memory plan of the host program."""

from __future__ import annotations

PASSES: tuple[str, ...] = (
    "dispatch-form",
    "dispatch-outline",
    "dispatch-merge-kernels",
    "dispatch-plan-memory",
)
"""Names of the passes of this level; the pass `a-b` is the one class of the module `a_b`."""
