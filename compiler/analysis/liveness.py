"""From which command to which each buffer of a program is needed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def live_ranges(commands: Sequence[Iterable[K]]) -> dict[K, tuple[int, int]]:
    """The first and the last command that touches each buffer, in the order of first use.

    `commands` lists, for each command, the buffers that it reads or writes.
    """
    ranges: dict[K, tuple[int, int]] = {}
    for step, touched in enumerate(commands):
        for buffer in touched:
            first, _ = ranges.get(buffer, (step, step))
            ranges[buffer] = (first, step)
    return ranges
