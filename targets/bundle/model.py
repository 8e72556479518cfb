"""A bundle as plain data: what the compiler fills in, the writer stores and the reader returns.

No part of this module knows FlatBuffers, xDSL or a device.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from math import prod


class DType(IntEnum):
    """Element types of a bundle; the value is what the file stores."""

    I1 = 0
    I4 = 1
    I8 = 2
    I16 = 3
    I32 = 4
    I64 = 5
    F16 = 6
    BF16 = 7
    F32 = 8
    C64 = 9
    UI8 = 10
    UI16 = 11
    UI32 = 12
    UI64 = 13

    @property
    def bits(self) -> int:
        """Width of one element in storage, in bits: i1 is stored as a byte."""
        return _BITS[self]


_BITS: dict[DType, int] = {
    DType.I1: 8,
    DType.I4: 4,
    DType.I8: 8,
    DType.I16: 16,
    DType.I32: 32,
    DType.I64: 64,
    DType.F16: 16,
    DType.BF16: 16,
    DType.F32: 32,
    DType.C64: 64,
    DType.UI8: 8,
    DType.UI16: 16,
    DType.UI32: 32,
    DType.UI64: 64,
}


@dataclass(frozen=True)
class TensorType:
    """Element type and row-major shape; -1 stands for a size known at run time."""

    dtype: DType
    shape: tuple[int, ...]

    @property
    def is_static(self) -> bool:
        """Whether every size is known."""
        return all(size >= 0 for size in self.shape)

    @property
    def byte_size(self) -> int:
        """Bytes of storage of a static type: elements are packed, i4 two to a byte."""
        return (prod(self.shape) * self.dtype.bits + 7) // 8


class BufferKind(IntEnum):
    """Which storage a `BufferRef` points into."""

    ARGUMENT = 0
    RESULT = 1
    CONSTANT = 2
    TRANSIENT = 3


@dataclass(frozen=True)
class BufferRef:
    """A byte range of an argument, a result, a constant or the transient arena (index 0)."""

    kind: BufferKind
    index: int
    offset: int
    length: int


class Access(IntEnum):
    """How a kernel uses a binding."""

    READ = 0
    WRITE = 1
    READ_WRITE = 2


@dataclass(frozen=True)
class Dispatch:
    """Run kernel `kernel` (an index into the variant's kernels) over `groups` threadgroups."""

    kernel: int
    groups: tuple[int, int, int]
    bindings: tuple[BufferRef, ...]
    push_constants: bytes = b""


@dataclass(frozen=True)
class Fill:
    """Fill a range with a repeated pattern of 1, 2 or 4 bytes."""

    target: BufferRef
    pattern: bytes


@dataclass(frozen=True)
class Copy:
    """Copy a range; both lengths are equal."""

    source: BufferRef
    target: BufferRef


@dataclass(frozen=True)
class Barrier:
    """Every command before is finished, and its writes visible, before any command after starts."""


Command = Dispatch | Fill | Copy | Barrier


@dataclass(frozen=True)
class Binding:
    """Binding i is SPIR-V set 0 binding i and MSL buffer i, unless `Kernel.argument_buffer`."""

    name: str
    dtype: DType
    access: Access


@dataclass(frozen=True)
class Kernel:
    """One compiled kernel. `name` is the source export; `entry_point` the name inside the code."""

    name: str
    entry_point: str
    threadgroup_size: tuple[int, int, int]
    bindings: tuple[Binding, ...]
    spirv: bytes
    msl: str = ""
    metallib: bytes = b""
    spirv_entry_point: str = ""
    push_constant_size: int = 0
    argument_buffer: bool = False
    """All bindings live in one argument buffer at index 0 (more than the target's buffers)."""
    threadgroup_memory: int = 0
    location: str = ""
    """Source position `file:line:col`, empty when stripped."""


@dataclass(frozen=True)
class FunctionBody:
    """The command list of one function for one target, and its memory plan (sizes in bytes)."""

    commands: tuple[Command, ...]
    transient_size: int = 0
    transient_lower_bound: int = 0


@dataclass(frozen=True)
class Variant:
    """The whole program compiled for one target: `bodies` parallels `Bundle.functions`."""

    target: str
    api: str
    family: int
    simd_width: int
    math_mode: str
    """`safe`, `fast` or `strict`."""
    msl_version: tuple[int, int]
    kernels: tuple[Kernel, ...]
    bodies: tuple[FunctionBody, ...]
    required_features: tuple[str, ...] = ()
    """What the device must offer beyond its api: `storage16`, `storage8`, `int64`, ..."""


@dataclass(frozen=True)
class Function:
    """A function as the source declares it."""

    name: str
    arguments: tuple[TensorType, ...]
    results: tuple[TensorType, ...]
    argument_names: tuple[str, ...] = ()
    result_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Constant:
    """Constant data, shared by all variants."""

    name: str
    type: TensorType
    data: bytes | memoryview = field(repr=False)


@dataclass(frozen=True)
class Provenance:
    """What made the bundle; part of the bytes, so nothing depends on the machine or the time."""

    compiler_version: str
    pipeline: str
    spirv_cross_version: str
    input_hash: str


@dataclass(frozen=True)
class Bundle:
    """A compiled program for one or more targets."""

    functions: tuple[Function, ...]
    constants: tuple[Constant, ...]
    variants: tuple[Variant, ...]
    provenance: Provenance
