"""Command buffers of the host device: a list of calls, made one after the other."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from struct import unpack
from time import perf_counter_ns
from typing import Final, Protocol, cast

import numpy as np

from ingot.runtime.devices.host.binding import Binding
from ingot.runtime.devices.host.kernel import DEFAULT_SCHEDULE, Schedule
from ingot.runtime.devices.host.memory import GuardedMemory
from ingot.runtime.errors import KernelError
from ingot.runtime.hal import Buffer, BufferRange, CommandBuffer, Device, Memory, Pipeline
from ingot.targets.bundle.model import Access, Kernel

_ALIGNMENT = 16
"""Enough for every type of MSL."""
_UNDEFINED = 0xFF
"""Fills new buffers: what reads them before they are written gets NaN or -1."""


@dataclass
class Execution:
    """How a device runs kernels; may be changed between submissions."""

    schedule: Schedule = DEFAULT_SCHEDULE
    """The order in which threads run."""
    guard: bool = True
    """Whether buffers are copied next to inaccessible memory, so that every access past a binding
    is caught, and not only one past a whole buffer."""


class HostBuffer(Buffer):
    """Memory of this process, between guard pages when the device allocated it."""

    def __init__(self, device: Device, size: int, memory: Memory) -> None:
        super().__init__(device, size, memory)
        # As fine an alignment as the size has, so that the data end exactly at the guard.
        guarded = GuardedMemory(size, min(size & -size, _ALIGNMENT) or 1)
        ctypes.memset(guarded.address, _UNDEFINED, size)
        self.guarded: GuardedMemory | None = guarded
        self.address: Final[int] = guarded.address
        self._view: memoryview | None = guarded.view

    @property
    def view(self) -> memoryview | None:
        return self._view

    def release(self) -> None:
        if self.guarded is not None:
            self._view = None
            self.guarded.release()
            self.guarded = None


class WrappedBuffer(Buffer):
    """The caller's memory; of a constant, kernels read it where it is, guarded or not."""

    def __init__(self, device: Device, data: memoryview, is_constant: bool = False) -> None:
        super().__init__(device, data.nbytes, Memory.HOST)
        self.guarded: Final = None
        self.is_constant: Final = is_constant
        self._view: Final = data.cast("B")
        # ctypes takes no address of memory that is only read.
        self.address: Final[int] = np.frombuffer(self._view, np.uint8).ctypes.data

    @property
    def view(self) -> memoryview | None:
        return self._view

    def release(self) -> None:
        pass


class Runnable(Protocol):
    """A compiled kernel, in this process or in another one; `HostKernel.run` says what it does."""

    def run(
        self,
        buffers: Sequence[Binding],
        groups: tuple[int, int, int],
        threadgroup_size: tuple[int, int, int],
        *,
        push_constants: bytes = b"",
        argument_buffer: bool = False,
        schedule: Schedule = DEFAULT_SCHEDULE,
        guard: bool = True,
    ) -> None: ...


class HostPipeline(Pipeline):
    """A kernel and its compiled form."""

    def __init__(self, device: Device, kernel: Kernel, host_kernel: Runnable) -> None:
        super().__init__(device, kernel)
        self.host_kernel: Final = host_kernel


@dataclass
class _Command:
    run: Callable[[], None]
    start: int = 0
    end: int = 0


class HostCommandBuffer(CommandBuffer):
    """Commands run in the order in which they were recorded, so barriers have nothing to do."""

    def __init__(self, device: Device, execution: Execution, profiling: bool) -> None:
        super().__init__(device, profiling)
        self._execution: Final = execution
        self._commands: list[_Command] = []

    def execute(self) -> None:
        """Run all commands; raises `DeviceError` at the first that fails."""
        for command in self._commands:
            command.start = perf_counter_ns()
            command.run()
            command.end = perf_counter_ns()

    def _begin(self) -> None:
        self._commands = []

    def _end(self) -> None:
        pass

    def _dispatch(
        self,
        pipeline: Pipeline,
        groups: tuple[int, int, int],
        bindings: Sequence[BufferRange],
        push_constants: bytes,
    ) -> None:
        self._append_dispatch(pipeline, lambda: groups, bindings, push_constants)

    def _dispatch_indirect(
        self,
        pipeline: Pipeline,
        parameters: BufferRange,
        bindings: Sequence[BufferRange],
        push_constants: bytes,
    ) -> None:
        address, most = _address(parameters), self.device.limits.max_grid

        def groups() -> tuple[int, int, int]:
            x, y, z = unpack("<3I", ctypes.string_at(address, parameters.length))
            if x > most[0] or y > most[1] or z > most[2]:
                raise KernelError(
                    f"kernel '{pipeline.kernel.name}' was dispatched indirectly with a grid of "
                    f"{x} x {y} x {z}; '{self.device.name}' runs at most "
                    f"{most[0]} x {most[1]} x {most[2]}"
                )
            return x, y, z

        self._append_dispatch(pipeline, groups, bindings, push_constants)

    def _append_dispatch(
        self,
        pipeline: Pipeline,
        groups: Callable[[], tuple[int, int, int]],
        bindings: Sequence[BufferRange],
        push_constants: bytes,
    ) -> None:
        kernel, execution = pipeline.kernel, self._execution
        host_kernel = cast(HostPipeline, pipeline).host_kernel
        bound = [
            _binding(part, declared.name, declared.access)
            for part, declared in zip(bindings, kernel.bindings, strict=True)
        ]

        def run() -> None:
            try:
                host_kernel.run(
                    bound,
                    groups(),
                    kernel.threadgroup_size,
                    push_constants=push_constants,
                    argument_buffer=kernel.argument_buffer,
                    schedule=execution.schedule,
                    guard=execution.guard,
                )
            except KernelError as error:
                if kernel.location:
                    error.args = (f"{error} (from {kernel.location})",)
                raise

        self._commands.append(_Command(run))

    def _fill(self, target: BufferRange, pattern: bytes) -> None:
        address = _address(target)
        repeated = pattern * (target.length // len(pattern) + 1)

        def run() -> None:
            ctypes.memmove(address, repeated, target.length)

        def run_byte() -> None:
            ctypes.memset(address, pattern[0], target.length)

        uniform = len(set(pattern)) == 1
        self._commands.append(_Command(run_byte if uniform else run))

    def _copy(self, source: BufferRange, target: BufferRange) -> None:
        to, start, length = _address(target), _address(source), target.length
        self._commands.append(_Command(lambda: _move(to, start, length)))

    def _update(self, target: BufferRange, data: bytes) -> None:
        address = _address(target)

        def run() -> None:
            ctypes.memmove(address, data, len(data))

        self._commands.append(_Command(run))

    def _barrier(self) -> None:
        pass

    def _timestamps(self) -> Sequence[tuple[int, int]]:
        return [(command.start, command.end) for command in self._commands]


def _move(target: int, source: int, length: int) -> None:
    ctypes.memmove(target, source, length)


def _address(part: BufferRange) -> int:
    return cast(HostBuffer | WrappedBuffer, part.buffer).address + part.offset


def _binding(part: BufferRange, name: str, access: Access) -> Binding:
    buffer = cast(HostBuffer | WrappedBuffer, part.buffer)
    whole = part.offset == 0 and part.length == buffer.size
    return Binding(
        name,
        _address(part),
        part.length,
        writable=access is not Access.READ,
        in_place=isinstance(buffer, WrappedBuffer) and buffer.is_constant,
        memory=buffer.guarded if whole else None,
    )
