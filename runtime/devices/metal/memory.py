"""Buffers in shared storage: the host and the GPU see the same bytes."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np

from ingot.runtime.devices.metal.native import STORAGE
from ingot.runtime.errors import DeviceMemoryError, HalUsageError
from ingot.runtime.hal import Buffer, Device, Memory


class MetalBuffer(Buffer):
    """An `MTLBuffer` and its mapping."""

    def __init__(
        self, device: Device, mtl_buffer: Any, size: int, memory: Memory, view: memoryview
    ) -> None:
        super().__init__(device, size, memory)
        self.mtl_buffer: Any = mtl_buffer
        self._view: memoryview | None = view

    @property
    def view(self) -> memoryview | None:
        return self._view

    def release(self) -> None:
        self._view = None
        self.mtl_buffer = None


def allocate(device: Device, mtl_device: Any, size: int, memory: Memory) -> MetalBuffer:
    """Make a buffer; a size of 0 still has an `MTLBuffer`, since Metal knows no empty ones."""
    real_size = max(size, 16)
    buffer = mtl_device.newBufferWithLength_options_(real_size, STORAGE)
    if buffer is None:
        raise DeviceMemoryError(f"'{device.name}' has no memory for a buffer of {size} bytes")
    return MetalBuffer(device, buffer, size, memory, _mapped(buffer, real_size)[:size])


def wrap(device: Device, mtl_device: Any, data: memoryview) -> MetalBuffer:
    """Make a buffer of the caller's memory, which Metal takes in whole pages only."""
    if data.readonly or not data.c_contiguous:
        raise HalUsageError("only writable, contiguous memory can be wrapped")
    view, page = data.cast("B"), mmap.PAGESIZE
    address = np.frombuffer(view, np.uint8).ctypes.data
    if address % page or view.nbytes % page or not view.nbytes:
        raise HalUsageError(f"memory to wrap must be whole pages, aligned to {page} bytes")
    buffer = mtl_device.newBufferWithBytesNoCopy_length_options_deallocator_(
        view, view.nbytes, STORAGE, None
    )
    if buffer is None:
        raise DeviceMemoryError(f"'{device.name}' cannot use these {view.nbytes} bytes in place")
    return MetalBuffer(device, buffer, view.nbytes, Memory.HOST, view)


def _mapped(mtl_buffer: Any, size: int) -> memoryview:
    """A view that keeps the `MTLBuffer` alive: what PyObjC returns is but a pointer."""
    contents = mtl_buffer.contents().as_buffer(size)
    array = (ctypes.c_uint8 * size).from_buffer(contents)
    vars(array)["owner"] = mtl_buffer
    return memoryview(array).cast("B")
