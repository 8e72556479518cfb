"""Layered drawing of a graph: nodes in ranks from top to bottom, edges as curves between them.

Sugiyama's method (Sugiyama, Tagawa, Toda, IEEE Trans. SMC 11(2), 1981): ranks by the longest path,
places in a rank by the mean of the neighbours' places, and then positions that come as close to
the neighbours' as the widths allow. Edges over several ranks pass through empty nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

GAP_X, GAP_Y = 36.0, 50.0
PORT_GAP = 90.0
_SWEEPS = 8


@dataclass(frozen=True)
class Size:
    """Of a node, in pixels."""

    width: float
    height: float


@dataclass
class Layout:
    """The top left corner of every node, and for each edge the points that it passes."""

    width: float = 0.0
    height: float = 0.0
    corners: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    routes: list[list[tuple[float, float]]] = field(default_factory=list[list[tuple[float, float]]])


@dataclass
class _Vertex:
    """A node, or with `node` None a place where an edge passes a rank."""

    node: int | None
    rank: int
    width: float
    above: list[_Vertex] = field(default_factory=list["_Vertex"])
    below: list[_Vertex] = field(default_factory=list["_Vertex"])
    place: float = 0.0
    """In its rank: a number to order by, then the middle in pixels."""


def layered(sizes: Sequence[Size], edges: Sequence[tuple[int, int]]) -> Layout:
    """Place nodes; every edge goes from a node to a later one."""
    if not sizes:
        return Layout()
    ranks = _ranks(len(sizes), edges)
    layers: list[list[_Vertex]] = [[] for _ in range(max(ranks) + 1)]
    vertices = [_Vertex(i, ranks[i], size.width) for i, size in enumerate(sizes)]
    for vertex in vertices:
        layers[vertex.rank].append(vertex)
    chains = [_chain(vertices[s], vertices[t], layers) for s, t in edges]
    _order(layers)
    _position(layers)
    tops, height = _tops(layers, sizes)
    left = min(v.place - v.width / 2 for layer in layers for v in layer)
    right = max(v.place + v.width / 2 for layer in layers for v in layer)
    layout = Layout(right - left, height)
    for vertex, size in zip(vertices, sizes, strict=True):
        layout.corners.append((vertex.place - size.width / 2 - left, tops[vertex.rank][0]))
    leaving = _ports(chains, vertices, 0)
    arriving = _ports(chains, vertices, -1)
    for number, chain in enumerate(chains):
        route = _route(chain, sizes, tops, left)
        route[0] = (route[0][0] + leaving[number], route[0][1])
        route[-1] = (route[-1][0] + arriving[number], route[-1][1])
        layout.routes.append(route)
    return layout


def _ports(
    chains: Sequence[Sequence[_Vertex]], vertices: Sequence[_Vertex], end: int
) -> list[float]:
    """How far from the middle of its first node (or its last one, at `end` -1) each edge stands:
    edges of one node are spread by where they lead, so that neither they nor labels meet."""
    offsets = [0.0] * len(chains)
    beside = 1 if end == 0 else -2
    for vertex in vertices:
        mine = [i for i, chain in enumerate(chains) if chain[end] is vertex]
        mine.sort(key=lambda i: chains[i][beside].place)
        space = min(PORT_GAP, (vertex.width - 20) / max(len(mine), 1))
        for place, i in enumerate(mine):
            offsets[i] = (place - (len(mine) - 1) / 2) * space
    return offsets


def _ranks(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    ranks = [0] * count
    for source, target in sorted(edges, key=lambda e: e[1]):
        ranks[target] = max(ranks[target], ranks[source] + 1)
    return ranks


def _chain(source: _Vertex, target: _Vertex, layers: list[list[_Vertex]]) -> list[_Vertex]:
    chain = [source]
    for rank in range(source.rank + 1, target.rank):
        passing = _Vertex(None, rank, 8.0)
        layers[rank].append(passing)
        chain.append(passing)
    chain.append(target)
    for upper, lower in pairwise(chain):
        upper.below.append(lower)
        lower.above.append(upper)
    return chain


def _order(layers: list[list[_Vertex]]) -> None:
    """Sort each rank by the mean place of the neighbours, down and up."""
    for layer in layers:
        _number(layer)
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        for layer in layers if downwards else reversed(layers):
            for vertex in layer:
                near = vertex.above if downwards else vertex.below
                if near:
                    vertex.place = sum(v.place for v in near) / len(near)
            layer.sort(key=lambda v: v.place)
            _number(layer)


def _number(layer: list[_Vertex]) -> None:
    for place, vertex in enumerate(layer):
        vertex.place = place - (len(layer) - 1) / 2


def _position(layers: list[list[_Vertex]]) -> None:
    """Middles in pixels: as near to the neighbours' as order and widths allow."""
    for layer in layers:
        _place(layer, [0.0] * len(layer))
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        for layer in layers if downwards else reversed(layers):
            wanted: list[float] = []
            for vertex in layer:
                near = (vertex.above if downwards else vertex.below) or [vertex]
                wanted.append(sum(v.place for v in near) / len(near))
            _place(layer, wanted)


def _place(layer: list[_Vertex], wanted: Sequence[float]) -> None:
    """The middles with the least squares to `wanted`, in order, `GAP_X` apart at least: pools of
    neighbours that would overlap move together."""
    offsets = [0.0]
    for a, b in pairwise(layer):
        offsets.append(offsets[-1] + (a.width + b.width) / 2 + GAP_X)
    pools: list[tuple[float, int]] = []
    for want, offset in zip(wanted, offsets, strict=True):
        total, count = want - offset, 1
        while pools and pools[-1][0] / pools[-1][1] > total / count:
            other_total, other_count = pools.pop()
            total, count = total + other_total, count + other_count
        pools.append((total, count))
    starts = [total / count for total, count in pools for _ in range(count)]
    for vertex, start, offset in zip(layer, starts, offsets, strict=True):
        vertex.place = start + offset


def _tops(
    layers: list[list[_Vertex]], sizes: Sequence[Size]
) -> tuple[list[tuple[float, float]], float]:
    """Top and bottom of each rank, and the height of all."""
    tops: list[tuple[float, float]] = []
    y = 0.0
    for layer in layers:
        height = max((sizes[v.node].height for v in layer if v.node is not None), default=0.0)
        tops.append((y, y + height))
        y += height + GAP_Y
    return tops, y - GAP_Y


def _route(
    chain: list[_Vertex],
    sizes: Sequence[Size],
    tops: list[tuple[float, float]],
    left: float,
) -> list[tuple[float, float]]:
    first, last = chain[0], chain[-1]
    assert first.node is not None and last.node is not None
    points = [(first.place - left, tops[first.rank][0] + sizes[first.node].height)]
    for vertex in chain[1:-1]:
        points += [(vertex.place - left, y) for y in tops[vertex.rank]]
    points.append((last.place - left, tops[last.rank][0]))
    return points
