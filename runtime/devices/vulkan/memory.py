"""Buffers: one `VkBuffer` with its own memory, mapped for its whole life where the host can."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ingot.runtime.devices.vulkan.native import translated
from ingot.runtime.errors import DeviceMemoryError
from ingot.runtime.hal import Buffer, Memory

if TYPE_CHECKING:
    from ingot.runtime.devices.vulkan.device import VulkanDevice

_DEVICE_LOCAL, _HOST_VISIBLE, _HOST_COHERENT, _HOST_CACHED = 1, 2, 4, 8
_MAPPABLE: Final = _HOST_VISIBLE | _HOST_COHERENT
_PREFERENCES: Final[dict[tuple[Memory, bool], tuple[int, ...]]] = {
    (Memory.HOST, False): (_MAPPABLE | _HOST_CACHED, _MAPPABLE),
    (Memory.HOST, True): (_MAPPABLE | _HOST_CACHED, _MAPPABLE),
    (Memory.DEVICE, False): (_DEVICE_LOCAL, 0),
    (Memory.DEVICE, True): (
        _DEVICE_LOCAL | _MAPPABLE | _HOST_CACHED,
        _DEVICE_LOCAL | _MAPPABLE,
        _MAPPABLE,
    ),
}
"""Memory properties to ask for, the best first, for a kind of memory on a unified device or not."""
_USAGE: Final = 0x1 | 0x2 | 0x20
"""Source and target of copies, and storage buffer."""


def memory_type(properties: Any, allowed: int, memory: Memory, unified: bool) -> int | None:
    """Return the index of the memory type to use, among the bits of `allowed`."""
    for wanted in _PREFERENCES[memory, unified]:
        for index in range(properties.memoryTypeCount):
            flags = properties.memoryTypes[index].propertyFlags
            if allowed >> index & 1 and flags & wanted == wanted:
                return index
    return None


class VulkanBuffer(Buffer):
    """A storage buffer; a size of 0 still has a `VkBuffer`, since Vulkan knows no empty ones."""

    def __init__(self, device: VulkanDevice, size: int, memory: Memory) -> None:
        super().__init__(device, size, memory)
        handle, vk = device.handle, device.handle.vk
        real_size = max(size, 4)
        with translated(vk, f"allocating a buffer of {size} bytes"):
            self.vk_buffer: Final = vk.vkCreateBuffer(
                handle.device, vk.VkBufferCreateInfo(size=real_size, usage=_USAGE), None
            )
            memory_handle: list[Any] = []
            vk_buffer = self.vk_buffer

            def destroy() -> None:
                vk.lib.vkDestroyBuffer(handle.device, vk_buffer, vk.ffi.NULL)
                for allocated in memory_handle:
                    vk.lib.vkFreeMemory(handle.device, allocated, vk.ffi.NULL)

            self._finalizer = handle.adopt(self, destroy)
            needs = vk.vkGetBufferMemoryRequirements(handle.device, self.vk_buffer)
            index = memory_type(
                device.memory_properties, needs.memoryTypeBits, memory, device.unified_memory
            )
            if index is None:
                raise DeviceMemoryError(f"'{device.name}' has no {memory.value} memory for buffers")
            allocation = vk.vkAllocateMemory(
                handle.device,
                vk.VkMemoryAllocateInfo(allocationSize=needs.size, memoryTypeIndex=index),
                None,
            )
            memory_handle.append(allocation)
            vk.vkBindBufferMemory(handle.device, self.vk_buffer, allocation, 0)
            self._view: memoryview | None = None
            if memory is Memory.HOST or device.unified_memory:
                mapped = vk.vkMapMemory(handle.device, allocation, 0, real_size, 0)
                self._view = memoryview(mapped).cast("B")[:size]

    @property
    def view(self) -> memoryview | None:
        return self._view

    def release(self) -> None:
        self._view = None
        self._finalizer()
