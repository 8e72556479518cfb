"""The hardware abstraction layer: what a device must do to run bundles.

One set of base classes, three implementations (`metal`, `vulkan`, `host`). A base class checks the
contract (ranges, life cycle, owners) in its public methods and hands over to the methods with a
leading underscore, which are all that a device implements; so every device refuses the same misuse
with the same sentence. There are no tensors here: only bytes, kernels and order.

Order of work
- Commands of one command buffer may run in any order and at the same time, except across a
  `barrier`.
- Submissions to a queue are ordered only by the semaphores they wait for and signal.
- What the host wrote into mapped memory before `Queue.submit` is visible to the submitted work;
  what that work wrote is visible to the host once a semaphore that it signals has its value.

Errors: `HalUsageError` for misuse, `DeviceError` and its subclasses for what the device reports.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from ingot.runtime.errors import DeviceError, DeviceMemoryError, HalUsageError

if TYPE_CHECKING:
    from ingot.targets.bundle.model import Kernel


@dataclass(frozen=True)
class Limits:
    """What a device can do at most; sizes in bytes, counts in threads, groups or buffers."""

    max_threads_per_threadgroup: int
    max_threadgroup_size: tuple[int, int, int]
    max_grid: tuple[int, int, int]
    threadgroup_memory: int
    max_buffers: int
    """Bindings of one kernel that has no argument buffer."""
    max_buffer_size: int
    max_push_constants: int
    binding_alignment: int
    """Offsets of bindings are multiples of this power of two."""
    max_binding_size: int = 2**63 - 1
    """Bytes of one binding."""


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
        return (
            self.buffer is other.buffer
            and self.offset < other.offset + other.length
            and other.offset < self.offset + self.length
        )


class Pipeline:
    """One kernel, ready to be dispatched; made by `Device.load`.

    `kernel` is the bundle's record: names, threadgroup size, bindings and push constants.
    """

    def __init__(self, device: Device, kernel: Kernel) -> None:
        self.device: Final = device
        self.kernel: Final = kernel


@dataclass(frozen=True)
class Executable:
    """The kernels of one variant, in the order of the bundle."""

    pipelines: tuple[Pipeline, ...]

    def lookup(self, export: str) -> Pipeline:
        """Return the pipeline whose kernel has the source name `export`."""
        for pipeline in self.pipelines:
            if pipeline.kernel.name == export:
                return pipeline
        raise HalUsageError(f"no kernel is named '{export}'")


@dataclass(frozen=True)
class Timing:
    """When one dispatch, fill or copy ran, in nanoseconds of the device's clock."""

    label: str
    """The kernel's source name, `fill` or `copy`."""
    start: int
    end: int


class CommandBuffer(ABC):
    """A list of commands, recorded once between `begin` and `end`, submitted as often as wanted.

    It may be submitted again while an earlier submission runs only if the semaphores order the two.
    `begin` after `end` records anew (no submission may be pending). It keeps every buffer and
    pipeline that it names alive.
    """

    def __init__(self, device: Device, profiling: bool) -> None:
        self.device: Final = device
        self.profiling: Final = profiling
        self._state = "initial"
        self._labels: list[str] = []
        self._alive: list[Buffer | Pipeline] = []

    @property
    def recorded(self) -> bool:
        """Whether `end` was called, so that the command buffer can be submitted."""
        return self._state == "recorded"

    def begin(self) -> None:
        """Start recording; what was recorded before is dropped."""
        if self._state == "recording":
            raise HalUsageError("begin was called on a command buffer that is being recorded")
        self._state = "recording"
        self._labels = []
        self._alive = []
        self._begin()

    def end(self) -> None:
        """Finish recording."""
        self._require_recording("end")
        self._end()
        self._state = "recorded"

    def dispatch(
        self,
        pipeline: Pipeline,
        groups: tuple[int, int, int],
        bindings: Sequence[BufferRange],
        push_constants: bytes = b"",
    ) -> None:
        """Run `groups` threadgroups of a kernel; binding i of the kernel is `bindings[i]`.

        A grid with a zero runs nothing. A binding of zero bytes is legal; the kernel must not
        access it. Offsets are multiples of `Limits.binding_alignment`, the grid is within
        `Limits.max_grid`, and `push_constants` has the size that the kernel declares.
        """
        self._require_recording("dispatch")
        kernel, limits = pipeline.kernel, self.device.limits
        self._require_owner(pipeline.device)
        if len(bindings) != len(kernel.bindings):
            raise HalUsageError(
                f"kernel '{kernel.name}' has {len(kernel.bindings)} bindings, got {len(bindings)}"
            )
        if len(push_constants) != kernel.push_constant_size:
            raise HalUsageError(
                f"kernel '{kernel.name}' takes {kernel.push_constant_size} bytes of push "
                f"constants, got {len(push_constants)}"
            )
        for axis, count, most in zip("xyz", groups, limits.max_grid, strict=True):
            if not 0 <= count <= most:
                raise HalUsageError(
                    f"kernel '{kernel.name}' asks for {count} threadgroups in {axis}; this device "
                    f"runs 0 to {most}"
                )
        for position, part in enumerate(bindings):
            self._require_owner(part.buffer.device)
            if part.length and part.offset % limits.binding_alignment:
                raise HalUsageError(
                    f"binding {position} of kernel '{kernel.name}' starts at byte {part.offset}, "
                    f"which is not a multiple of the device's {limits.binding_alignment}"
                )
            if part.length > limits.max_binding_size:
                raise DeviceMemoryError(
                    f"binding {position} of kernel '{kernel.name}' has {part.length} bytes; "
                    f"'{self.device.name}' binds at most {limits.max_binding_size}"
                )
        if 0 in groups:
            return
        self._alive.append(pipeline)
        self._alive.extend(part.buffer for part in bindings)
        self._labels.append(kernel.name)
        self._dispatch(pipeline, groups, bindings, push_constants)

    def fill(self, target: BufferRange, pattern: bytes) -> None:
        """Fill `target` with a pattern of 1, 2 or 4 bytes, repeated from its first byte.

        Any offset and length; the last repetition may be cut off.
        """
        self._require_recording("fill")
        self._require_owner(target.buffer.device)
        if len(pattern) not in (1, 2, 4):
            raise HalUsageError(f"a fill pattern has 1, 2 or 4 bytes, not {len(pattern)}")
        if target.length:
            self._alive.append(target.buffer)
            self._labels.append("fill")
            self._fill(target, pattern)

    def copy(self, source: BufferRange, target: BufferRange) -> None:
        """Copy between ranges of equal length that do not overlap; any offset and length."""
        self._require_recording("copy")
        self._require_owner(source.buffer.device)
        self._require_owner(target.buffer.device)
        if source.length != target.length:
            raise HalUsageError(
                f"a copy of {source.length} bytes into a range of {target.length} bytes"
            )
        if source.overlaps(target):
            raise HalUsageError("source and target of a copy overlap")
        if source.length:
            self._alive += [source.buffer, target.buffer]
            self._labels.append("copy")
            self._copy(source, target)

    def barrier(self) -> None:
        """Every command before is finished, and its writes visible, before any command after."""
        self._require_recording("barrier")
        self._barrier()

    def timings(self) -> tuple[Timing, ...]:
        """When each recorded dispatch, fill and copy last ran; after the submission completed.

        Only for command buffers created with `profiling`; commands that had nothing to do (zero
        grids and lengths) are left out.
        """
        if not self.profiling or not self.recorded:
            raise HalUsageError("timings are kept only by recorded command buffers with profiling")
        return tuple(
            Timing(label, start, end)
            for label, (start, end) in zip(self._labels, self._timestamps(), strict=True)
        )

    @abstractmethod
    def _begin(self) -> None: ...

    @abstractmethod
    def _end(self) -> None: ...

    @abstractmethod
    def _dispatch(
        self,
        pipeline: Pipeline,
        groups: tuple[int, int, int],
        bindings: Sequence[BufferRange],
        push_constants: bytes,
    ) -> None:
        """Record a dispatch; no zero in `groups`, bindings may have zero bytes."""

    @abstractmethod
    def _fill(self, target: BufferRange, pattern: bytes) -> None:
        """Record a fill of at least one byte."""

    @abstractmethod
    def _copy(self, source: BufferRange, target: BufferRange) -> None:
        """Record a copy of at least one byte."""

    @abstractmethod
    def _barrier(self) -> None: ...

    @abstractmethod
    def _timestamps(self) -> Sequence[tuple[int, int]]:
        """(start, end) in nanoseconds of each command that was handed over, in order."""

    def _require_recording(self, what: str) -> None:
        if self._state != "recording":
            raise HalUsageError(f"{what} was called on a command buffer that is not being recorded")

    def _require_owner(self, owner: Device) -> None:
        if owner is not self.device:
            raise HalUsageError("a command buffer was given something of another device")


class Semaphore(ABC):
    """A timeline: a 64-bit value that only grows, signalled and waited for by host and queues.

    A semaphore may fail instead of growing: then every wait on it, also a pending one, raises the
    error that it failed with. The first failure wins.
    """

    def __init__(self, device: Device) -> None:
        self.device: Final = device

    @property
    @abstractmethod
    def value(self) -> int:
        """The value reached so far; raises the failure when there is one."""

    @abstractmethod
    def signal(self, value: int) -> None:
        """Set the value from the host; it must be greater than the present one."""

    @abstractmethod
    def fail(self, error: DeviceError) -> None:
        """Let this and every later wait raise `error`."""

    @abstractmethod
    def wait(self, value: int, timeout: float | None = None) -> None:
        """Block until the value is at least `value`; the GIL is released meanwhile.

        `timeout` in seconds, None for no limit, 0 to poll; raises `DeviceTimeoutError` when it
        passes, and the failure when the semaphore fails.
        """


SemaphoreValue = tuple[Semaphore, int]


class Queue(ABC):
    """Runs command buffers; may be used from several threads."""

    def __init__(self, device: Device) -> None:
        self.device: Final = device

    def submit(
        self,
        command_buffers: Sequence[CommandBuffer],
        wait: Sequence[SemaphoreValue] = (),
        signal: Sequence[SemaphoreValue] = (),
    ) -> None:
        """Start the command buffers once all `wait` values are reached, and return at once.

        When all of them are finished the semaphores of `signal` get their values; when one fails,
        or a semaphore of `wait` fails, they fail with that cause. A submission that the device
        does not accept raises `DeviceError` and fails the semaphores too.
        """
        for command_buffer in command_buffers:
            if command_buffer.device is not self.device or not command_buffer.recorded:
                raise HalUsageError("only recorded command buffers of this device can be submitted")
        if any(semaphore.device is not self.device for semaphore, _ in (*wait, *signal)):
            raise HalUsageError("a submission names a semaphore of another device")
        self._submit(command_buffers, wait, signal)

    @abstractmethod
    def _submit(
        self,
        command_buffers: Sequence[CommandBuffer],
        wait: Sequence[SemaphoreValue],
        signal: Sequence[SemaphoreValue],
    ) -> None: ...


class Device(ABC):
    """One device, open until `close`.

    Features are names that a bundle's variant may require: `storage8`, `storage16`, `float16`,
    `int8`, `int16`, `int64`, `subgroup-shuffle`, `cooperative-matrix` (docs/runtime.md has all);
    and abilities of the device itself: `timestamps` (profiling command buffers),
    `wrap-host-memory`.
    """

    name: str
    """What the driver calls it, for people."""
    api: str
    """Which variants it runs: `metal` (also the `host` device) or `vulkan`."""
    family: int
    """The highest `Variant.family` of its api that it satisfies."""
    simd_width: int
    """Threads in a SIMD-group."""
    features: frozenset[str]
    limits: Limits
    unified_memory: bool
    """Whether buffers in device memory are mappable."""
    queue: Queue

    def allocate(self, size: int, memory: Memory = Memory.DEVICE) -> Buffer:
        """Return a new buffer; raises `DeviceMemoryError` when there is no room."""
        if size < 0:
            raise HalUsageError(f"a buffer of {size} bytes")
        if size > self.limits.max_buffer_size:
            raise DeviceMemoryError(
                f"a buffer of {size} bytes; '{self.name}' has buffers of at most "
                f"{self.limits.max_buffer_size}"
            )
        return self._allocate(size, memory)

    def wrap_host_memory(self, data: memoryview) -> Buffer:
        """Return a buffer over the caller's writable memory without a copy.

        Only devices with the feature `wrap-host-memory` do it, and they may demand an alignment;
        `HalUsageError` says why not. The buffer keeps `data` alive.
        """
        raise HalUsageError(f"'{self.name}' cannot wrap host memory")

    def hold(self, data: memoryview) -> Buffer:
        """Return a buffer with bytes that nobody changes as long as it lives: constants.

        A device that works in the host's memory may use `data` in place.
        """
        buffer = self.allocate(data.nbytes)
        buffer.write(0, data)
        return buffer

    @abstractmethod
    def _allocate(self, size: int, memory: Memory) -> Buffer: ...

    @abstractmethod
    def load(
        self, kernels: Sequence[Kernel], math_mode: str, msl_version: tuple[int, int]
    ) -> Executable:
        """Make pipelines of a variant's kernels; `KernelError` names the kernel that does not load.

        `math_mode` is `safe`, `fast` or `strict`; `msl_version` is (0, 0) for Vulkan variants.
        """

    @abstractmethod
    def create_command_buffer(self, profiling: bool = False) -> CommandBuffer:
        """Return an empty command buffer; `profiling` needs the feature `timestamps`."""

    @abstractmethod
    def create_semaphore(self, value: int = 0) -> Semaphore: ...

    @abstractmethod
    def close(self) -> None:
        """Wait for all work and free the device; nothing made by it may be used afterwards."""

    def run_copy(self, source: BufferRange, target: BufferRange) -> None:
        """Copy on the device and wait for it."""
        commands = self.create_command_buffer()
        commands.begin()
        commands.copy(source, target)
        commands.end()
        done = self.create_semaphore()
        self.queue.submit([commands], signal=[(done, 1)])
        done.wait(1)
