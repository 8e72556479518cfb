"""Libraries, functions, pipeline states, and the archives that keep them."""

from __future__ import annotations

import ctypes
import hashlib
import json
from typing import TYPE_CHECKING, Any

from ingot.runtime.devices.host.compile import KernelSource, compile_kernels
from ingot.runtime.devices.host.kernel import HostKernel
from ingot.runtime.devices.host.reflection import reflect
from ingot.runtime.errors import DeviceError

from .foundation import NSURL, NSError
from .signatures import Descriptor, Selectors, require, selector

if TYPE_CHECKING:
    from .device import MTLBuffer

MOST_THREADS = 1024
SIMD_WIDTH = 32
_FAIL_ON_ARCHIVE_MISS = 4
_ARCHIVE = "the stand-in's binary archive"


class MTLCompileOptions(Descriptor):
    def __init__(self) -> None:
        self.math_mode: int | None = None
        self.functions: int | None = None

    @selector("SEL")
    def respondsToSelector_(self, name: str) -> bool:
        return name == "setMathMode:"

    @selector("Q")
    def setMathMode_(self, mode: int) -> None:
        require(mode in (0, 1, 2), f"there is no math mode {mode}")
        self.math_mode = mode

    @selector("Q")
    def setMathFloatingPointFunctions_(self, functions: int) -> None:
        require(functions in (0, 1), f"there are no floating-point functions {functions}")
        self.functions = functions

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
    def __init__(self, kernel: HostKernel, pointers: int, key: str) -> None:
        self.kernel, self.key, self._pointers = kernel, key, pointers

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
        key = hashlib.sha256(f"{name} {self._source}".encode()).hexdigest()
        # As many as any argument buffer of the text can have.
        pointers = self._source.count("[[id(")
        return None if kernel is None else MTLFunction(kernel, pointers, key)


def library_of(source: str) -> tuple[MTLLibrary | None, NSError | None]:
    """Compile MSL."""
    try:
        names = [kernel.name for kernel in reflect(source).kernels]
        compiled = compile_kernels([KernelSource(source, name) for name in names])
    except DeviceError as failure:
        return None, NSError(str(failure))
    return MTLLibrary(dict(zip(names, map(HostKernel, compiled), strict=True)), source), None


def library_of_file(url: NSURL) -> tuple[MTLLibrary | None, NSError | None]:
    """Load what `support.fake_xcrun` wrote."""
    head, _, source = url.path.read_text().partition("\n")
    if not head.startswith("MTLB "):
        return None, NSError("Invalid library file")
    # A Mac may well load the library of another platform and compute something else.
    require(head == "MTLB macosx", f"this library is not for macOS: {head}")
    return library_of(source)


class MTLComputePipelineDescriptor(Descriptor):
    def __init__(self) -> None:
        self.function: MTLFunction | None = None
        self.archives: list[MTLBinaryArchive] = []
        self._label = ""

    @selector("@")
    def setComputeFunction_(self, function: MTLFunction) -> None:
        self.function = function

    @selector("@")
    def setLabel_(self, label: str) -> None:
        self._label = label

    @selector()
    def label(self) -> str:
        return self._label

    @selector("NSArray")
    def setBinaryArchives_(self, archives: list[MTLBinaryArchive]) -> None:
        self.archives = archives


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

    @selector()
    def threadExecutionWidth(self) -> int:
        return SIMD_WIDTH


def state_of(
    descriptor: MTLComputePipelineDescriptor, options: int
) -> tuple[MTLComputePipelineState | None, NSError | None]:
    """Make a pipeline state, or find it in an archive."""
    function = descriptor.function
    require(function is not None, "a compute pipeline needs a function")
    assert function is not None
    is_kept = any(function.key in archive.keys for archive in descriptor.archives)
    if options & _FAIL_ON_ARCHIVE_MISS and not is_kept:
        return None, NSError("Pipeline not found in any of the binary archives")
    return MTLComputePipelineState(function.kernel), None


class MTLBinaryArchiveDescriptor(Descriptor):
    def __init__(self) -> None:
        self.url: NSURL | None = None

    @selector("@")
    def setUrl_(self, url: NSURL) -> None:
        self.url = url


class MTLBinaryArchive(Selectors):
    """Names of functions, and a mark."""

    def __init__(self, keys: set[str]) -> None:
        self.keys = keys

    @selector("@", "o^@")
    def addComputePipelineFunctionsWithDescriptor_error_(
        self, descriptor: MTLComputePipelineDescriptor, error: None
    ) -> tuple[bool, NSError | None]:
        require(descriptor.function is not None, "a compute pipeline needs a function")
        assert descriptor.function is not None
        self.keys.add(descriptor.function.key)
        return True, None

    @selector("@", "o^@")
    def serializeToURL_error_(self, url: NSURL, error: None) -> tuple[bool, NSError | None]:
        if not self.keys:
            return False, NSError("Cannot serialize an empty archive")
        url.path.write_text(json.dumps({_ARCHIVE: sorted(self.keys)}))
        return True, None


def open_archive(
    descriptor: MTLBinaryArchiveDescriptor,
) -> tuple[MTLBinaryArchive | None, NSError | None]:
    """Open a file, or make an empty archive."""
    if descriptor.url is None:
        return MTLBinaryArchive(set()), None
    try:
        stored: Any = json.loads(descriptor.url.path.read_text())
        return MTLBinaryArchive(set(stored[_ARCHIVE])), None
    except (OSError, ValueError, KeyError, TypeError):
        return None, NSError("Invalid binary archive")
