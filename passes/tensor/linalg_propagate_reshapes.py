"""Move reshapes between structured ops out of the way of fusion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.affine_maps import permutation_of, simplify
from ingot.compiler.analysis.cost import body_cost
from ingot.compiler.analysis.dispatch_graph import is_contraction
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, erase, make_generic, reshape, reshape_steps
from ingot.compiler.analysis.reshapes import reassociation
from ingot.compiler.analysis.structured import (
    indexing_maps,
    is_parallel,
    loop_extents,
    match_contraction,
    shape_of,
)
from ingot.compiler.dialects.linalg import GenericOp, IndexOp

Splits = dict[int, tuple[int, ...]]
"""The sizes of the loops that a loop is split into, from the outermost."""

Reshape = tensor.CollapseShapeOp | tensor.ExpandShapeOp


def split_loops(op: GenericOp, splits: Splits) -> GenericOp:
    """Replace `op` by one whose loops are split; operands and results are reshaped to match."""
    emit = Emitter.before(op)
    starts: list[int] = []
    count = 0
    for loop in range(len(loop_extents(op))):
        starts.append(count)
        count += len(splits.get(loop, (0,)))
    exprs: list[AffineExpr] = []
    for loop, start in enumerate(starts):
        expr: AffineExpr = AffineDimExpr(start)
        for offset, size in enumerate(splits.get(loop, (0,))[1:], 1):
            expr = expr * size + AffineDimExpr(start + offset)
        exprs.append(expr)
    operands: list[SSAValue] = []
    maps: list[AffineMap] = []
    for operand, map_ in zip(op.operands, indexing_maps(op), strict=True):
        shape: list[int] = []
        results: list[AffineExpr] = []
        for size, result in zip(shape_of(operand), map_.results, strict=True):
            if isinstance(result, AffineDimExpr) and result.position in splits:
                sizes = splits[result.position]
                start = starts[result.position]
                shape += sizes
                results += [AffineDimExpr(start + i) for i in range(len(sizes))]
            else:
                shape.append(size)
                results.append(simplify(result.replace_dims_and_symbols(exprs, ()), count))
        operands.append(_reshaped(emit, operand, shape))
        maps.append(AffineMap(count, 0, tuple(results)))
    body = op.detach_region(op.body)
    for index in [i for i in body.walk() if isinstance(i, IndexOp)]:
        _split_index(index, starts, splits)
    iterators = [
        it for loop, it in enumerate(op.iterator_types.data) for _ in splits.get(loop, (0,))
    ]
    inputs = len(op.inputs)
    new = make_generic(emit, operands[:inputs], operands[inputs:], maps, iterators, body)
    new.attributes |= op.attributes
    for old, result in zip(op.results, new.results, strict=True):
        result.name_hint = old.name_hint
        _replace(old, result, emit)
    op.detach()
    op.drop_all_references()
    return new


def _split_index(index: IndexOp, starts: Sequence[int], splits: Splits) -> None:
    """The position in a split loop, from the positions in its parts."""
    loop = index.dim.value.data
    emit = Emitter.before(index)
    value = emit.add(IndexOp(starts[loop])).result
    for offset, size in enumerate(splits.get(loop, (0,))[1:], 1):
        scaled = emit.add(arith.MuliOp(value, emit.index(size))).result
        value = emit.add(
            arith.AddiOp(scaled, emit.add(IndexOp(starts[loop] + offset)).result)
        ).result
    index.result.replace_all_uses_with(value)
    erase(index)


def _reshaped(emit: Emitter, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """`value` in another shape, from the source of its own reshape where it has one."""
    source = value.owner
    if isinstance(source, Reshape) and shape_of(source.src) == tuple(shape):
        return source.src
    return reshape(emit, value, shape)


def _replace(old: SSAValue, new: SSAValue, emit: Emitter) -> None:
    """Use `new`, which has another shape, in place of `old`; reshapes of `old` become its own."""
    for use in list(old.uses):
        user = use.operation
        if isinstance(user, Reshape):
            before = Emitter.before(user)
            user.result.replace_all_uses_with(reshape(before, new, shape_of(user.result)))
            erase(user)
    if old.uses:
        old.replace_all_uses_with(reshape(emit, new, shape_of(old)))


def _splits_of(map_: AffineMap, coarse: Sequence[int], fine: Sequence[int]) -> Splits | None:
    """How loops must be split for an operand of shape `coarse` to get the shape `fine`.

    None where the two shapes differ in more, or where a loop that is split indexes in sums.
    """
    groups = reassociation(fine, coarse)
    if groups is None or prod(coarse) == 0:
        return None
    splits: Splits = {}
    for expr, group in zip(map_.results, groups, strict=True):
        sizes = tuple(fine[i] for i in group)
        if len(sizes) == 1:
            continue
        if 1 in sizes or not isinstance(expr, AffineDimExpr) or expr.position in splits:
            return None
        splits[expr.position] = sizes
    return splits


def _splits_for_result(op: GenericOp) -> Splits | None:
    """Splits by which an `expand_shape` of a result of `op` becomes needless."""
    for i, result in enumerate(op.results):
        map_ = indexing_maps(op)[len(op.inputs) + i]
        if permutation_of(map_) is None:
            continue
        for use in result.uses:
            user = use.operation
            if isinstance(user, tensor.ExpandShapeOp) and _feeds_generic(user):
                splits = _splits_of(map_, shape_of(result), shape_of(user.result))
                if splits:
                    return splits
    return None


def _feeds_generic(op: Operation) -> bool:
    return any(isinstance(use.operation, GenericOp) for r in op.results for use in r.uses)


def _splits_for_input(op: GenericOp) -> Splits | None:
    """Splits by which a `collapse_shape` that `op` reads becomes needless.

    A matrix product takes part only where what it reads could be fused into it, or in its batch.
    """
    contraction = is_contraction(op)
    product = match_contraction(op) if contraction else None
    for operand, map_ in zip(op.operands, indexing_maps(op), strict=True):
        reshaped = operand.owner
        if not isinstance(reshaped, tensor.CollapseShapeOp):
            continue
        source = reshaped.src.owner
        if not isinstance(source, GenericOp):
            continue
        splits = _splits_of(map_, shape_of(operand), shape_of(reshaped.src))
        if not splits:
            continue
        fusible = all(is_parallel(source)) and not body_cost(source)
        if (
            not contraction
            or fusible
            or (product is not None and splits.keys() <= {*product.batch})
        ):
            return splits
    return None


def _compose(op: Reshape) -> None:
    """Reshape the source of a reshape instead, where that takes fewer steps."""
    source = op.src
    while isinstance(source.owner, Reshape):
        source = source.owner.src
        if reshape_steps(shape_of(source), shape_of(op.result)) < 2:
            result = reshape(Emitter.before(op), source, shape_of(op.result))
            op.result.replace_all_uses_with(result)
            erase(op)
            return


def _propagate(block: Block) -> None:
    changed = True
    while changed:
        changed = False
        for op in list(block.ops):
            if isinstance(op, Reshape):
                _compose(op)
        for op in list(block.ops):
            while isinstance(op, GenericOp) and op.parent is block:
                splits = _splits_for_result(op) or _splits_for_input(op)
                if splits is None:
                    break
                op = split_loops(op, splits)
                changed = True
    for op in reversed(list(block.ops)):
        if isinstance(op, Reshape) and not op.result.uses:
            erase(op)


@dataclass(frozen=True)
class LinalgPropagateReshapesPass(ModulePass):
    """Split loops so that no reshape lies between a structured op and its reader (L1 to L1).

    Reshapes end up at arguments, constants and results, where they are views. What was split is
    merged again, kernel by kernel, by `dispatch-collapse-dims`.

        %1 = linalg.generic {exp} ins(%x : tensor<64x8xf32>) ...
        %2 = tensor.expand_shape %1 ... into tensor<4x16x8xf32>
        linalg.generic {transpose} ins(%2)
    becomes
        %e = tensor.expand_shape %x ... into tensor<4x16x8xf32>
        %1 = linalg.generic {exp} ins(%e : tensor<4x16x8xf32>) ...
        linalg.generic {transpose} ins(%1)
    """

    name = "linalg-propagate-reshapes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions."""
        for function in host_functions(op):
            _propagate(function.body.block)
