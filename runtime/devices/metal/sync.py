"""Semaphores on shared events, and the queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from time import monotonic
from typing import Any, Final, cast

from ingot.runtime.devices.metal.capture import capture
from ingot.runtime.devices.metal.commands import MetalCommandBuffer
from ingot.runtime.devices.metal.encoders import Recording
from ingot.runtime.devices.metal.native import STATUS_ERROR, autorelease_pool, failure_of
from ingot.runtime.devices.timeline import Backlog, Submission, Timeline
from ingot.runtime.errors import DeviceError, DeviceTimeoutError, HalUsageError
from ingot.runtime.hal import CommandBuffer, Device, Queue, Semaphore, SemaphoreValue

_SLICE_MS: Final = 50
"""Milliseconds after which a wait looks for a failure."""


class MetalSemaphore(Semaphore):
    """An `MTLSharedEvent`, and the command buffers that will signal it."""

    def __init__(self, device: Device, mtl_device: Any, backlog: Backlog, value: int) -> None:
        super().__init__(device)
        self.event: Final[Any] = mtl_device.newSharedEvent()
        self.event.setSignaledValue_(value)
        self.timeline: Final = Timeline(backlog, value)
        self._pending: list[tuple[int, Any]] = []

    @property
    def value(self) -> int:
        reached = self.reached
        self._settle(reached)
        return reached

    @property
    def reached(self) -> int:
        """The event's value."""
        return int(self.event.signaledValue())

    def signal(self, value: int) -> None:
        with self.timeline.lock:
            self.timeline.raise_failure()
            present = self.reached
            if value <= present:
                raise HalUsageError(f"a semaphore at {present} cannot be signalled to {value}")
            self.event.setSignaledValue_(value)
            self.timeline.signalled(value)

    def fail(self, error: DeviceError) -> None:
        self.timeline.fail(error, self.reached)

    def fail_on_device(self, buffer: Any) -> None:
        """Fail with the error of a command buffer that was to signal this.

        Metal may not signal the event then, so that whatever waits for it on the device is let go.
        """
        with self.timeline.lock:
            with autorelease_pool():
                self.fail(failure_of(buffer.error()))
            if self.reached < self.timeline.promised:
                self.event.setSignaledValue_(self.timeline.promised)

    def expect(self, value: int, buffer: Any) -> None:
        """Remember that an `MTLCommandBuffer` will signal `value`; the lock is held."""
        self._pending.append((value, buffer))

    def wait(self, value: int, timeout: float | None = None) -> None:
        end = None if timeout is None else monotonic() + timeout
        while True:
            left = _SLICE_MS
            if end is not None:
                left = min(_SLICE_MS, max(0, int((end - monotonic()) * 1000)))
            reached = self.event.waitUntilSignaledValue_timeoutMS_(value, left)
            self._settle(value if reached else 0)
            if reached:
                return
            if end is not None and monotonic() >= end:
                raise DeviceTimeoutError(
                    f"'{self.device.name}' did not finish within {timeout:g} seconds"
                )

    def _settle(self, reached: int) -> None:
        """Raise the failure, also that of a command buffer which was to signal at most `reached`.

        The event may be signalled before the command buffer has its final status, so those are
        waited for.
        """
        with self.timeline.lock:
            done = [buffer for value, buffer in self._pending if value <= reached]
            running = [(value, buffer) for value, buffer in self._pending if value > reached]
            self._pending = running
        for buffer in done:
            buffer.waitUntilCompleted()
        for buffer in (*done, *(buffer for _, buffer in running)):
            if buffer.status() == STATUS_ERROR:
                self.fail_on_device(buffer)
        self.timeline.raise_failure()


class MetalQueue(Queue):
    """An `MTLCommandQueue`."""

    def __init__(self, device: Device, mtl_device: Any, backlog: Backlog) -> None:
        super().__init__(device)
        self._backlog: Final = backlog
        self._mtl_device: Final = mtl_device
        self._mtl_queue: Final = mtl_device.newCommandQueue()
        self._last: Any = None

    def _submit(
        self,
        command_buffers: Sequence[CommandBuffer],
        wait: Sequence[SemaphoreValue],
        signal: Sequence[SemaphoreValue],
    ) -> None:
        waits = cast("Sequence[tuple[MetalSemaphore, int]]", wait)
        signals = cast("Sequence[tuple[MetalSemaphore, int]]", signal)
        buffers = cast("Sequence[MetalCommandBuffer]", command_buffers)
        self._backlog.submit(
            Submission(waits, signals, lambda: self._start(buffers, waits, signals))
        )

    def _start(
        self,
        command_buffers: Sequence[MetalCommandBuffer],
        waits: Sequence[tuple[MetalSemaphore, int]],
        signals: Sequence[tuple[MetalSemaphore, int]],
    ) -> None:
        """Encode and commit; the backlog's lock is held."""

        def completed(done: Any) -> None:
            _report(done, signals, command_buffers)

        def commit(buffer: Any) -> None:
            for semaphore, value in signals:
                semaphore.expect(value, buffer)
            buffer.addCompletedHandler_(completed)
            self._last = buffer
            buffer.commit()

        with autorelease_pool():
            self._encode(command_buffers, waits, signals, commit)

    def _encode(
        self,
        command_buffers: Sequence[MetalCommandBuffer],
        waits: Sequence[tuple[MetalSemaphore, int]],
        signals: Sequence[tuple[MetalSemaphore, int]],
        commit: Callable[[Any], None],
    ) -> None:
        recording = Recording(self._mtl_device, self._mtl_queue, self.device.name, commit)
        for semaphore, value in waits:
            recording.buffer.encodeWaitForEvent_value_(semaphore.event, value)
        for commands in command_buffers:
            commands.encode(recording)
        recording.encoder.close()
        for semaphore, value in signals:
            recording.buffer.encodeSignalEvent_value_(semaphore.event, value)
        commit(recording.buffer)

    def capture(self, path: Path) -> AbstractContextManager[None]:
        """Capture what is submitted inside of a `with` into a document."""
        return capture(self._mtl_queue, path)

    def finish(self) -> None:
        """Wait for the last submission, and so for all: a queue runs them in order."""
        if self._last is not None:
            self._last.waitUntilCompleted()


def _report(
    done: Any, signals: Sequence[tuple[MetalSemaphore, int]], kept: Sequence[MetalCommandBuffer]
) -> None:
    """Fail what a command buffer was to signal; called by Metal when it is completed.

    Until then Metal holds this call, and so keeps what it ran, and the device, alive.
    """
    del kept
    if done.status() == STATUS_ERROR:
        for semaphore, _ in signals:
            semaphore.fail_on_device(done)
