"""Kernels: shader module, layouts and compute pipeline, made once each."""

from __future__ import annotations

from threading import Lock
from typing import Any, Final

from ingot.runtime.devices.vulkan.handle import DeviceHandle
from ingot.runtime.devices.vulkan.native import translated
from ingot.runtime.devices.vulkan.spirv import module_needs
from ingot.runtime.errors import DeviceError, KernelError
from ingot.runtime.hal import Device, Pipeline
from ingot.targets.bundle.model import Kernel


class VulkanPipeline(Pipeline):
    """A compute pipeline; its kernel's bindings are storage buffers 0, 1, ... of set 0."""

    def __init__(
        self, device: Device, handle: DeviceHandle, layouts: Layouts, cache: Any, kernel: Kernel
    ) -> None:
        """Load a kernel; `cache` is a `VkPipelineCache`. Raises `KernelError`."""
        super().__init__(device, kernel)
        entry_point = _check(kernel, device)
        self.set_layout: Final[Any]
        self.layout: Final[Any]
        self.set_layout, self.layout = layouts.get(len(kernel.bindings), kernel.push_constant_size)
        vk = handle.vk
        doing = f"loading kernel '{kernel.name}'"
        try:
            with translated(vk, doing):
                module = vk.vkCreateShaderModule(
                    handle.device,
                    vk.VkShaderModuleCreateInfo(codeSize=len(kernel.spirv), pCode=kernel.spirv),
                    None,
                )
                try:
                    stage = vk.VkPipelineShaderStageCreateInfo(
                        stage=vk.VK_SHADER_STAGE_COMPUTE_BIT, module=module, pName=entry_point
                    )
                    self.vk_pipeline: Final[Any] = vk.vkCreateComputePipelines(
                        handle.device,
                        cache,
                        1,
                        [vk.VkComputePipelineCreateInfo(stage=stage, layout=self.layout)],
                        None,
                    )[0]
                finally:
                    vk.lib.vkDestroyShaderModule(handle.device, module, vk.ffi.NULL)
        except DeviceError as error:
            raise KernelError(str(error)) from None
        pipeline = self.vk_pipeline
        handle.adopt(self, lambda: vk.lib.vkDestroyPipeline(handle.device, pipeline, vk.ffi.NULL))


def _check(kernel: Kernel, device: Device) -> str:
    """Return the entry point's name after checking the module against the device."""
    if not kernel.spirv:
        raise KernelError(f"kernel '{kernel.name}' has no SPIR-V for a Vulkan device")
    needs = module_needs(kernel.spirv, kernel.name)
    lacks = needs.missing_features(device.features)
    if lacks:
        raise KernelError(f"kernel '{kernel.name}' needs {lacks[0]}, which '{device.name}' lacks")
    entry_point = kernel.spirv_entry_point or kernel.entry_point
    if entry_point not in needs.entry_points:
        raise KernelError(f"the SPIR-V of kernel '{kernel.name}' has no entry '{entry_point}'")
    if any(b >= len(kernel.bindings) for b in needs.bindings) or needs.sets - {0}:
        raise KernelError(f"kernel '{kernel.name}' uses a buffer that the bundle does not bind")
    most = device.limits.max_buffers
    if len(kernel.bindings) > most:
        raise KernelError(
            f"kernel '{kernel.name}' binds {len(kernel.bindings)} buffers; '{device.name}' allows "
            f"{most}"
        )
    return entry_point


class Layouts:
    """Descriptor set and pipeline layouts, shared by kernels of the same interface."""

    def __init__(self, handle: DeviceHandle) -> None:
        self._handle = handle
        self._made: dict[tuple[int, int], tuple[Any, Any]] = {}
        self._lock = Lock()

    def get(self, bindings: int, push_constants: int) -> tuple[Any, Any]:
        """Return the set layout and pipeline layout for so many bindings and constant bytes."""
        key = bindings, push_constants
        with self._lock:
            if key not in self._made:
                self._made[key] = self._create(bindings, push_constants)
            return self._made[key]

    def _create(self, bindings: int, push_constants: int) -> tuple[Any, Any]:
        handle, vk = self._handle, self._handle.vk
        slots = [
            vk.VkDescriptorSetLayoutBinding(
                binding=position,
                descriptorType=vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                descriptorCount=1,
                stageFlags=vk.VK_SHADER_STAGE_COMPUTE_BIT,
            )
            for position in range(bindings)
        ]
        constants = [
            vk.VkPushConstantRange(vk.VK_SHADER_STAGE_COMPUTE_BIT, 0, size)
            for size in (-(-push_constants // 4) * 4,)
            if size
        ]
        null = vk.ffi.NULL
        with translated(vk, "creating a pipeline layout"):
            set_layout = vk.vkCreateDescriptorSetLayout(
                handle.device, vk.VkDescriptorSetLayoutCreateInfo(pBindings=slots), None
            )
            handle.adopt(
                self,
                lambda: vk.lib.vkDestroyDescriptorSetLayout(handle.device, set_layout, null),
            )
            layout = vk.vkCreatePipelineLayout(
                handle.device,
                vk.VkPipelineLayoutCreateInfo(
                    pSetLayouts=[set_layout], pPushConstantRanges=constants
                ),
                None,
            )
            handle.adopt(self, lambda: vk.lib.vkDestroyPipelineLayout(handle.device, layout, null))
        return set_layout, layout
