"""L2 to L4: from a kernel on whole tensors to loops over vectors on buffers."""

PASSES: tuple[str, ...] = (
    "kernel-select-schedule",
    "kernel-tile-threadgroups",
    "kernel-tile-threads",
    "kernel-tile-reduction",
    "kernel-promote",
    "kernel-bufferize",
    "kernel-vectorize",
)
