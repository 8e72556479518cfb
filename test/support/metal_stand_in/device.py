"""Devices, buffers, libraries, pipeline states, shared events."""

from __future__ import annotations

import ctypes
import mmap
from threading import Condition
from typing import Any, NamedTuple

from ingot.runtime.devices.host.compile import KernelSource, compile_kernels
from ingot.runtime.devices.host.kernel import HostKernel
from ingot.runtime.devices.host.memory import GuardedMemory
from ingot.runtime.devices.host.reflection import reflect
from ingot.runtime.errors import DeviceError

from .signatures import Selectors, require, selector

LARGEST_BUFFER = 1 << 33
MOST_THREADS = 1024
_SHARED = 0
_APPLE7 = 1007


class Size(NamedTuple):
    """`MTLSize`."""

    width: int
    height: int
    depth: int


class NSError(Selectors):
    def __init__(self, message: str) -> None:
        self._message = message

    @selector()
    def localizedDescription(self) -> str:
        return self._message


class VariableList:
    """PyObjC's `varlist`: a pointer that keeps nothing alive."""

    def __init__(self, address: int) -> None:
        self._address = address

    def as_buffer(self, size: int) -> memoryview:
        return memoryview((ctypes.c_char * size).from_address(self._address)).cast("B")


class MTLBuffer(Selectors):
    """Shared storage, with tracked hazards."""

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


class MTLSharedEvent(Selectors):
    def __init__(self) -> None:
        self.changed = Condition()
        self._value = 0

    @selector()
    def signaledValue(self) -> int:
        with self.changed:
            return self._value

    @selector("Q")
    def setSignaledValue_(self, value: int) -> None:
        with self.changed:
            self._value = value
            self.changed.notify_all()

    @selector("Q", "Q")
    def waitUntilSignaledValue_timeoutMS_(self, value: int, milliseconds: int) -> bool:
        with self.changed:
            return self.changed.wait_for(lambda: self._value >= value, milliseconds / 1000)


class MTLCompileOptions(Selectors):
    def __init__(self) -> None:
        self.math_mode: int | None = None

    @classmethod
    def alloc(cls) -> MTLCompileOptions:
        return cls()

    @selector()
    def init(self) -> MTLCompileOptions:
        return self

    @selector("SEL")
    def respondsToSelector_(self, name: str) -> bool:
        return name == "setMathMode:"

    @selector("Q")
    def setMathMode_(self, mode: int) -> None:
        require(mode in (0, 1, 2), f"there is no math mode {mode}")
        self.math_mode = mode

    @selector("Q")
    def setLanguageVersion_(self, version: int) -> None:
        require(2 << 16 <= version < 5 << 16, f"there is no language version {version:#x}")


class MTLArgumentEncoder(Selectors):
    """Writes addresses, eight bytes each."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._target: MTLBuffer | None = None
        self._offset = 0

    @selector()
    def encodedLength(self) -> int:
        return 8 * self._count

    @selector("@", "Q")
    def setArgumentBuffer_offset_(self, buffer: MTLBuffer, offset: int) -> None:
        require(offset + 8 * self._count <= buffer.size, "the argument buffer is too short")
        self._target, self._offset = buffer, offset

    @selector("@", "Q", "Q")
    def setBuffer_offset_atIndex_(self, buffer: MTLBuffer, offset: int, index: int) -> None:
        require(self._target is not None, "the encoder has no argument buffer")
        require(index < self._count, f"the argument buffer has no member {index}")
        require(offset <= buffer.size, f"offset {offset} is behind the buffer")
        assert self._target is not None
        at = self._target.address + self._offset + 8 * index
        ctypes.c_uint64.from_address(at).value = buffer.address + offset
        self._target.pointees[index] = buffer


class MTLFunction(Selectors):
    def __init__(self, kernel: HostKernel, pointers: int) -> None:
        self.kernel, self._pointers = kernel, pointers

    @selector("Q")
    def newArgumentEncoderWithBufferIndex_(self, index: int) -> MTLArgumentEncoder:
        require(index == 0, f"the function has no argument buffer {index}")
        return MTLArgumentEncoder(self._pointers)


class MTLLibrary(Selectors):
    def __init__(self, kernels: dict[str, HostKernel], source: str) -> None:
        self._kernels, self._source = kernels, source

    @selector("@")
    def newFunctionWithName_(self, name: str) -> MTLFunction | None:
        kernel = self._kernels.get(name)
        # As many as any argument buffer of the text can have.
        return None if kernel is None else MTLFunction(kernel, self._source.count("[[id("))


class MTLComputePipelineState(Selectors):
    def __init__(self, kernel: HostKernel) -> None:
        self.kernel = kernel
        compiled = kernel.compiled
        parameters = compiled.signature.parameters
        self.buffers = {p.buffer: p.name for p in parameters if p.buffer is not None}
        self.alignments = compiled.alignments

    @selector()
    def maxTotalThreadsPerThreadgroup(self) -> int:
        return MOST_THREADS


class MTLDevice(Selectors):
    """An Apple GPU of family 7."""

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
        require(options == _SHARED, "the stand-in has shared, tracked storage only")
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
        require(options == _SHARED, "the stand-in has shared, tracked storage only")
        return MTLBuffer(length, address, None)

    @selector("@", "@", "o^@")
    def newLibraryWithSource_options_error_(
        self, source: str, options: MTLCompileOptions, error: None
    ) -> tuple[MTLLibrary | None, NSError | None]:
        require(options.math_mode is not None, "the math mode is not set: fast is the default")
        try:
            names = [kernel.name for kernel in reflect(source).kernels]
            compiled = compile_kernels([KernelSource(source, name) for name in names])
        except DeviceError as failure:
            return None, NSError(str(failure))
        kernels = dict(zip(names, map(HostKernel, compiled), strict=True))
        return MTLLibrary(kernels, source), None

    @selector("@", "o^@")
    def newComputePipelineStateWithFunction_error_(
        self, function: MTLFunction, error: None
    ) -> tuple[MTLComputePipelineState | None, NSError | None]:
        return MTLComputePipelineState(function.kernel), None

    @selector()
    def newSharedEvent(self) -> MTLSharedEvent:
        return MTLSharedEvent()

    @selector()
    def newCommandQueue(self) -> Any:
        from .commands import MTLCommandQueue

        return MTLCommandQueue()


def MTLCopyAllDevices() -> list[MTLDevice]:  # noqa: N802: Metal's name
    return [MTLDevice()]
