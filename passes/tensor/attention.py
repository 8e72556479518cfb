"""Attention as generics: products, a softmax of each row, products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import cast

from xdsl.dialects import math
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    TensorType,
    i1,
    i32,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import (
    Body,
    Emitter,
    elementwise,
    fill,
    make_generic,
    size_of,
)
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.linalg import IteratorTypeAttr, YieldOp
from ingot.compiler.dialects.tm_tensor import AttentionOp

_LOWEST: dict[type[Attribute], float] = {
    Float16Type: -65504.0,
    BFloat16Type: -3.3895313892515355e38,
    Float32Type: -3.4028234663852886e38,
    Float64Type: -3.4028234663852886e38,  # it may be computed in f32
}
"""What a row's maximum starts from: finite, so that a row without any key has weights of 0."""


def attention(op: AttentionOp, emit: Emitter) -> SSAValue:
    """softmax(q k^T / sqrt(d) + mask) v for q of B x M x D, k of B x N x D and v of B x N x E.

    A mask of i1 says which keys a query sees; a row that sees none is 0. Raises `Refusal` for
    operands of other shapes or types.
    """
    operands = [*op.inputs, *op.outputs]
    if len(op.inputs) not in (3, 4) or len(op.outputs) != 1:
        raise refuse(op, f"{op.name} needs queries, keys, values, maybe a mask, and one output")
    query, key, value = op.inputs[:3]
    types = {tensor_type(v).element_type for v in (query, key, value, op.outputs[0])}
    element = tensor_type(query).element_type
    if types != {element} or type(element) not in _LOWEST:
        raise refuse(op, f"{op.name} needs tensors of one type of float")
    *batch, rows, depth = shape_of(query)
    *_, keys, _ = shape_of(key)
    *_, columns = shape_of(value)
    wanted = [[*batch, rows, depth], [*batch, keys, depth], [*batch, keys, columns]]
    wanted += [[*batch, rows, keys]] * (len(op.inputs) - 3) + [[*batch, rows, columns]]
    if any(list(shape_of(v)) != shape for v, shape in zip(operands, wanted, strict=True)):
        raise refuse(
            op,
            f"{op.name} needs queries of B x M x D, keys of B x N x D, values of B x N x E, "
            "a mask of B x M x N and an output of B x M x E",
        )
    return _Attention(op, emit, cast("AnyFloat", element)).result()


@dataclass(frozen=True)
class _Attention:
    """Builds the ops in order."""

    op: AttentionOp
    emit: Emitter
    element: AnyFloat

    def result(self) -> SSAValue:
        """What the op computes."""
        query, key, value = self.op.inputs[:3]
        rank = len(shape_of(query))
        batch = list(range(rank - 2))
        rows, columns, depth = rank - 2, rank - 1, rank
        sizes = [size_of(self.emit, query, dim) for dim in (*batch, rows)]
        scores = self._products(
            [(query, [*batch, rows, depth]), (key, [*batch, columns, depth])],
            [*sizes, size_of(self.emit, key, rows)],
        )
        weights = self._softmax(self._scaled(scores))
        return self._products(
            [(weights, [*batch, rows, depth]), (value, [*batch, depth, columns])],
            [size_of(self.emit, self.op.outputs[0], d) for d in range(rank)],
        )

    def _constant(self, emit: Emitter, number: float) -> SSAValue:
        return emit.add(arith.ConstantOp(FloatAttr(number, self.element))).result

    def _fill(self, number: float, sizes: Sequence[int | SSAValue]) -> SSAValue:
        shape = [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes]
        type_: TensorType[Attribute] = TensorType(self.element, shape)
        dynamic = [size for size in sizes if not isinstance(size, int)]
        return fill(self.emit, self._constant(self.emit, number), type_, dynamic)

    def _reduction(
        self,
        inputs: Sequence[tuple[SSAValue, Sequence[int]]],
        init: SSAValue,
        loops: int,
        body: Body,
    ) -> SSAValue:
        """A generic that reduces its last loop."""
        kept = list(range(loops - 1))
        maps = [_map(loops, dims) for _, dims in inputs] + [_map(loops, kept)]
        block = Block(arg_types=[self.element] * len(maps))
        inner = Emitter.at_end(block, self.emit.location)
        inner.add(YieldOp(*body(inner, block.args)))
        parallel = [IteratorTypeAttr.parallel()] * len(kept)
        iterators = [*parallel, IteratorTypeAttr.reduction()]
        values = [value for value, _ in inputs]
        made = make_generic(self.emit, values, [init], maps, iterators, Region(block))
        return made.results[0]

    def _products(
        self,
        inputs: Sequence[tuple[SSAValue, Sequence[int]]],
        sizes: Sequence[int | SSAValue],
    ) -> SSAValue:
        def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
            product = inner.add(arith.MulfOp(args[0], args[1])).result
            return [inner.add(arith.AddfOp(args[2], product)).result]

        return self._reduction(inputs, self._fill(0.0, sizes), len(sizes) + 1, body)

    def _like(self, value: SSAValue, inputs: Sequence[SSAValue], body: Body) -> SSAValue:
        """An elementwise op on `value` and on what has its shape, or that without the columns."""
        rank = len(shape_of(value))
        maps = [_map(rank, range(len(shape_of(v)))) for v in (value, *inputs)]
        sizes = [size_of(self.emit, value, dim) for dim in range(rank)]
        dynamic = [size for size in sizes if not isinstance(size, int)]
        return elementwise(self.emit, tensor_type(value), [value, *inputs], maps, body, dynamic)

    def _scaled(self, scores: SSAValue) -> SSAValue:
        """The scores divided by the root of the depth, with the mask."""
        depth = size_of(self.emit, self.op.inputs[0], len(shape_of(scores)) - 1)

        def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
            if isinstance(depth, int):
                root = self._constant(inner, sqrt(depth))
            else:
                count = inner.add(arith.IndexCastOp(depth, i32)).result
                root = inner.add(arith.SIToFPOp(count, self.element)).result
                root = inner.add(math.SqrtOp(root)).result
            score = inner.add(arith.DivfOp(args[0], root)).result
            for mask in args[1:]:
                if mask.type == i1:
                    seen, hidden = self._constant(inner, 0.0), self._constant(inner, -float("inf"))
                    mask = inner.add(arith.SelectOp(mask, seen, hidden)).result
                elif mask.type != self.element:
                    what = f"{self.op.name} with a mask of {mask.type} is not supported"
                    raise refuse(self.op, what, "use i1, or the type of the queries")
                score = inner.add(arith.AddfOp(score, mask)).result
            return [score]

        return self._like(scores, self.op.inputs[3:], body)

    def _softmax(self, scores: SSAValue) -> SSAValue:
        rank = len(shape_of(scores))
        every = range(rank)
        sizes = [size_of(self.emit, scores, dim) for dim in range(rank - 1)]

        def combine(kind: type[arith.MaximumfOp] | type[arith.AddfOp]) -> Body:
            def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
                return [inner.add(kind(args[1], args[0])).results[0]]

            return body

        def exponential(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
            shifted = inner.add(arith.SubfOp(args[0], args[1])).result
            return [inner.add(math.ExpOp(shifted)).result]

        def quotient(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
            zero = self._constant(inner, 0.0)
            divided = inner.add(arith.DivfOp(args[0], args[1])).result
            empty = inner.add(arith.CmpfOp(args[1], zero, "oeq")).result
            return [inner.add(arith.SelectOp(empty, zero, divided)).result]

        lowest = self._fill(_LOWEST[type(self.element)], sizes)
        maximum = self._reduction([(scores, every)], lowest, rank, combine(arith.MaximumfOp))
        weights = self._like(scores, [maximum], exponential)
        total = self._reduction(
            [(weights, every)], self._fill(0.0, sizes), rank, combine(arith.AddfOp)
        )
        return self._like(weights, [total], quotient)


def _map(loops: int, dims: Sequence[int]) -> AffineMap:
    return AffineMap(loops, 0, tuple(AffineDimExpr(dim) for dim in dims))
