"""Progress on standard error, when it is a terminal and the work takes long enough to wonder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

Step = Callable[[str], None]
"""Says what is being done now."""


@contextmanager
def progress(title: str) -> Generator[Step]:
    """A spinner with the current step; nothing at all when standard error is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda _step: None
        return
    from rich.console import Console

    console = Console(stderr=True)
    with console.status(title) as status:
        yield lambda step: status.update(f"{title}: {step}")
