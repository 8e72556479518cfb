"""Kernels of every kind, as shapes."""

from __future__ import annotations

from ingot.compiler.analysis.attention_schedule import AttentionShape
from ingot.compiler.analysis.schedule import ColumnsShape, ContractionShape, KernelShape
from ingot.targets.profiles import PROFILES

MATMUL = KernelShape(
    "pointwise",
    (512, 512),
    has_reduction=True,
    contraction=ContractionShape(512, 512, 512, contiguous=(512, 512)),
)
HALF = KernelShape(
    "pointwise",
    (8, 96, 120),
    has_reduction=True,
    contraction=ContractionShape(96, 120, 40, element="f16", contiguous=(40, 120)),
    element_bytes=2,
)
ODD = KernelShape("pointwise", (13, 7), has_reduction=True, contraction=ContractionShape(13, 7, 33))
ROW = KernelShape("row", (1024,), 768, 768)
ELEMENTWISE = KernelShape("pointwise", (3, 64, 250))
TRANSPOSE = KernelShape("pointwise", (64, 96), transposed=(0,), transposed_loop=0)
COLUMN = KernelShape(
    "pointwise", (256,), has_reduction=True, columns=ColumnsShape(longest=4096, bytes=4)
)
ATTENTION = KernelShape(
    "attention",
    (2, 200, 64),
    has_reduction=True,
    attention=AttentionShape((2, 200, 64), 1, 2, keys=300, head=48, staged_bytes=448),
)
SCALAR = KernelShape("pointwise", ())
SHAPES = {
    "matmul": MATMUL,
    "half": HALF,
    "odd": ODD,
    "row": ROW,
    "elementwise": ELEMENTWISE,
    "transpose": TRANSPOSE,
    "column": COLUMN,
    "attention": ATTENTION,
    "scalar": SCALAR,
}
DIFFERENT = [PROFILES[name] for name in ("metal:apple7", "vulkan:lavapipe", "vulkan:hopper")]
"""Profiles that have little in common."""
