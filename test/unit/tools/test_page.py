"""What the page of `ingot inspect --html` is made of: data flow, lifetimes, layout, colours."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ingot.compiler.driver.compile import compile_module
from ingot.compiler.driver.cost import KernelCost
from ingot.compiler.driver.options import CompileOptions
from ingot.targets.bundle import model
from ingot.targets.bundle.model import Access, Binding, BufferKind, BufferRef, DType
from ingot.targets.profiles import PROFILES
from ingot.tools.page.charts import memory_chart, roofline
from ingot.tools.page.dataflow import Edge, edges_of, nodes_of, outside
from ingot.tools.page.highlight import runs
from ingot.tools.page.layout import PORT_GAP, Size, layered
from ingot.tools.page.lifetimes import lifetimes
from ingot.tools.units import scaled, size_text, time_text

KERNEL = model.Kernel(
    "add",
    "add",
    (32, 1, 1),
    (Binding("x", DType.F32, Access.READ), Binding("out", DType.F32, Access.WRITE)),
    b"",
)
IN_PLACE = replace(KERNEL, name="scale", bindings=(Binding("x", DType.F32, Access.READ_WRITE),))
VARIANT = model.Variant("metal:apple7", "metal", 7, 32, "safe", (3, 1), (KERNEL, IN_PLACE), ())

ARGUMENT = BufferRef(BufferKind.ARGUMENT, 0, 0, 64)
RESULT = BufferRef(BufferKind.RESULT, 0, 0, 64)


def arena(offset: int, length: int = 64) -> BufferRef:
    return BufferRef(BufferKind.TRANSIENT, 0, offset, length)


def add(source: BufferRef, target: BufferRef) -> model.Dispatch:
    return model.Dispatch(0, (1, 1, 1), (source, target))


def scale(target: BufferRef) -> model.Dispatch:
    return model.Dispatch(1, (1, 1, 1), (target,))


def nodes(*commands: model.Command):
    return nodes_of(model.FunctionBody(commands), VARIANT, lambda kernel, binding: "16xf32")


def edges(*commands: model.Command) -> set[tuple[int, int]]:
    return {(edge.source, edge.target) for edge in edges_of(nodes(*commands))}


def test_an_edge_leads_from_what_wrote_a_range_last() -> None:
    commands = (
        add(ARGUMENT, arena(0)),
        model.Barrier(),
        add(arena(0), arena(256)),
        add(ARGUMENT, arena(0)),
        add(arena(0), RESULT),
    )
    assert edges(*commands) == {(0, 1), (2, 3)}
    assert edges_of(nodes(*commands))[0] == Edge(0, 1, ("16xf32",))
    assert [use.ref for use in outside(nodes(*commands), 0)] == [ARGUMENT]


def test_a_range_that_several_wrote_parts_of_has_several_edges() -> None:
    halves = (add(ARGUMENT, arena(0, 32)), add(ARGUMENT, arena(32, 32)))
    assert edges(*halves, add(arena(0), RESULT)) == {(0, 2), (1, 2)}


def test_what_a_call_places_may_be_any_part() -> None:
    somewhere = BufferRef(BufferKind.TRANSIENT, 0, model.Register(0), 64)
    assert edges(add(ARGUMENT, arena(0)), add(somewhere, RESULT)) == {(0, 1)}
    assert lifetimes(nodes(add(ARGUMENT, somewhere))) is None


def test_control_flow_is_one_node_with_edges_of_its_own() -> None:
    body = (add(arena(0), arena(256)), model.Copy(arena(256), arena(0)))
    outer = nodes(add(ARGUMENT, arena(0)), model.Loop(3, body), add(arena(0), RESULT))
    assert {(e.source, e.target) for e in edges_of(outer)} == {(0, 1), (1, 2), (0, 2)} - {(0, 2)}
    ((_, inner),) = outer[1].bodies
    assert {(e.source, e.target) for e in edges_of(inner)} == {(0, 1)}
    assert [node.number for node in inner] == [2, 3]


def spans(*commands: model.Command) -> list[tuple[int, int, int]]:
    lives = lifetimes(nodes(*commands))
    assert lives is not None
    return [(life.start, life.first, life.last) for life in lives]


def test_a_buffer_lives_from_its_first_write_to_its_last_read() -> None:
    commands = (
        add(ARGUMENT, arena(0)),
        add(arena(0), arena(256)),
        add(ARGUMENT, arena(0)),
        add(arena(256), RESULT),
    )
    assert spans(*commands) == [(0, 0, 1), (256, 1, 3), (0, 2, 2)]


def test_what_is_changed_in_place_stays_one_buffer() -> None:
    assert spans(add(ARGUMENT, arena(0)), scale(arena(0)), add(arena(0), RESULT)) == [(0, 0, 2)]


def test_what_a_loop_carries_lives_through_it() -> None:
    body = (add(arena(0), arena(256)), add(arena(256), arena(0)), add(ARGUMENT, RESULT))
    assert spans(add(ARGUMENT, arena(0)), model.Loop(3, body)) == [(0, 0, 4), (256, 2, 3)]


LOOP = """func.func @main(%x: tensor<300xf32>, %w: tensor<300x300xf32>) -> tensor<300xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<300xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<300xf32>) -> tensor<300xf32>
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x) -> (tensor<300xf32>) {
    %b = linalg.matvec ins(%w, %a : tensor<300x300xf32>, tensor<300xf32>)
                       outs(%f : tensor<300xf32>) -> tensor<300xf32>
    %c = linalg.matvec ins(%w, %b : tensor<300x300xf32>, tensor<300xf32>)
                       outs(%f : tensor<300xf32>) -> tensor<300xf32>
    scf.yield %c : tensor<300xf32>
  }
  return %r : tensor<300xf32>
}
"""


def test_the_buffers_of_a_plan_never_overlap_and_fill_the_arena() -> None:
    bundle = compile_module(LOOP, "loop.mlir", CompileOptions(targets=("metal:apple7",)))
    (variant,) = bundle.variants
    (body,) = variant.bodies
    lives = lifetimes(nodes_of(body, variant, lambda kernel, binding: "")) or []
    assert max(life.end for life in lives) == body.transient_size
    for i, a in enumerate(lives):
        for b in lives[:i]:
            is_apart = a.end <= b.start or b.end <= a.start
            assert is_apart or a.last < b.first or b.last < a.first


@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1), (1, 2), (0, 2)],
        [(0, 2), (1, 2), (0, 3), (1, 3), (2, 4), (3, 4), (0, 4)],
        [],
        [(i, i + 1) for i in range(4)] + [(0, 4)],
    ],
)
def test_nodes_do_not_overlap_and_edges_go_down(edges: list[tuple[int, int]]) -> None:
    sizes = [Size(100 + 40 * i, 40 + 10 * i) for i in range(5)]
    layout = layered(sizes, edges)
    boxes = [
        (x, y, x + s.width, y + s.height) for (x, y), s in zip(layout.corners, sizes, strict=True)
    ]
    for i, a in enumerate(boxes):
        assert a[0] >= -0.01 and a[2] <= layout.width + 0.01 and a[3] <= layout.height + 0.01
        for b in boxes[:i]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    for (source, target), route in zip(edges, layout.routes, strict=True):
        assert route[0][1] == boxes[source][3] and route[-1][1] == boxes[target][1]
        assert [y for _, y in route] == sorted(y for _, y in route)
        assert boxes[source][0] <= route[0][0] <= boxes[source][2]


def test_edges_of_one_node_stand_apart() -> None:
    layout = layered([Size(300, 40)] * 3, [(0, 1), (0, 2)])
    first, second = (route[0][0] for route in layout.routes)
    assert abs(first - second) == PORT_GAP


@pytest.mark.parametrize(
    ("line", "language", "expected"),
    [
        ("%0 = arith.addf %x", "mlir", "V2_3K6_0"),
        ("// a <b>", "mlir", "C8"),
        ("plain", "mlir", ""),
        ('OpName %x "x"', "spirv", "K6_1V2_1S3"),
        ("float x = 1.0;", "msl", "T5_5N3"),
    ],
)
def test_colours_are_runs(line: str, language: str, expected: str) -> None:
    (found,) = runs([line], language)  # pyright: ignore[reportArgumentType]
    if expected.endswith("K6_0"):
        assert found.startswith("V2_3K")
    else:
        assert found == expected


def test_every_line_has_its_own_runs() -> None:
    assert len(runs(["/* a", "b */ int x;", ""], "msl")) == 3


def test_the_memory_chart_has_a_rectangle_for_each_buffer() -> None:
    lives = lifetimes(nodes(add(ARGUMENT, arena(0)), add(arena(0), arena(256)))) or []
    chart = memory_chart(lives, 2, 320, 128, lambda kernel: "add")
    first, second = chart.rectangles
    assert first.width == 2 * second.width and first.y > second.y
    assert chart.peak.at < chart.bound.at and "lower bound 128 B" in chart.bound.label


def cost(intensity: float) -> KernelCost:
    return KernelCost("k", 1, 32, 1000 * intensity, 1000, 0, 8, False, "memory", 1e-6)


@pytest.mark.parametrize("target", [name for name, profile in PROFILES.items() if profile.peaks])
@pytest.mark.parametrize("intensities", [(0.01,), (1.0, 17.0), (4000.0,)])
def test_the_dots_of_a_roofline_lie_on_the_drawing(
    target: str, intensities: tuple[float, ...]
) -> None:
    peaks = PROFILES[target].peaks
    assert peaks is not None
    drawn = roofline([cost(value) for value in intensities], peaks)
    assert drawn is not None and len(drawn.dots) == len(intensities)
    for dot in drawn.dots:
        assert 0 <= dot.x <= drawn.width and 0 <= dot.y <= drawn.height


def test_a_roofline_needs_kernels_of_known_cost() -> None:
    peaks = PROFILES["metal:apple7"].peaks
    assert peaks is not None
    unknown = KernelCost("k", 1, None, None, None, 0, 8, False, None, None)
    assert roofline([unknown], peaks) is None


def test_numbers_for_people() -> None:
    assert [size_text(n) for n in (12, 2048, 3 << 20)] == ["12 B", "2.0 KiB", "3.0 MiB"]
    assert [scaled(n) for n in (12.0, 1.57e6)] == ["12 ", "1.57 M"]
    assert [time_text(t) for t in (None, 1.58e-6, 4e-9)] == ["", "1.58 µs", "4 ns"]
