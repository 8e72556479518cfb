"""Peers take turns on one case, so that what slows the machine slows all of them alike."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from bench.cases import Array, Case
from bench.peers import Peer, Prepared, Unavailable

MOST_ROUNDS = 1000
FEWEST_ROUNDS = 5


@dataclass
class Entry:
    """What was measured of one peer on one case, times in seconds."""

    calls: list[float] = field(default_factory=list[float])
    kernels: list[float] = field(default_factory=list[float])
    dispatches: int | None = None
    problem: str = ""
    """Why there are no times, or what is wrong with the values."""

    @property
    def call(self) -> float | None:
        """Median time of a whole call; None where it does not count."""
        return median(self.calls) if self.calls and not self.problem else None

    @property
    def kernel(self) -> float | None:
        """Median time on the device by its clock."""
        return median(self.kernels) if self.kernels and not self.problem else None


def measure(case: Case, peers: Sequence[Peer], seconds: float) -> dict[str, Entry]:
    """Run a case with every peer, round after round for about `seconds`."""
    inputs = case.inputs()
    expected = case.expected(inputs)
    entries = {peer.name: Entry() for peer in peers}
    ready: dict[str, Prepared] = {}
    for peer in peers:
        entry = entries[peer.name]
        try:
            prepared = peer.prepare(case, inputs)
        except Unavailable as error:
            entry.problem = str(error)
            continue
        prepared.run()
        entry.problem = difference(prepared.results(), expected, case.tolerance)
        entry.dispatches = prepared.dispatches
        ready[peer.name] = prepared
    end = time.perf_counter() + seconds
    for turn in range(MOST_ROUNDS):
        if turn >= FEWEST_ROUNDS and time.perf_counter() > end:
            break
        for name, prepared in ready.items():
            # The device comes from another peer's context: that switch is nobody's call.
            prepared.run()
            start = time.perf_counter()
            prepared.run()
            entries[name].calls.append(time.perf_counter() - start)
            kernel = prepared.kernel_seconds()
            if kernel is not None:
                entries[name].kernels.append(kernel)
    return entries


def difference(got: Sequence[Array], expected: Sequence[Array], tolerance: float) -> str:
    """What is wrong with results, "" when nothing is."""
    if len(got) != len(expected):
        return f"{len(got)} results, expected {len(expected)}"
    for mine, theirs in zip(got, expected, strict=True):
        if mine.shape != theirs.shape:
            return f"shape {mine.shape}, expected {theirs.shape}"
        wide = theirs.astype(np.float64)
        scale = float(np.abs(wide).max(initial=0.0))
        worst = float(np.abs(mine.astype(np.float64) - wide).max(initial=0.0))
        if not worst <= tolerance * scale:
            return f"wrong by {worst / scale if scale else worst:.1e} of the largest magnitude"
    return ""
