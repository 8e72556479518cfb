"""Buffers in shared storage: the host and the GPU see the same bytes."""

from __future__ import annotations

from typing import Any

from ingot.runtime.devices.metal.native import SHARED_STORAGE
from ingot.runtime.errors import DeviceMemoryError
from ingot.runtime.hal import Buffer, Device, Memory


class MetalBuffer(Buffer):
    """An `MTLBuffer`; a size of 0 still has one, since Metal knows no empty ones."""

    def __init__(self, device: Device, mtl_device: Any, size: int, memory: Memory) -> None:
        super().__init__(device, size, memory)
        real_size = max(size, 16)
        buffer = mtl_device.newBufferWithLength_options_(real_size, SHARED_STORAGE)
        if buffer is None:
            raise DeviceMemoryError(f"'{device.name}' has no memory for a buffer of {size} bytes")
        self.mtl_buffer: Any = buffer
        contents = buffer.contents().as_buffer(real_size)
        self._view: memoryview | None = memoryview(contents).cast("B")[:size]

    @property
    def view(self) -> memoryview | None:
        return self._view

    def release(self) -> None:
        self._view = None
        self.mtl_buffer = None
