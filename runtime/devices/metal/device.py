"""The Metal device of the HAL."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

from ingot.runtime.devices.info import DeviceInfo
from ingot.runtime.devices.metal import memory as metal_memory
from ingot.runtime.devices.metal import native
from ingot.runtime.devices.metal.commands import MetalCommandBuffer
from ingot.runtime.devices.metal.counters import timestamp_counters
from ingot.runtime.devices.metal.native import load_metal
from ingot.runtime.devices.metal.pipeline import ByteKernels, load_pipelines
from ingot.runtime.devices.metal.sync import MetalQueue, MetalSemaphore
from ingot.runtime.devices.timeline import Backlog
from ingot.runtime.errors import DeviceUnavailableError
from ingot.runtime.hal import (
    Buffer,
    CommandBuffer,
    Device,
    Executable,
    Limits,
    Memory,
    Semaphore,
)
from ingot.targets.bundle.model import Kernel

_APPLE_FAMILIES: Final = range(1, 16)
_FIRST_APPLE_FAMILY: Final = 1000
"""`MTLGPUFamilyApple1` is 1001."""
_FEATURES: Final = frozenset(
    {
        "int8",
        "int16",
        "int64",
        "float16",
        "bfloat16",
        "storage8",
        "storage16",
        "subgroup-basic",
        "subgroup-vote",
        "subgroup-arithmetic",
        "subgroup-ballot",
        "subgroup-shuffle",
        "subgroup-shuffle-relative",
        "subgroup-quad",
        "capture",
        "timestamps",
        "wrap-host-memory",
    }
)
"""What every Apple GPU of family 7 or later has."""


class MetalDevice(Device):
    """An `MTLDevice`."""

    api = "metal"
    simd_width = 32

    def __init__(self, mtl_device: Any) -> None:
        self._mtl_device: Final = mtl_device
        self._byte_kernels: Final = ByteKernels(mtl_device)
        self.name = str(mtl_device.name())
        self.family = _family(mtl_device)
        self.features = _features(self.family)
        self.unified_memory = True  # shared storage is mapped on every Mac
        size = mtl_device.maxThreadsPerThreadgroup()
        self.limits = Limits(
            max_threads_per_threadgroup=1024,
            max_threadgroup_size=(int(size.width), int(size.height), int(size.depth)),
            max_grid=(2**32 - 1, 2**32 - 1, 2**32 - 1),
            threadgroup_memory=int(mtl_device.maxThreadgroupMemoryLength()),
            max_buffers=31,
            max_buffer_size=int(mtl_device.maxBufferLength()),
            max_push_constants=4096,
            binding_alignment=16,
        )
        self._backlog: Final = Backlog()
        self._metal_queue: Final = MetalQueue(self, mtl_device, self._backlog)
        self.queue = self._metal_queue

    @classmethod
    def list_devices(cls) -> list[DeviceInfo]:
        """Return this Mac's GPUs; raises `DeviceUnavailableError` when there are none."""
        return [
            DeviceInfo(
                f"metal:{index}",
                cls.api,
                str(device.name()),
                _features(_family(device)),
                cls.simd_width,
            )
            for index, device in enumerate(_devices())
        ]

    @classmethod
    def open(cls, selector: str) -> MetalDevice:
        """Open the first GPU (""), number `selector`, or the first whose name contains it."""
        devices = _devices()
        for index, device in enumerate(devices):
            if selector in ("", str(index)) or selector.lower() in str(device.name()).lower():
                return cls(device)
        known = ", ".join(f"{i} ({device.name()})" for i, device in enumerate(devices))
        raise DeviceUnavailableError(f"there is no Metal device '{selector}'; there are: {known}")

    def _allocate(self, size: int, memory: Memory) -> Buffer:
        return metal_memory.allocate(self, self._mtl_device, size, memory)

    def wrap_host_memory(self, data: memoryview) -> Buffer:
        return metal_memory.wrap(self, self._mtl_device, data)

    def load(
        self, kernels: Sequence[Kernel], math_mode: str, msl_version: tuple[int, int]
    ) -> Executable:
        with native.autorelease_pool():
            return Executable(
                load_pipelines(self, self._mtl_device, kernels, math_mode, msl_version)
            )

    def create_command_buffer(self, profiling: bool = False) -> CommandBuffer:
        with native.autorelease_pool():
            counters = timestamp_counters(self._mtl_device) if profiling else None
        return MetalCommandBuffer(
            self, self._mtl_device, self._byte_kernels, counters, profiling=profiling
        )

    def create_semaphore(self, value: int = 0) -> Semaphore:
        return MetalSemaphore(self, self._mtl_device, self._backlog, value)

    def capture(self, path: Path) -> AbstractContextManager[None]:
        return self._metal_queue.capture(path)

    def close(self) -> None:
        self._backlog.close("the Metal device was closed")
        self._metal_queue.finish()


def _devices() -> list[Any]:
    devices: list[Any] = list(load_metal().MTLCopyAllDevices() or ())
    if not devices:
        raise DeviceUnavailableError("this Mac has no GPU that Metal can use")
    return devices


def _features(family: int) -> frozenset[str]:
    return _FEATURES if family >= 7 else frozenset()


def _family(device: Any) -> int:
    """Return the highest Apple family that the device supports, 0 for other GPUs."""
    supported = [f for f in _APPLE_FAMILIES if device.supportsFamily_(_FIRST_APPLE_FAMILY + f)]
    return max(supported, default=0)
