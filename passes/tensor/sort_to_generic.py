"""Turn `ingot.sort` into the steps of a sorting network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import IndexType, IntegerType, ModuleOp, TensorType, i32
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.constants import dense_constant
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import (
    Emitter,
    elementwise,
    empty,
    erase,
    loop_indices,
    make_generic,
    open_sizes,
    size_of,
)
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.ingot import SortOp, YieldOp
from ingot.compiler.dialects.linalg import IteratorTypeAttr
from ingot.compiler.dialects.linalg import YieldOp as LinalgYieldOp

from .host_loops import doublings, for_loop


def network(length: int) -> Iterator[int]:
    """The masks of the steps of a bitonic sort: in each, element i meets element i ^ mask.

    Every step moves the first of two elements to the lower position, so that elements that are
    missing at the end may be thought to be last: any length sorts. (Batcher 1968; the form in which
    every merge starts by comparing mirrored positions.)
    """
    size = 2
    while size < 2 * length:
        yield size - 1
        half = size // 4
        while half:
            yield half
            half //= 2
        size *= 2


def _inline(emit: Emitter, body: Region, args: Sequence[SSAValue]) -> SSAValue:
    values: dict[SSAValue, SSAValue] = dict(zip(body.block.args, args, strict=True))
    for op in body.block.ops:
        if isinstance(op, YieldOp):
            return values.get(op.operands[0], op.operands[0])
        emit.builder.insert(op.clone(values))
    raise AssertionError("the body of a sort ends in ingot.yield")


@dataclass(frozen=True)
class _Step:
    """One step on all tensors, of which the last holds where each element was at first."""

    op: SortOp
    emit: Emitter

    def run(self, values: Sequence[SSAValue], mask: int | SSAValue) -> list[SSAValue]:
        """Each element, or its partner's where the two are in the wrong order.

        A known mask is read from a constant tensor, so that all steps are one kernel.
        """
        types = [tensor_type(value) for value in values]
        rank = types[0].get_num_dims()
        masks: list[SSAValue] = []
        if isinstance(mask, int):
            constant = dense_constant(np.array([mask, -1]), i32)
            masks.append(self.emit.add(arith.ConstantOp(constant)).result)
        elements = [type_.element_type for type_ in types]
        length = size_of(self.emit, values[0], self.op.dimension.value.data)
        block = Block(arg_types=[*[i32] * len(masks), *elements])
        inner = Emitter.at_end(block, self.emit.location)
        given = block.args[0] if isinstance(mask, int) else mask
        inner.add(LinalgYieldOp(*self._body(inner, given, values, length)))
        identity = AffineMap.identity(rank)
        sizes = open_sizes(self.emit, values[0])
        generic = make_generic(
            self.emit,
            masks,
            [empty(self.emit, type_, sizes) for type_ in types],
            [
                *[AffineMap(rank, 0, (AffineConstantExpr(0),))] * len(masks),
                *[identity] * len(types),
            ],
            [IteratorTypeAttr.parallel()] * rank,
            Region(block),
        )
        return list(generic.results)

    def _body(
        self, emit: Emitter, mask: SSAValue, values: Sequence[SSAValue], length: int | SSAValue
    ) -> list[SSAValue]:
        dimension = self.op.dimension.value.data
        end = emit.index(length) if isinstance(length, int) else length
        loops = loop_indices(emit, len(shape_of(values[0])))
        here = emit.add(arith.IndexCastOp(loops[dimension], i32)).result
        other = emit.add(arith.XOrIOp(here, mask)).result
        partner = emit.add(arith.IndexCastOp(other, IndexType())).result
        exists = emit.add(arith.CmpiOp(partner, end, "slt")).result
        last = emit.add(arith.SubiOp(end, emit.index(1))).result
        partner = emit.add(arith.MinSIOp(partner, last)).result
        is_lower = emit.add(arith.CmpiOp(here, other, "slt")).result
        at = [*loops[:dimension], partner, *loops[dimension + 1 :]]
        own = [self._element(emit, value, loops) for value in values]
        theirs = [self._element(emit, value, at) for value in values]
        low = [self._select(emit, is_lower, a, b) for a, b in zip(own, theirs, strict=True)]
        high = [self._select(emit, is_lower, b, a) for a, b in zip(own, theirs, strict=True)]
        swap = emit.add(arith.AndIOp(exists, self._wrong(emit, low, high))).result
        return [self._select(emit, swap, b, a) for a, b in zip(own, theirs, strict=True)]

    def _wrong(self, emit: Emitter, low: Sequence[SSAValue], high: Sequence[SSAValue]) -> SSAValue:
        """Whether `high` comes before `low`; of equal ones the one that came first at first."""

        def before(a: Sequence[SSAValue], b: Sequence[SSAValue]) -> SSAValue:
            pairs = [v for pair in zip(a[:-1], b[:-1], strict=True) for v in pair]
            return _inline(emit, self.op.body, pairs)

        first = before(high, low)
        true = emit.add(arith.ConstantOp.from_int_and_width(1, IntegerType(1))).result
        not_second = emit.add(arith.XOrIOp(before(low, high), true)).result
        earlier = emit.add(arith.CmpiOp(high[-1], low[-1], "slt")).result
        tie = emit.add(arith.AndIOp(not_second, earlier)).result
        return emit.add(arith.OrIOp(first, tie)).result

    @staticmethod
    def _element(emit: Emitter, value: SSAValue, at: Sequence[SSAValue]) -> SSAValue:
        return emit.add(tensor.ExtractOp(value, at, tensor_type(value).element_type)).result

    @staticmethod
    def _select(emit: Emitter, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        return emit.add(arith.SelectOp(condition, a, b)).result


def _any_network(op: SortOp, emit: Emitter, values: Sequence[SSAValue]) -> list[SSAValue]:
    """The network of a length that a call decides: a loop over the sizes of merges, from 2^1 on,
    and in it one over their steps, whose masks are 2^s - 1, then 2^(s-2) down to 1."""
    length = size_of(emit, values[0], op.dimension.value.data)
    assert isinstance(length, SSAValue)
    one = emit.index(1)

    def steps(inner: Emitter, merge: SSAValue, held: Sequence[SSAValue]) -> Sequence[SSAValue]:
        def step(inside: Emitter, number: SSAValue, held: Sequence[SSAValue]) -> list[SSAValue]:
            size = inside.add(arith.ShLIOp(inside.index(2), merge)).result
            mirror = inside.add(arith.SubiOp(size, inside.index(1))).result
            half = inside.add(arith.ShRUIOp(inside.add(arith.ShRUIOp(size, one)).result, number))
            is_first = inside.add(arith.CmpiOp(number, inside.index(0), "eq")).result
            mask = inside.add(arith.SelectOp(is_first, mirror, half.result)).result
            return _Step(op, inside).run(held, inside.add(arith.IndexCastOp(mask, i32)).result)

        return for_loop(inner, inner.add(arith.AddiOp(merge, one)).result, held, step)

    return list(for_loop(emit, doublings(emit, length), values, steps))


def _convert(op: SortOp) -> None:
    values = list(op.inputs)
    shape = shape_of(values[0])
    dimension = op.dimension.value.data
    emit = Emitter.before(op)
    if 0 not in shape and shape[dimension] != 1:
        index_type: TensorType[Attribute] = TensorType(i32, shape)

        def position(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
            loop = loop_indices(inner, len(shape))[dimension]
            return [inner.add(arith.IndexCastOp(loop, i32)).result]

        sizes = open_sizes(emit, values[0])
        values.append(elementwise(emit, index_type, [], [], position, sizes))
        if shape[dimension] < 0:
            values = _any_network(op, emit, values)
        else:
            step = _Step(op, emit)
            for mask in network(shape[dimension]):
                values = step.run(values, mask)
    for old, new in zip(op.results, values, strict=False):
        new.name_hint = new.name_hint or old.name_hint
        old.replace_all_uses_with(new)
    erase(op)


@dataclass(frozen=True)
class SortToGenericPass(ModulePass):
    """Turn `ingot.sort` into generics, the steps of a bitonic sorting network (L1 to L1).

    The positions of the elements are carried along and decide between equal ones: the sort is
    stable. All steps are one kernel that reads which elements it compares.

        %s = ingot.sort dimension = 0 ins(%x : tensor<4xf32>) { %a < %b }
    becomes
        %1:2 = linalg.generic ins(dense<1>) { x[i ^ 1] or x[i] } ...
        %2:2 = linalg.generic ins(dense<3>) ...
        %s:2 = linalg.generic ins(dense<1>) ...
    """

    name = "sort-to-generic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions."""
        for function in host_functions(op):
            for inner in list(function.body.walk()):
                if isinstance(inner, SortOp):
                    _convert(inner)
