"""Turn ops that make tensors from scalars into generics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    ModuleOp,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.constants import constant_array
from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import (
    Emitter,
    all_of,
    collapse,
    elementwise,
    empty,
    erase,
    expand,
    fill,
    inline,
    loop_indices,
    open_sizes,
    reshape,
)
from ingot.compiler.analysis.sizes import is_sized
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.tensor import BitcastOp, GenerateOp, RankOp

MOST_ELEMENTS = 64
"""Elements of `tensor.from_elements` that are selected one by one; more are made in parts."""


def generate(op: GenerateOp, emit: Emitter) -> SSAValue:
    """The body of the op, on the positions of the result."""
    type_ = tensor_type(op.result)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        return [inline(inner, op.body, loop_indices(inner, type_.get_num_dims()))]

    return elementwise(emit, type_, [], [], body, op.dynamic_extents)


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

    sizes = open_sizes(emit, op.dest)
    return elementwise(emit, type_, [op.dest], [AffineMap.identity(rank)], body, sizes)


def sized_reshape(op: tensor.ReshapeOp, emit: Emitter) -> SSAValue:
    """A view of the elements in a row, with the sizes that `tensor.from_elements` holds.

    Raises `Refusal` where the sizes come from data: memory is planned before the call.
    """
    type_, source = tensor_type(op.result), op.source
    elements = zip(_elements(op, emit), type_.get_shape(), strict=True)
    sizes = [size for size, known in elements if known < 0]
    if len(shape_of(source)) != 1:
        source = collapse(emit, source, (tuple(range(len(shape_of(source)))),))
    if not sizes:
        count: TensorType[Attribute] = TensorType(type_.element_type, [prod(type_.get_shape())])
        return reshape(emit, emit.add(tensor.CastOp(source, count)).dest, type_.get_shape())
    # Also to one dimension, which checks that the size is what it should be.
    group = tuple(range(type_.get_num_dims()))
    return expand(emit, source, (group,), type_.get_shape(), sizes)


def _elements(op: tensor.ReshapeOp, emit: Emitter) -> list[SSAValue]:
    """The sizes that a reshape is given, as indices."""
    owner = op.shape.owner
    if isinstance(owner, arith.ConstantOp):
        return [emit.index(int(number)) for number in constant_array(owner.value)]
    if not isinstance(owner, tensor.FromElementsOp):
        raise refuse(
            op,
            "tensor.reshape to sizes that are read from a tensor is not supported",
            "make the shape with tensor.from_elements of sizes of the arguments",
        )
    sizes: list[SSAValue] = []
    for element in owner.elements:
        if not isinstance(element.type, IndexType):
            # A tensor of index is stored as one of i64: the size is what was cast.
            element = emit.add(arith.IndexCastOp(element, IndexType())).result
        sizes.append(element)
    return sizes


def bitcast(op: BitcastOp, emit: Emitter) -> SSAValue:
    """`arith.bitcast` of each element."""
    type_ = tensor_type(op.dest)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        return [inner.add(arith.BitcastOp(args[0], type_.element_type)).result]

    identity = AffineMap.identity(type_.get_num_dims())
    return elementwise(emit, type_, [op.source], [identity], body, open_sizes(emit, op.source))


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
            ops = list(function.body.walk())
            # A reshape of open sizes takes them from the op that makes the tensor of them.
            for inner in [*filter(_is_sized_reshape, ops), *ops]:
                _rewrite(inner)


def _is_sized_reshape(op: Operation) -> bool:
    return isinstance(op, tensor.ReshapeOp) and is_sized(op)


def _rewrite(op: Operation) -> None:
    if op.parent is None:
        return  # went with the body of one before
    emit = Emitter.before(op)
    match op:
        case GenerateOp():
            result = generate(op, emit)
        case tensor.SplatOp():
            result = fill(emit, op.input, tensor_type(op.result), op.dynamicSizes)
        case tensor.FromElementsOp():
            result = from_elements(op, emit)
        case tensor.InsertOp():
            result = insert(op, emit)
        case BitcastOp():
            result = bitcast(op, emit)
        case tensor.ReshapeOp() if is_sized(op):
            result = sized_reshape(op, emit)
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
