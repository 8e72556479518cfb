"""The dispatch graph as a drawing: what the template turns into SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ingot.targets.bundle import model
from ingot.tools.bundle_text import operand_text
from ingot.tools.page.dataflow import Node, Use, edges_of, outside
from ingot.tools.page.layout import Size, layered

LINE, PADDING = 17.0, 10.0
_CHARACTER = 7.3
"""Width of a character of the graph's monospace text, in pixels."""
_MOST_LINES = 6


@dataclass
class Box:
    """A node; `kernel` is an index, `lines` what is written below the title."""

    x: float
    y: float
    width: float
    height: float
    title: str
    lines: list[str]
    kernel: int | None
    number: int
    groups: list[tuple[str, Drawing]] = field(default_factory=list[tuple[str, "Drawing"]])
    """Of control flow: the drawings inside, with what each is for."""


@dataclass(frozen=True)
class Line:
    """An edge as the path of a curve, and its label in the middle of the last part."""

    path: str
    label: str
    title: str
    x: float
    y: float


@dataclass
class Drawing:
    """Boxes and lines; of one inside another, `x` and `y` are where it stands in its box."""

    width: float
    height: float
    boxes: list[Box]
    lines: list[Line]
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True)
class Words:
    """How to speak of what the graph shows."""

    kernel: Callable[[int], str]
    storage: Callable[[model.BufferRef], str]
    """The name and type of an argument, a result or a constant."""
    note: Callable[[Node], str]
    """What else to say of a dispatch, such as its cost."""


def draw(nodes: Sequence[Node], words: Words) -> Drawing:
    """Lay out the nodes of one list, and what they have inside."""
    edges = edges_of(nodes)
    boxes = [_box(nodes, place, words) for place in range(len(nodes))]
    sizes = [Size(box.width, box.height) for box in boxes]
    layout = layered(sizes, [(edge.source, edge.target) for edge in edges])
    for box, (x, y) in zip(boxes, layout.corners, strict=True):
        box.x, box.y = x, y
    lines: list[Line] = []
    for edge, route in zip(edges, layout.routes, strict=True):
        (x0, y0), (x1, y1) = route[-2:]
        label = edge.labels[0] if edge.labels else ""
        if len(edge.labels) > 1:
            label += f" +{len(edge.labels) - 1}"
        title = f"{boxes[edge.source].title} to {boxes[edge.target].title}"
        title = ": ".join(part for part in (title, ", ".join(edge.labels)) if part)
        lines.append(Line(_curve(route), label, title, (x0 + x1) / 2, (y0 + y1) / 2))
    return Drawing(layout.width, layout.height, boxes, lines)


def _box(nodes: Sequence[Node], place: int, words: Words) -> Box:
    node = nodes[place]
    title = node.kind if node.kernel is None else words.kernel(node.kernel)
    if node.detail and node.kernel is None:
        title = f"{title} {node.detail}"
    lines = [] if node.bodies else _lines(nodes, place, words)
    width = _CHARACTER * max(map(len, (title, *lines))) + 2 * PADDING
    height = LINE * (1 + len(lines)) + 2 * PADDING
    box = Box(0.0, 0.0, max(width, 120.0), height, title, lines, node.kernel, node.number)
    if node.bodies:
        _fill(box, node, words)
    return box


def _fill(box: Box, node: Node, words: Words) -> None:
    """Put the drawings of control flow side by side into its box."""
    x, top = 2 * PADDING, LINE + 2 * PADDING
    bottom = top
    for name, body in node.bodies:
        drawing = draw(body, words)
        drawing.x, drawing.y = x, top + (LINE if name else 0.0)
        box.groups.append((name, drawing))
        x += max(drawing.width, _CHARACTER * len(name)) + 2 * PADDING
        bottom = max(bottom, drawing.y + drawing.height)
    box.width, box.height = max(box.width, x), bottom + 2 * PADDING


def _lines(nodes: Sequence[Node], place: int, words: Words) -> list[str]:
    node = nodes[place]
    lines: list[str] = []
    if node.kernel is not None:
        groups = " x ".join(map(operand_text, node.groups))
        lines.append(" · ".join(part for part in (f"{groups} groups", words.note(node)) if part))
    known = (model.BufferKind.ARGUMENT, model.BufferKind.CONSTANT)
    read = [f"← {words.storage(u.ref)}" for u in outside(nodes, place) if u.ref.kind in known]
    written = [f"→ {words.storage(u.ref)}" for u in _results(node)]
    if len(read) > _MOST_LINES:
        read = [*read[: _MOST_LINES - 1], f"← {len(read) - _MOST_LINES + 1} more"]
    return lines + read + written


def _results(node: Node) -> list[Use]:
    return [use for use in node.writes if use.ref.kind is model.BufferKind.RESULT]


def _curve(points: Sequence[tuple[float, float]]) -> str:
    """A path that leaves and enters vertically."""
    x, y = points[0]
    parts = [f"M{x:.1f} {y:.1f}"]
    for nx, ny in points[1:]:
        if nx == x:
            parts.append(f"V{ny:.1f}")
        else:
            middle = (y + ny) / 2
            parts.append(f"C{x:.1f} {middle:.1f} {nx:.1f} {middle:.1f} {nx:.1f} {ny:.1f}")
        x, y = nx, ny
    return "".join(parts)
