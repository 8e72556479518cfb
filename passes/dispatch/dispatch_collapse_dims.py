"""Merge the loops of each kernel that run over contiguous elements."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import affine, arith, tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from ingot.compiler.analysis.dispatch_graph import makes_inputs
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, collapse, empty, expand, make_generic
from ingot.compiler.analysis.loop_merging import (
    MergeProblem,
    merge_groups,
    merge_map,
    merge_verdict,
)
from ingot.compiler.analysis.structured import (
    captured_tensors,
    indexing_maps,
    is_parallel,
    loop_extents,
    shape_of,
)
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.dispatch import KIND, ROW_DIMS, UNFOLDED, RegionOp, YieldOp
from ingot.compiler.dialects.ingot import ScanOp
from ingot.compiler.dialects.linalg import FillOp, GenericOp, IndexOp


@dataclass
class _Merger:
    """Decides which loops of a region are merged, then rewrites it."""

    region: RegionOp
    rows: int | None
    """How many loops the ops share when these are rows; None when all parallel loops are shared."""
    problem: MergeProblem = field(default_factory=MergeProblem)
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    groups: dict[SSAValue, list[list[int]]] = field(default_factory=dict[SSAValue, list[list[int]]])
    """How the dimensions of each value that the region makes are merged."""
    views: dict[tuple[SSAValue, str], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, str], SSAValue]
    )

    def generics(self) -> list[GenericOp]:
        return [op for op in self.region.body.block.ops if isinstance(op, GenericOp)]

    def _dim(self, op: GenericOp, position: int, dim: int) -> tuple[object, ...]:
        """The pair of dimensions `dim` and `dim + 1` of an operand.

        A value that comes from outside gets a view of its own for each op.
        """
        value = op.operands[position]
        inside = (
            value.owner.parent_block() is self.region.body.block
            if isinstance(value.owner, Operation)
            else False
        )
        return ("dim", value, dim) if inside else ("dim", op, position, dim)

    def decide(self) -> bool:
        """Fill in the problem; returns whether anything can be merged."""
        generics = self.generics()
        for op in generics:
            if UNFOLDED in op.attributes:
                self._follow_maps(op)
                continue
            parallel = is_parallel(op)
            shared = sum(parallel) if self.rows is None else self.rows
            if self.rows is None and makes_inputs(op):
                shared = 0
            indexed = {i.dim.value.data for i in op.body.walk() if isinstance(i, IndexOp)}
            for loop in range(len(parallel) - 1):
                if loop < shared - 1:
                    self.problem.join(("loop", op, loop), ("shared", loop))
                ends = parallel[loop] != parallel[loop + 1] or loop == shared - 1
                if ends or {loop, loop + 1} & indexed:
                    self.problem.block(("loop", op, loop))
            self._follow_maps(op)
            for value in captured_tensors(op):
                for dim in range(len(shape_of(value)) - 1):
                    self.problem.block(("dim", value, dim))
        return any(
            self.problem.allowed(("loop", op, loop))
            for op in generics
            for loop in range(len(op.iterator_types.data) - 1)
        )

    def _follow_maps(self, op: GenericOp) -> None:
        extents = loop_extents(op)
        inputs = len(op.inputs)
        for position, map_ in enumerate(indexing_maps(op)):
            followed: set[int] = set()
            for loop in range(len(extents) - 1):
                verdict = merge_verdict(map_, loop, extents[loop + 1])
                pair = ("loop", op, loop)
                if verdict == "blocked":
                    self.problem.block(pair)
                elif verdict != "free":
                    followed.add(verdict)
                    self.problem.join(pair, self._dim(op, position, verdict))
                    if position >= inputs:
                        result = op.results[position - inputs]
                        self.problem.join(pair, ("dim", result, verdict))
            for dim in range(len(map_.results) - 1):
                if dim not in followed:
                    self.problem.block(self._dim(op, position, dim))
                    if position >= inputs:
                        self.problem.block(("dim", op.results[position - inputs], dim))

    def rewrite(self) -> None:
        """Replace the region by one over merged loops, with views at its borders."""
        old = self.region
        block = Block()
        before = Emitter.before(old)
        yielded: list[SSAValue] = []
        for op in list(old.body.block.ops):
            emit = Emitter.at_end(block, op.location)
            match op:
                case GenericOp():
                    self._generic(op, emit, before)
                case YieldOp():
                    emit.add(YieldOp(*(self._value(v) for v in op.operands)))
                    yielded = list(op.operands)
                case arith.ConstantOp():
                    self.values[op.result] = emit.add(op.clone()).result
                case _:
                    pass  # tensor.empty and linalg.fill are made where they are used
        attributes = dict(old.attributes)
        if self.rows is not None:
            merged = sum(self.problem.allowed(("shared", i)) for i in range(self.rows - 1))
            attributes[ROW_DIMS] = IntegerAttr(self.rows - merged, i64)
        types = [self._value(v).type for v in yielded]
        new = before.add(RegionOp(types, Region(block), attributes))
        for value, before_merge, result in zip(yielded, old.results, new.results, strict=True):
            groups = self.groups.get(value)
            result.name_hint = before_merge.name_hint
            whole = result
            if groups is not None and any(len(g) > 1 for g in groups):
                fixed = tuple(tuple(g) for g in groups)
                whole = expand(before, result, fixed, shape_of(before_merge))
            before_merge.replace_all_uses_with(whole)
        old.detach()
        old.drop_all_references()

    def _value(self, value: SSAValue) -> SSAValue:
        return self.values.get(value, value)

    def _generic(self, op: GenericOp, emit: Emitter, before: Emitter) -> None:
        count = len(op.iterator_types.data)
        allowed = [self.problem.allowed(("loop", op, loop)) for loop in range(count - 1)]
        groups = merge_groups(count, allowed)
        operands: list[SSAValue] = []
        maps: list[AffineMap] = []
        inputs = len(op.inputs)
        for position, (operand, map_) in enumerate(
            zip(op.operands, indexing_maps(op), strict=True)
        ):
            new_map, dims = merge_map(map_, groups)
            maps.append(new_map)
            operands.append(self._operand(operand, dims, emit, before))
            if position >= inputs:
                self.groups[op.results[position - inputs]] = dims
        extents = loop_extents(op)
        body = op.detach_region(op.body)
        for inner in list(body.walk()):
            if isinstance(inner, IndexOp):
                _index_merged(inner, groups, extents)
            for i, operand in enumerate(inner.operands):
                if operand in self.values:
                    inner.operands[i] = self.values[operand]
        iterators = [op.iterator_types.data[group[0]] for group in groups]
        new = make_generic(emit, operands[:inputs], operands[inputs:], maps, iterators, body)
        new.attributes |= op.attributes
        for result, merged in zip(op.results, new.results, strict=True):
            merged.name_hint = result.name_hint
            self.values[result] = merged

    def _operand(
        self, value: SSAValue, dims: list[list[int]], emit: Emitter, before: Emitter
    ) -> SSAValue:
        """`value` with its dimensions merged: made anew, already merged, or a view from outside."""
        type_ = _merged_type(value, dims)
        match value.owner:
            case tensor.EmptyOp():
                return empty(emit, type_)
            case FillOp() as fill:
                key = value, str(type_)
                if key not in self.views:
                    scalar = self._value(fill.inputs[0])
                    init = empty(emit, type_)
                    self.views[key] = emit.add(FillOp([scalar], [init], [type_])).results[0]
                return self.views[key]
            case _ if value in self.values:
                return self.values[value]
            case _:
                if type_ == value.type:
                    return value
                key = value, str(type_)
                if key not in self.views:
                    groups = tuple(tuple(g) for g in dims)
                    self.views[key] = collapse(before, value, groups)
                return self.views[key]


def _index_merged(op: IndexOp, groups: list[list[int]], extents: tuple[int, ...]) -> None:
    """Let an index count what it did, of a loop that is merged with others."""
    loop = op.dim.value.data
    new = next(i for i, group in enumerate(groups) if loop in group)
    op.properties["dim"] = IntegerAttr(new, i64)
    group = groups[new]
    if len(group) == 1:
        return
    place = group.index(loop)
    stride = prod(extents[i] for i in group[place + 1 :])
    expr: AffineExpr = AffineDimExpr(0)
    if stride > 1:
        expr = expr // stride
    if place:
        expr = expr % extents[loop]
    uses = list(op.result.uses)
    emit = Emitter(Builder(InsertPoint.after(op)), op.location)
    apply = emit.add(affine.ApplyOp([op.result], AffineMapAttr(AffineMap(1, 0, (expr,)))))
    for use in uses:
        use.operation.operands[use.index] = apply.result


def _merged_type(value: SSAValue, dims: list[list[int]]) -> TensorType[Attribute]:
    shape = shape_of(value)
    return TensorType(
        tensor_type(value).element_type, [prod(shape[i] for i in group) for group in dims]
    )


@dataclass(frozen=True)
class DispatchCollapseDimsPass(ModulePass):
    """Merge adjacent loops of a `dispatch.region` where every op runs over them contiguously
    (L2 to L2).

    An elementwise kernel becomes one loop, rows of a batch become rows; the reshapes at the borders
    of the region are views.

        dispatch.region { linalg.generic {(d0, d1, d2) -> (d0, d1, d2)}
                                         ins(%x : tensor<2x32x64xf32>) }
    becomes
        %c = tensor.collapse_shape %x [[0, 1, 2]] : tensor<2x32x64xf32> into tensor<4096xf32>
        dispatch.region { linalg.generic {(d0) -> (d0)} ins(%c : tensor<4096xf32>) }
    """

    name = "dispatch-collapse-dims"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every region of the host functions."""
        for function in host_functions(op):
            for region in list(function.body.block.ops):
                if isinstance(region, RegionOp) and not _keeps_dims(region):
                    rows = region.attributes.get(ROW_DIMS)
                    merger = _Merger(
                        region, rows.value.data if isinstance(rows, IntegerAttr) else None
                    )
                    if merger.decide():
                        merger.rewrite()


def _keeps_dims(region: RegionOp) -> bool:
    """Whether the region is a scan or an attention, whose dimensions have roles."""
    if region.attributes.get(KIND) == StringAttr("attention"):
        return True
    return any(isinstance(op, ScanOp) for op in region.body.block.ops)
