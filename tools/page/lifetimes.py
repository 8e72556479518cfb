"""From when to when each part of the transient arena holds something that is still needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ingot.targets.bundle import model
from ingot.tools.page.dataflow import Node, Use, extent


@dataclass
class Life:
    """A buffer in the arena: bytes `start` to `end`, from step `first` to step `last`."""

    start: int
    end: int
    first: int
    last: int
    name: str
    type: str
    writer: int | None
    """The kernel that wrote it first."""


def lifetimes(nodes: Sequence[Node]) -> list[Life] | None:
    """The buffers of a plan in the order of their first step, which are the numbers of nodes.

    None where a call decides where they lie.
    """
    finder = _Finder()
    try:
        finder.walk(nodes, None)
    except _Unknown:
        return None
    return finder.found


class _Unknown(Exception):
    pass


class _Finder:
    def __init__(self) -> None:
        self.found: list[Life] = []
        self.live: list[Life] = []

    def walk(self, nodes: Sequence[Node], loop_start: int | None) -> None:
        """`loop_start` is the first step of the loop around: what is live there stays in place."""
        for node in nodes:
            if node.bodies:
                self._control_flow(node, loop_start)
                continue
            for use in node.reads:
                self._read(node, use)
            for use in node.writes:
                self._write(node, use, loop_start)

    def _control_flow(self, node: Node, loop_start: int | None) -> None:
        start = node.number if node.kind in ("loop", "while") else loop_start
        for _, body in node.bodies:
            self.walk(body, start)
        if node.kind in ("loop", "while"):
            end = _last_number(node)
            for life in self.live:
                # What comes into a loop, and what one turn leaves to the next, lives through it.
                if life.first < node.number <= life.last:
                    life.last = end

    def _read(self, node: Node, use: Use) -> None:
        for life in self._at(use.ref):
            life.last = max(life.last, node.number)

    def _write(self, node: Node, use: Use, loop_start: int | None) -> None:
        if use.ref.kind is not model.BufferKind.TRANSIENT:
            return
        at = _known(use.ref)
        for life in self._at(use.ref):
            is_same = (life.start, life.end) == at
            is_carried = loop_start is not None and life.first < loop_start
            if is_same and (is_carried or life.last == node.number):
                life.last = node.number
                return
        self.live = [life for life in self.live if life.end <= at[0] or at[1] <= life.start]
        name = use.name or node.kind
        life = Life(*at, node.number, node.number, name, use.type, node.kernel)
        self.found.append(life)
        self.live.append(life)

    def _at(self, ref: model.BufferRef) -> list[Life]:
        if ref.kind is not model.BufferKind.TRANSIENT:
            return []
        start, end = _known(ref)
        return [life for life in self.live if life.start < end and start < life.end]


def _known(ref: model.BufferRef) -> tuple[int, int]:
    at = extent(ref)
    if at is None:
        raise _Unknown
    return at


def _last_number(node: Node) -> int:
    return max((_last_number(n) for _, body in node.bodies for n in body), default=node.number)
