"""Running one kernel on NumPy arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ingot.runtime.devices.host.binding import Binding
from ingot.runtime.devices.host.kernel import DEFAULT_SCHEDULE, HostKernel, Schedule, compile_kernel

Array = np.ndarray[Any, np.dtype[Any]]
HEADER = "#include <metal_stdlib>\nusing namespace metal;\n"


def bind(arrays: Mapping[str, Array]) -> list[Binding]:
    """The arrays as buffers 0, 1, ...; they must be contiguous and outlive the run."""
    assert all(a.flags.c_contiguous for a in arrays.values())
    return [Binding(name, a.ctypes.data, a.nbytes, a.flags.writeable) for name, a in arrays.items()]


def launch(
    msl: str,
    entry_point: str,
    arrays: Mapping[str, Array],
    groups: int | tuple[int, int, int] = 1,
    threads: int | tuple[int, int, int] = 32,
    schedule: Schedule = DEFAULT_SCHEDULE,
    **options: Any,
) -> HostKernel:
    """Compile `msl`, behind the usual header, and run it; buffers are named by `arrays`."""
    kernel = compile_kernel(msl if "#include" in msl else HEADER + msl, entry_point)
    kernel.run(
        bind(arrays),
        groups if isinstance(groups, tuple) else (groups, 1, 1),
        threads if isinstance(threads, tuple) else (threads, 1, 1),
        schedule=schedule,
        **options,
    )
    return kernel
