"""Buffers: one `VkBuffer` with its own memory, mapped for its whole life where the host can."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from ingot.runtime.devices.vulkan.handle import DeviceHandle
from ingot.runtime.devices.vulkan.native import SUCCESS, error_of, translated
from ingot.runtime.errors import DeviceMemoryError
from ingot.runtime.hal import Buffer, Device, Memory

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
_WHOLE_SIZE: Final = 0xFFFFFFFFFFFFFFFF
_USAGE: Final = 0x1 | 0x2 | 0x20 | 0x100
"""Source and target of copies, storage buffer, and the grid of indirect dispatches."""


def memory_type(properties: Any, allowed: int, memory: Memory, unified: bool) -> int | None:
    """Return the index of the memory type to use, among the bits of `allowed`."""
    for wanted in _PREFERENCES[memory, unified]:
        for index in range(properties.memoryTypeCount):
            flags = properties.memoryTypes[index].propertyFlags
            if allowed >> index & 1 and flags & wanted == wanted:
                return index
    return None


class _Allocation:
    """A `VkBuffer` and its memory; lives as long as the buffer object or a view of it."""

    def __init__(self, handle: DeviceHandle, size: int, memory: Memory) -> None:
        self._handle = handle
        self._vk = vk = handle.vk
        memories: list[Any] = []
        vk_buffer = vk.vkCreateBuffer(
            handle.device, vk.VkBufferCreateInfo(size=size, usage=_USAGE), None
        )

        def destroy() -> None:
            vk.lib.vkDestroyBuffer(handle.device, vk_buffer, vk.ffi.NULL)
            for allocated in memories:
                vk.lib.vkFreeMemory(handle.device, allocated, vk.ffi.NULL)

        self.vk_buffer: Final[Any] = vk_buffer
        self.destroy: Final = handle.adopt(self, destroy)
        needs = vk.vkGetBufferMemoryRequirements(handle.device, vk_buffer)
        physical = handle.physical
        index = memory_type(
            handle.memory_properties, needs.memoryTypeBits, memory, physical.is_unified
        )
        if index is None:
            raise DeviceMemoryError(f"'{physical.name}' has no {memory.value} memory for buffers")
        info = vk.VkMemoryAllocateInfo(allocationSize=needs.size, memoryTypeIndex=index)
        self._memory: Any = vk.vkAllocateMemory(handle.device, info, None)
        memories.append(self._memory)
        vk.vkBindBufferMemory(handle.device, vk_buffer, self._memory, 0)

    def map(self, size: int) -> memoryview:
        """Map the memory; the view keeps this object alive."""
        ffi = self._vk.ffi
        pointer = ffi.new("void**")
        result = self._vk.lib.vkMapMemory(
            self._handle.device, self._memory, 0, _WHOLE_SIZE, 0, pointer
        )
        if result != SUCCESS:
            raise error_of(self._vk, result, "mapping a buffer")
        owned = ffi.gc(ffi.cast("char*", pointer[0]), partial(_keep, self))
        return memoryview(ffi.buffer(owned, max(size, 1))).cast("B")[:size]


def _keep(allocation: _Allocation, pointer: Any) -> None:
    """Called when the last view is gone; until then the callback holds the allocation."""


class VulkanBuffer(Buffer):
    """A storage buffer; a size of 0 still has a `VkBuffer`, since Vulkan knows no empty ones."""

    def __init__(self, device: Device, handle: DeviceHandle, size: int, memory: Memory) -> None:
        super().__init__(device, size, memory)
        with translated(handle.vk, f"allocating a buffer of {size} bytes"):
            self._allocation = _Allocation(handle, max(size, 4), memory)
        self.vk_buffer: Final[Any] = self._allocation.vk_buffer
        self._view: memoryview | None = None
        if memory is Memory.HOST or handle.physical.is_unified:
            self._view = self._allocation.map(size)

    @property
    def view(self) -> memoryview | None:
        return self._view

    def release(self) -> None:
        self._view = None
        self._allocation.destroy()
