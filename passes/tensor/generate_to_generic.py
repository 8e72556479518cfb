"""Turn ops that make tensors from scalars into generics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import (
    Emitter,
    all_of,
    elementwise,
    empty,
    erase,
    fill,
    loop_indices,
    reshape,
)
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.tensor import BitcastOp, GenerateOp, RankOp

MOST_ELEMENTS = 64
"""Elements of `tensor.from_elements` that are selected one by one; more are made in parts."""


def generate(op: GenerateOp, emit: Emitter) -> SSAValue:
    """The body of the op, on the positions of the result."""
    type_ = tensor_type(op.result)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        block = op.body.block
        loops = loop_indices(inner, type_.get_num_dims())
        values: dict[SSAValue, SSAValue] = dict(zip(block.args, loops, strict=True))
        for each in block.ops:
            if isinstance(each, tensor.YieldOp):
                return [values.get(each.operands[0], each.operands[0])]
            inner.builder.insert(each.clone(values))
        raise AssertionError("the body of tensor.generate ends in tensor.yield")

    return elementwise(emit, type_, [], [], body)


def from_elements(op: tensor.FromElementsOp, emit: Emitter) -> SSAValue:
    """Each element is selected by its position."""
    elements = list(op.operands)
    type_ = tensor_type(op.result)
    shape = type_.get_shape()
    if not elements:
        return empty(emit, type_)
    if all(e is elements[0] for e in elements):
        return fill(emit, elements[0], type_)
    if len(elements) > MOST_ELEMENTS:
        return _in_parts(elements, type_, emit)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        position = inner.index(0)
        for loop, size in zip(loop_indices(inner, len(shape)), shape, strict=True):
            row = inner.add(arith.MuliOp(position, inner.index(size))).result
            position = inner.add(arith.AddiOp(row, loop)).result
        result = elements[-1]
        for i in reversed(range(len(elements) - 1)):
            here = inner.add(arith.CmpiOp(position, inner.index(i), "eq")).result
            result = inner.add(arith.SelectOp(here, elements[i], result)).result
        return [result]

    return elementwise(emit, type_, [], [], body)


def _in_parts(
    elements: Sequence[SSAValue], type_: TensorType[Attribute], emit: Emitter
) -> SSAValue:
    """A concatenation of tensors that are small enough to be selected from."""
    parts: list[SSAValue] = []
    for start in range(0, len(elements), MOST_ELEMENTS):
        part = list(elements[start : start + MOST_ELEMENTS])
        part_type = TensorType(type_.element_type, [len(part)])
        made = emit.add(tensor.FromElementsOp.create(operands=part, result_types=[part_type]))
        parts.append(from_elements(made, emit))
        erase(made)
    flat = TensorType(type_.element_type, [len(elements)])
    dim = {"dim": IntegerAttr(0, i64)}
    concat = tensor.ConcatOp.create(operands=parts, result_types=[flat], properties=dim)
    whole = emit.add(concat).result
    return reshape(emit, whole, type_.get_shape())


def insert(op: tensor.InsertOp, emit: Emitter) -> SSAValue:
    """The destination, with one element replaced."""
    type_ = tensor_type(op.result)
    rank = type_.get_num_dims()

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        here = [
            inner.add(arith.CmpiOp(loop, index, "eq")).result
            for loop, index in zip(loop_indices(inner, rank), op.indices, strict=True)
        ]
        if not here:
            return [op.scalar]
        return [inner.add(arith.SelectOp(all_of(inner, here), op.scalar, args[0])).result]

    return elementwise(emit, type_, [op.dest], [AffineMap.identity(rank)], body)


def bitcast(op: BitcastOp, emit: Emitter) -> SSAValue:
    """`arith.bitcast` of each element."""
    type_ = tensor_type(op.dest)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        return [inner.add(arith.BitcastOp(args[0], type_.element_type)).result]

    return elementwise(emit, type_, [op.source], [AffineMap.identity(type_.get_num_dims())], body)


@dataclass(frozen=True)
class GenerateToGenericPass(ModulePass):
    """Turn `tensor.generate`, `splat`, `from_elements`, `insert`, `bitcast` and `reshape` into
    generics, fills and reshapes (L1 to L1).

        %t = tensor.generate { ^bb0(%i: index): ... tensor.yield %v } : tensor<4xf32>
    becomes
        %t = linalg.generic outs(%empty) { %i = linalg.index 0 ... linalg.yield %v }
    """

    name = "generate-to-generic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions."""
        for function in host_functions(op):
            for inner in list(function.body.block.ops):
                _rewrite(inner)


def _rewrite(op: Operation) -> None:
    emit = Emitter.before(op)
    match op:
        case GenerateOp():
            result = generate(op, emit)
        case tensor.SplatOp():
            result = fill(emit, op.input, tensor_type(op.result))
        case tensor.FromElementsOp():
            result = from_elements(op, emit)
        case tensor.InsertOp():
            result = insert(op, emit)
        case BitcastOp():
            result = bitcast(op, emit)
        case tensor.ReshapeOp():
            result = reshape(emit, op.source, shape_of(op.result))
        case RankOp():
            rank = IntegerAttr(len(shape_of(op.tensor)), IndexType())
            result = emit.add(arith.ConstantOp(rank)).result
        case _:
            return
    result.name_hint = result.name_hint or op.results[0].name_hint
    op.results[0].replace_all_uses_with(result)
    erase(op)
