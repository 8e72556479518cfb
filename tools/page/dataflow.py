"""Which command of a plan reads what which one wrote, as a graph for drawing.

A loop or a branch is one node with a graph of its own inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ingot.targets.bundle import model
from ingot.tools.bundle_text import operand_text

TypeOf = Callable[[int, int], str]
"""The type of binding j of kernel i, as text."""


@dataclass(frozen=True)
class Use:
    """A range that a command reads or writes; its name and type are for people."""

    ref: model.BufferRef
    name: str
    type: str


@dataclass
class Node:
    """A command, or control flow with the commands inside of it."""

    number: int
    """In the order of the plan, from 0, commands in control flow included."""
    kind: str
    kernel: int | None = None
    groups: tuple[model.Operand, ...] = ()
    reads: list[Use] = field(default_factory=list[Use])
    writes: list[Use] = field(default_factory=list[Use])
    bodies: list[tuple[str, list[Node]]] = field(default_factory=list[tuple[str, list["Node"]]])
    """Of control flow: what each list is for, and its nodes."""
    detail: str = ""


@dataclass(frozen=True)
class Edge:
    """`target` reads what `source` wrote; both are places in the list of nodes."""

    source: int
    target: int
    labels: tuple[str, ...]


def nodes_of(body: model.FunctionBody, variant: model.Variant, type_of: TypeOf) -> list[Node]:
    """The commands of a function; barriers are only order and left out."""
    return _Builder(variant, type_of).nodes(body.commands)


class _Builder:
    def __init__(self, variant: model.Variant, type_of: TypeOf) -> None:
        self.variant = variant
        self.type_of = type_of
        self.count = 0

    def nodes(self, commands: Sequence[model.Command]) -> list[Node]:
        return [self.node(c) for c in commands if not isinstance(c, model.Barrier)]

    def node(self, command: model.Command) -> Node:
        node = Node(self.count, type(command).__name__.lower())
        self.count += 1
        match command:
            case model.Dispatch():
                self._dispatch(node, command)
            case model.Fill():
                node.writes.append(_plain(command.target))
                node.detail = f"0x{command.pattern.hex()}"
            case model.Copy():
                node.reads.append(_plain(command.source))
                node.writes.append(_plain(command.target))
            case model.Store():
                node.writes.append(_plain(command.target))
                node.detail = operand_text(command.value)
            case model.Load():
                node.reads.append(_plain(command.source))
                node.detail = f"to %{command.target.index}"
            case model.Loop():
                node.bodies = [("", self.nodes(command.body))]
                node.detail = f"{operand_text(command.count)} times"
            case model.While():
                node.bodies = [
                    ("condition", self.nodes(command.condition)),
                    ("body", self.nodes(command.body)),
                ]
                node.detail = f"{operand_text(command.proceed)} is not 0"
            case model.If():
                lists = (("then", command.then), ("otherwise", command.otherwise))
                node.bodies = [(name, self.nodes(list_)) for name, list_ in lists if list_]
                node.detail = f"{operand_text(command.condition)} is not 0"
            case model.Barrier():
                raise AssertionError("barriers are no nodes")
        for _, inner in node.bodies:
            for child in inner:
                node.reads += child.reads
                node.writes += child.writes
        return node

    def _dispatch(self, node: Node, command: model.Dispatch) -> None:
        node.kernel, node.groups = command.kernel, command.groups
        kernel = self.variant.kernels[command.kernel]
        for i, (ref, binding) in enumerate(zip(command.bindings, kernel.bindings, strict=True)):
            use = Use(ref, binding.name, self.type_of(command.kernel, i))
            if binding.access is not model.Access.WRITE:
                node.reads.append(use)
            if binding.access is not model.Access.READ:
                node.writes.append(use)


def _plain(ref: model.BufferRef) -> Use:
    return Use(ref, "", f"{ref.length} bytes" if isinstance(ref.length, int) else "")


def edges_of(nodes: Sequence[Node]) -> list[Edge]:
    """The edges between the nodes of one list."""
    found: dict[tuple[int, int], dict[str, None]] = {}
    for target, node in enumerate(nodes):
        for use in node.reads:
            for source in _writers(nodes, target, use.ref):
                found.setdefault((source, target), {})[use.type] = None
    return [
        Edge(s, t, tuple(label for label in labels if label)) for (s, t), labels in found.items()
    ]


def outside(nodes: Sequence[Node], place: int) -> list[Use]:
    """What a node reads that no earlier node of its list wrote, each range once."""
    seen: dict[model.BufferRef, Use] = {}
    for use in nodes[place].reads:
        if not any(_writers(nodes, place, use.ref)):
            seen.setdefault(use.ref, use)
    return list(seen.values())


def _writers(nodes: Sequence[Node], reader: int, ref: model.BufferRef) -> Iterator[int]:
    """The nodes before `reader` whose writes it may see in a range, the last one first."""
    for place in reversed(range(reader)):
        writes = [use.ref for use in nodes[place].writes if overlap(use.ref, ref)]
        if writes:
            yield place
        if any(_covers(write, ref) for write in writes):
            return


def overlap(a: model.BufferRef, b: model.BufferRef) -> bool:
    """Whether two ranges may share a byte; one whose place a call decides may share any."""
    if (a.kind, a.index) != (b.kind, b.index):
        return False
    x, y = extent(a), extent(b)
    return x is None or y is None or (x[0] < y[1] and y[0] < x[1])


def _covers(outer: model.BufferRef, inner: model.BufferRef) -> bool:
    if outer == inner:
        return True
    x, y = extent(outer), extent(inner)
    return x is not None and y is not None and x[0] <= y[0] and y[1] <= x[1]


def extent(ref: model.BufferRef) -> tuple[int, int] | None:
    """First byte and the one after the last; None where a call decides."""
    if isinstance(ref.offset, int) and isinstance(ref.length, int):
        return ref.offset, ref.offset + ref.length
    return None
