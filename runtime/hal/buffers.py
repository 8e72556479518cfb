"""Buffers and ranges of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from ingot.runtime.errors import HalUsageError

if TYPE_CHECKING:
    from ingot.runtime.hal.device import Device


class Memory(Enum):
    """Where a buffer lives."""

    DEVICE = "device"
    """Where kernels are fastest; mappable only when the device's `unified_memory` is true."""
    HOST = "host"
    """Always mappable, visible to kernels and copies: for staging."""


class Buffer(ABC):
    """`size` bytes, 0 is legal, that kernels and the host can reach; they start undefined.

    A buffer stays alive while a command buffer that names it does. `release` gives the memory back
    at once (the caller knows that no submitted work uses it); otherwise the garbage collector does.
    """

    def __init__(self, device: Device, size: int, memory: Memory) -> None:
        self.device: Final = device
        self.size: Final = size
        self.memory: Final = memory

    @property
    @abstractmethod
    def view(self) -> memoryview | None:
        """All bytes as a writable memoryview of format "B", or None when not mappable.

        The view is persistent and coherent: the same object for the life of the buffer, no flush.
        """

    @abstractmethod
    def release(self) -> None:
        """Give the memory back; a second call does nothing. No view may be used afterwards."""

    @property
    def whole(self) -> BufferRange:
        """All bytes."""
        return BufferRange(self, 0, self.size)

    def map(self, offset: int = 0, length: int | None = None) -> memoryview:
        """Return `length` bytes from `offset` (all by default) for the host to read and write."""
        part = BufferRange(self, offset, self.size - offset if length is None else length)
        view = self.view
        if view is None:
            raise HalUsageError("this buffer is in device memory that the host cannot map")
        return view[part.offset : part.offset + part.length]

    def write(self, offset: int, data: bytes | memoryview) -> None:
        """Copy `data` into the buffer at `offset` and wait until it is there."""
        source = memoryview(data).cast("B")
        part = BufferRange(self, offset, source.nbytes)
        if self.view is not None:
            self.map(part.offset, part.length)[:] = source
            return
        staging = self.device.allocate(source.nbytes, Memory.HOST)
        staging.map()[:] = source
        self.device.run_copy(BufferRange(staging, 0, source.nbytes), part)
        staging.release()

    def read(self, offset: int = 0, length: int | None = None) -> bytes:
        """Return a copy of `length` bytes from `offset`, all by default."""
        part = BufferRange(self, offset, self.size - offset if length is None else length)
        if self.view is not None:
            return bytes(self.map(part.offset, part.length))
        staging = self.device.allocate(part.length, Memory.HOST)
        self.device.run_copy(part, BufferRange(staging, 0, part.length))
        data = bytes(staging.map())
        staging.release()
        return data


@dataclass(frozen=True)
class BufferRange:
    """`length` bytes of `buffer` from `offset`; always inside the buffer."""

    buffer: Buffer
    offset: int
    length: int

    def __post_init__(self) -> None:
        if self.offset < 0 or self.length < 0 or self.offset + self.length > self.buffer.size:
            raise HalUsageError(
                f"bytes {self.offset} to {self.offset + self.length} are not inside a buffer of "
                f"{self.buffer.size} bytes"
            )

    def overlaps(self, other: BufferRange) -> bool:
        """Whether both ranges share a byte."""
        first = max(self.offset, other.offset)
        last = min(self.offset + self.length, other.offset + other.length)
        return self.buffer is other.buffer and first < last
