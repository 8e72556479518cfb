"""Which ops share a kernel, decided on a graph without IR."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir.affine import AffineDimExpr, AffineMap

from ingot.compiler.analysis.fusion import form_groups
from ingot.compiler.analysis.fusion_graph import Limits, Node, Read, Role


def elementwise(result: int, reads: list[Read], *extents: int) -> Node:
    loops = tuple(range(len(extents)))
    parallel = (True,) * len(extents)
    return Node(Role.ELEMENTWISE, extents, parallel, (result,), (loops,), tuple(reads))


def row_reduction(result: int, reads: list[Read], rows: int, inner: int) -> Node:
    return Node(Role.ROW_REDUCTION, (rows, inner), (True, False), (result,), ((0,),), tuple(reads))


def matmul(result: int, reads: list[Read], m: int, n: int, k: int) -> Node:
    return Node(
        Role.CONTRACTION,
        (m, n, k),
        (True, True, False),
        (result,),
        ((0, 1),),
        tuple(reads),
        leading=(),
        blocks=((0,), (1,)),
    )


def groups_of(nodes: list[Node], *escapes: int, limits: Limits | None = None) -> list[list[int]]:
    return [list(g.nodes) for g in form_groups(nodes, frozenset(escapes), limits)]


def test_a_matmul_takes_its_epilogue() -> None:
    nodes = [
        matmul(10, [Read(0, (0, 2)), Read(1, (2, 1))], 64, 32, 16),
        elementwise(11, [Read(10, (0, 1)), Read(2, (1,))], 64, 32),
    ]
    (group,) = form_groups(nodes, frozenset({11}))
    assert group.nodes == (0, 1)
    assert group.kind == "pointwise"
    assert group.shared == {0: (0, 1), 1: (0, 1)}


def test_a_transposed_epilogue_exchanges_the_loops_of_the_matmul() -> None:
    nodes = [
        matmul(10, [Read(0, (0, 2)), Read(1, (2, 1))], 64, 32, 16),
        elementwise(11, [Read(10, (1, 0))], 32, 64),
    ]
    (group,) = form_groups(nodes, frozenset({11}))
    assert group.shared == {0: (1, 0), 1: (0, 1)}


def test_a_matmul_takes_no_epilogue_with_control_flow() -> None:
    product = matmul(10, [Read(0, (0, 2)), Read(1, (2, 1))], 64, 32, 16)
    branching = replace(elementwise(11, [Read(10, (0, 1))], 64, 32), branches=True)
    assert groups_of([product, branching], 11) == [[0], [1]]


def test_two_matmuls_are_two_kernels() -> None:
    nodes = [
        matmul(10, [Read(0, (0, 2)), Read(1, (2, 1))], 64, 32, 16),
        matmul(11, [Read(10, (0, 2)), Read(2, (2, 1))], 64, 8, 32),
    ]
    assert groups_of(nodes, 11) == [[0], [1]]


def test_softmax_is_one_kernel_of_rows() -> None:
    nodes = [
        row_reduction(10, [Read(0, (0, 1))], 64, 1000),
        elementwise(11, [Read(0, (0, 1)), Read(10, (0,))], 64, 1000),
        row_reduction(12, [Read(11, (0, 1))], 64, 1000),
        elementwise(13, [Read(11, (0, 1)), Read(12, (0,))], 64, 1000),
    ]
    (group,) = form_groups(nodes, frozenset({13}))
    assert group.kind == "row"
    assert all(loops == (0,) for loops in group.shared.values())


def test_rows_that_become_columns_end_the_kernel() -> None:
    # The sums of rows are added along the columns of another tensor.
    nodes = [
        row_reduction(10, [Read(0, (0, 1))], 64, 64),
        elementwise(11, [Read(1, (0, 1)), Read(10, (1,))], 64, 64),
    ]
    assert groups_of(nodes, 11) == [[0], [1]]


def test_a_transposed_row_is_not_read_inside_its_kernel() -> None:
    nodes = [
        row_reduction(10, [Read(0, (0, 1))], 64, 64),
        elementwise(11, [Read(0, (0, 1)), Read(10, (0,))], 64, 64),
        elementwise(12, [Read(11, (1, 0))], 64, 64),
    ]
    assert groups_of(nodes, 12) == [[0, 1], [2]]


def test_groups_never_depend_on_each_other_in_a_circle() -> None:
    # 0 feeds 1 (a matmul) and 2; 2 also needs 1: fusing 0 with 2 would enclose 1.
    nodes = [
        elementwise(10, [Read(0, (0, 1))], 32, 32),
        matmul(11, [Read(10, (0, 2)), Read(1, (2, 1))], 32, 32, 32),
        elementwise(12, [Read(10, (0, 1)), Read(11, (0, 1))], 32, 32),
    ]
    assert groups_of(nodes, 12) == [[0], [1, 2]]


def test_a_value_behind_a_reshape_is_stored() -> None:
    nodes = [
        elementwise(10, [Read(0, (0, 1))], 32, 32),
        elementwise(11, [Read(10, (), direct=False)], 1024),
    ]
    assert groups_of(nodes, 11) == [[0], [1]]


def test_the_limit_of_operands_splits_a_kernel() -> None:
    first = elementwise(10, [Read(i, (0,)) for i in range(3)], 64)
    second = elementwise(11, [Read(10, (0,)), *(Read(i, (0,)) for i in range(3, 6))], 64)
    assert groups_of([first, second], 11) == [[0, 1]]
    assert groups_of([first, second], 11, limits=Limits(max_operands=6)) == [[0], [1]]


def test_few_rows_leave_long_elementwise_work_to_many_threadgroups() -> None:
    nodes = [
        row_reduction(10, [Read(0, (0, 1))], 1, 1 << 20),
        elementwise(11, [Read(0, (0, 1)), Read(10, (0,))], 1, 1 << 20),
    ]
    assert groups_of(nodes, 11) == [[0], [1]]


def test_a_scan_runs_alone() -> None:
    scan = Node(Role.SCAN, (), (), (10,), ((),), (Read(0, (), direct=False),))
    nodes = [scan, elementwise(11, [Read(10, (0,))], 64)]
    assert groups_of(nodes, 11) == [[0], [1]]


def test_producers_come_before_their_readers() -> None:
    nodes = [
        matmul(10, [Read(0, (0, 2)), Read(1, (2, 1))], 8, 8, 8),
        elementwise(11, [Read(2, (0, 1))], 8, 8),
        matmul(12, [Read(11, (0, 2)), Read(1, (2, 1))], 8, 8, 8),
        elementwise(13, [Read(10, (0, 1)), Read(12, (0, 1))], 8, 8),
    ]
    order = groups_of(nodes, 13)
    position = {n: i for i, group in enumerate(order) for n in group}
    assert position[1] < position[2]
    assert max(position[0], position[2]) <= position[3]


def test_a_convolution_pads_what_it_reads() -> None:
    pad = replace(elementwise(10, [Read(0, direct=False)], 18, 18), cheap=True)
    conv = Node(
        Role.CONTRACTION,
        (16, 16, 3, 3),
        (True, True, False, False),
        (11,),
        ((0, 1),),
        (Read(10, (None, None)), Read(1, (2, 3))),
        leading=(0, 1),
        takes_inputs=True,
    )
    relu = elementwise(12, [Read(11, (0, 1))], 16, 16)
    (group,) = form_groups([pad, conv, relu], frozenset({12}))
    assert group.nodes == (0, 1, 2)
    assert group.shared == {0: (), 1: (0, 1), 2: (0, 1)}
    assert groups_of([pad, conv, relu], 10, 12) == [[0], [1, 2]]
    assert groups_of([replace(pad, cheap=False), conv, relu], 12) == [[0], [1, 2]]


def test_an_attention_is_a_kernel_as_it_is() -> None:
    nodes = [
        matmul(10, [Read(0, (0, 2)), Read(1, (2, 1))], 64, 32, 16),
        matmul(11, [Read(10, (0, 2)), Read(2, (2, 1))], 64, 8, 32),
        elementwise(12, [Read(11, (0, 1))], 64, 8),
    ]
    groups = form_groups(nodes, frozenset({12}), attentions=[[0, 1]])
    assert [(g.nodes, g.kind) for g in groups] == [((0, 1), "attention"), ((2,), "pointwise")]


def short_reduction(result: int, reads: list[Read], rows: int, inner: int) -> Node:
    node = row_reduction(result, reads, rows, inner)
    return replace(node, role=Role.REDUCTION, in_rows=True)


def test_short_reductions_of_a_row_are_one_kernel_of_rows() -> None:
    nodes = [
        short_reduction(10, [Read(0, (0, 1))], 64, 10),
        elementwise(11, [Read(0, (0, 1)), Read(10, (0,))], 64, 10),
        short_reduction(12, [Read(11, (0, 1))], 64, 10),
        elementwise(13, [Read(11, (0, 1)), Read(12, (0,))], 64, 10),
    ]
    (group,) = form_groups(nodes, frozenset({13}))
    assert (group.nodes, group.kind) == ((0, 1, 2, 3), "row")
    assert group.shared == dict.fromkeys(range(4), (0,))
    (alone,) = form_groups(nodes[:1], frozenset({10}))
    assert alone.kind == "pointwise"


def column_sum(result: int, read: int, rows: int = 32) -> Node:
    return Node(
        Role.REDUCTION, (128, rows), (True, False), (result,), ((0,),), (Read(read, (1, 0)),)
    )


def test_small_reductions_over_equal_loops_share_a_kernel() -> None:
    sums = [column_sum(10, 0), column_sum(11, 1)]
    assert groups_of(sums, 10, 11) == [[0, 1]]
    assert groups_of([column_sum(10, 0, 1 << 20), column_sum(11, 1)], 10, 11) == [[0], [1]]


def test_a_reduction_shares_no_kernel_with_what_it_needs() -> None:
    nodes = [
        column_sum(10, 0),
        matmul(11, [Read(10, (2,)), Read(1, (2, 1))], 32, 128, 128),
        column_sum(12, 11),
    ]
    assert groups_of(nodes, 12) == [[0], [1], [2]]


def large_sum(result: int, reads: list[Read], rows: int, columns: int) -> Node:
    extents, parallel = (columns, rows), (True, False)
    return Node(Role.REDUCTION, extents, parallel, (result,), ((0,),), tuple(reads))


def read(value: int, *loops: int) -> Read:
    """An element by plain loops, of two."""
    return Read(value, loops, map=AffineMap(2, 0, tuple(AffineDimExpr(i) for i in loops)))


def test_large_column_sums_of_the_same_values_share_a_kernel() -> None:
    weighted = large_sum(10, [read(0, 1, 0), read(1, 1, 0)], 4096, 4096)
    assert groups_of([weighted, large_sum(11, [read(1, 1, 0)], 4096, 4096)], 10, 11) == [[0, 1]]
    assert groups_of([weighted, large_sum(11, [read(2, 1, 0)], 4096, 4096)], 10, 11) == [[0], [1]]
    assert groups_of([weighted, large_sum(11, [read(1, 0, 1)], 4096, 4096)], 10, 11) == [[0], [1]]
    # What has no element for each iteration is little beside the rest.
    assert groups_of([weighted, large_sum(11, [read(2, 1)], 4096, 4096)], 10, 11) == [[0], [1]]


def test_a_sum_of_another_length_keeps_its_kernel() -> None:
    nodes = [large_sum(10, [read(0, 1, 0)], 4096, 4096), large_sum(11, [read(0, 1, 0)], 64, 4096)]
    assert groups_of(nodes, 10, 11) == [[0], [1]]
