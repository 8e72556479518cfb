"""Who builds and measures: tasks go in, and outcomes come out in whatever order they are done."""

from __future__ import annotations

from collections import deque
from typing import Protocol

from ingot.tuning.measure import DeviceDescription, Outcome, Task, describe, run_task
from ingot.tuning.process import WorkerDied, WorkerProcess


class Workers(Protocol):
    """Where tasks are run.

    A candidate that takes its process down, or never ends, is an outcome like another.
    """

    @property
    def width(self) -> int:
        """How many tasks keep all devices busy."""
        ...

    def describe(self, device: str) -> DeviceDescription:
        """What the device is; raises what opening it raises, `WorkerDied` where that kills."""
        ...

    def submit(self, task: Task) -> None:
        """Take a task."""
        ...

    def next_outcome(self) -> tuple[Task, Outcome]:
        """What became of one of the tasks that were taken; waits for it."""
        ...

    def close(self) -> None:
        """Let go of processes and connections."""
        ...


class LocalWorkers:
    """One process of this machine, which builds and measures by turns, so that one does not disturb
    the other."""

    width = 1

    def __init__(self, seconds: float) -> None:
        """A task may take so many seconds beside those that it is to measure for."""
        self._seconds = seconds
        self._process = WorkerProcess()
        self._waiting: deque[Task] = deque()

    def describe(self, device: str) -> DeviceDescription:
        return self._process.call(describe, device, seconds=self._seconds)

    def submit(self, task: Task) -> None:
        self._waiting.append(task)

    def next_outcome(self) -> tuple[Task, Outcome]:
        task = self._waiting.popleft()
        try:
            outcome = self._process.call(run_task, task, seconds=self._seconds + task.seconds)
        except WorkerDied as error:
            outcome = Outcome.failed(task, str(error))
        return task, outcome

    def close(self) -> None:
        self._process.stop()
