"""What is compared: a peer prepares a case on the device and then runs it again and again.

One run is one whole call whose arguments and results stay on the device, and which has ended when
`run` returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bench.cases import Array, Case


class Unavailable(Exception):
    """A peer that cannot take part, or cannot run a case; the text says why."""


class Prepared(Protocol):
    """A case on the device."""

    dispatches: int | None
    """Kernels of one run, where the peer tells."""

    def run(self) -> None:
        """Run once and wait."""
        ...

    def results(self) -> list[Array]:
        """What the last run left."""
        ...

    def kernel_seconds(self) -> float | None:
        """Run once, and return the time on the device by its own clock, where the peer has it."""
        ...


class Peer(Protocol):
    """A compiler with its runtime, on one device."""

    name: str
    description: str
    """Version and device."""

    def prepare(self, case: Case, inputs: Sequence[Array]) -> Prepared:
        """Compile a case and put its inputs on the device; raises `Unavailable`."""
        ...
