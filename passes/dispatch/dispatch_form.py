"""Group structured ops into `dispatch.region`, one for each kernel to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.affine_maps import rename_dims
from ingot.compiler.analysis.dispatch_graph import DispatchGraph, build_graph, is_local
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.fusion import Group, Limits, form_groups
from ingot.compiler.analysis.structured import indexing_maps
from ingot.compiler.dialects.dispatch import KIND, ROW_DIMS, RegionOp, YieldOp
from ingot.compiler.dialects.linalg import FillOp, GenericOp, IndexOp


def interchange(op: GenericOp, order: Sequence[int]) -> None:
    """Reorder the loops of `op` in place: loop i becomes what was loop `order[i]`."""
    if list(order) == list(range(len(order))):
        return
    position = [0] * len(order)
    for new, old in enumerate(order):
        position[old] = new
    maps = [AffineMapAttr(rename_dims(m, position)) for m in indexing_maps(op)]
    op.properties["indexing_maps"] = type(op.indexing_maps)(maps)
    iterators = op.iterator_types.data
    op.properties["iterator_types"] = type(op.iterator_types)([iterators[old] for old in order])
    for inner in op.body.walk():
        if isinstance(inner, IndexOp):
            new = position[inner.dim.value.data]
            inner.properties["dim"] = IntegerAttr(new, i64)


@dataclass
class _RegionBuilder:
    """Clones the ops of one group into a block; what comes from above is looked up as it is met."""

    block: Block = field(default_factory=Block)
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def add(self, op: Operation, shared: Sequence[int]) -> None:
        for operand in dict.fromkeys(op.operands):
            self._bring(operand)
        for inner in (i for region in op.regions for i in region.walk()):
            for operand in inner.operands:
                if isinstance(operand.owner, arith.ConstantOp | tensor.EmptyOp | FillOp):
                    if operand.owner.parent_block() is op.parent_block():
                        self._bring(operand)
        new = op.clone(self.values)
        self.block.add_op(new)
        if isinstance(new, GenericOp):
            self._drop_unread_inits(new)
            inner_loops = [i for i in range(len(new.iterator_types.data)) if i not in shared]
            interchange(new, [*shared, *inner_loops])

    def _bring(self, value: SSAValue) -> None:
        if value in self.values or not is_local(value):
            return
        owner = value.owner
        assert isinstance(owner, Operation)
        for operand in owner.operands:
            self._bring(operand)
        self.block.add_op(owner.clone(self.values))

    def _drop_unread_inits(self, op: GenericOp) -> None:
        for i in range(len(op.inputs), len(op.operands)):
            if isinstance(op.operands[i].owner, tensor.EmptyOp) or op.body.block.args[i].uses:
                continue
            empty = tensor.EmptyOp([], op.operands[i].type)
            empty.location = op.location
            self.block.insert_op_before(empty, op)
            op.operands[i] = empty.tensor


def _build_region(group: Group, graph: DispatchGraph) -> tuple[RegionOp, list[SSAValue]]:
    """The region of a group, and the values that its results replace."""
    builder = _RegionBuilder()
    members = [graph.ops[i] for i in group.nodes]
    for i, op in zip(group.nodes, members, strict=True):
        builder.add(op, group.shared[i])
    inside = set(members)
    outer: list[SSAValue] = []
    for op in members:
        for result in op.results:
            if any(_member(use.operation, op.parent_block()) not in inside for use in result.uses):
                outer.append(result)
    builder.block.add_op(YieldOp(*(builder.values[v] for v in outer)))
    attributes: dict[str, Attribute] = {KIND: StringAttr(group.kind)}
    if group.kind == "row":
        attributes[ROW_DIMS] = IntegerAttr(len(group.shared[group.nodes[0]]), i64)
    region = RegionOp([v.type for v in outer], Region(builder.block), attributes)
    region.location = members[-1].location
    return region, outer


def _member(op: Operation, block: Block | None) -> Operation:
    while op.parent_block() is not block:
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op


def _form_block(block: Block, limits: Limits) -> None:
    graph = build_graph(block)
    groups = form_groups(graph.nodes, frozenset(graph.escapes), limits)
    group_of = {graph.ops[i]: group for group in groups for i in group.nodes}
    terminator = block.last_op
    assert terminator is not None
    replaced: dict[SSAValue, SSAValue] = {}
    placed: set[int] = set()
    dead: list[Operation] = []

    def place(op: Operation) -> None:
        """Move what `op` needs, then `op` or its region, in front of the terminator."""
        group = group_of.get(op)
        if (group is not None and id(group) in placed) or op in done:
            return
        members = [graph.ops[i] for i in group.nodes] if group is not None else [op]
        if group is not None:
            placed.add(id(group))
        done.update(members)
        for member in members:
            for needed in _needed(member):
                if needed not in done and needed.parent_block() is block:
                    place(needed)
        if group is None:
            if op is not terminator:
                op.detach()
                block.insert_op_before(op, terminator)
            return
        region, outer = _build_region(group, graph)
        block.insert_op_before(region, terminator)
        for old, new in zip(outer, region.results, strict=True):
            new.name_hint = old.name_hint
            replaced[old] = new
        dead.extend(members)

    done: set[Operation] = set()
    for op in list(block.ops):
        place(op)
    for old, new in replaced.items():
        old.replace_all_uses_with(new)
    for op in dead:
        op.detach()
        op.drop_all_references()
    for op in reversed(list(block.ops)):
        if isinstance(op, tensor.EmptyOp | FillOp | arith.ConstantOp) and not any(
            r.uses for r in op.results
        ):
            op.detach()
            op.erase()


def _needed(op: Operation) -> list[Operation]:
    """The ops whose results `op`, or an op inside it, uses."""
    found: dict[Operation, None] = {}
    for inner in op.walk():
        for operand in inner.operands:
            if isinstance(operand.owner, Operation):
                found[operand.owner] = None
    return list(found)


@dataclass(frozen=True)
class DispatchFormPass(ModulePass):
    """Group the structured ops of host functions into `dispatch.region`s (L1 to L2).

    Every op of a region is a `linalg.generic` whose first loops are the loops that the region's ops
    share, in the same order; `ingot.kind` says whether these are all parallel loops (`pointwise`)
    or the rows (`row`, `ingot.row_dims` of them).

        %1 = linalg.generic {max over d1} ins(%x) ...
        %2 = linalg.generic {exp(x - max)} ins(%x, %1) ...
    becomes
        %2 = dispatch.region -> (tensor<64x1000xf32>) attributes {ingot.kind = "row", ...} { ... }
    """

    name = "dispatch-form"

    max_operands: int = Limits.max_operands

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Form the regions of every host function."""
        for function in host_functions(op):
            _form_block(function.body.block, Limits(max_operands=self.max_operands))
