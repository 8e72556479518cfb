"""Kernels: library, function and pipeline state, and our own kernels for odd fills and copies."""

from __future__ import annotations

import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from ingot.runtime.devices.metal.native import MATH_MODES, PLATFORM, load_metal, message_of
from ingot.runtime.errors import KernelError
from ingot.runtime.hal import Device, Pipeline
from ingot.targets.bundle.model import Kernel

_BYTE_KERNELS: Final = """
#include <metal_stdlib>
using namespace metal;
struct Fill { ulong length; uint pattern; uint period; };
kernel void ingot_fill(device uchar* target [[buffer(0)]], constant Fill& fill [[buffer(1)]],
                       uint3 at [[thread_position_in_grid]], uint3 size [[threads_per_grid]]) {
    for (ulong i = at.x; i < fill.length; i += size.x) {
        target[i] = uchar(fill.pattern >> (8 * uint(i % fill.period)));
    }
}
kernel void ingot_copy(device uchar* target [[buffer(0)]], constant ulong& length [[buffer(1)]],
                       const device uchar* source [[buffer(2)]],
                       uint3 at [[thread_position_in_grid]], uint3 size [[threads_per_grid]]) {
    for (ulong i = at.x; i < length; i += size.x) { target[i] = source[i]; }
}
"""
"""Fills and copies at any offset and length, which Metal's blit encoder does not promise."""


class MetalPipeline(Pipeline):
    """A compute pipeline state."""

    def __init__(
        self,
        device: Device,
        mtl_device: Any,
        kernel: Kernel,
        math_mode: str,
        msl_version: tuple[int, int],
    ) -> None:
        super().__init__(device, kernel)
        if metallib := kernel.metallib_for(PLATFORM):
            library = _library_from_metallib(mtl_device, kernel.name, metallib)
        elif kernel.msl:
            library = compile_msl(mtl_device, kernel.msl, kernel.name, math_mode, msl_version)
        else:
            raise KernelError(f"kernel '{kernel.name}' has neither MSL nor a metallib for macOS")
        self.function: Final[Any] = library.newFunctionWithName_(kernel.entry_point)
        if self.function is None:
            raise KernelError(f"kernel '{kernel.name}' has no function '{kernel.entry_point}'")
        self.state: Final[Any] = make_state(mtl_device, self.function, kernel.name)
        x, y, z = kernel.threadgroup_size
        most = self.state.maxTotalThreadsPerThreadgroup()
        if x * y * z > most:
            raise KernelError(
                f"kernel '{kernel.name}' has {x * y * z} threads a threadgroup; '{device.name}' "
                f"runs at most {most} of it"
            )


def make_state(mtl_device: Any, function: Any, name: str) -> Any:
    """Return the pipeline state of an `MTLFunction`."""
    state, error = mtl_device.newComputePipelineStateWithFunction_error_(function, None)
    if state is None:
        raise KernelError(f"kernel '{name}' does not load: {message_of(error)}")
    return state


def compile_msl(
    mtl_device: Any, source: str, name: str, math_mode: str, msl_version: tuple[int, int]
) -> Any:
    """Return the `MTLLibrary` of MSL text, compiled with the math mode and version asked for."""
    options = load_metal().MTLCompileOptions.alloc().init()
    if options.respondsToSelector_("setMathMode:"):
        options.setMathMode_(MATH_MODES[math_mode])
    else:  # before macOS 15
        options.setFastMathEnabled_(math_mode == "fast")
    if msl_version != (0, 0):
        options.setLanguageVersion_((msl_version[0] << 16) + msl_version[1])
    library, error = mtl_device.newLibraryWithSource_options_error_(source, options, None)
    if library is None:
        raise KernelError(f"kernel '{name}' does not compile: {message_of(error)}")
    return library


def _library_from_metallib(mtl_device: Any, name: str, data: bytes) -> Any:
    """Metal reads libraries from data or a file; the file needs no `dispatch_data_t`."""
    foundation: Any = import_module("Foundation")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.metallib"
        path.write_bytes(data)
        url = foundation.NSURL.fileURLWithPath_(str(path))
        library, error = mtl_device.newLibraryWithURL_error_(url, None)
    if library is None:
        raise KernelError(f"kernel '{name}' does not load: {message_of(error)}")
    return library


class ByteKernels:
    """Pipeline states of our own kernels for fills and copies, compiled when first needed."""

    def __init__(self, mtl_device: Any) -> None:
        self._mtl_device = mtl_device
        self._states: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        """Return the state of `ingot_fill` or `ingot_copy`."""
        if name not in self._states:
            library = compile_msl(self._mtl_device, _BYTE_KERNELS, name, "safe", (0, 0))
            function = library.newFunctionWithName_(name)
            self._states[name] = make_state(self._mtl_device, function, name)
        return self._states[name]
