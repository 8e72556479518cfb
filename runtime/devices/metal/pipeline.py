"""Kernels: library, function and pipeline state, and our own kernels for odd fills and copies."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ingot.runtime.devices.metal import native
from ingot.runtime.devices.metal.archive import archive_path, pipeline_states
from ingot.runtime.devices.metal.native import (
    FAST_FUNCTIONS,
    MATH_MODES,
    PLATFORM,
    PRECISE_FUNCTIONS,
    file_url,
    message_of,
)
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
    """A compute pipeline state, and the function that it runs."""

    def __init__(self, device: Device, kernel: Kernel, function: Any, state: Any) -> None:
        """Raises `KernelError` for what the pipeline cannot do."""
        super().__init__(device, kernel)
        self.function: Final[Any] = function
        self.state: Final[Any] = state
        x, y, z = kernel.threadgroup_size
        most = state.maxTotalThreadsPerThreadgroup()
        if x * y * z > most:
            raise KernelError(
                f"kernel '{kernel.name}' has {x * y * z} threads a threadgroup; '{device.name}' "
                f"runs at most {most} of it"
            )
        width = state.threadExecutionWidth()
        if width != device.simd_width:
            raise KernelError(
                f"kernel '{kernel.name}' runs in SIMD-groups of {width} threads on "
                f"'{device.name}', and was compiled for {device.simd_width}"
            )


def load_pipelines(
    device: Device,
    mtl_device: Any,
    kernels: Sequence[Kernel],
    math_mode: str,
    msl_version: tuple[int, int],
) -> tuple[MetalPipeline, ...]:
    """The pipelines of an executable; raises `KernelError`."""
    functions = [_function(mtl_device, kernel, math_mode, msl_version) for kernel in kernels]
    named = [(kernel.name, function) for kernel, function in zip(kernels, functions, strict=True)]
    path = archive_path(mtl_device, kernels, math_mode, msl_version) if kernels else None
    states = pipeline_states(mtl_device, named, path)
    return tuple(
        MetalPipeline(device, kernel, function, state)
        for kernel, function, state in zip(kernels, functions, states, strict=True)
    )


def _function(mtl_device: Any, kernel: Kernel, math_mode: str, msl_version: tuple[int, int]) -> Any:
    """The `MTLFunction` of a kernel, from its library for macOS or else from its text."""
    if metallib := kernel.metallib_for(PLATFORM):
        library = _library_from_metallib(mtl_device, kernel.name, metallib)
    elif kernel.msl:
        library = compile_msl(mtl_device, kernel.msl, kernel.name, math_mode, msl_version)
    else:
        raise KernelError(f"kernel '{kernel.name}' has neither MSL nor a metallib for macOS")
    function = library.newFunctionWithName_(kernel.entry_point)
    if function is None:
        raise KernelError(f"kernel '{kernel.name}' has no function '{kernel.entry_point}'")
    return function


def compile_msl(
    mtl_device: Any, source: str, name: str, math_mode: str, msl_version: tuple[int, int]
) -> Any:
    """Return the `MTLLibrary` of MSL text, compiled with the math mode and version asked for."""
    options = native.load_metal().MTLCompileOptions.alloc().init()
    if options.respondsToSelector_("setMathMode:"):
        options.setMathMode_(MATH_MODES[math_mode])
        fast = math_mode == "fast"
        options.setMathFloatingPointFunctions_(FAST_FUNCTIONS if fast else PRECISE_FUNCTIONS)
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
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.metallib"
        path.write_bytes(data)
        library, error = mtl_device.newLibraryWithURL_error_(file_url(path), None)
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
        if name in self._states:
            return self._states[name]
        with native.autorelease_pool():
            library = compile_msl(self._mtl_device, _BYTE_KERNELS, name, "safe", (0, 0))
            function = library.newFunctionWithName_(name)
            self._states[name] = pipeline_states(self._mtl_device, [(name, function)], None)[0]
        return self._states[name]
