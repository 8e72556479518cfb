"""The workers of a dask cluster: any of them builds, and those that own a device measure.

    dask scheduler
    dask worker tcp://scheduler:8786 --nthreads 1 --resources "device=1"    # for each device
    dask worker tcp://scheduler:8786 --nworkers 4 --nthreads 1              # only to build

The resource keeps a device to one measurement at a time. A worker measures on the device that its
environment variable INGOT_TUNE_DEVICE names, or else on the one that the search was asked for, in a
process of its own: a candidate that takes that down does not take the worker along. What was given
to a worker that is lost is given to another one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from queue import Empty, SimpleQueue
from typing import Any, cast

from ingot.tuning.measure import Code, DeviceDescription, Outcome, Task, build, describe, measure
from ingot.tuning.process import WorkerDied, WorkerProcess
from ingot.tuning.report import TuningError

RESOURCE = "device"
DEVICE_VARIABLE = "INGOT_TUNE_DEVICE"
_CONNECT_SECONDS = 15
_RETRIES = 3
"""How often a task is given to another worker."""
_AHEAD = 2
"""Tasks for each device: one is built while another one is measured."""
_PATIENCE = 30
"""Seconds without any worker that owns a device after which the search ends."""


class ClusterWorkers:
    """The workers that a scheduler knows."""

    def __init__(self, address: str, seconds: float) -> None:
        """Connect. A measurement may take so many seconds beside those that it is asked for.

        Raises `TuningError` where dask is missing, or the scheduler.
        """
        try:
            from distributed import Client
        except ImportError:
            raise TuningError(
                "--scheduler needs dask: pip install 'ingot-compiler[tune]'"
            ) from None
        try:
            # dask has no types.
            self._client: Any = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise TuningError(f"no dask scheduler at {address}: {error}") from None
        self._seconds = seconds
        self._done: SimpleQueue[Any] = SimpleQueue()
        self._tasks: dict[str, Task] = {}

    @property
    def width(self) -> int:
        return max(1, _AHEAD * self._devices())

    def describe(self, device: str) -> DeviceDescription:
        self._require_devices()
        self._submit_for_device(_describe, device, self._seconds)
        return self._result(self._next_done())

    def submit(self, task: Task) -> None:
        code = self._client.submit(build, task, pure=False, retries=_RETRIES)
        future = self._submit_for_device(_measure, task, code, self._seconds)
        self._tasks[future.key] = task

    def next_outcome(self) -> tuple[Task, Outcome]:
        future = self._next_done()
        task = self._tasks.pop(future.key)
        try:
            return task, self._result(future)
        except WorkerDied as error:
            return task, Outcome.failed(task, str(error))

    def close(self) -> None:
        self._client.close()

    def _submit_for_device(self, function: Any, *arguments: Any) -> Any:
        future = self._client.submit(
            function, *arguments, pure=False, retries=_RETRIES, resources={RESOURCE: 1}
        )
        future.add_done_callback(self._done.put)
        return future

    def _result(self, future: Any) -> Any:
        from distributed import KilledWorker

        try:
            return future.result()
        except KilledWorker:
            raise WorkerDied(f"it took {_RETRIES} workers down") from None

    def _next_done(self) -> Any:
        """A future that is done; raises `TuningError` when nobody is left to do one."""
        lonely = 0
        while lonely < _PATIENCE:
            try:
                return self._done.get(timeout=1)
            except Empty:
                lonely = 0 if self._devices() else lonely + 1
        raise TuningError("all workers of the dask scheduler that own a device are gone")

    def _devices(self) -> int:
        """How many workers own a device."""
        info = cast("dict[str, Any]", self._client.scheduler_info(n_workers=-1))
        workers = cast("dict[str, dict[str, Any]]", info["workers"])
        return sum(bool(worker["resources"].get(RESOURCE)) for worker in workers.values())

    def _require_devices(self) -> None:
        if not self._devices():
            raise TuningError(
                "no worker of the dask scheduler owns a device: start one with"
                f' `dask worker ADDRESS --nthreads 1 --resources "{RESOURCE}=1"`'
            )


# In the process of a dask worker


@cache
def _process() -> WorkerProcess:
    """The process that owns the worker's device."""
    return WorkerProcess()


def _describe(device: str, seconds: float) -> DeviceDescription:
    own = os.environ.get(DEVICE_VARIABLE, device)
    return _process().call(describe, own, seconds=seconds)


def _measure(task: Task, codes: Sequence[Code], seconds: float) -> Outcome:
    own = os.environ.get(DEVICE_VARIABLE, task.device)
    try:
        return _process().call(measure, task.on(own), codes, seconds=seconds + task.seconds)
    except WorkerDied as error:
        return Outcome.failed(task, str(error))
