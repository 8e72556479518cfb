"""Ops of TOSA that move elements: pads, slices, transposes, gathers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, empty, loop_indices, reshape
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.tosa import TosaOp
from ingot.passes.tosa.builders import (
    accumulate,
    dims_map,
    element,
    elementwise,
    is_integer,
    map_of,
    not_defined,
    padded,
    reverse,
)
from ingot.passes.tosa.constants import constant_attribute, known_ints
from ingot.passes.tosa.reductions import reduced_axis
from ingot.passes.tosa.reshaping import reshape_to
from ingot.passes.tosa.scalars import compare, one, select


def lower_constant(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """`arith.constant`."""
    values = constant_attribute(op.results[0])
    if values is None:
        raise refuse(op, "tosa.const needs the attribute 'values' with its elements")
    return [emit.add(arith.ConstantOp(values)).result]


def lower_identity(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """Nothing."""
    return [op.ins[0]]


def lower_reshape(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """`tensor.collapse_shape` and `expand_shape`; the result's type says where to."""
    source, result = op.ins[0], tensor_type(op.results[0])
    known = DYNAMIC_INDEX not in (*shape_of(source), *result.get_shape())
    if known and prod(shape_of(source)) != prod(result.get_shape()):
        raise refuse(op, f"tosa.reshape from {source.type} to {result} changes the elements")
    if prod(result.get_shape()) == 0:
        return [empty(emit, result)]
    return [reshape_to(op, emit, source, result)]


def lower_transpose(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """A generic that reads by the inverse permutation."""
    order, rank = op.ints("perms"), len(shape_of(op.ins[0]))
    if sorted(order) != list(range(rank)):
        raise refuse(op, f"{list(order)} is not a permutation of {rank} dimensions")
    map_ = dims_map(rank, [order.index(dim) for dim in range(rank)])
    result = tensor_type(op.results[0])
    return [elementwise(emit, result, [op.ins[0]], [map_], lambda _, args: args)]


def lower_reverse(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """A generic that reads from the end."""
    return [reverse(emit, op.ins[0], [reduced_axis(op)])]


def lower_slice(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """`tensor.extract_slice`."""
    source, result = op.ins[0], tensor_type(op.results[0])
    shape = shape_of(source)
    start = known_ints(op, op.ins[1], "the start")
    sizes = result.get_shape()
    if len(start) != len(shape) or any(
        low < 0 or low + size > extent
        for low, size, extent in zip(start, sizes, shape, strict=True)
    ):
        raise refuse(op, f"tosa.slice at {list(start)} of {result} is outside of {source.type}")
    return [one(emit, tensor.ExtractSliceOp(source, start, sizes, [1] * len(shape), result))]


def lower_concat(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """`tensor.concat`."""
    result = tensor_type(op.results[0])
    axis = reduced_axis(op)
    others: list[int] = list(result.get_shape())
    total = others.pop(axis)
    fits = all(
        len(shape_of(value)) == result.get_num_dims()
        and [size for dim, size in enumerate(shape_of(value)) if dim != axis] == others
        and element(value) == result.element_type
        for value in op.ins
    )
    if not fits or sum(shape_of(value)[axis] for value in op.ins) != total:
        types = ", ".join(str(value.type) for value in op.ins)
        raise refuse(op, f"tosa.concat of {types} along {axis} does not make {result}")
    return [one(emit, tensor.ConcatOp(list(op.ins), axis, result))]


def lower_tile(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """Each repeated dimension is a loop of its own, then merged with what it repeats."""
    source, result = op.ins[0], tensor_type(op.results[0])
    sizes, wanted_sizes = shape_of(source), result.get_shape()
    pairs = list(zip(sizes, wanted_sizes, strict=False))
    if len(sizes) != len(wanted_sizes) or any(wanted % max(1, size) for size, wanted in pairs):
        raise refuse(op, f"tosa.tile cannot make {result} of {source.type}")
    shape: list[int] = []
    exprs: list[AffineExpr] = []
    for size, wanted in pairs:
        times = wanted // size if size else 1
        if times > 1:
            shape.append(times)
        if size > 1 or times == 1:
            exprs.append(AffineDimExpr(len(shape)))
            shape.append(size)
        else:
            exprs.append(AffineConstantExpr(0))
    repeated = type(result)(result.element_type, shape)
    maps = [map_of(len(shape), exprs)]
    tiled = elementwise(emit, repeated, [source], maps, lambda _, args: args)
    return [reshape(emit, tiled, result.get_shape())]


def lower_pad(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """`tensor.pad` with the one element of the value."""
    source, amounts, value = op.ins
    if element(value) != element(source) or prod(shape_of(value)) != 1:
        raise not_defined(op)
    numbers = known_ints(op, amounts, "the padding")
    rank = len(shape_of(source))
    if len(numbers) != 2 * rank:
        raise refuse(op, f"tosa.pad of rank {rank} needs {2 * rank} amounts, not {len(numbers)}")
    low, high = numbers[0::2], numbers[1::2]
    if min(numbers, default=0) < 0:
        raise refuse(op, "tosa.pad by a negative amount is not defined", "use tosa.slice")
    expected = [a + s + b for a, s, b in zip(low, shape_of(source), high, strict=True)]
    if expected != list(tensor_type(op.results[0]).get_shape()):
        raise refuse(op, f"tosa.pad by {list(numbers)} does not make {op.results[0].type}")
    zeros = [emit.index(0) for _ in shape_of(value)]
    scalar = one(emit, tensor.ExtractOp(value, zeros, element(value)))
    return [padded(emit, source, low, high, scalar)]


def lower_gather(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """`result[n, w, c] = values[n, indices[n, w], c]`."""
    values, indices = op.ins
    result = tensor_type(op.results[0])
    if not is_integer(element(indices)):
        raise not_defined(op)
    n, _, c = result.get_shape()
    if (n, c) != shape_of(values)[::2]:
        raise refuse(op, f"tosa.gather from {values.type} does not make {result}")

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        n, _, c = loop_indices(inner, 3)
        row = one(inner, arith.IndexCastOp(args[0], IndexType()))
        return [one(inner, tensor.ExtractOp(values, [n, row, c], result.element_type))]

    return [elementwise(emit, result, [indices], [dims_map(3, [0, 1])], body)]


def lower_scatter(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """`result[n, indices[n, w], c] = input[n, w, c]`, the rest from the values.

    Each row of the result looks for its index; TOSA allows each index once, and of equal ones the
    last is taken. Nothing is written twice, so no order of threads matters.
    """
    values, indices, source = op.ins
    if not is_integer(element(indices)) or element(values) != element(source):
        raise not_defined(op)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        index, update, old = args
        row = one(inner, arith.IndexCastOp(loop_indices(inner, 4)[1], index.type))
        return [select(inner, compare(inner, "eq", index, row), update, old)]

    # Loops: n, row, channel, position in the indices.
    maps = [dims_map(4, [0, 3]), dims_map(4, [0, 3, 2])]
    return accumulate(emit, [indices, source], maps, [values], dims_map(4, [0, 1, 2]), body)
