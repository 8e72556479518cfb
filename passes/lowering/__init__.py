"""Passes from L4 buffers to L5 spirv, in the order of the pipeline."""

PASSES: tuple[str, ...] = (
    "check-loops",
    "lower-forall",
    "lower-affine",
    "lower-all-reduce",
    "lower-transfers",
    "split-large-buffers",
    "lower-simdgroup-matrix",
    "fuse-multiply-add",
    "expand-math",
    "expand-narrow-types",
    "expand-zero-arithmetic",
    "convert-to-spirv",
)
