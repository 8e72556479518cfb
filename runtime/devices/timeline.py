"""What native queues and timeline semaphores have no place for: failure, and work that must wait.

A native queue starts its work in the order in which it was submitted, so work that waits for the
host, or for work that is submitted later, would hold up everything behind it. A submission
therefore goes to the native queue only when every value that it waits for is promised: reached, or
to be signalled by work that the native queue has already. Until then it is held here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Final, Protocol

from ingot.runtime.errors import DeviceError, HalUsageError


class HasTimeline(Protocol):
    """A semaphore with a `Timeline` behind it."""

    @property
    def timeline(self) -> Timeline: ...

    @property
    def reached(self) -> int:
        """The native value, whether the semaphore failed or not."""
        ...

    def fail(self, error: DeviceError) -> None: ...


@dataclass(frozen=True, eq=False)
class Submission:
    """Work for a native queue; `start` hands it over, and raises what the device reports."""

    waits: Sequence[tuple[HasTimeline, int]]
    signals: Sequence[tuple[HasTimeline, int]]
    start: Callable[[], None]

    @property
    def is_ready(self) -> bool:
        """Whether it can be started, or has failed."""
        return self.failure is not None or all(
            semaphore.timeline.promised >= value for semaphore, value in self.waits
        )

    @property
    def failure(self) -> DeviceError | None:
        """The failure of a semaphore that it waits for."""
        failures = (semaphore.timeline.failure for semaphore, _ in self.waits)
        return next((failure for failure in failures if failure is not None), None)

    def fail(self, error: DeviceError) -> None:
        """Fail what it was to signal."""
        for semaphore, _ in self.signals:
            semaphore.fail(error)


class Backlog:
    """The submissions of one device that are not ready; `lock` guards all its timelines."""

    def __init__(self) -> None:
        self.lock: Final = RLock()
        self._held: list[Submission] = []
        self._closed = ""

    def submit(self, submission: Submission) -> None:
        """Start a submission now or later; raises what the device reports now."""
        with self.lock:
            if self._closed:
                raise HalUsageError(self._closed)
            if not submission.is_ready:
                self._held.append(submission)
                return
            self._start(submission)
            self.release()

    def release(self) -> None:
        """Start what is ready; called when a value was promised or a semaphore failed.

        What the device refuses is known to those who wait for the work, and not raised here.
        """
        with self.lock:
            while (ready := next((s for s in self._held if s.is_ready), None)) is not None:
                self._held.remove(ready)
                try:
                    self._start(ready)
                except DeviceError:
                    continue

    def close(self, sentence: str) -> None:
        """Fail everything that is held, and refuse all that comes, with `sentence`."""
        with self.lock:
            self._closed = sentence
            held, self._held = self._held, []
            for submission in held:
                submission.fail(DeviceError(sentence))

    def _start(self, submission: Submission) -> None:
        failure = submission.failure
        if failure is not None:
            submission.fail(failure)
            return
        try:
            submission.start()
        except DeviceError as error:
            submission.fail(error)
            raise
        signals = tuple(semaphore for semaphore, _ in submission.signals)
        for semaphore, value in submission.waits:
            semaphore.timeline.add_waiting(value, semaphore.reached, signals)
        for semaphore, value in submission.signals:
            semaphore.timeline.promise(value)


class Timeline:
    """The failure of one semaphore, the value promised, and the started work that waits for it."""

    def __init__(self, backlog: Backlog, value: int) -> None:
        self.lock: Final = backlog.lock
        self.failure: DeviceError | None = None
        self.promised = value
        """The greatest value that was reached or that started work will signal."""
        self._backlog: Final = backlog
        self._waiting: list[tuple[int, tuple[HasTimeline, ...]]] = []

    def raise_failure(self) -> None:
        """Raise the failure, if there is one."""
        if self.failure is not None:
            raise self.failure

    def promise(self, value: int) -> None:
        """Note that `value` is reached, or will be by work that was started; the lock is held."""
        self.promised = max(self.promised, value)

    def signalled(self, value: int) -> None:
        """Note that the host signalled `value`, and start what waited for it."""
        with self.lock:
            self.promise(value)
            self._backlog.release()

    def add_waiting(self, value: int, reached: int, signals: tuple[HasTimeline, ...]) -> None:
        """Remember that started work, which will signal `signals`, waits for `value`."""
        self._waiting = [entry for entry in self._waiting if entry[0] > reached]
        if value > reached:
            self._waiting.append((value, signals))

    def fail(self, error: DeviceError, reached: int) -> None:
        """Set the first failure and pass it on to work that waits for more than `reached`.

        Started work cannot be taken back: it runs when its values come, and nobody sees what it
        computes.
        """
        with self.lock:
            if self.failure is not None:
                return
            self.failure = error
            waiting, self._waiting = self._waiting, []
            for value, signals in waiting:
                if value > reached:
                    for semaphore in signals:
                        semaphore.fail(error)
            self._backlog.release()
