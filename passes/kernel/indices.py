"""Index arithmetic of tiles: sizes, offsets and what is known of them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import affine, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    I64,
    AffineMapAttr,
    DenseArrayBase,
)
from xdsl.dialects.scf import ForOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.dialects.ingot import ScanOp
from ingot.compiler.dialects.linalg import FillOp, GenericOp

Index = int | SSAValue
"""An index that is known, or computed."""


def apply_map(builder: Builder, expr: AffineExpr, operands: Sequence[Index]) -> Index:
    """The value of `expr` over dimensions d0.. = operands, folded when all of them are known."""
    dims: list[SSAValue] = []
    replacements: list[AffineExpr] = []
    for operand in operands:
        if isinstance(operand, int):
            replacements.append(AffineConstantExpr(operand))
        elif operand in dims:
            replacements.append(AffineDimExpr(dims.index(operand)))
        else:
            replacements.append(AffineDimExpr(len(dims)))
            dims.append(operand)
    folded = expr.replace_dims_and_symbols(replacements, [])
    if isinstance(folded, AffineConstantExpr):
        return folded.value
    if isinstance(folded, AffineDimExpr):
        return dims[folded.position]
    used = sorted(folded.used_dims())
    compact: list[AffineExpr] = [AffineConstantExpr(0)] * len(dims)
    for new, old in enumerate(used):
        compact[old] = AffineDimExpr(new)
    map_ = AffineMap(len(used), 0, (folded.replace_dims_and_symbols(compact, []),))
    return builder.insert(affine.ApplyOp([dims[i] for i in used], AffineMapAttr(map_))).result


def tile_size(builder: Builder, offset: Index, size: int, extent: Index, count: int) -> Index:
    """min(size, extent - offset), static when `count` tiles of this size make up the extent."""
    if isinstance(extent, int):
        if isinstance(offset, int):
            return max(0, min(size, extent - offset))
        if extent == size * count:
            return size
        exprs = (AffineConstantExpr(size), AffineDimExpr(0) * -1 + extent)
        map_ = AffineMap(1, 0, exprs)
        return builder.insert(affine.MinOp([offset], AffineMapAttr(map_))).result
    if isinstance(offset, int):
        exprs = (AffineConstantExpr(size), AffineDimExpr(0) - offset)
        return builder.insert(affine.MinOp([extent], AffineMapAttr(AffineMap(1, 0, exprs)))).result
    exprs = (AffineConstantExpr(size), AffineDimExpr(1) - AffineDimExpr(0))
    return builder.insert(
        affine.MinOp([offset, extent], AffineMapAttr(AffineMap(2, 0, exprs)))
    ).result


def linear_coefficients(expr: AffineExpr, num_dims: int) -> tuple[list[int], int] | None:
    """The coefficients and the constant of a linear expression; None for mod and divisions."""
    match expr:
        case AffineConstantExpr(value):
            return [0] * num_dims, value
        case AffineDimExpr(position):
            coefficients = [0] * num_dims
            coefficients[position] = 1
            return coefficients, 0
        case AffineBinaryOpExpr(kind, lhs, rhs):
            left = linear_coefficients(lhs, num_dims)
            right = linear_coefficients(rhs, num_dims)
            if left is None or right is None:
                return None
            if kind == AffineBinaryOpKind.Add:
                sums = [a + b for a, b in zip(left[0], right[0], strict=True)]
                return sums, left[1] + right[1]
            if kind == AffineBinaryOpKind.Mul:
                if any(left[0]) and any(right[0]):
                    return None
                factor, other = (left[1], right) if not any(left[0]) else (right[1], left)
                return [factor * c for c in other[0]], factor * other[1]
            return None
        case _:
            return None


def fold_below(expr: AffineExpr, end: int) -> tuple[AffineExpr, int, int]:
    """An expression of one dimension from 0 up to, but without, `end`; its least and largest value.

    Quotients and remainders that are the same everywhere are numbers, remainders that change
    nothing are what they are taken of.
    """
    folded, least, most = expr, 0, end - 1
    match expr:
        case AffineConstantExpr(value):
            least = most = value
        case AffineBinaryOpExpr(kind, lhs, rhs):
            left, low, high = fold_below(lhs, end)
            right, low2, high2 = fold_below(rhs, end)
            match kind:
                case AffineBinaryOpKind.Add:
                    folded, least, most = left + right, low + low2, high + high2
                case AffineBinaryOpKind.Mul:
                    corners = [a * b for a in (low, high) for b in (low2, high2)]
                    folded, least, most = left * right, min(corners), max(corners)
                case AffineBinaryOpKind.FloorDiv:
                    folded, least, most = left // right, low // low2, high // low2
                case AffineBinaryOpKind.CeilDiv:
                    folded, least, most = left.ceil_div(right), -(-low // low2), -(-high // low2)
                case AffineBinaryOpKind.Mod if low // low2 == high // low2:
                    start = low // low2 * low2
                    folded, least, most = left + -start, low - start, high - start
                case AffineBinaryOpKind.Mod:
                    folded, least, most = left % right, 0, low2 - 1
        case _:
            pass
    return (AffineConstantExpr(least) if least == most else folded), least, most


def dimension_sizes(value: SSAValue) -> list[Index]:
    """The size of each dimension of a tile: an int, or the SSA value it was made with."""
    shape = shape_of(value)
    if DYNAMIC_INDEX not in shape:
        return list(shape)
    owner = value.owner
    match owner:
        case tensor.ExtractSliceOp():
            dynamic = list(owner.sizes)
        case tensor.EmptyOp():
            dynamic = list(owner.dynamic_sizes)
        case GenericOp():
            result = result_index(value)
            return dimension_sizes(owner.outputs[result])
        case FillOp():
            return dimension_sizes(owner.outputs[0])
        case ScanOp():
            source = owner.output if value is owner.results[0] else owner.init
            return dimension_sizes(source)
        case ForOp():
            return dimension_sizes(owner.iter_args[result_index(value)])
        case Block() if isinstance(loop := owner.parent_op(), ForOp):
            return dimension_sizes(loop.iter_args[argument_index(value) - 1])
        case _:
            raise AssertionError(f"an op that makes tiles of known size: {owner}")
    return [dynamic.pop(0) if size == DYNAMIC_INDEX else size for size in shape]


def mixed_offsets(op: tensor.ExtractSliceOp) -> list[Index]:
    """The offsets of a slice, known or computed."""
    return _mixed(op.static_offsets, op.offsets)


def mixed_sizes(op: tensor.ExtractSliceOp) -> list[Index]:
    """The sizes of a slice, known or computed."""
    return _mixed(op.static_sizes, op.sizes)


def result_index(value: SSAValue) -> int:
    """Which result of its op a value is."""
    assert isinstance(value, OpResult)
    return value.index


def argument_index(value: SSAValue) -> int:
    """Which argument of its block a value is."""
    assert isinstance(value, BlockArgument)
    return value.index


def _mixed(static: DenseArrayBase[I64], dynamic: Sequence[SSAValue]) -> list[Index]:
    values: Sequence[int] = static.get_values()
    remaining = iter(dynamic)
    return [next(remaining) if v == DYNAMIC_INDEX else v for v in values]


def upper_bound(size: Index) -> int | None:
    """The most that a tile's size can be: the constant of the `affine.min` that computes it."""
    if isinstance(size, int):
        return size
    if not isinstance(size.owner, affine.MinOp):
        return None
    constants = [e.value for e in size.owner.map.data.results if isinstance(e, AffineConstantExpr)]
    return min(constants) if constants else None


def erase_unused(ops: Sequence[Operation]) -> None:
    """Erase, last first, the ops whose results are all unused."""
    for op in reversed(ops):
        if all(not r.uses for r in op.results):
            op.detach()
            op.erase()
