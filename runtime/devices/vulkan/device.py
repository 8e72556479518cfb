"""The Vulkan device of the HAL."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

from ingot.runtime.devices.info import DeviceInfo
from ingot.runtime.devices.ownership import finalize_at_home
from ingot.runtime.devices.timeline import Backlog
from ingot.runtime.devices.vulkan.commands import VulkanCommandBuffer
from ingot.runtime.devices.vulkan.handle import DeviceHandle
from ingot.runtime.devices.vulkan.instance import (
    FLAGS,
    PhysicalDevice,
    feature_chain,
    flag_holder,
    physical_devices,
)
from ingot.runtime.devices.vulkan.memory import VulkanBuffer
from ingot.runtime.devices.vulkan.native import (
    install_hint,
    load_vulkan,
    translated,
)
from ingot.runtime.devices.vulkan.pipeline import Layouts, VulkanPipeline
from ingot.runtime.devices.vulkan.sync import VulkanQueue, VulkanSemaphore
from ingot.runtime.errors import DeviceUnavailableError, HalUsageError
from ingot.runtime.hal import CommandBuffer, Device, Executable, Memory, Semaphore
from ingot.targets.bundle.model import Kernel

_LOADERS: Final = 4
"""Threads that make pipelines; drivers compile outside the GIL."""


class VulkanDevice(Device):
    """A `VkDevice` with one compute queue and every feature of `FLAGS` that it has."""

    api = "vulkan"

    def __init__(self, physical: PhysicalDevice) -> None:
        vk = load_vulkan()
        self.name = physical.name
        self.family = physical.family
        self.simd_width = physical.simd_width
        self.features = physical.features
        self.limits = physical.limits
        self.unified_memory = physical.is_unified
        handle = DeviceHandle(vk, _create_device(vk, physical), physical)
        self._handle: Final = handle
        finalize_at_home(self, handle.close)
        with translated(vk, "creating a pipeline cache"):
            cache = vk.vkCreatePipelineCache(handle.device, vk.VkPipelineCacheCreateInfo(), None)
        handle.adopt(self, lambda: vk.lib.vkDestroyPipelineCache(handle.device, cache, vk.ffi.NULL))
        self._layouts: Final = Layouts(handle)
        self._load_kernel: Final = partial(VulkanPipeline, self, handle, self._layouts, cache)
        self._empty: Final = VulkanBuffer(self, handle, 4, Memory.DEVICE)
        self._backlog: Final = Backlog()
        self.queue = VulkanQueue(self, handle, self._backlog)

    @classmethod
    def list_devices(cls) -> list[DeviceInfo]:
        """Return this machine's devices; raises `DeviceUnavailableError` when there are none."""
        return [
            DeviceInfo(f"vulkan:{index}", cls.api, device.name, device.features, device.simd_width)
            for index, device in enumerate(_devices())
        ]

    @classmethod
    def open(cls, selector: str) -> VulkanDevice:
        """Open the first device (""), number `selector`, or the first whose name contains it."""
        devices = _devices()
        if selector == "":
            return cls(devices[0])
        if selector.isdecimal():
            if int(selector) < len(devices):
                return cls(devices[int(selector)])
        else:
            for device in devices:
                if selector.lower() in device.name.lower():
                    return cls(device)
        known = ", ".join(f"{i} ({device.name})" for i, device in enumerate(devices))
        raise DeviceUnavailableError(f"there is no Vulkan device '{selector}'; there are: {known}")

    def _allocate(self, size: int, memory: Memory) -> VulkanBuffer:
        return VulkanBuffer(self, self._handle, size, memory)

    def load(
        self, kernels: Sequence[Kernel], math_mode: str, msl_version: tuple[int, int]
    ) -> Executable:
        del math_mode, msl_version  # SPIR-V carries its own math decorations.
        if len(kernels) < 2:
            return Executable(tuple(map(self._load_kernel, kernels)))
        with ThreadPoolExecutor(_LOADERS) as pool:
            return Executable(tuple(pool.map(self._load_kernel, kernels)))

    def create_command_buffer(self, profiling: bool = False) -> CommandBuffer:
        if profiling and "timestamps" not in self.features:
            raise HalUsageError(f"'{self.name}' has no timestamps")
        return VulkanCommandBuffer(self, self._handle, self._empty, profiling)

    def create_semaphore(self, value: int = 0) -> Semaphore:
        return VulkanSemaphore(self, self._handle, self._backlog, value)

    def close(self) -> None:
        self._backlog.close("the Vulkan device was closed")
        self._handle.close()


def _devices() -> tuple[PhysicalDevice, ...]:
    devices = physical_devices()
    if not devices:
        raise DeviceUnavailableError(
            f"no Vulkan driver of version 1.2 or later is here: {install_hint()}"
        )
    return devices


def _create_device(vk: Any, physical: PhysicalDevice) -> Any:
    """Create the `VkDevice` with every known feature that the physical device offers."""
    chain = feature_chain(vk, physical.extensions)
    for name, (where, flag) in FLAGS.items():
        holder = flag_holder(chain, where)
        if name in physical.features and holder is not None:
            setattr(holder, flag, 1)
    queue = vk.VkDeviceQueueCreateInfo(
        queueFamilyIndex=physical.queue_family, queueCount=1, pQueuePriorities=[1.0]
    )
    info = vk.VkDeviceCreateInfo(
        pNext=chain.core,
        queueCreateInfoCount=1,
        pQueueCreateInfos=[queue],
        ppEnabledExtensionNames=list(physical.extensions),
    )
    with translated(vk, f"opening '{physical.name}'"):
        return vk.vkCreateDevice(physical.handle, info, None)
