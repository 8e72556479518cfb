"""The HAL device that runs MSL on the CPU."""

from __future__ import annotations

import os
from collections.abc import Sequence
from threading import Condition
from typing import Final

from ingot.runtime.devices.host.commands import (
    Execution,
    HostBuffer,
    HostCommandBuffer,
    HostPipeline,
    WrappedBuffer,
)
from ingot.runtime.devices.host.compile import KernelSource, compile_kernels
from ingot.runtime.devices.host.engine import MAX_THREADS
from ingot.runtime.devices.host.kernel import DEFAULT_SCHEDULE, HostKernel, Order, Schedule
from ingot.runtime.devices.host.sync import HostQueue, HostSemaphore
from ingot.runtime.devices.host.toolchain import find_clang
from ingot.runtime.devices.host.vetting import objection
from ingot.runtime.devices.info import DeviceInfo
from ingot.runtime.errors import DeviceUnavailableError, HalUsageError, KernelError
from ingot.runtime.hal import Buffer, CommandBuffer, Device, Executable, Limits, Memory, Semaphore
from ingot.targets.bundle.model import Kernel

_SIMD_WIDTH = 32
_FAMILY = 10
"""Kernels for every Apple family run: the headers know no later feature."""
_FEATURES = frozenset(
    {
        "storage8",
        "storage16",
        "float16",
        "bfloat16",
        "int8",
        "int16",
        "int64",
        "subgroup-shuffle",
        "cooperative-matrix",
        "timestamps",
        "wrap-host-memory",
    }
)
_LARGEST_GRID = 2**31 - 1
_MOST_COMPILERS = 4
"""clang processes at a time; each needs some hundred MiB."""
_USED_IN_PLACE = 1 << 20
"""Bytes of a constant from which a copy is not worth what its guards would catch."""
_ORDERS = {order.name.lower().replace("_", "-"): order for order in Order}


class HostDevice(Device):
    """Runs the MSL of `metal` variants, in the way that `execution` says."""

    api = "metal"
    family = _FAMILY
    simd_width = _SIMD_WIDTH
    features = _FEATURES
    unified_memory = True

    def __init__(self, execution: Execution | None = None) -> None:
        clang = find_clang()
        self.name = f"host (clang {clang.version})"
        self.execution: Final = execution or Execution()
        self.limits = Limits(
            max_threads_per_threadgroup=MAX_THREADS,
            max_threadgroup_size=(MAX_THREADS, MAX_THREADS, MAX_THREADS),
            max_grid=(_LARGEST_GRID, _LARGEST_GRID, _LARGEST_GRID),
            threadgroup_memory=32768,
            max_buffers=31,
            max_buffer_size=2**46,
            max_push_constants=4096,
            binding_alignment=16,
        )
        self._changed: Final = Condition()
        self._queue: Final = HostQueue(self, self._changed)
        self.queue = self._queue

    @classmethod
    def list_devices(cls) -> list[DeviceInfo]:
        """Return the device; raises `DeviceUnavailableError` when there is no clang for it."""
        clang = find_clang()
        return [DeviceInfo("host", cls.api, f"clang {clang.version}", _FEATURES, _SIMD_WIDTH)]

    @classmethod
    def open(cls, selector: str) -> HostDevice:
        """Open the device: `""`, or an order of threads as `reverse`, `simdgroups`, `random:7`.

        A fixed order runs on one core, so that it repeats.
        """
        if not selector:
            return cls()
        name, _, seed = selector.partition(":")
        if name not in _ORDERS or (seed and not seed.isdecimal()):
            known = ", ".join(_ORDERS)
            raise DeviceUnavailableError(
                f"the host device has no order of threads '{selector}'; there are: {known}; "
                "random takes a seed, as random:7"
            )
        return cls(Execution(Schedule(_ORDERS[name], int(seed or 0), workers=1)))

    def _allocate(self, size: int, memory: Memory) -> Buffer:
        return HostBuffer(self, size, memory)

    def wrap_host_memory(self, data: memoryview) -> Buffer:
        if data.readonly or not data.c_contiguous:
            raise HalUsageError("only writable, contiguous memory can be wrapped")
        buffer = WrappedBuffer(self, data)
        if buffer.address % self.limits.binding_alignment:
            raise HalUsageError(
                f"memory to wrap must be aligned to {self.limits.binding_alignment} bytes"
            )
        return buffer

    def hold(self, data: memoryview) -> Buffer:
        """Use large constants in place, a mapped file's for example.

        Of those only an access outside the whole mapping is caught; fixed orders of threads, which
        look for faults, take copies between guards.
        """
        looks_for_faults = self.execution.schedule != DEFAULT_SCHEDULE
        if data.nbytes < _USED_IN_PLACE or looks_for_faults:
            return super().hold(data)
        buffer = WrappedBuffer(self, data, is_constant=True)
        is_aligned = buffer.address % self.limits.binding_alignment == 0
        return buffer if is_aligned else super().hold(data)

    def load(
        self, kernels: Sequence[Kernel], math_mode: str, msl_version: tuple[int, int]
    ) -> Executable:
        del math_mode, msl_version  # Fast math is a licence, not a duty; one header serves all.
        compiled = compile_kernels(kernel_sources(kernels), self.compilers)
        return Executable(
            tuple(
                HostPipeline(self, kernel, HostKernel(code))
                for kernel, code in zip(kernels, compiled, strict=True)
            )
        )

    @property
    def compilers(self) -> int:
        """How many clang processes may run at a time."""
        return min(os.cpu_count() or 1, _MOST_COMPILERS)

    def create_command_buffer(self, profiling: bool = False) -> CommandBuffer:
        return HostCommandBuffer(self, self.execution, profiling)

    def create_semaphore(self, value: int = 0) -> Semaphore:
        return HostSemaphore(self, self._changed, value)

    def close(self) -> None:
        self._queue.close()


def kernel_sources(kernels: Sequence[Kernel]) -> list[KernelSource]:
    """The texts of a bundle's kernels; raises `KernelError` for one that is not to be compiled."""
    for kernel in kernels:
        if not kernel.msl:
            raise KernelError(
                f"kernel '{kernel.name}' comes as a metallib only; the host device runs MSL text"
            )
        reason = objection(kernel.msl)
        if reason:
            raise KernelError(f"the MSL of kernel '{kernel.name}' is not compiled: {reason}")
    return [KernelSource(kernel.msl, kernel.entry_point) for kernel in kernels]
