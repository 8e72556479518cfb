"""The Vulkan instance of this process, and what its physical devices offer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from ingot.runtime.devices.vulkan.native import install_hint, load_vulkan, translated
from ingot.runtime.errors import DeviceError, DeviceUnavailableError
from ingot.runtime.hal import Limits

_API_VERSION: Final = 1 << 22 | 2 << 12
"""Vulkan 1.2: timeline semaphores, 8-bit storage and float16 are part of it."""
_PORTABILITY: Final = "VK_KHR_portability_enumeration"
_COOPERATIVE_MATRIX: Final = "VK_KHR_cooperative_matrix"
_BFLOAT16: Final = "VK_KHR_shader_bfloat16"
_BFLOAT16_FEATURES: Final = 1000141000
"""`VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR`."""
_ENABLED_EXTENSIONS: Final = (_COOPERATIVE_MATRIX, _BFLOAT16, "VK_KHR_portability_subset")
_SUBGROUP_FEATURES: Final = (
    "subgroup-basic",
    "subgroup-vote",
    "subgroup-arithmetic",
    "subgroup-ballot",
    "subgroup-shuffle",
    "subgroup-shuffle-relative",
    "subgroup-clustered",
    "subgroup-quad",
)
"""In the order of the bits of `VkSubgroupFeatureFlags`."""
_COMPUTE_STAGE: Final = 0x20
_MAX_OFFSET: Final = 2**63 - 1


@cache
def instance() -> Any:
    """Return the `VkInstance`, made without layers; it lives as long as the process."""
    vk = load_vulkan()
    extensions: list[str] = []
    with translated(vk, "asking for instance extensions"):
        offered = {e.extensionName for e in vk.vkEnumerateInstanceExtensionProperties(None)}
    flags = 0
    if _PORTABILITY in offered:
        extensions.append(_PORTABILITY)
        flags = 1
    application = vk.VkApplicationInfo(pApplicationName="ingot", apiVersion=_API_VERSION)
    info = vk.VkInstanceCreateInfo(
        flags=flags, pApplicationInfo=application, ppEnabledExtensionNames=extensions
    )
    try:
        with translated(vk, "creating an instance"):
            return vk.vkCreateInstance(info, None)
    except DeviceError as error:
        raise DeviceUnavailableError(
            f"there is no usable Vulkan driver here ({error}): {install_hint()}"
        ) from None


@dataclass(frozen=True)
class PhysicalDevice:
    """One device of the machine, before it is opened."""

    handle: Any
    name: str
    version: tuple[int, int]
    is_unified: bool
    """The host and the device share all memory (integrated GPUs and CPUs)."""
    queue_family: int
    timestamp_period: float
    """Nanoseconds of one tick, 0 when the queue has no timestamps."""
    simd_width: int
    features: frozenset[str]
    limits: Limits
    extensions: tuple[str, ...]
    """Those to enable."""

    @property
    def family(self) -> int:
        """The rank of `vulkan:` targets that it satisfies: 0 generic, 1 lavapipe, 2 hopper."""
        if "subgroup-shuffle" not in self.features or self.limits.threadgroup_memory < 32768:
            return 0
        if self.limits.max_threads_per_threadgroup < 1024:
            return 0
        has_matrix = "cooperative-matrix" in self.features
        return 2 if has_matrix and self.limits.threadgroup_memory >= 49152 else 1


@cache
def physical_devices() -> tuple[PhysicalDevice, ...]:
    """Return the devices of version 1.2 or later that can compute; GPUs come before CPUs."""
    vk = load_vulkan()
    with translated(vk, "listing devices"):
        handles: Sequence[Any] = list(vk.vkEnumeratePhysicalDevices(instance()))
    usable = [d for d in (_describe(vk, handle) for handle in handles) if d is not None]
    return tuple(sorted(usable, key=lambda device: _is_cpu(vk, device)))


if hasattr(os, "register_at_fork"):
    # Some drivers start threads with the instance already; a forked process makes its own.
    os.register_at_fork(after_in_child=instance.cache_clear)
    os.register_at_fork(after_in_child=physical_devices.cache_clear)


def _is_cpu(vk: Any, device: PhysicalDevice) -> bool:
    kind = vk.vkGetPhysicalDeviceProperties(device.handle).deviceType
    return kind == vk.VK_PHYSICAL_DEVICE_TYPE_CPU


def _describe(vk: Any, handle: Any) -> PhysicalDevice | None:
    properties = vk.vkGetPhysicalDeviceProperties(handle)
    version = (properties.apiVersion >> 22 & 0x7F, properties.apiVersion >> 12 & 0x3FF)
    families = vk.vkGetPhysicalDeviceQueueFamilyProperties(handle)
    compute = [i for i, f in enumerate(families) if f.queueFlags & vk.VK_QUEUE_COMPUTE_BIT]
    if version < (1, 2) or not compute:
        return None
    properties11 = vk.VkPhysicalDeviceVulkan11Properties()
    maintenance3 = vk.VkPhysicalDeviceMaintenance3Properties()
    properties12 = vk.VkPhysicalDeviceVulkan12Properties()
    maintenance3.pNext = vk.ffi.addressof(properties12)
    properties11.pNext = vk.ffi.addressof(maintenance3)
    properties2 = vk.VkPhysicalDeviceProperties2(pNext=properties11)
    vk.lib.vkGetPhysicalDeviceProperties2(handle, vk.ffi.addressof(properties2))
    limits = properties2.properties.limits
    offered = {e.extensionName for e in vk.vkEnumerateDeviceExtensionProperties(handle, None)}
    family = compute[0]
    has_timestamps = families[family].timestampValidBits > 0
    features = _features(vk, handle, offered, properties11) | {
        f"special-values{width}"
        for width in (16, 32, 64)
        if getattr(properties12, f"shaderSignedZeroInfNanPreserveFloat{width}")
    }
    if "timeline-semaphore" not in features:
        return None
    return PhysicalDevice(
        handle=handle,
        name=vk.ffi.string(properties2.properties.deviceName).decode("utf-8", "replace"),
        version=version,
        is_unified=properties.deviceType
        in (vk.VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, vk.VK_PHYSICAL_DEVICE_TYPE_CPU),
        queue_family=family,
        timestamp_period=limits.timestampPeriod if has_timestamps else 0.0,
        simd_width=properties11.subgroupSize,
        features=features | ({"timestamps"} if has_timestamps else frozenset[str]()),
        limits=_limits(limits, maintenance3.maxMemoryAllocationSize),
        extensions=tuple(e for e in _ENABLED_EXTENSIONS if e in offered),
    )


def _limits(limits: Any, max_allocation: int) -> Limits:
    x, y, z = limits.maxComputeWorkGroupSize
    grid_x, grid_y, grid_z = limits.maxComputeWorkGroupCount
    return Limits(
        max_threads_per_threadgroup=limits.maxComputeWorkGroupInvocations,
        max_threadgroup_size=(x, y, z),
        max_grid=(grid_x, grid_y, grid_z),
        threadgroup_memory=limits.maxComputeSharedMemorySize,
        max_buffers=min(limits.maxPerStageDescriptorStorageBuffers, limits.maxPerStageResources),
        max_buffer_size=min(max_allocation, _MAX_OFFSET),
        max_push_constants=limits.maxPushConstantsSize,
        binding_alignment=limits.minStorageBufferOffsetAlignment,
        max_binding_size=limits.maxStorageBufferRange,
    )


@dataclass(frozen=True)
class FeatureChain:
    """Vulkan's feature structs, linked; `core` is the head."""

    core: Any
    v11: Any
    v12: Any
    matrix: Any | None
    bfloat16: Any | None
    """Three flags, of the type, of dot products and of matrices: the first three of another struct,
    since the Python package is older than the extension."""


def feature_chain(vk: Any, extensions: Sequence[str] | set[str]) -> FeatureChain:
    """Return empty feature structs for a query or for creating a device."""
    matrix = bfloat16 = None
    if _BFLOAT16 in extensions:
        bfloat16 = vk.VkPhysicalDeviceVulkan11Features(sType=_BFLOAT16_FEATURES)
    if _COOPERATIVE_MATRIX in extensions:
        matrix = vk.VkPhysicalDeviceCooperativeMatrixFeaturesKHR(pNext=bfloat16)
    v12 = vk.VkPhysicalDeviceVulkan12Features(pNext=bfloat16 if matrix is None else matrix)
    v11 = vk.VkPhysicalDeviceVulkan11Features(pNext=v12)
    return FeatureChain(vk.VkPhysicalDeviceFeatures2(pNext=v11), v11, v12, matrix, bfloat16)


FLAGS: Final = {
    "robust-buffer-access": ("core", "robustBufferAccess"),
    "int64": ("core", "shaderInt64"),
    "int16": ("core", "shaderInt16"),
    "storage16": ("v11", "storageBuffer16BitAccess"),
    "uniform-storage16": ("v11", "uniformAndStorageBuffer16BitAccess"),
    "variable-pointers": ("v11", "variablePointersStorageBuffer"),
    "storage8": ("v12", "storageBuffer8BitAccess"),
    "uniform-storage8": ("v12", "uniformAndStorageBuffer8BitAccess"),
    "float16": ("v12", "shaderFloat16"),
    "int8": ("v12", "shaderInt8"),
    "int64-atomics": ("v12", "shaderBufferInt64Atomics"),
    "timeline-semaphore": ("v12", "timelineSemaphore"),
    "vulkan-memory-model": ("v12", "vulkanMemoryModel"),
    "vulkan-memory-model-device": ("v12", "vulkanMemoryModelDeviceScope"),
    "subgroup-extended-types": ("v12", "shaderSubgroupExtendedTypes"),
    "cooperative-matrix": ("matrix", "cooperativeMatrix"),
    "bfloat16": ("bfloat16", "storageBuffer16BitAccess"),
    "bfloat16-matrix": ("bfloat16", "storagePushConstant16"),
}
"""Our names, and where Vulkan keeps the flag; all that are offered get enabled."""


def flag_holder(chain: FeatureChain, where: str) -> Any | None:
    """Return the struct of `chain` that holds flags of kind `where`, None when not linked."""
    if where == "core":
        return chain.core.features
    return getattr(chain, where)


def _features(vk: Any, handle: Any, offered: set[str], properties11: Any) -> frozenset[str]:
    chain = feature_chain(vk, offered)
    vk.lib.vkGetPhysicalDeviceFeatures2(handle, vk.ffi.addressof(chain.core))
    found = {
        name
        for name, (where, flag) in FLAGS.items()
        if (holder := flag_holder(chain, where)) is not None and getattr(holder, flag)
    }
    if properties11.subgroupSupportedStages & _COMPUTE_STAGE:
        found |= {
            name
            for bit, name in enumerate(_SUBGROUP_FEATURES)
            if properties11.subgroupSupportedOperations >> bit & 1
        }
    return frozenset(found)
