"""Products without one of their factors, by a tree: no division, so that zeros do no harm."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from ingot.compiler.analysis.generics import Emitter, elementwise, fill, reshape
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith

from .formulas import constant


def _times(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
    return [emit.add(arith.MulfOp(args[0], args[1])).result]


def others_of_product(
    emit: Emitter, factors: SSAValue, kept: int, init: SSAValue, cotangent: SSAValue
) -> tuple[SSAValue, SSAValue]:
    """For each factor the cotangent times all that it is multiplied with, and for `init` the same.

    `factors` has `kept` dimensions of the result, then those over which it is multiplied; `init`
    is what the product starts from. Pairs are multiplied, pairs of pairs and so on; on the way
    back each half of a pair gets what the pair got, times the other half.
    """
    shape = shape_of(factors)
    element = tensor_type(factors).element_type
    result = list(shape[:kept])
    count = prod(shape[kept:])
    identity = AffineMap.identity(kept)
    rest = elementwise(emit, TensorType(element, result), [cotangent, init], [identity] * 2, _times)
    size = 1 << max(0, count - 1).bit_length()
    level = reshape(emit, factors, [*result, count])
    if size != count:
        ones = fill(emit, constant(emit, 1.0, element), TensorType(element, [*result, size]))
        level = _insert(emit, level, ones)
    levels: list[SSAValue] = []
    while size > 1:
        size //= 2
        level = reshape(emit, level, [*result, size, 2])
        levels.append(level)
        halves = [_picking(kept + 1, [*range(kept + 1)], half) for half in (0, 1)]
        type_ = TensorType(element, [*result, size])
        level = elementwise(emit, type_, [level, level], halves, _times)
    total = elementwise(
        emit,
        TensorType(element, result),
        [cotangent, reshape(emit, level, result)],
        [identity] * 2,
        _times,
    )
    rest = reshape(emit, rest, [*result, 1])
    for level in reversed(levels):
        size = shape_of(level)[kept]
        loops = [*range(kept + 1)]
        other = AffineDimExpr(kept + 1) * -1 + 1
        type_ = TensorType(element, [*result, size, 2])
        maps = [_picking(kept + 2, loops, None), _picking(kept + 2, loops, other)]
        rest = elementwise(emit, type_, [rest, level], maps, _times)
        rest = reshape(emit, rest, [*result, size * 2])
    return reshape(emit, _first(emit, rest, [*result, count]), shape), total


def _picking(rank: int, loops: Sequence[int], last: AffineExpr | int | None) -> AffineMap:
    exprs: list[AffineExpr] = [AffineDimExpr(loop) for loop in loops]
    if last is not None:
        exprs.append(AffineConstantExpr(last) if isinstance(last, int) else last)
    return AffineMap(rank, 0, tuple(exprs))


def _insert(emit: Emitter, part: SSAValue, whole: SSAValue) -> SSAValue:
    sizes = shape_of(part)
    zeros, ones = [0] * len(sizes), [1] * len(sizes)
    return emit.add(tensor.InsertSliceOp.get(part, whole, sizes, zeros, ones)).result


def _first(emit: Emitter, whole: SSAValue, shape: Sequence[int]) -> SSAValue:
    if list(shape_of(whole)) == list(shape):
        return whole
    type_ = TensorType(tensor_type(whole).element_type, shape)
    offsets, strides = [0] * len(shape), [1] * len(shape)
    return emit.add(tensor.ExtractSliceOp(whole, offsets, shape, strides, type_)).result
