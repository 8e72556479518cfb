"""Timeline semaphores and the queue of the host device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Final, cast

from ingot.runtime.devices.host.commands import HostCommandBuffer
from ingot.runtime.devices.ownership import finalize_at_home
from ingot.runtime.errors import DeviceError, DeviceTimeoutError, HalUsageError, IngotError
from ingot.runtime.hal import CommandBuffer, Device, Queue, Semaphore, SemaphoreValue


class HostSemaphore(Semaphore):
    """A value; `changed` is notified when it changes or the semaphore fails."""

    def __init__(self, device: Device, changed: Condition, value: int) -> None:
        super().__init__(device)
        self._changed = changed
        self._value = value
        self._failure: DeviceError | None = None

    @property
    def value(self) -> int:
        with self._changed:
            if self._failure is not None:
                raise self._failure
            return self._value

    def signal(self, value: int) -> None:
        with self._changed:
            if self._failure is not None:
                raise self._failure
            if value <= self._value:
                raise HalUsageError(f"a semaphore at {self._value} cannot be signalled to {value}")
            self._value = value
            self._changed.notify_all()

    def fail(self, error: DeviceError) -> None:
        with self._changed:
            self._failure = self._failure or error
            self._changed.notify_all()

    def wait(self, value: int, timeout: float | None = None) -> None:
        with self._changed:
            reached = self._changed.wait_for(lambda: self.is_settled(value), timeout)
            if self._failure is not None:
                raise self._failure
        if not reached:
            raise DeviceTimeoutError(
                f"'{self.device.name}' did not finish within {timeout:g} seconds"
            )

    def is_settled(self, value: int) -> bool:
        """Whether a wait for `value` is over; the condition is held."""
        return self._failure is not None or self._value >= value

    @property
    def failure(self) -> DeviceError | None:
        """Why the semaphore failed, if it did; the condition is held."""
        return self._failure


@dataclass(frozen=True)
class _Submission:
    commands: tuple[HostCommandBuffer, ...]
    wait: tuple[tuple[HostSemaphore, int], ...]
    signal: tuple[tuple[HostSemaphore, int], ...]

    def is_ready(self) -> bool:
        return all(semaphore.is_settled(value) for semaphore, value in self.wait)


class HostQueue(Queue):
    """One thread that runs submissions, one at a time, as soon as what they wait for is there."""

    def __init__(self, device: Device, changed: Condition) -> None:
        super().__init__(device)
        self._state: Final = _QueueState(changed)
        self._thread: Thread | None = None
        self._stop: Final = finalize_at_home(self, self._state.stop)

    def _submit(
        self,
        command_buffers: Sequence[CommandBuffer],
        wait: Sequence[SemaphoreValue],
        signal: Sequence[SemaphoreValue],
    ) -> None:
        submission = _Submission(
            tuple(cast(HostCommandBuffer, c) for c in command_buffers),
            tuple((cast(HostSemaphore, s), value) for s, value in wait),
            tuple((cast(HostSemaphore, s), value) for s, value in signal),
        )
        with self._state.changed:
            if self._state.stopping:
                raise HalUsageError("the host device was closed")
            self._state.pending.append(submission)
            if self._thread is None:
                # The thread knows the state only, so that a forgotten queue can be collected.
                self._thread = Thread(target=self._state.run, name="ingot-host", daemon=True)
                self._thread.start()
            self._state.changed.notify_all()

    def close(self) -> None:
        """Finish what can be finished and end the thread."""
        self._stop()
        if self._thread is not None:
            self._thread.join()


class _QueueState:
    def __init__(self, changed: Condition) -> None:
        self.changed: Final = changed
        self.pending: list[_Submission] = []
        self.stopping = False

    def stop(self) -> None:
        with self.changed:
            self.stopping = True
            self.changed.notify_all()

    def run(self) -> None:
        """The thread's work: until `stop`, and then until nothing that is ready is left."""
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.stopping or self._next() is not None)
                submission = self._next()
                if submission is None:
                    self._abandon()
                    return
                self.pending.remove(submission)
                failure = next((s.failure for s, _ in submission.wait if s.failure), None)
            if failure is None:
                failure = _execute(submission)
            for semaphore, value in submission.signal:
                if failure is not None:
                    semaphore.fail(failure)
                else:
                    try:
                        semaphore.signal(value)
                    except IngotError as error:  # of a semaphore that failed, the first one stays
                        semaphore.fail(DeviceError(str(error)))

    def _abandon(self) -> None:
        """Fail what still waits when the device is closed, so that nobody waits for it forever."""
        for submission in self.pending:
            for semaphore, _ in submission.signal:
                semaphore.fail(DeviceError("the host device was closed"))
        self.pending.clear()

    def _next(self) -> _Submission | None:
        return next((s for s in self.pending if s.is_ready()), None)


def _execute(submission: _Submission) -> DeviceError | None:
    try:
        for commands in submission.commands:
            commands.execute()
    except DeviceError as error:
        return error
    except Exception as error:  # whatever it is, those who wait must learn of it
        return DeviceError(f"the host device failed: {error}")
    return None
