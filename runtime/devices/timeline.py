"""What a native timeline semaphore has no place for: failure, and who has to hear of it."""

from __future__ import annotations

from collections.abc import Sequence
from threading import RLock
from typing import Final, Protocol

from ingot.runtime.errors import DeviceError
from ingot.runtime.hal import Semaphore


class Timeline:
    """The failure of one semaphore, the values that queues will signal, the work that waits.

    Work that was submitted with a wait on a semaphore cannot be taken back from the device. When
    the semaphore fails, what the work was to signal fails with the same cause, and the native
    semaphore is moved on so that the device lets go of the work; what it computes is never seen.
    """

    def __init__(self) -> None:
        self.lock: Final = RLock()
        self.failure: DeviceError | None = None
        self._expected = 0
        self._waiting: list[tuple[int, tuple[Semaphore, ...]]] = []

    def raise_failure(self) -> None:
        """Raise the failure, if there is one."""
        if self.failure is not None:
            raise self.failure

    def expect(self, value: int) -> None:
        """Remember that submitted work will signal `value`."""
        with self.lock:
            self._expected = max(self._expected, value)

    def add_waiting(self, value: int, present: int, signals: Sequence[Semaphore]) -> None:
        """Remember that work which will signal `signals` waits for `value`."""
        self._waiting = [entry for entry in self._waiting if entry[0] > present]
        if value > present:
            self._waiting.append((value, tuple(signals)))

    def fail(self, error: DeviceError, present: int) -> int | None:
        """Set the first failure and pass it on; `present` is the value reached.

        Returns the value to signal natively so that waiting work ends, None where there is none or
        where submitted work will signal it.
        """
        with self.lock:
            if self.failure is not None:
                return None
            self.failure = error
            waiting = [entry for entry in self._waiting if entry[0] > present]
            self._waiting = []
            expected = self._expected
        for _, signals in waiting:
            for semaphore in signals:
                semaphore.fail(error)
        if not waiting or expected > present:
            return None
        return max(value for value, _ in waiting)


class HasTimeline(Protocol):
    """A semaphore with a `Timeline` behind it."""

    @property
    def timeline(self) -> Timeline: ...

    @property
    def value(self) -> int: ...


def wait_or_fail(waits: Sequence[tuple[HasTimeline, int]], signals: Sequence[Semaphore]) -> bool:
    """Before a submission: note that it waits, or fail what it signals when a wait has failed.

    Returns whether to submit.
    """
    for semaphore, value in waits:
        timeline = semaphore.timeline
        with timeline.lock:
            failure = timeline.failure
            if failure is None:
                timeline.add_waiting(value, semaphore.value, signals)
        if failure is not None:
            for signal in signals:
                signal.fail(failure)
            return False
    return True
