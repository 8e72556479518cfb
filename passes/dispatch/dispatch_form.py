"""Group structured ops into `dispatch.region`, one for each kernel to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, Use
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.affine_maps import permutation_of, rename_dims
from ingot.compiler.analysis.attention_kernels import attention_kernels
from ingot.compiler.analysis.dispatch_graph import DispatchGraph, build_graph, is_local
from ingot.compiler.analysis.fill_pattern import fill_pattern
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.fusion import form_groups
from ingot.compiler.analysis.fusion_graph import Group, Limits
from ingot.compiler.analysis.generics import (
    Emitter,
    elementwise,
    empty,
    erase,
    fill,
    make_generic,
)
from ingot.compiler.analysis.scalar_folding import constant_of
from ingot.compiler.analysis.structured import indexing_maps, shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
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
    op.properties["indexing_maps"] = ArrayAttr(maps)
    iterators = op.iterator_types.data
    op.properties["iterator_types"] = ArrayAttr([iterators[old] for old in order])
    for inner in op.body.walk():
        if isinstance(inner, IndexOp):
            new = position[inner.dim.value.data]
            inner.properties["dim"] = IntegerAttr(new, i64)


@dataclass
class _RegionBuilder:
    """Clones the ops of one group into a block; what comes from above is looked up as it is met."""

    block: Block = field(default_factory=Block)
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    layouts: dict[SSAValue, Sequence[int]] = field(default_factory=dict[SSAValue, Sequence[int]])
    """For a value that is laid out in the order of the shared loops the dimensions that it had."""

    def add(self, op: Operation, shared: Sequence[int], free: Sequence[bool]) -> None:
        """Clone `op`, with its shared loops first; results that are `free` get their layout."""
        for operand in dict.fromkeys(op.operands):
            self._bring(operand)
        for inner in (i for region in op.regions for i in region.walk()):
            for operand in inner.operands:
                owner = operand.owner
                if isinstance(owner, Operation) and owner.parent_block() is op.parent_block():
                    self._bring(operand)
        new = op.clone(self.values)
        self.block.add_op(new)
        if isinstance(new, GenericOp) and isinstance(op, GenericOp):
            inner_loops = [i for i in range(len(new.iterator_types.data)) if i not in shared]
            interchange(new, [*shared, *inner_loops])
            self._lay_out(op, new, free)

    def _bring(self, value: SSAValue) -> None:
        if value in self.values or not is_local(value):
            return
        owner = value.owner
        assert isinstance(owner, Operation)
        for operand in owner.operands:
            self._bring(operand)
        self.block.add_op(owner.clone(self.values))

    def _lay_out(self, op: GenericOp, new: GenericOp, free: Sequence[bool]) -> None:
        """Read values as they are laid out, and let the free results follow the loops."""
        maps = indexing_maps(new)
        inputs = len(new.inputs)
        for i, operand in enumerate(new.operands):
            if operand in self.layouts:
                order = self.layouts[operand]
                results = tuple(maps[i].results[dim] for dim in order)
                maps[i] = AffineMap(maps[i].num_dims, 0, results)
        outputs = list(new.outputs)
        orders: dict[int, Sequence[int]] = {}
        for i, init in enumerate(new.outputs):
            written = permutation_of(maps[inputs + i])
            if not new.body.block.args[inputs + i].uses:
                outputs[i] = empty(Emitter.before(new), tensor_type(init))
            if written is None or not free[i] or not _is_made_here(outputs[i]):
                continue
            order = sorted(range(len(written)), key=written.__getitem__)
            if order == list(range(len(order))):
                continue
            orders[i] = order
            outputs[i] = _transposed_init(Emitter.before(new), outputs[i], order)
            results = tuple(maps[inputs + i].results[dim] for dim in order)
            maps[inputs + i] = AffineMap(maps[inputs + i].num_dims, 0, results)
        body = new.detach_region(new.body)
        made = make_generic(
            Emitter.before(new), list(new.inputs), outputs, maps, list(new.iterator_types), body
        )
        made.attributes |= new.attributes
        new.detach()
        new.drop_all_references()
        for i, (old, result) in enumerate(zip(op.results, made.results, strict=True)):
            result.name_hint = old.name_hint
            self.values[old] = result
            if i in orders:
                self.layouts[result] = orders[i]


def _is_made_here(init: SSAValue) -> bool:
    return isinstance(init.owner, tensor.EmptyOp | FillOp)


def _transposed_init(emit: Emitter, init: SSAValue, order: Sequence[int]) -> SSAValue:
    """`tensor.empty` or `linalg.fill` with the dimensions in another order."""
    shape = shape_of(init)
    type_ = TensorType(tensor_type(init).element_type, [shape[dim] for dim in order])
    if isinstance(init.owner, FillOp):
        return fill(emit, init.owner.inputs[0], type_)
    return empty(emit, type_)


def _build_region(group: Group, graph: DispatchGraph) -> tuple[RegionOp, list[SSAValue]]:
    """The region of a group, and the values that its results replace."""
    builder = _RegionBuilder()
    members = [graph.ops[i] for i in group.nodes]
    inside = set(members)
    outer: list[SSAValue] = []
    for i, op in zip(group.nodes, members, strict=True):
        free: list[bool] = []
        for result in op.results:
            uses = list(result.uses)
            stored = any(_member(use.operation, op.parent_block()) not in inside for use in uses)
            if stored:
                outer.append(result)
            free.append(not stored and group.kind == "pointwise" and not _starts_another(uses))
        builder.add(op, group.shared[i], free)
    builder.block.add_op(YieldOp(*(builder.values[v] for v in outer)))
    _erase_unused(builder.block)
    attributes: dict[str, Attribute] = {KIND: StringAttr(group.kind)}
    if group.kind == "row":
        attributes[ROW_DIMS] = IntegerAttr(len(group.shared[group.nodes[0]]), i64)
    region = RegionOp([v.type for v in outer], Region(builder.block), attributes)
    region.location = members[-1].location
    return region, outer


def _starts_another(uses: Sequence[Use]) -> bool:
    """Whether a value is what some generic starts from, so that it keeps its type."""
    return any(
        isinstance(use.operation, GenericOp) and use.index >= len(use.operation.inputs)
        for use in uses
    )


def _erase_unused(block: Block) -> None:
    for op in reversed(list(block.ops)):
        # A division in a body keeps xDSL from removing a generic; here it has a value always.
        if isinstance(op, GenericOp | tensor.EmptyOp | FillOp | arith.ConstantOp) and not any(
            r.uses for r in op.results
        ):
            erase(op)


def _member(op: Operation, block: Block | None) -> Operation:
    while op.parent_block() is not block:
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op


def _fill_by_kernels(block: Block) -> None:
    """Let kernels write the fills that a fill command cannot, where a buffer is needed."""
    for op in list(block.ops):
        if not isinstance(op, FillOp):
            continue
        stored = [use for use in op.results[0].uses if not isinstance(use.operation, GenericOp)]
        if not stored:
            continue
        scalar = constant_of(op.inputs[0])
        if scalar is None or fill_pattern(scalar) is None:
            value = op.inputs[0]
            made = _constant_tensor(op, value)
            for use in stored:
                use.operation.operands[use.index] = made


def _constant_tensor(op: FillOp, value: SSAValue) -> SSAValue:
    return elementwise(
        Emitter.before(op), tensor_type(op.results[0]), [], [], lambda _, __: [value]
    )


def _form_block(block: Block, limits: Limits, merge_products: bool) -> None:
    _erase_unused(block)
    _fill_by_kernels(block)
    graph = build_graph(block)
    number = {op: i for i, op in enumerate(graph.ops)}
    attentions = [
        [number[op] for op in ops]
        for ops in attention_kernels(block, merge_products=merge_products)
    ]
    groups = form_groups(graph.nodes, frozenset(graph.escapes), limits, attentions)
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
    _erase_unused(block)


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
    merge_products: bool = True
    """Compute two small matrix products in a row by one kernel."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Form the regions of every host function."""
        for function in host_functions(op):
            limits = Limits(max_operands=self.max_operands)
            _form_block(function.body.block, limits, self.merge_products)
