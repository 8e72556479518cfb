"""L1 to L1: structured ops on tensors, canonical and fused."""

from __future__ import annotations

PASSES: tuple[str, ...] = (
    "lift-cf-to-scf",
    "inline-calls",
    "drop-signedness",
    "linalg-generalize-named-ops",
    "convert-elementwise-to-linalg",
    "convert-tm-tensor",
    "affine-to-arith",
    "drop-asserts",
    "demote-f64",
    "store-index",
    "unpack-int4",
    "expand-complex",
    "verify-supported",
    "linalg-compact-outputs",
    "canonicalize-tensor",
    "gather-to-generic",
    "scatter-to-generic",
    "sort-to-generic",
    "split-scan",
    "generate-to-generic",
    "pack-to-generic",
    "pad-to-generic",
    "slices-to-generic",
    "outline-control-flow",
    "outline-dynamic-shapes",
    "raise-while-to-for",
    "linalg-differentiate",
    "sink-scalars",
    "widen-index",
    "clamp-extracts",
    "linalg-fold-unit-dims",
    "linalg-propagate-reshapes",
    "linalg-fuse-elementwise",
    "linalg-split-contraction",
    "linalg-split-reduction",
)
"""Names of the passes of this level, in the order in which a program meets them."""

CONSUMES: dict[str, tuple[str, ...]] = {
    "lift-cf-to-scf": ("cf.",),
    "inline-calls": ("func.call",),
    "raise-while-to-for": ("scf.while",),
    "convert-tm-tensor": ("tm_tensor.", "iree_linalg_ext."),
    "affine-to-arith": ("affine.",),
    "drop-asserts": ("cf.assert",),
    "demote-f64": ("!f64",),
    "unpack-int4": ("!i4",),
    "expand-complex": ("!complex", "complex."),
    "outline-control-flow": ("scf.",),
    "outline-dynamic-shapes": ("!?",),
    "gather-to-generic": ("tensor.gather", "tensor.scatter"),
    "scatter-to-generic": ("ingot.scatter",),
    "sort-to-generic": ("ingot.sort",),
    "split-scan": ("ingot.scan",),
    "pack-to-generic": ("linalg.pack", "linalg.unpack", "tensor.pack", "tensor.unpack"),
    "pad-to-generic": ("tensor.pad",),
    "slices-to-generic": ("tensor.extract_slice", "tensor.insert_slice", "tensor.concat"),
}
"""Passes that change nothing in a module without any of these: ops by their name or `dialect.`, or
values of a `!type`, where `!?` is a tensor with a size that a call decides. The driver does not
even load them for such a module."""
