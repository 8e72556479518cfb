"""The structured ops of a host function as the graph that `fusion.form_groups` takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from ingot.compiler.analysis.affine_maps import linear_form, permutation_of, plain_dims
from ingot.compiler.analysis.cost import body_cost
from ingot.compiler.analysis.fusion_graph import Node, Read, Role
from ingot.compiler.analysis.structured import (
    Contraction,
    captured_tensors,
    indexing_maps,
    is_parallel,
    loop_extents,
    match_combiner,
    match_contraction,
    reduction_loops,
)
from ingot.compiler.dialects.ingot import ScanOp
from ingot.compiler.dialects.linalg import FillOp, GenericOp

CHEAP_INPUT = 32
"""Cost (see `cost.py`) up to which a contraction's input is computed where it is read: the padding
of an image takes as much."""

FEW_DOTS, LONG_DOT = 8, 512
"""Rows or columns below which, and terms from which, a product is a dot product for each result."""

LONG_REDUCTION = 16
"""Elements from which a threadgroup shares a reduction over trailing dimensions."""


@dataclass
class DispatchGraph:
    """Nodes with the ops they stand for, in program order; values are numbered."""

    ops: list[Operation] = field(default_factory=list[Operation])
    nodes: list[Node] = field(default_factory=list[Node])
    escapes: set[int] = field(default_factory=set[int])
    numbers: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def number(self, value: SSAValue) -> int:
        """The number of a value."""
        return self.numbers.setdefault(value, len(self.numbers))


def build_graph(block: Block) -> DispatchGraph:
    """The graph of the structured ops and scans of `block`."""
    graph = DispatchGraph()
    for op in block.ops:
        match op:
            case GenericOp():
                node = _generic_node(op, graph)
            case ScanOp():
                reads = tuple(r for v in op.operands for r in _reads(v, None, graph))
                results = tuple(graph.number(r) for r in op.results)
                node = Node(Role.SCAN, (), (), results, tuple(() for _ in results), reads)
            case _:
                continue
        graph.ops.append(op)
        graph.nodes.append(node)
    members = set(graph.ops)
    for op in graph.ops:
        for result in op.results:
            if any(_top_level(use.operation, block) not in members for use in result.uses):
                graph.escapes.add(graph.number(result))
    return graph


def _top_level(op: Operation, block: Block) -> Operation:
    """The op of `block` that is, or contains, `op`."""
    while op.parent_block() is not block:
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op


def is_local(value: SSAValue) -> bool:
    """Whether a kernel makes the value itself instead of reading it from a buffer."""
    return isinstance(value.owner, tensor.EmptyOp | FillOp) or (
        isinstance(value.owner, arith.ConstantOp) and not isinstance(value.type, TensorType)
    )


def _reads(value: SSAValue, map_: AffineMap | None, graph: DispatchGraph) -> Iterator[Read]:
    """How a node depends on `value`, which it indexes by a map (None: in a way of its own)."""
    if is_local(value):
        return
    if isinstance(value.owner, GenericOp | ScanOp) or isinstance(value, BlockArgument):
        loops = () if map_ is None else plain_dims(map_)
        yield Read(graph.number(value), loops, direct=map_ is not None, map=map_)
        return
    # A reshape or another host op: a buffer of its own, behind which the producers are hidden.
    yield Read(graph.number(value), (), direct=False)
    assert isinstance(value.owner, Operation)
    for operand in value.owner.operands:
        if isinstance(operand.type, TensorType):
            yield from _reads(operand, None, graph)


def _generic_node(op: GenericOp, graph: DispatchGraph) -> Node:
    maps = indexing_maps(op)
    inputs = len(op.inputs)
    reads: list[Read] = []
    for i, (operand, map_) in enumerate(zip(op.operands, maps, strict=True)):
        if i < inputs or op.body.block.args[i].uses:
            reads.extend(_reads(operand, map_, graph))
    for captured in captured_tensors(op):
        reads.extend(_reads(captured, None, graph))
    writes = tuple(permutation_of(m) or () for m in maps[inputs:])
    role = role_of(op)
    leading: tuple[int, ...] = ()
    blocks: tuple[tuple[int, ...], ...] = ()
    if role is Role.CONTRACTION:
        product = match_contraction(op)
        # The dimensions of a convolution are read in windows: their order is part of its schedule.
        leading = product.batch if product is not None else writes[0]
        blocks = (product.m, product.n) if product is not None else ()
    return Node(
        role,
        loop_extents(op),
        tuple(is_parallel(op)),
        tuple(graph.number(r) for r in op.results),
        writes,
        tuple(reads),
        leading,
        blocks,
        in_rows=role is Role.REDUCTION and is_over_rows(op),
        cheap=role is Role.ELEMENTWISE and body_cost(op) <= CHEAP_INPUT,
        takes_inputs=role is Role.CONTRACTION and match_contraction(op) is None,
        branches=any(inner.regions for inner in op.body.block.ops),
    )


def makes_inputs(op: GenericOp) -> bool:
    """Whether an op of a kernel makes what a contraction reads, and shares no loops with it."""
    return all(is_parallel(op)) and all(
        isinstance(use.operation, GenericOp)
        and (
            makes_inputs(use.operation)
            or (use.index < len(use.operation.inputs) and is_contraction(use.operation))
        )
        for result in op.results
        for use in result.uses
    )


def role_of(op: GenericOp) -> Role:
    """What the op is to a group."""
    parallel = is_parallel(op)
    if all(parallel):
        return Role.ELEMENTWISE
    if is_contraction(op):
        return Role.CONTRACTION
    extents = loop_extents(op)
    long = prod(n for n, p in zip(extents, parallel, strict=True) if not p) >= LONG_REDUCTION
    return Role.ROW_REDUCTION if long and is_over_rows(op) else Role.REDUCTION


def is_over_rows(op: GenericOp) -> bool:
    """Whether a reduction runs over the trailing dimensions of what it reads.

    The largest inputs decide: of a smaller one there is little to read.
    """
    reduced, extents = reduction_loops(op), loop_extents(op)
    reads = indexing_maps(op)[: len(op.inputs)]
    sizes = [prod(extents[loop] for loop in m.used_dims()) for m in reads]
    return any(
        _trail(reduced, m) for m, size in zip(reads, sizes, strict=True) if size == max(sizes)
    )


def _trail(loops: list[int], map_: AffineMap) -> bool:
    """Whether `loops` run over the last dimensions, or a single one over a range of the last."""
    if list(plain_dims(map_))[-len(loops) :] == loops and len(map_.results) >= len(loops):
        return True
    last = linear_form(map_.results[-1], map_.num_dims) if map_.results else None
    return len(loops) == 1 and last is not None and last[0][loops[0]] == 1


def _is_few_dots(op: GenericOp, contraction: Contraction) -> bool:
    """Whether a product has few rows or columns, and both inputs lie along its long sums.

    A threadgroup for each result then reads what lies together; a tile of results would not.
    """
    extents = loop_extents(op)
    sides = [prod(extents[i] for i in loops) for loops in (contraction.m, contraction.n)]
    depth = prod(extents[i] for i in contraction.k)
    along = all(m.results[-1].used_dims() <= set(contraction.k) for m in indexing_maps(op)[:2])
    return min(sides) < FEW_DOTS and depth >= LONG_DOT and along


def is_contraction(op: GenericOp) -> bool:
    """Whether the op is a matrix product with two free sides, or a convolution.

    A product of a matrix and a vector is a reduction of rows instead: nothing is used twice.
    """
    if all(is_parallel(op)):
        return False
    contraction = match_contraction(op)
    if contraction is not None:
        return bool(contraction.m and contraction.n) and not _is_few_dots(op, contraction)
    combiner = match_combiner(op)
    if combiner is None or combiner.name != "add":
        return False
    product = combiner.contribution.owner
    if not isinstance(product, arith.MulfOp | arith.MuliOp):
        return False
    read = {_argument_under_casts(v) for v in product.operands}
    windows = any(not m.is_projected_permutation() for m in indexing_maps(op)[: len(op.inputs)])
    return windows and None not in read and len(read) == 2


def _argument_under_casts(value: SSAValue) -> int | None:
    """The body argument that a value is, up to conversions."""
    while isinstance(value.owner, Operation):
        if len(value.owner.operands) != 1:
            return None
        value = value.owner.operands[0]
    assert isinstance(value, BlockArgument)
    return value.index
