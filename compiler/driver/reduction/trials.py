"""Asking whether a program is interesting: each trial is a process of its own.

A trial may crash, hang or take a device down with it; the search must outlive that.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Judge = Callable[[str], str | None]
"""What is wrong with a program, given as text, in words that stay the same while it shrinks; None
when nothing is. Runs in another process."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class _Running:
    process: Any
    receiver: Connection[Any, Any]

    def result(self, seconds: float) -> str | None:
        """What the judge says; a process that a signal killed is a finding, a slow one is not."""
        if not self.receiver.poll(seconds):
            self.stop()
            return None
        try:
            answer: str | None = self.receiver.recv()
        except EOFError:
            self.process.join()
            code: int = self.process.exitcode
            answer = f"killed by signal {-code}" if code < 0 else None
        self.process.join()
        self.receiver.close()
        return answer

    def stop(self) -> None:
        """End the process and those that it started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        self.receiver.close()


class Trials:
    """Runs a judge on programs, `jobs` at once, and counts how often."""

    def __init__(
        self, judge: Judge, jobs: int = 1, seconds: float = 60.0, unregistered: bool = False
    ) -> None:
        """`seconds` is the longest that a trial may take; `unregistered` ops may be allowed."""
        self.count = 0
        self.wanted: str | None = None
        """What a program must show to be interesting."""
        self._judge = judge
        self._jobs = max(jobs, 1)
        self._seconds = seconds
        self._unregistered = unregistered
        # Objective-C does not survive a fork without exec.
        can_fork = hasattr(os, "fork") and sys.platform != "darwin"
        self._context: Any = get_context("fork" if can_fork else "spawn")

    def ask(self, text: str) -> str | None:
        """What the judge says about one program."""
        return self._start(text).result(self._seconds)

    def judged(
        self, items: Iterator[Item], text_of: Callable[[Item], str]
    ) -> Iterator[tuple[Item, bool]]:
        """Each item, in order, and whether it is interesting; later ones are begun meanwhile.

        Closing the iterator ends the trials that were begun in vain.
        """
        running: deque[tuple[Item, _Running]] = deque()
        try:
            while True:
                while len(running) < self._jobs and (item := next(items, None)) is not None:
                    running.append((item, self._start(text_of(item))))
                if not running:
                    return
                item, trial = running.popleft()
                answer = trial.result(self._seconds)
                yield item, answer is not None and answer == self.wanted
        finally:
            for _, trial in running:
                trial.stop()

    def _start(self, text: str) -> _Running:
        self.count += 1
        receiver, sender = self._context.Pipe(duplex=False)
        process = self._context.Process(
            target=_trial, args=(self._judge, text, self._unregistered, sender), daemon=False
        )
        process.start()
        sender.close()
        return _Running(process, receiver)


def _trial(judge: Judge, text: str, unregistered: bool, sender: Connection[Any, Any]) -> None:
    """In the process of a trial: a program that cannot be read is never interesting."""
    if hasattr(os, "setsid"):
        os.setsid()
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    sender.send(judge(text) if _is_valid(text, unregistered) else None)
    sender.close()
    # Drivers and Python's own clean-up may hang or crash now, and the answer is known.
    os._exit(0)


def _is_valid(text: str, unregistered: bool) -> bool:
    from ingot.compiler.driver.reading import read_valid

    try:
        read_valid(text, "candidate.mlir", unregistered)
    except Exception:
        return False
    return True
