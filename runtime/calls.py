"""Recorded calls: buffers for the arguments and results of a function, and the steps on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Final

from ingot.runtime.arguments import Transfer, check_arguments
from ingot.runtime.dtypes import Array
from ingot.runtime.execution import Execution, Step
from ingot.runtime.hal import Timing
from ingot.targets.bundle.model import Function

Result = Array | tuple[Array, ...] | None
"""What a call returns: one array, a tuple when there are several, None when there is none."""


@dataclass(frozen=True)
class RecordedCall:
    """One function's buffers and what was recorded of it."""

    execution: Execution
    steps: Sequence[Step]
    arguments: Sequence[Transfer]
    results: Sequence[Transfer]
    has_open_sizes: bool

    def run(self, arguments: Sequence[Array]) -> Result:
        """Copy in, run, copy out; the steps hold the copies between host and device."""
        for transfer, array in zip(self.arguments, arguments, strict=True):
            transfer.store(array)
        self.execution.run(self.steps)
        return as_result([transfer.fetch() for transfer in self.results])


class Turns:
    """The turns of calls that share buffers."""

    def __init__(self) -> None:
        self.lock: Final = Lock()
        self._last: Execution | None = None

    def start(self, execution: Execution) -> None:
        """Let the call before end; the caller holds the lock.

        A call that was interrupted while it waited may still use the shared buffers.
        """
        if self._last is not None:
            self._last.finish()
        self._last = execution


class PreparedCall:
    """A call whose arguments and results stay on the device, where one run is one submission.

    Made by `Program.prepare`; several of them, and calls of the program, take turns.
    """

    def __init__(self, function: Function, call: RecordedCall, turns: Turns) -> None:
        self._function: Final = function
        self._call: Final = call
        self._turns: Final = turns

    def run(self) -> None:
        """Run once with the arguments that are on the device, and wait; raises `DeviceError`."""
        execution = self._call.execution
        with self._turns.lock:
            self._turns.start(execution)
            execution.run(self._call.steps)

    def write(self, *arguments: Array) -> None:
        """Replace the arguments; raises `ArgumentError` unless they have the same shapes."""
        check_arguments(self._function, arguments)
        with self._turns.lock:
            self._turns.start(self._call.execution)
            for transfer, array in zip(self._call.arguments, arguments, strict=True):
                transfer.upload(array)

    def results(self) -> Result:
        """Copies of what the last run left."""
        with self._turns.lock:
            self._turns.start(self._call.execution)
            return as_result([transfer.download() for transfer in self._call.results])

    @property
    def timings(self) -> tuple[Timing, ...]:
        """When each command of the last run ran, where the call was prepared with `profiling`."""
        return tuple(self._call.execution.timings)


def as_result(arrays: Sequence[Array]) -> Result:
    """What a call returns for the arrays of its results."""
    match arrays:
        case []:
            return None
        case [one]:
            return one
        case _:
            return tuple(arrays)


def as_list(result: Result) -> list[Array]:
    """The results of a call, however many."""
    if result is None:
        return []
    return list(result) if isinstance(result, tuple) else [result]
