"""Scans, sorts and scatters, backwards."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import IndexType, TensorType, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import (
    Emitter,
    all_of,
    clamp,
    elementwise,
    empty,
    fill,
    loop_indices,
)
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.ingot import ScanOp, ScatterOp, SortOp, YieldOp

from .formulas import constant
from .kernels import zeros
from .reverse import Reverse, reverses

NO_ENTRY = -1


def _combiner_of(op: ScanOp | ScatterOp) -> Operation | None:
    """The op that a body of two arguments applies to them, if it does nothing else."""
    terminator = op.body.block.last_op
    assert terminator is not None
    owner = terminator.operands[0].owner
    both = set(op.body.block.args)
    if isinstance(owner, Operation) and set(owner.operands) == both and len(both) == 2:
        return owner
    return None


@reverses(ScanOp)
def _scan(reverse: Reverse, op: Operation, cotangents: Sequence[SSAValue | None]) -> None:
    """Running sums: each element gets the sum of the cotangents from its own place on."""
    assert isinstance(op, ScanOp)
    if not isinstance(_combiner_of(op), arith.AddfOp):
        raise refuse(
            op,
            "ingot.scan of anything but a sum cannot be differentiated yet",
            "write it as a loop (scf.for)",
        )
    dimension = op.dimension.value.data
    type_ = tensor_type(op.input)
    emit = reverse.emit
    of_scanned, of_last = cotangents
    start = zeros(emit, tensor_type(op.init)) if of_last is None else of_last
    if of_scanned is None:
        # Only the last sum is used: each element counts once.
        along = [AffineDimExpr(d) for d in range(len(type_.get_shape())) if d != dimension]
        map_ = AffineMap(type_.get_num_dims(), 0, tuple(along))
        reverse.add(op.input, elementwise(emit, type_, [start], [map_], lambda _, args: args))
        reverse.add(op.init, start)
        return
    flipped = _flipped(emit, of_scanned, dimension)
    again = emit.add(
        ScanOp(
            flipped,
            empty(emit, type_),
            start,
            dimension,
            op.inclusive is not None,
            op.body.clone(),
        )
    )
    reverse.add(op.input, _flipped(emit, again.scanned, dimension))
    reverse.add(op.init, again.last)


def _flipped(emit: Emitter, value: SSAValue, dimension: int) -> SSAValue:
    """The elements along a dimension in the opposite order."""
    type_ = tensor_type(value)
    exprs: list[AffineExpr] = [AffineDimExpr(d) for d in range(type_.get_num_dims())]
    exprs[dimension] = exprs[dimension] * -1 + (type_.get_shape()[dimension] - 1)
    map_ = AffineMap(len(exprs), 0, tuple(exprs))
    return elementwise(emit, type_, [value], [map_], lambda _, args: args)


@reverses(SortOp)
def _sort(reverse: Reverse, op: Operation, cotangents: Sequence[SSAValue | None]) -> None:
    """Sorting the cotangents by where the elements came from brings them back."""
    assert isinstance(op, SortOp)
    emit = reverse.emit
    dimension = op.dimension.value.data
    shape = shape_of(op.inputs[0])
    rank = len(shape)

    def position(inner: Emitter, _: Sequence[SSAValue]) -> list[SSAValue]:
        return [inner.add(arith.IndexCastOp(loop_indices(inner, rank)[dimension], i32)).result]

    places = elementwise(emit, TensorType(i32, shape), [], [], position)
    body = op.body.clone()
    for _ in range(2):
        body.block.insert_arg(i32, len(body.block.args))
    origins = emit.add(SortOp([*op.inputs, places], dimension, body)).results[-1]
    carried = [(v, g) for v, g in zip(op.inputs, cotangents, strict=True) if g is not None]
    types: list[Attribute] = [i32, i32]
    for value, _ in carried:
        types += [tensor_type(value).element_type] * 2
    block = Block(arg_types=types)
    inner = Emitter.at_end(block, op.location)
    inner.add(YieldOp(inner.add(arith.CmpiOp(block.args[0], block.args[1], "slt")).result))
    back = emit.add(SortOp([origins, *(g for _, g in carried)], dimension, Region(block)))
    for (value, _), result in zip(carried, back.results[1:], strict=True):
        reverse.add(value, result)


@reverses(ScatterOp)
def _scatter(reverse: Reverse, op: Operation, cotangents: Sequence[SSAValue | None]) -> None:
    """An update gets the cotangent of its place, unless another one replaced it there."""
    assert isinstance(op, ScatterOp)
    if len(op.outputs) != 1:
        raise refuse(op, "ingot.scatter into several tensors cannot be differentiated")
    (cotangent,) = cotangents
    assert cotangent is not None
    terminator = op.body.block.last_op
    assert terminator is not None
    replaces = terminator.operands[0] is op.body.block.args[1]
    if not replaces and not isinstance(_combiner_of(op), arith.AddfOp):
        raise refuse(
            op,
            "ingot.scatter that neither adds nor replaces cannot be differentiated",
            "scatter into zeros, and combine the result elementwise",
        )
    updates, output = op.updates[0], op.outputs[0]
    if not replaces:
        reverse.add(output, cotangent)
        reverse.add(updates, _updates(reverse.emit, op, cotangent, None))
        return
    last = _last_entries(reverse.emit, op)
    reverse.add(updates, _updates(reverse.emit, op, cotangent, last))
    if output in reverse.active:
        reverse.add(output, _untouched(reverse.emit, last, cotangent))


def _last_entries(emit: Emitter, op: ScatterOp) -> SSAValue:
    """For each element of the output the number of the entry that wrote it last, or -1."""
    shape, batch = shape_of(op.updates[0]), shape_of(op.indices)[:-1]

    def number(inner: Emitter, _: Sequence[SSAValue]) -> list[SSAValue]:
        return [_entry_number(inner, loop_indices(inner, len(shape))[: len(batch)], batch)]

    numbers = elementwise(emit, TensorType(i32, shape), [], [], number)
    out: TensorType[Attribute] = TensorType(i32, shape_of(op.outputs[0]))
    none = fill(emit, constant(emit, NO_ENTRY, i32), out)
    block = Block(arg_types=[i32, i32])
    Emitter.at_end(block, op.location).add(YieldOp(block.args[1]))
    dims: Sequence[int] = op.dimensions.get_values()
    scatter = ScatterOp(
        op.indices, [numbers], [none], dims, Region(block), unique=op.unique is not None
    )
    return emit.add(scatter).results[0]


def _entry_number(emit: Emitter, loops: Sequence[SSAValue], sizes: Sequence[int]) -> SSAValue:
    """The row-major number of an entry, as i32."""
    number = emit.index(0)
    for loop, size in zip(loops, sizes, strict=True):
        row = emit.add(arith.MuliOp(number, emit.index(size))).result
        number = emit.add(arith.AddiOp(row, loop)).result
    return emit.add(arith.IndexCastOp(number, i32)).result


def _updates(emit: Emitter, op: ScatterOp, cotangent: SSAValue, last: SSAValue | None) -> SSAValue:
    """The cotangent at each update's place; 0 outside, and where another entry came last."""
    type_ = tensor_type(op.updates[0])
    rank, batch = type_.get_num_dims(), shape_of(op.indices)[:-1]
    dims: Sequence[int] = op.dimensions.get_values()
    shape = shape_of(cotangent)

    def body(inner: Emitter, _: Sequence[SSAValue]) -> list[SSAValue]:
        loops = loop_indices(inner, rank)
        window = iter(loops[len(batch) :])
        computed: dict[int, SSAValue] = {}
        inside: list[SSAValue] = []
        for k, dim in enumerate(dims):
            at = [*loops[: len(batch)], inner.index(k)]
            index = _index(inner, op.indices, at)
            inside.append(inner.add(arith.CmpiOp(index, inner.index(0), "sge")).result)
            inside.append(inner.add(arith.CmpiOp(index, inner.index(shape[dim]), "slt")).result)
            computed[dim] = clamp(inner, index, 0, max(0, shape[dim] - 1))
        place = [computed[d] if d in computed else next(window) for d in range(len(shape))]
        value = inner.add(tensor.ExtractOp(cotangent, place, type_.element_type)).result
        if last is not None:
            winner = inner.add(tensor.ExtractOp(last, place, i32)).result
            mine = _entry_number(inner, loops[: len(batch)], batch)
            inside.append(inner.add(arith.CmpiOp(winner, mine, "eq")).result)
        if not inside:
            return [value]
        zero = constant(inner, 0.0, type_.element_type)
        return [inner.add(arith.SelectOp(all_of(inner, inside), value, zero)).result]

    return elementwise(emit, type_, [], [], body)


def _index(emit: Emitter, indices: SSAValue, at: Sequence[SSAValue]) -> SSAValue:
    type_ = tensor_type(indices)
    value = emit.add(tensor.ExtractOp(indices, at, type_.element_type)).result
    return emit.add(arith.IndexCastOp(value, IndexType())).result


def _untouched(emit: Emitter, last: SSAValue, cotangent: SSAValue) -> SSAValue:
    """The cotangent of what no entry replaced."""
    type_ = tensor_type(cotangent)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        none = constant(inner, NO_ENTRY, i32)
        kept = inner.add(arith.CmpiOp(args[0], none, "eq")).result
        zero = constant(inner, 0.0, type_.element_type)
        return [inner.add(arith.SelectOp(kept, args[1], zero)).result]

    maps = [AffineMap.identity(type_.get_num_dims())] * 2
    return elementwise(emit, type_, [last, cotangent], maps, body)
