"""A process that runs calls for another one, and may be lost without harm.

`WorkerProcess` starts a fresh interpreter that calls `serve`: device drivers do not survive a fork.
Calls and answers are pickled over a pair of sockets, whose other end only the owner holds: when it
ends, however that comes about, the process sees it and ends as well.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any, cast

from ingot.targets.bundle.errors import IngotError
from ingot.tuning.report import TuningError


class WorkerDied(Exception):
    """A process that ended, or had to be ended, before it answered; the message says which."""


@dataclass(frozen=True)
class _Failure:
    """What a call in another process raised."""

    text: str
    is_expected: bool


class WorkerProcess:
    """Runs one call at a time; the process is started when it is needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None

    def call(self, function: Callable[..., Any], *arguments: Any, seconds: float) -> Any:
        """Run a function there, for so long at most.

        Raises `WorkerDied`, `TuningError` for an `IngotError`, and RuntimeError for a bug.
        """
        connection = self._connection or self._start()
        try:
            connection.send((function, arguments))
            if not connection.poll(seconds):
                self.stop()
                raise WorkerDied(f"it took more than {seconds:.0f} s")
            answer = connection.recv()
        except (EOFError, OSError):
            self.stop()
            raise WorkerDied("it ended the process that ran it") from None
        if isinstance(answer, _Failure):
            raise (TuningError if answer.is_expected else RuntimeError)(answer.text)
        return answer

    def stop(self) -> None:
        """End the process; the next call starts another one."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None

    def _start(self) -> Connection:
        mine, theirs = socket.socketpair()
        with theirs:
            handle = theirs.fileno()
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"from {__name__} import serve; serve({handle})"],
                stdin=subprocess.DEVNULL,
                pass_fds=[handle],
            )
        self._connection = Connection(mine.detach())
        return self._connection


def serve(handle: int) -> None:
    """Answer calls until the owner has ended."""
    Thread(target=_end_with_owner, args=(handle,), daemon=True).start()
    # What the user interrupts is the owner, with whom this process ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = Connection(handle)
    while True:
        try:
            function, arguments = cast("tuple[Callable[..., Any], Any]", connection.recv())
        except EOFError:
            return
        try:
            answer = function(*arguments)
        except IngotError as error:
            answer = _Failure(str(error), is_expected=True)
        except Exception:
            answer = _Failure(traceback.format_exc(), is_expected=False)
        connection.send(answer)


def _end_with_owner(handle: int) -> None:
    """A call that never ends must not outlive who wants to know."""
    poll = select.poll()
    poll.register(handle, select.POLLHUP)
    poll.poll()
    os._exit(1)
