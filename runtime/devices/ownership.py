"""What a device opened belongs to the process that opened it.

A forked process has the memory of its parent but not its threads, so that a driver's objects in it
wait for work that nobody does. They are left alone there: the system takes them back.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Any


def finalize_at_home(
    owner: object, function: Callable[..., object], *arguments: object
) -> weakref.finalize[..., Any]:
    """`weakref.finalize`, which does nothing in a process forked from this one."""
    return weakref.finalize(owner, _call_at_home, os.getpid(), function, arguments)


def _call_at_home(
    process: int, function: Callable[..., object], arguments: tuple[object, ...]
) -> None:
    if os.getpid() == process:
        function(*arguments)
