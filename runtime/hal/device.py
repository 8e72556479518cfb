"""Devices: what they are, what they can do at most, and what they make."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ingot.runtime.errors import DeviceMemoryError, HalUsageError
from ingot.runtime.hal.buffers import Buffer, BufferRange, Memory
from ingot.runtime.hal.commands import CommandBuffer
from ingot.runtime.hal.executables import Executable
from ingot.runtime.hal.queues import Queue, Semaphore

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


class Device(ABC):
    """One device, open until `close`.

    Features are names that a bundle's variant may require: `storage8`, `storage16`, `float16`,
    `int8`, `int16`, `int64`, `subgroup-shuffle`, `cooperative-matrix` (docs/runtime.md has all);
    and abilities of the device itself: `timestamps` (profiling command buffers),
    `wrap-host-memory`, `capture`.
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
        self.queue.require_home()
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

    def capture(self, path: Path) -> AbstractContextManager[None]:
        """Record all work that is submitted inside of a `with`, for the maker's debugger.

        Only devices with the feature `capture` do it: `metal` writes a document `.gputrace`, which
        Xcode opens. The work must be finished before the end. Raises `DeviceError` when it cannot,
        `HalUsageError` on other devices.
        """
        raise HalUsageError(f"'{self.name}' cannot capture what it runs: only Metal devices do")

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
