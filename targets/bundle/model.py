"""A bundle as plain data: what the compiler fills in, the writer stores and the reader returns.

No part of this module knows FlatBuffers, xDSL or a device.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
class Register:
    """The value of register `index` of a function, a signed number of 64 bits."""

    index: int


Operand = int | Register
"""A number that the compiler knew, or one that a register holds when the command is met."""


@dataclass(frozen=True)
class BufferRef:
    """A byte range of an argument, a result, a constant or the transient arena (index 0)."""

    kind: BufferKind
    index: int
    offset: Operand
    length: Operand


class Access(IntEnum):
    """How a kernel uses a binding."""

    READ = 0
    WRITE = 1
    READ_WRITE = 2


@dataclass(frozen=True)
class Dispatch:
    """Run kernel `kernel` (an index into the variant's kernels) over `groups` threadgroups."""

    kernel: int
    groups: tuple[Operand, Operand, Operand]
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


@dataclass(frozen=True)
class Load:
    """Wait for everything before, and read a number without sign of 1, 4 or 8 bytes."""

    target: Register
    source: BufferRef


@dataclass(frozen=True)
class Store:
    """Write the low bits of a number to a range of 4 bytes; a command like `Fill`."""

    target: BufferRef
    value: Operand


@dataclass(frozen=True)
class Loop:
    """Run `body` as often as `count` says, which is taken once; below 1 not at all."""

    count: Operand
    body: tuple[Command, ...]


@dataclass(frozen=True)
class While:
    """Run `condition`, stop when `proceed` is 0, run `body`, and again."""

    condition: tuple[Command, ...]
    proceed: Operand
    body: tuple[Command, ...]


@dataclass(frozen=True)
class If:
    """Run `then` when `condition` is not 0, and `otherwise` when it is."""

    condition: Operand
    then: tuple[Command, ...]
    otherwise: tuple[Command, ...]


@dataclass(frozen=True)
class Size:
    """A register gets the size of one dimension of an argument."""

    target: Register
    argument: int
    dimension: int


class Operation(IntEnum):
    """Arithmetic of the host program on signed numbers of 64 bits, which wrap around.

    Division rounds to minus infinity and the remainder has the sign of the divisor, both are 0
    where the divisor is 0; comparisons give 0 or 1.
    """

    ADD = 0
    SUBTRACT = 1
    MULTIPLY = 2
    DIVIDE = 3
    REMAINDER = 4
    MINIMUM = 5
    MAXIMUM = 6
    EQUAL = 7
    LESS = 8


@dataclass(frozen=True)
class Compute:
    """A register gets what an operation makes of two numbers."""

    target: Register
    operation: Operation
    lhs: Operand
    rhs: Operand


@dataclass(frozen=True)
class Check:
    """Refuse the call with `message` when `condition` is 0."""

    condition: Operand
    message: str


Command = Dispatch | Fill | Copy | Barrier | Load | Store | Loop | While | If
"""What a device does, and in which order."""
Setup = Size | Compute | Check
"""What the host does before, from nothing but the sizes of the arguments."""


def walk(commands: Iterable[Command]) -> Iterator[Command]:
    """All commands of a list, also those inside of control flow, in order."""
    for command in commands:
        yield command
        match command:
            case Loop():
                yield from walk(command.body)
            case While():
                yield from walk((*command.condition, *command.body))
            case If():
                yield from walk((*command.then, *command.otherwise))
            case _:
                pass


def loaded_registers(commands: Iterable[Command]) -> frozenset[int]:
    """The registers whose values come from the device while the function runs."""
    return frozenset(c.target.index for c in walk(commands) if isinstance(c, Load))


@dataclass(frozen=True)
class Binding:
    """Binding i is SPIR-V set 0 binding i and MSL buffer i, unless `Kernel.argument_buffer`."""

    name: str
    dtype: DType
    access: Access


@dataclass(frozen=True)
class Metallib:
    """A kernel's Metal library for one platform: `macosx`, `iphoneos` or `iphonesimulator`."""

    platform: str
    data: bytes


@dataclass(frozen=True)
class Kernel:
    """One compiled kernel. `name` is the source export; `entry_point` the name inside the code."""

    name: str
    entry_point: str
    threadgroup_size: tuple[int, int, int]
    bindings: tuple[Binding, ...]
    spirv: bytes
    msl: str = ""
    metallibs: tuple[Metallib, ...] = ()
    """What Apple's compiler made of `msl`, for some platforms."""
    spirv_entry_point: str = ""
    push_constant_size: int = 0
    argument_buffer: bool = False
    """All bindings live in one argument buffer at index 0 (more than the target's buffers)."""
    threadgroup_memory: int = 0
    location: str = ""
    """Source position `file:line:col`, empty when stripped."""

    def metallib_for(self, platform: str) -> bytes:
        """The library for a platform; empty when there is none."""
        return next((lib.data for lib in self.metallibs if lib.platform == platform), b"")


@dataclass(frozen=True)
class FunctionBody:
    """The command list of one function for one target, and its memory plan (sizes in bytes).

    `setup` runs first. Of a function with sizes known at run time only, `transient` is the size of
    the arena (`transient_size` is 0 then), and `result_sizes` are the sizes that the results'
    types leave open, in order.
    """

    commands: tuple[Command, ...]
    transient_size: int = 0
    transient_lower_bound: int = 0
    registers: int = 0
    """How many registers the body uses; all are 0 at first."""
    setup: tuple[Setup, ...] = ()
    transient: Operand = 0
    result_sizes: tuple[Operand, ...] = ()


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
class Weight:
    """Where the data of a constant lie instead: in a safetensors file beside the bundle."""

    file: str
    """A name without a folder."""
    key: str
    """The tensor's name in the file."""
    digest: bytes
    """SHA-256 of the data."""


@dataclass(frozen=True)
class Constant:
    """Constant data, shared by all variants; empty as long as a weight is not loaded."""

    name: str
    type: TensorType
    data: bytes | memoryview = field(repr=False)
    weight: Weight | None = None


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
