"""Where the time of a compilation goes: a tree of phases and passes, wall clock and CPU.

The report has the form of MLIR's `-mlir-timing`. What runs several times under one phase, such as
the steps of each kernel, is one line with a count.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field


@dataclass
class Phase:
    """A node of the tree; times in seconds, those of the phases inside included."""

    name: str
    count: int = 0
    wall: float = 0.0
    cpu: float = 0.0
    """Of this process, all of its threads."""
    phases: list[Phase] = field(default_factory=list["Phase"])


class Timing:
    """Measures phases that nest; one thread at a time."""

    def __init__(self) -> None:
        self.root = Phase("total")
        self._open = [self.root]

    @contextmanager
    def phase(self, name: str, *, once: bool = False) -> Generator[None]:
        """Measure what runs inside. With `once`, as a line of its own even where there is one of
        that name already: passes that run twice are two."""
        parent = self._open[-1]
        known = None if once else next((p for p in parent.phases if p.name == name), None)
        node = known or Phase(name)
        if known is None:
            parent.phases.append(node)
        self._open.append(node)
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            node.count += 1
            node.wall += time.perf_counter() - wall
            node.cpu += time.process_time() - cpu
            self._open.pop()


def phase(
    timing: Timing | None, name: str, *, once: bool = False
) -> AbstractContextManager[object]:
    """`timing.phase`, or nothing where nobody measures."""
    return nullcontext() if timing is None else timing.phase(name, once=once)


def timing_text(timing: Timing) -> str:
    """The tree as text; a line `rest` is what a phase spent outside of the phases in it."""
    wall = sum(p.wall for p in timing.root.phases)
    cpu = sum(p.cpu for p in timing.root.phases)
    rule = f"===-{'-' * 73}-==="
    total = Phase("total", 1, wall, cpu)
    rows = [_row(node, wall, cpu, depth) for node, depth in _lines(timing.root.phases, 0)]
    return "\n".join(
        [
            rule,
            f"{'... Execution time report ...':^{len(rule)}}".rstrip(),
            rule,
            f"  Total Execution Time: {wall:.4f} seconds",
            "",
            "  ----Wall Time----  ----CPU Time----  ----Name----",
            *rows,
            _row(total, wall, cpu, 0),
            "",
        ]
    )


def _lines(phases: list[Phase], depth: int) -> Iterator[tuple[Phase, int]]:
    for node in phases:
        yield node, depth
        if not node.phases:
            continue
        yield from _lines(node.phases, depth + 1)
        wall = node.wall - sum(p.wall for p in node.phases)
        cpu = node.cpu - sum(p.cpu for p in node.phases)
        yield Phase("rest", 1, max(0.0, wall), max(0.0, cpu)), depth + 1


def _row(node: Phase, wall: float, cpu: float, depth: int) -> str:
    name = node.name if node.count <= 1 else f"{node.name} (x{node.count})"
    return f"  {_part(node.wall, wall)}  {_part(node.cpu, cpu)}   {'  ' * depth}{name}"


def _part(seconds: float, whole: float) -> str:
    share = 100 * seconds / whole if whole > 0 else 0.0
    return f"{seconds:8.4f} ({share:5.1f}%)"
