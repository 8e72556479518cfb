"""Turn `ingot.scatter` into generics that compute each element of the output on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import IndexType, IntegerType, ModuleOp, TensorType, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import (
    Body,
    Emitter,
    all_of,
    clamp,
    elementwise,
    empty,
    erase,
    loop_indices,
    make_generic,
    reshape,
)
from ingot.compiler.analysis.sizes import is_sized
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.ingot import ScatterOp, SortOp, YieldOp
from ingot.compiler.dialects.linalg import IteratorTypeAttr
from ingot.compiler.dialects.linalg import YieldOp as LinalgYieldOp

SMALL_WORK = 1 << 16
"""Elements of the output times entries, up to which each element looks at every entry."""

FEW_ENTRIES = 16
"""Entries that every element may look at, however many elements there are."""

_OUTSIDE = (1 << 31) - 1
"""The key of an entry whose index lies outside of the output; it is sorted last."""


def _constant(emit: Emitter, value: int) -> SSAValue:
    return emit.add(arith.ConstantOp.from_int_and_width(value, 32)).result


def _as_i32(emit: Emitter, index: SSAValue) -> SSAValue:
    return emit.add(arith.IndexCastOp(index, i32)).result


def _as_index(emit: Emitter, value: SSAValue) -> SSAValue:
    return emit.add(arith.IndexCastOp(value, IndexType())).result


def _parallel(count: int) -> list[IteratorTypeAttr]:
    return [IteratorTypeAttr.parallel()] * count


@dataclass(frozen=True)
class _Scatter:
    """One scatter, and where its lowering is inserted."""

    op: ScatterOp
    emit: Emitter

    @property
    def shape(self) -> tuple[int, ...]:
        return shape_of(self.op.outputs[0])

    @property
    def batch(self) -> tuple[int, ...]:
        return shape_of(self.op.indices)[:-1]

    @property
    def dims(self) -> Sequence[int]:
        return self.op.dimensions.get_values()

    def combine(
        self, emit: Emitter, old: Sequence[SSAValue], update: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """The body on elements of the outputs and of the updates."""
        block = self.op.body.block
        values: dict[SSAValue, SSAValue] = dict(zip(block.args, (*old, *update), strict=True))
        for op in block.ops:
            if isinstance(op, YieldOp):
                return [values.get(v, v) for v in op.operands]
            emit.builder.insert(op.clone(values))
        raise AssertionError("the body of a scatter ends in ingot.yield")

    def coordinates(self, emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        """The coordinates of an entry as i64, or as i32 where they fit."""
        wide = i64 if args and args[0].type == i64 else i32
        return [
            arg if arg.type == wide else emit.add(arith.ExtSIOp(arg, wide)).result for arg in args
        ]

    def by_looking_at_all(self) -> list[SSAValue]:
        """A reduction over the entries, in order, for each element of the outputs."""
        op, rank, entries = self.op, len(self.shape), len(self.batch)
        loops = rank + entries
        at: list[AffineExpr] = [AffineDimExpr(rank + i) for i in range(entries)]
        window: list[AffineExpr] = [
            AffineDimExpr(dim) for dim in range(rank) if dim not in self.dims
        ]
        identity = tuple(AffineDimExpr(dim) for dim in range(rank))
        maps = [
            *(AffineMap(loops, 0, (*at, AffineConstantExpr(k))) for k in range(len(self.dims))),
            *(AffineMap(loops, 0, (*at, *window)) for _ in op.updates),
            *(AffineMap(loops, 0, identity) for _ in op.outputs),
        ]
        indices = [op.indices] * len(self.dims)
        operands = [*indices, *op.updates, *op.outputs]
        block = Block(arg_types=[tensor_type(v).element_type for v in operands])
        inner = Emitter.at_end(block, op.location)
        given = self.coordinates(inner, block.args[: len(indices)])
        hits: list[SSAValue] = []
        for coordinate, dim in zip(given, self.dims, strict=True):
            loop = loop_indices(inner, rank)[dim]
            wanted = inner.add(arith.IndexCastOp(loop, coordinate.type)).result
            hits.append(inner.add(arith.CmpiOp(coordinate, wanted, "eq")).result)
        rest = list(block.args[len(indices) :])
        update, old = rest[: len(op.updates)], rest[len(op.updates) :]
        new = self.combine(inner, old, update)
        if hits:
            hit = all_of(inner, hits)
            new = [
                inner.add(arith.SelectOp(hit, a, b)).result for a, b in zip(new, old, strict=True)
            ]
        inner.add(LinalgYieldOp(*new))
        iterators = _parallel(rank) + [IteratorTypeAttr.reduction()] * entries
        inputs = [*indices, *op.updates]
        generic = make_generic(self.emit, inputs, list(op.outputs), maps, iterators, Region(block))
        return list(generic.results)

    def by_sorting(self) -> list[SSAValue]:
        """Sort the entries by where they go; each element then combines those that go to it."""
        count = prod(self.batch)
        indices = reshape(self.emit, self.op.indices, [count, len(self.dims)])
        window = [size for dim, size in enumerate(self.shape) if dim not in self.dims]
        updates = [reshape(self.emit, v, [count, *window]) for v in self.op.updates]
        keys, order = self._sorted(indices, count)
        places = prod(self.shape[dim] for dim in self.dims)
        starts = self._starts(keys, count, places + 1)
        return self._combined(updates, order, starts)

    def _sorted(self, indices: SSAValue, count: int) -> tuple[SSAValue, SSAValue]:
        """The sorted row-major places of the entries, and the entry at each."""
        type_: TensorType[Attribute] = TensorType(i32, [count])

        def key(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
            place = _constant(emit, 0)
            inside: list[SSAValue] = []
            for coordinate, dim in zip(self.coordinates(emit, args), self.dims, strict=True):
                integer = IntegerType(64) if coordinate.type == i64 else IntegerType(32)
                width = integer.width.data
                zero = emit.add(arith.ConstantOp.from_int_and_width(0, width)).result
                size = emit.add(arith.ConstantOp.from_int_and_width(self.shape[dim], width)).result
                inside.append(emit.add(arith.CmpiOp(coordinate, zero, "sge")).result)
                inside.append(emit.add(arith.CmpiOp(coordinate, size, "slt")).result)
                if coordinate.type == i64:
                    coordinate = emit.add(arith.TruncIOp(coordinate, i32)).result
                row = emit.add(arith.MuliOp(place, _constant(emit, self.shape[dim]))).result
                place = emit.add(arith.AddiOp(row, coordinate)).result
            if not inside:
                return [place]
            outside = _constant(emit, _OUTSIDE)
            return [emit.add(arith.SelectOp(all_of(emit, inside), place, outside)).result]

        columns = [
            AffineMap(1, 0, (AffineDimExpr(0), AffineConstantExpr(k)))
            for k in range(len(self.dims))
        ]
        keys = elementwise(self.emit, type_, [indices] * len(columns), columns, key)
        entries = elementwise(
            self.emit, type_, [], [], lambda e, _: [_as_i32(e, loop_indices(e, 1)[0])]
        )
        block = Block(arg_types=[i32] * 4)
        inner = Emitter.at_end(block, self.op.location)
        before = inner.add(arith.CmpiOp(block.args[0], block.args[1], "slt")).result
        inner.add(YieldOp(before))
        results = self.emit.add(SortOp([keys, entries], 0, Region(block))).results
        return results[0], results[1]

    def _starts(self, keys: SSAValue, count: int, places: int) -> SSAValue:
        """How many of the sorted keys lie before each place, by bisection."""

        def body(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
            place = _as_i32(emit, loop_indices(emit, 1)[0])
            start = emit.index(0)
            step = 1 << count.bit_length()
            while step > 1:
                step //= 2
                end = emit.add(arith.AddiOp(start, emit.index(step))).result
                exists = emit.add(arith.CmpiOp(end, emit.index(count), "sle")).result
                last = emit.add(arith.SubiOp(end, emit.index(1))).result
                at = clamp(emit, last, None, count - 1)
                key = emit.add(tensor.ExtractOp(keys, [at], i32)).result
                is_before = emit.add(arith.CmpiOp(key, place, "slt")).result
                move = emit.add(arith.AndIOp(exists, is_before)).result
                start = emit.add(arith.SelectOp(move, end, start)).result
            return [_as_i32(emit, start)]

        return elementwise(self.emit, TensorType(i32, [places]), [], [], body)

    def _combined(
        self, updates: Sequence[SSAValue], order: SSAValue, starts: SSAValue
    ) -> list[SSAValue]:
        op, rank = self.op, len(self.shape)

        def body(emit: Emitter, old: Sequence[SSAValue]) -> list[SSAValue]:
            loops = loop_indices(emit, rank)
            place = emit.index(0)
            for dim in self.dims:
                row = emit.add(arith.MuliOp(place, emit.index(self.shape[dim]))).result
                place = emit.add(arith.AddiOp(row, loops[dim])).result
            after = emit.add(arith.AddiOp(place, emit.index(1))).result
            first, end = (
                _as_index(emit, emit.add(tensor.ExtractOp(starts, [at], i32)).result)
                for at in (place, after)
            )
            window = [loop for dim, loop in enumerate(loops) if dim not in self.dims]
            block = Block(arg_types=[IndexType(), *(v.type for v in old)])
            inner = Emitter.at_end(block, op.location)
            entry = inner.add(tensor.ExtractOp(order, [block.args[0]], i32)).result
            at = [_as_index(inner, entry), *window]
            update = [
                inner.add(tensor.ExtractOp(v, at, tensor_type(v).element_type)).result
                for v in updates
            ]
            inner.add(scf.YieldOp(*self.combine(inner, block.args[1:], update)))
            loop = emit.add(scf.ForOp(first, end, emit.index(1), list(old), block))
            return list(loop.results)

        return _elementwise_many(self.emit, op, list(op.outputs), body)


def _elementwise_many(
    emit: Emitter, op: Operation, inputs: Sequence[SSAValue], body: Body
) -> list[SSAValue]:
    """A generic that computes each element of several tensors from those of `inputs`, which have
    the types of the results."""
    types = [tensor_type(v) for v in inputs]
    rank = types[0].get_num_dims()
    block = Block(arg_types=[type_.element_type for type_ in (*types, *types)])
    inner = Emitter.at_end(block, op.location)
    inner.add(LinalgYieldOp(*body(inner, block.args[: len(inputs)])))
    maps = [AffineMap.identity(rank)] * (2 * len(types))
    outputs = [empty(emit, type_) for type_ in types]
    generic = make_generic(emit, inputs, outputs, maps, _parallel(rank), Region(block))
    return list(generic.results)


def _convert(op: ScatterOp) -> None:
    scatter = _Scatter(op, Emitter.before(op))
    elements, entries = prod(scatter.shape), prod(scatter.batch)
    if is_sized(op):
        results = scatter.by_looking_at_all()
    elif elements == 0 or entries == 0:
        results = list(op.outputs)
    elif entries <= FEW_ENTRIES or elements * entries <= SMALL_WORK:
        results = scatter.by_looking_at_all()
    else:
        results = scatter.by_sorting()
    for old, new in zip(op.results, results, strict=True):
        new.name_hint = new.name_hint or old.name_hint
        old.replace_all_uses_with(new)
    erase(op)


@dataclass(frozen=True)
class ScatterToGenericPass(ModulePass):
    """Turn `ingot.scatter` into generics in which each element of the output gathers its updates,
    in the order of the entries: no atomics, the same bits in every run (L1 to L1).

    With few entries, or as many as a call decides, each element looks at all of them; with many
    they are sorted first.

        %r = ingot.scatter dimensions = [0] ins(%i, %u) outs(%x) { %old + %update }
    becomes
        %r = linalg.generic {(p, b) -> (b, 0), (b), (p)} ins(%i, %u) outs(%x)
             { select(%in == p, %out + %update, %out) }
    """

    name = "scatter-to-generic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions."""
        for function in host_functions(op):
            for inner in list(function.body.walk()):
                if isinstance(inner, ScatterOp):
                    _convert(inner)
