"""The pass `dispatch-unfold-convolutions`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import affine, tensor
from xdsl.dialects.builtin import AffineMapAttr, ModuleOp, TensorType, UnitAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.affine_maps import rename_dims, substitute
from ingot.compiler.analysis.convolution import (
    Convolution,
    is_worth_unfolding,
    match_convolution,
)
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, empty, loop_indices, make_generic
from ingot.compiler.analysis.structured import indexing_maps, is_parallel, loop_extents
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.arith import ConstantOp
from ingot.compiler.dialects.dispatch import UNFOLDED, RegionOp, YieldOp
from ingot.compiler.dialects.linalg import FillOp, GenericOp, IndexOp, IteratorTypeAttr
from ingot.compiler.dialects.linalg import YieldOp as LinalgYieldOp


@dataclass(frozen=True)
class DispatchUnfoldConvolutionsPass(ModulePass):
    """Compute a convolution as a contraction of the image's windows, which are read where they are
    needed, in the regions of L2 (implicit GEMM).

    before:  %y = linalg.generic ins(%x[h + i, w + j, c], %w[i, j, c, f]) outs(%z[h, w, f])
    after:   %u = linalg.generic {ingot.unfolded} outs(%e[h, w, i, j, c]) { %x[h + i, w + j, c] }
             %y = linalg.generic ins(%u[h, w, i, j, c], %w[i, j, c, f]) outs(%z[h, w, f])

    `dispatch-collapse-dims` then merges the loops of the windows and those of the sum. A region
    that only moves the elements of the image, such as a padding, becomes part of the reading.
    """

    name = "dispatch-unfold-convolutions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in host_functions(op):
            for region in list(function.body.block.ops):
                if isinstance(region, RegionOp):
                    for generic in list(region.body.block.ops):
                        if isinstance(generic, GenericOp):
                            _unfold(generic)


def _unfold(op: GenericOp) -> None:
    convolution = match_convolution(op)
    if convolution is None or not is_worth_unfolding(op, convolution):
        return
    emit = Emitter.before(op)
    image, weights = op.inputs[convolution.image], op.inputs[1 - convolution.image]
    order = _order(convolution)
    windows = _windows(emit, op, image, order, indexing_maps(op)[convolution.image])
    maps = indexing_maps(op)
    maps[convolution.image] = AffineMap(
        len(is_parallel(op)), 0, tuple(AffineDimExpr(loop) for loop in order)
    )
    # The loops of the sum follow those of the result, in the order of the filter.
    parallel = [loop for loop, is_ in enumerate(is_parallel(op)) if is_]
    loops = [*parallel, *convolution.depth]
    position = [loops.index(loop) for loop in range(len(loops))]
    inputs = [weights, weights]
    inputs[convolution.image] = windows
    new = make_generic(
        emit,
        inputs,
        list(op.outputs),
        [rename_dims(m, position) for m in maps],
        [op.iterator_types.data[loop] for loop in loops],
        op.detach_region(op.body),
    )
    new.results[0].name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(new.results[0])
    op.detach()
    op.drop_all_references()
    _erase_if_unused(image.owner)


def _order(convolution: Convolution) -> tuple[int, ...]:
    """The loops as the dimensions of the windows, so that the image is contiguous in the last."""
    c = convolution
    if c.is_depth_contiguous or not c.windows:
        return (*c.outer, *c.windows, *c.depth)
    return (*c.outer, *c.depth, *c.windows)


def _windows(
    emit: Emitter, op: GenericOp, image: SSAValue, order: Sequence[int], map_: AffineMap
) -> SSAValue:
    """The elements of the image that each term of the sums needs, one dimension for each loop."""
    extents = loop_extents(op)
    type_ = TensorType(tensor_type(image).element_type, [extents[loop] for loop in order])
    dims: list[AffineExpr] = [AffineDimExpr(0)] * len(extents)
    for dim, loop in enumerate(order):
        dims[loop] = AffineDimExpr(dim)
    block = Block(arg_types=[type_.element_type])
    inner = Emitter.at_end(block, op.location)
    places = _apply(inner, substitute(map_, dims, len(order)), loop_indices(inner, len(order)))
    inner.add(LinalgYieldOp(_element(inner, image, places)))
    for index in list(block.ops):
        if isinstance(index, IndexOp) and not index.result.uses:
            index.detach()
            index.erase()
    identity = AffineMap.identity(len(order))
    parallel = [IteratorTypeAttr.parallel()] * len(order)
    made = make_generic(emit, [], [empty(emit, type_)], [identity], parallel, Region(block))
    made.attributes[UNFOLDED] = UnitAttr()
    made.results[0].name_hint = "windows"
    return made.results[0]


def _apply(emit: Emitter, map_: AffineMap, dims: Sequence[SSAValue]) -> list[SSAValue]:
    """The results of a map as index values."""
    values: list[SSAValue] = []
    for expr in map_.results:
        used = sorted(expr.used_dims())
        renumbered: list[AffineExpr] = [AffineDimExpr(0)] * map_.num_dims
        for new, old in enumerate(used):
            renumbered[old] = AffineDimExpr(new)
        single = AffineMap(len(used), 0, (expr.replace_dims_and_symbols(renumbered, []),))
        if single.results[0] == AffineDimExpr(0) and used:
            values.append(dims[used[0]])
            continue
        apply = affine.ApplyOp([dims[i] for i in used], AffineMapAttr(single))
        values.append(emit.add(apply).result)
    return values


def _element(emit: Emitter, value: SSAValue, places: Sequence[SSAValue]) -> SSAValue:
    """An element of a tensor, computed in place where its region only moves elements."""
    source = _moved(value)
    if source is None:
        return emit.add(tensor.ExtractOp(value, places, tensor_type(value).element_type)).result
    values: dict[SSAValue, SSAValue] = {}
    for operand in {v for inner in source.body.walk() for v in inner.operands}:
        # A constant of the other region does not reach here.
        if isinstance(operand.owner, ConstantOp) and not source.is_ancestor(operand.owner):
            values[operand] = emit.add(operand.owner.clone()).result
    for arg, operand, map_ in zip(
        source.body.block.args, source.inputs, indexing_maps(source), strict=False
    ):
        at = _apply(emit, map_, places)
        values[arg] = emit.add(tensor.ExtractOp(operand, at, arg.type)).result
    for inner in source.body.block.ops:
        match inner:
            case IndexOp():
                values[inner.result] = places[inner.dim.value.data]
            case LinalgYieldOp():
                return values.get(inner.operands[0], inner.operands[0])
            case _:
                copy = emit.add(inner.clone(values))
                values.update(zip(inner.results, copy.results, strict=True))
    raise AssertionError("the body of a structured op yields")


_MOVES = frozenset(
    f"arith.{name}"
    for name in ("addi", "subi", "muli", "maxsi", "minsi", "cmpi", "andi", "ori", "select")
) | {"arith.constant", "affine.apply", "linalg.index", "linalg.yield", "tensor.extract"}


_ALONE = (GenericOp, ConstantOp, tensor.EmptyOp, FillOp, YieldOp)


def _moved(value: SSAValue) -> GenericOp | None:
    """The op that makes `value`, here or alone in a region of its own, if it but moves elements."""
    op = value.owner
    if isinstance(op, RegionOp):
        block = op.body.block
        if len(op.results) != 1 or not all(isinstance(o, _ALONE) for o in block.ops):
            return None
        if sum(isinstance(o, GenericOp) for o in block.ops) != 1:
            return None
        op = next(o for o in block.ops if isinstance(o, GenericOp))
    if not isinstance(op, GenericOp):
        return None
    out = indexing_maps(op)[-1]
    if len(op.results) != 1 or out != AffineMap.identity(out.num_dims) or not all(is_parallel(op)):
        return None
    if op.body.block.args[-1].uses or any(isinstance(v.owner, FillOp) for v in op.inputs):
        return None
    return op if all(inner.name in _MOVES for inner in op.body.block.ops) else None


def _erase_if_unused(op: Operation | Block) -> None:
    if isinstance(op, RegionOp | GenericOp) and not any(result.uses for result in op.results):
        op.detach()
        op.drop_all_references()
