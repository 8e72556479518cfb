"""A device without kernels that checks what it is asked for, counts it, and can fail anywhere.

Commands run when they are submitted, in order; a kernel leaves a few bytes that a seed decides at
both ends of each range that it may write. What breaks the promise of the HAL to a device (an empty
range, a range outside of its buffer) is an `AssertionError`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from ingot.runtime.devices.vulkan.instance import FLAGS
from ingot.runtime.errors import DeviceError, DeviceMemoryError, HalUsageError
from ingot.runtime.hal import (
    Buffer,
    BufferRange,
    CommandBuffer,
    Device,
    Executable,
    Limits,
    Memory,
    Pipeline,
    Queue,
    Semaphore,
    SemaphoreValue,
)
from ingot.targets.bundle.model import Access, Kernel

_EVERY_FEATURE = frozenset(FLAGS) | {"timestamps"}


class CheckingDevice(Device):
    """`memory` bytes for buffers and `commands` commands, so that every program ends.

    `before` is called with a word for what is about to happen wherever a device may fail, and may
    raise.
    """

    def __init__(
        self,
        api: str,
        memory: int = 1 << 20,
        commands: int = 500,
        seed: int = 0,
        before: Callable[[str], None] = lambda what: None,
    ) -> None:
        self.name, self.api, self.family, self.simd_width = "checking", api, 2**32 - 1, 32
        self.features = _EVERY_FEATURE
        self.limits = Limits(1024, (1024,) * 3, (2**31,) * 3, 32768, 31, 2**62, 4096, 4)
        self.unified_memory = True
        self.before = before
        self.memory, self.commands, self.random = memory, commands, Random(seed)
        self.submissions = 0
        self.queue = _Queue(self)

    def _allocate(self, size: int, memory: Memory) -> Buffer:
        self.before("allocate")
        if size > self.memory:
            raise DeviceMemoryError("the device has not enough memory")
        self.memory -= size
        return _Buffer(self, size, memory)

    def load(
        self, kernels: Sequence[Kernel], math_mode: str, msl_version: tuple[int, int]
    ) -> Executable:
        del math_mode, msl_version
        self.before("load")
        return Executable(tuple(Pipeline(self, kernel) for kernel in kernels))

    def create_command_buffer(self, profiling: bool = False) -> CommandBuffer:
        self.before("create a command buffer")
        return _CommandBuffer(self, profiling)

    def create_semaphore(self, value: int = 0) -> Semaphore:
        self.before("create a semaphore")
        return _Semaphore(self, value)

    def close(self) -> None:
        pass

    def count(self, what: str) -> None:
        """One command more."""
        self.before(what)
        self.commands -= 1
        if self.commands < 0:
            raise DeviceError("the program has too many commands for this test")


class _Buffer(Buffer):
    def __init__(self, device: CheckingDevice, size: int, memory: Memory) -> None:
        super().__init__(device, size, memory)
        self.bytes = bytearray(size)
        self._view = memoryview(self.bytes)

    @property
    def view(self) -> memoryview:
        return self._view

    def release(self) -> None:
        pass


def _bytes_of(part: BufferRange) -> memoryview:
    assert isinstance(part.buffer, _Buffer)
    assert 0 <= part.offset <= part.offset + part.length <= len(part.buffer.bytes)
    return part.buffer.view[part.offset : part.offset + part.length]


class _CommandBuffer(CommandBuffer):
    device: CheckingDevice  # pyright: ignore[reportIncompatibleVariableOverride]

    def _begin(self) -> None:
        self.commands: list[Callable[[], None]] = []

    def _end(self) -> None:
        self.device.before("end")

    def _append(self, what: str, command: Callable[[], None]) -> None:
        self.device.count(what)
        self.commands.append(command)

    def _dispatch(
        self,
        pipeline: Pipeline,
        groups: tuple[int, int, int],
        bindings: Sequence[BufferRange],
        push_constants: bytes,
    ) -> None:
        kernel = pipeline.kernel
        assert all(groups) and len(push_constants) == kernel.push_constant_size
        written = [
            _bytes_of(part)
            for part, declared in zip(bindings, kernel.bindings, strict=True)
            if declared.access is not Access.READ and part.length
        ]

        def run() -> None:
            for data in written:
                data[0], data[-1] = self.device.random.randrange(3), self.device.random.randrange(3)

        self._append("dispatch", run)

    def _dispatch_indirect(
        self,
        pipeline: Pipeline,
        parameters: BufferRange,
        bindings: Sequence[BufferRange],
        push_constants: bytes,
    ) -> None:
        raise AssertionError("no bundle has indirect dispatches")

    def _fill(self, target: BufferRange, pattern: bytes) -> None:
        data = _bytes_of(target)
        assert data.nbytes and len(pattern) in (1, 2, 4)

        def run() -> None:
            data[:] = (pattern * (data.nbytes // len(pattern) + 1))[: data.nbytes]

        self._append("fill", run)

    def _copy(self, source: BufferRange, target: BufferRange) -> None:
        data, written = _bytes_of(source), _bytes_of(target)
        assert data.nbytes == written.nbytes > 0

        def run() -> None:
            written[:] = bytes(data)

        self._append("copy", run)

    def _update(self, target: BufferRange, data: bytes) -> None:
        written = _bytes_of(target)

        def run() -> None:
            written[:] = data

        self._append("update", run)

    def _barrier(self) -> None:
        self.device.count("barrier")

    def _timestamps(self) -> Sequence[tuple[int, int]]:
        return [(0, 0)] * len(self.commands)


class _Semaphore(Semaphore):
    def __init__(self, device: CheckingDevice, value: int) -> None:
        super().__init__(device)
        self._value = value
        self._failure: DeviceError | None = None

    @property
    def value(self) -> int:
        if self._failure is not None:
            raise self._failure
        return self._value

    def signal(self, value: int) -> None:
        if value <= self.value:
            raise HalUsageError("a semaphore only grows")
        self._value = value

    def fail(self, error: DeviceError) -> None:
        self._failure = self._failure or error

    def wait(self, value: int, timeout: float | None = None) -> None:
        del timeout
        assert self.value >= value, "a wait that would never end"


class _Queue(Queue):
    device: CheckingDevice  # pyright: ignore[reportIncompatibleVariableOverride]

    def _submit(
        self,
        command_buffers: Sequence[CommandBuffer],
        wait: Sequence[SemaphoreValue],
        signal: Sequence[SemaphoreValue],
    ) -> None:
        try:
            self.device.count("submit")
            self.device.submissions += 1
            for semaphore, value in wait:
                semaphore.wait(value)
            for commands in command_buffers:
                assert isinstance(commands, _CommandBuffer)
                for run in commands.commands:
                    self.device.count("run")
                    run()
        except DeviceError as error:
            for semaphore, _ in signal:
                semaphore.fail(error)
            return
        for semaphore, value in signal:
            semaphore.signal(value)
