"""Devices, buffers, libraries, pipeline states, shared events."""

from __future__ import annotations

import ctypes
import mmap
import time
from threading import Condition
from typing import Any, NamedTuple
from weakref import WeakSet

from ingot.runtime.devices.host.memory import GuardedMemory

from .foundation import NSURL, NSError
from .libraries import (
    MOST_THREADS,
    MTLBinaryArchive,
    MTLBinaryArchiveDescriptor,
    MTLCompileOptions,
    MTLComputePipelineDescriptor,
    MTLComputePipelineState,
    MTLLibrary,
    library_of,
    library_of_file,
    open_archive,
    state_of,
)
from .profiling import (
    MTLCounterSampleBuffer,
    MTLCounterSampleBufferDescriptor,
    MTLCounterSet,
    gpu_ticks,
    new_sample_buffer,
)
from .signatures import Selectors, autoreleased, require, selector

LARGEST_BUFFER = 1 << 33
_SHARED_UNTRACKED = 256
_APPLE7 = 1007
_AT_STAGE_BOUNDARY = 0


class Size(NamedTuple):
    """`MTLSize`."""

    width: int
    height: int
    depth: int


class VariableList:
    """PyObjC's `varlist`: a pointer that keeps nothing alive."""

    def __init__(self, address: int) -> None:
        self._address = address

    def as_buffer(self, size: int) -> memoryview:
        return memoryview((ctypes.c_char * size).from_address(self._address)).cast("B")


class MTLBuffer(Selectors):
    """Shared storage; hazards are not tracked, so that encoders need fences."""

    def __init__(self, length: int, address: int, owner: object) -> None:
        self.size, self.address, self._owner = length, address, owner
        self.memory = owner if isinstance(owner, GuardedMemory) else None
        self.pointees: dict[int, MTLBuffer] = {}
        """Of an argument buffer: the buffers whose addresses it holds."""

    @selector()
    def contents(self) -> VariableList:
        return VariableList(self.address)

    @selector()
    def length(self) -> int:
        return self.size


queues: WeakSet[Any] = WeakSet()
"""Every `MTLCommandQueue`."""


def look() -> None:
    """Let the queues run what was committed, since the CPU asks what became of it."""
    for queue in list(queues):
        queue.look()


class MTLSharedEvent(Selectors):
    def __init__(self) -> None:
        self.changed = Condition()
        self._value = 0

    def reached(self, value: int) -> bool:
        """Whether it has a value, for queues."""
        with self.changed:
            return self._value >= value

    def signal(self, value: int) -> None:
        """Set the value, by the CPU or a queue."""
        with self.changed:
            self._value = value
            self.changed.notify_all()

    @selector()
    def signaledValue(self) -> int:
        look()
        with self.changed:
            return self._value

    @selector("Q")
    def setSignaledValue_(self, value: int) -> None:
        self.signal(value)
        look()

    @selector("Q", "Q")
    def waitUntilSignaledValue_timeoutMS_(self, value: int, milliseconds: int) -> bool:
        look()
        with self.changed:
            return self.changed.wait_for(lambda: self._value >= value, milliseconds / 1000)


class MTLFence(Selectors):
    """Orders encoders."""

    def __init__(self) -> None:
        self.updated_by: Any = None
        """The encoder that updated it last."""


class MTLDevice(Selectors):
    """An Apple GPU of family 7."""

    samples_encoders = True
    """Whether counters can be sampled where encoders start and end."""

    @selector()
    def name(self) -> str:
        return "Metal stand-in"

    @selector("Q")
    def supportsFamily_(self, family: int) -> bool:
        return 1001 <= family <= _APPLE7

    @selector()
    def maxThreadsPerThreadgroup(self) -> Size:
        return Size(MOST_THREADS, MOST_THREADS, MOST_THREADS)

    @selector()
    def maxThreadgroupMemoryLength(self) -> int:
        return 32768

    @selector()
    def maxBufferLength(self) -> int:
        return LARGEST_BUFFER

    @selector("Q", "Q")
    def newBufferWithLength_options_(self, length: int, options: int) -> MTLBuffer | None:
        require(length > 0, "a buffer has at least one byte")
        require(options == _SHARED_UNTRACKED, "storage here is shared and untracked only")
        if length > LARGEST_BUFFER:
            return None
        memory = GuardedMemory(length)
        return MTLBuffer(length, memory.address, memory)

    @selector("^v", "Q", "Q")
    def newBufferWithBytes_length_options_(
        self, data: bytes | memoryview, length: int, options: int
    ) -> MTLBuffer | None:
        require(length == memoryview(data).nbytes, "the length is not that of the bytes")
        buffer = self.newBufferWithLength_options_(length, options)
        if buffer is not None:
            ctypes.memmove(buffer.address, bytes(data), length)
        return buffer

    @selector("^v", "Q", "Q", "@")
    def newBufferWithBytesNoCopy_length_options_deallocator_(
        self, data: memoryview, length: int, options: int, deallocator: object
    ) -> MTLBuffer:
        # The caller keeps the memory alive: nothing here does.
        address = ctypes.addressof(ctypes.c_char.from_buffer(data))
        require(address % mmap.PAGESIZE == 0, "memory used in place starts with a page")
        require(length and length % mmap.PAGESIZE == 0, "memory used in place is whole pages")
        require(length == data.nbytes, "the length is not that of the memory")
        require(options == _SHARED_UNTRACKED, "storage here is shared and untracked only")
        return MTLBuffer(length, address, None)

    @selector("@", "@", "o^@")
    def newLibraryWithSource_options_error_(
        self, source: str, options: MTLCompileOptions, error: None
    ) -> tuple[MTLLibrary | None, NSError | None]:
        require(options.math_mode is not None, "the math mode is not set: fast is the default")
        require(options.functions is not None, "fast functions are the default of FP32")
        return library_of(source)

    @selector("@", "o^@")
    def newLibraryWithURL_error_(
        self, url: NSURL, error: None
    ) -> tuple[MTLLibrary | None, NSError | None]:
        return library_of_file(url)

    @selector("@", "o^@")
    def newBinaryArchiveWithDescriptor_error_(
        self, descriptor: MTLBinaryArchiveDescriptor, error: None
    ) -> tuple[MTLBinaryArchive | None, NSError | None]:
        return open_archive(descriptor)

    @selector("@", "Q", "^@", "o^@")
    def newComputePipelineStateWithDescriptor_options_reflection_error_(
        self, descriptor: MTLComputePipelineDescriptor, options: int, reflection: None, error: None
    ) -> tuple[MTLComputePipelineState | None, NSError | None]:
        return state_of(descriptor, options)

    @selector("Q")
    def supportsCounterSampling_(self, point: int) -> bool:
        return point == _AT_STAGE_BOUNDARY and self.samples_encoders

    @autoreleased
    @selector()
    def counterSets(self) -> list[MTLCounterSet]:
        return [MTLCounterSet()]

    @selector("@", "o^@")
    def newCounterSampleBufferWithDescriptor_error_(
        self, descriptor: MTLCounterSampleBufferDescriptor, error: None
    ) -> tuple[MTLCounterSampleBuffer | None, NSError | None]:
        return new_sample_buffer(descriptor)

    @selector("o^Q", "o^Q")
    def sampleTimestamps_gpuTimestamp_(self, cpu: None, gpu: None) -> tuple[int, int]:
        return time.perf_counter_ns(), gpu_ticks()

    @selector()
    def newFence(self) -> MTLFence:
        return MTLFence()

    @selector()
    def newSharedEvent(self) -> MTLSharedEvent:
        return MTLSharedEvent()

    @selector()
    def newCommandQueue(self) -> Any:
        from .commands import MTLCommandQueue

        return MTLCommandQueue()


def MTLCopyAllDevices() -> list[MTLDevice]:
    return [MTLDevice()]
