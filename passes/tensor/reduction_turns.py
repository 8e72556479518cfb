"""Reductions that go on in kernels one after another, each over a copy of a range."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    IndexType,
    TensorType,
    f32,
    i32,
)
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap

from ingot.compiler.analysis.affine_maps import plain_dims
from ingot.compiler.analysis.constants import dense_constant
from ingot.compiler.analysis.generics import (
    Emitter,
    elementwise,
    empty,
    erase,
    loop_indices,
    make_generic,
)
from ingot.compiler.analysis.structured import (
    indexing_maps,
    loop_extents,
    match_contraction,
    reduction_loops,
)
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.linalg import GenericOp, IndexOp, YieldOp

LONGEST_LOOP = 1 << 15
"""Iterations that one thread does in one kernel. Mesa's lavapipe counts those of all loops of a
thread together and ends them at 65,535, without an error; the watchdogs of other drivers end
kernels that take seconds."""

LEAST_TILE = 8
"""Rows and columns of a product from which it is computed in register tiles."""

TERMS_OF_A_TURN = 4
"""Terms that a register tile adds in one turn of its loop, at least."""


def is_plain(map_: AffineMap, loop: int) -> bool:
    """Whether a loop is one index by itself, if it is used at all."""
    uses = [expr for expr in map_.results if loop in expr.used_dims()]
    return not uses or (len(uses) == 1 and isinstance(uses[0], AffineDimExpr))


def turn(
    op: GenericOp, loop: int, start: int, size: int, outputs: Sequence[SSAValue]
) -> list[SSAValue]:
    """The reduction over a copy of a range: all turns are one kernel, which reads where it is."""
    emit = Emitter.before(op)
    where = _start(emit, start)
    inputs = [*_ranges(op, emit, loop, where, size), where]
    maps, count = indexing_maps(op), len(op.inputs)
    maps.insert(count, _first(maps[0].num_dims))
    body = op.body.clone()
    offset = body.block.insert_arg(i32, count)
    for index in [o for o in body.walk() if isinstance(o, IndexOp) and o.dim.value.data == loop]:
        inner = Emitter.before(index)
        here = inner.add(IndexOp(loop)).result
        behind = inner.add(arith.IndexCastOp(offset, IndexType())).result
        index.result.replace_all_uses_with(inner.add(arith.AddiOp(here, behind)).result)
        erase(index)
    iterators = list(op.iterator_types.data)
    return list(make_generic(emit, inputs, list(outputs), maps, iterators, body).results)


def most_terms(op: GenericOp) -> int:
    """The terms of a product that one kernel may sum: register tiles take several in a turn."""
    contraction = match_contraction(op)
    extents = loop_extents(op)
    assert contraction is not None
    sides = [prod(extents[i] for i in loops) for loops in (contraction.m, contraction.n)]
    return LONGEST_LOOP * (TERMS_OF_A_TURN if min(sides) >= LEAST_TILE else 1)


def products_in_turns(op: GenericOp) -> list[SSAValue]:
    """Sum one range of products after another, each a contraction that starts from the last one.

    Sums of short floats are kept in f32 between the kernels, as they are in one.
    """
    extents, reduced = loop_extents(op), reduction_loops(op)
    loop = max(reduced, key=lambda i: extents[i])
    inside = prod(extents[i] for i in reduced if i != loop)
    size = max(1, most_terms(op) // inside)
    emit = Emitter.before(op)
    total = op.outputs[0]
    short = tensor_type(total).element_type
    is_short = isinstance(short, Float16Type | BFloat16Type)
    if is_short:
        total = _converted(emit, total, arith.ExtFOp, f32)
    for start in range(0, extents[loop], size):
        length = min(size, extents[loop] - start)
        inputs = _ranges(op, emit, loop, _start(emit, start), length)
        body = op.body.clone()
        if is_short:
            _widen_accumulator(body)
        maps, iterators = indexing_maps(op), list(op.iterator_types.data)
        total = make_generic(emit, inputs, [total], maps, iterators, body).results[0]
    return [_converted(emit, total, arith.TruncFOp, short) if is_short else total]


def _converted(
    emit: Emitter,
    value: SSAValue,
    convert: type[arith.ExtFOp] | type[arith.TruncFOp],
    element: Attribute,
) -> SSAValue:
    shape = tensor_type(value).get_shape()
    type_: TensorType[Attribute] = TensorType(element, shape)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        return [inner.add(convert(args[0], element)).results[0]]  # pyright: ignore[reportArgumentType]

    return elementwise(emit, type_, [value], [AffineMap.identity(len(shape))], body)


def _range_of(emit: Emitter, value: SSAValue, dim: int, start: SSAValue, size: int) -> SSAValue:
    """A copy of `size` elements along a dimension, from where the tensor `start` says."""
    shape = [size if d == dim else n for d, n in enumerate(tensor_type(value).get_shape())]
    type_: TensorType[Attribute] = TensorType(tensor_type(value).element_type, shape)
    if isinstance(value.owner, tensor.EmptyOp):
        return empty(emit, type_)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        at = loop_indices(inner, len(shape))
        offset = inner.add(arith.IndexCastOp(args[0], IndexType())).result
        at[dim] = inner.add(arith.AddiOp(at[dim], offset)).result
        return [inner.add(tensor.ExtractOp(value, at, type_.element_type)).result]

    return elementwise(emit, type_, [start], [_first(len(shape))], body)


def _start(emit: Emitter, number: int) -> SSAValue:
    """A number that kernels read: those that differ in nothing else are one kernel."""
    import numpy as np

    return emit.add(arith.ConstantOp(dense_constant(np.array([number, -1]), i32))).result


def _first(rank: int) -> AffineMap:
    """The map that reads what `_start` makes."""
    return AffineMap(rank, 0, (AffineConstantExpr(0),))


def _ranges(op: GenericOp, emit: Emitter, loop: int, start: SSAValue, size: int) -> list[SSAValue]:
    """The inputs of a reduction, of those that `loop` indexes a part."""
    inputs: list[SSAValue] = []
    for value, map_ in zip(op.inputs, indexing_maps(op), strict=False):
        if loop in map_.used_dims():
            value = _range_of(emit, value, plain_dims(map_).index(loop), start, size)
        inputs.append(value)
    return inputs


def _widen_accumulator(body: Region) -> None:
    """Let a body that sums products of short floats add them to an f32."""
    block = body.block
    old = block.args[-1]
    new = block.insert_arg(f32, len(block.args))
    yielded = block.last_op
    assert isinstance(yielded, YieldOp)
    combine = yielded.operands[0].owner
    assert isinstance(combine, arith.AddfOp)
    (part,) = (operand for operand in combine.operands if operand is not old)
    emit = Emitter.before(combine)
    wide = emit.add(arith.ExtFOp(part, f32)).result
    yielded.operands[0] = emit.add(arith.AddfOp(new, wide)).result
    erase(combine)
    block.erase_arg(old)
