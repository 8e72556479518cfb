"""What passes on tensors build: generics, reshapes, index arithmetic, each at a given place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeVar, cast

from xdsl.builder import Builder
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    AnyFloat,
    ArrayAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.rewriter import InsertPoint

from ingot.compiler.analysis.reshapes import Groups, common_shape, reassociation
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.expand_shape import ExpandShapeOp
from ingot.compiler.dialects.linalg import FillOp, GenericOp, IndexOp, IteratorTypeAttr, YieldOp

_OpT = TypeVar("_OpT", bound=Operation)


@dataclass
class Emitter:
    """Inserts ops at one place, all with the location of the op that they come from."""

    builder: Builder
    location: LocationAttr

    @classmethod
    def before(cls, op: Operation) -> Emitter:
        """Insert before `op`, with its location."""
        return cls(Builder(InsertPoint.before(op)), op.location)

    @classmethod
    def at_end(cls, block: Block, location: LocationAttr) -> Emitter:
        """Append to `block`."""
        return cls(Builder(InsertPoint.at_end(block)), location)

    def add(self, op: _OpT) -> _OpT:
        """Insert `op`."""
        op.location = self.location
        return self.builder.insert(op)

    def index(self, value: int) -> SSAValue:
        """A constant of type index."""
        return self.add(arith.ConstantOp(IntegerAttr(value, IndexType()))).result


Body = Callable[[Emitter, Sequence[SSAValue]], Sequence[SSAValue]]
"""Appends the ops of a body, given its block arguments; returns what it yields."""


def zero(type_: Attribute) -> IntegerAttr | FloatAttr:
    """The zero of a scalar type."""
    if isinstance(type_, IntegerType | IndexType):
        return IntegerAttr(0, cast("IntegerType | IndexType", type_))
    return FloatAttr(0.0, cast("AnyFloat", type_))


def size_of(emit: Emitter, value: SSAValue, dim: int) -> int | SSAValue:
    """The size of a dimension: known, or asked of the tensor."""
    size = shape_of(value)[dim]
    return size if size >= 0 else emit.add(tensor.DimOp(value, emit.index(dim))).result


def open_sizes(emit: Emitter, value: SSAValue) -> list[SSAValue]:
    """The sizes of a tensor that its type does not say, in order."""
    sizes = [size_of(emit, value, dim) for dim in range(len(shape_of(value)))]
    return [size for size in sizes if not isinstance(size, int)]


def sizes_by_maps(
    emit: Emitter,
    shape: Sequence[int],
    inputs: Sequence[SSAValue],
    maps: Sequence[AffineMap],
    output: AffineMap | None = None,
) -> list[SSAValue]:
    """The sizes that the `shape` of a generic's result leaves open, from inputs which the same
    loops walk along; the result's map is the identity by default."""
    loops = AffineMap.identity(len(shape)) if output is None else output
    sizes: list[SSAValue] = []
    for loop, known in zip(loops.results, shape, strict=True):
        if known >= 0:
            continue
        place = next((v, m) for v, m in zip(inputs, maps, strict=True) if loop in m.results)
        size = size_of(emit, place[0], place[1].results.index(loop))
        sizes.append(emit.index(size) if isinstance(size, int) else size)
    return sizes


def empty(emit: Emitter, type_: TensorType[Attribute], sizes: Sequence[SSAValue] = ()) -> SSAValue:
    """A tensor without contents; `sizes` are those that the type does not say."""
    return emit.add(tensor.EmptyOp(sizes, type_)).tensor


def fill(
    emit: Emitter, scalar: SSAValue, type_: TensorType[Attribute], sizes: Sequence[SSAValue] = ()
) -> SSAValue:
    """A tensor whose every element is `scalar`."""
    return emit.add(FillOp([scalar], [empty(emit, type_, sizes)], [type_])).results[0]


def make_generic(
    emit: Emitter,
    inputs: Sequence[SSAValue],
    inits: Sequence[SSAValue],
    maps: Sequence[AffineMap],
    iterators: Sequence[IteratorTypeAttr],
    body: Region,
) -> GenericOp:
    """A `linalg.generic` with the given body, whose results have the types of `inits`."""
    return emit.add(
        GenericOp(
            inputs,
            inits,
            body,
            [AffineMapAttr(m) for m in maps],
            iterators,
            [v.type for v in inits],
        )
    )


def elementwise(
    emit: Emitter,
    type_: TensorType[Attribute],
    inputs: Sequence[SSAValue],
    maps: Sequence[AffineMap],
    body: Body,
    sizes: Sequence[SSAValue] = (),
) -> SSAValue:
    """A generic that computes each element of `type_` on its own, by one parallel loop for each
    dimension; `maps` index the inputs, `sizes` are those that the type does not say, by default
    those of the inputs."""
    rank = type_.get_num_dims()
    sizes = sizes or sizes_by_maps(emit, type_.get_shape(), inputs, maps)
    arguments = [tensor_type(v).element_type for v in inputs]
    block = Block(arg_types=[*arguments, type_.element_type])
    inner = Emitter.at_end(block, emit.location)
    inner.add(YieldOp(*body(inner, block.args[: len(inputs)])))
    init = empty(emit, type_, sizes)
    parallel = [IteratorTypeAttr.parallel()] * rank
    identity = AffineMap.identity(rank)
    return make_generic(emit, inputs, [init], [*maps, identity], parallel, Region(block)).results[0]


def inline(emit: Emitter, body: Region, args: Sequence[SSAValue]) -> SSAValue:
    """What a body that ends in `tensor.yield` yields for the given arguments."""
    values: dict[SSAValue, SSAValue] = dict(zip(body.block.args, args, strict=True))
    for op in body.block.ops:
        if isinstance(op, tensor.YieldOp):
            return values.get(op.operands[0], op.operands[0])
        emit.builder.insert(op.clone(values))
    raise AssertionError("the body ends in tensor.yield")


def loop_indices(emit: Emitter, rank: int) -> list[SSAValue]:
    """`linalg.index` of every loop."""
    return [emit.add(IndexOp(i)).result for i in range(rank)]


def materialize(emit: Emitter, expr: AffineExpr, dims: Sequence[SSAValue]) -> SSAValue:
    """The value of an affine expression, computed with arith ops on indices.

    Divisions and remainders are those of affine maps (floor), exact for non-negative operands only:
    every index into a tensor is one.
    """
    match expr:
        case AffineConstantExpr(value):
            return emit.index(value)
        case AffineDimExpr(position):
            return dims[position]
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            left, right = materialize(emit, lhs, dims), materialize(emit, rhs, dims)
            return emit.add(_INDEX_OPS[kind](left, right)).results[0]
        case _:
            raise ValueError(f"cannot compute {expr}")


_INDEX_OPS: dict[AffineBinaryOpKind, Callable[[SSAValue, SSAValue], Operation]] = {
    AffineBinaryOpKind.Add: arith.AddiOp,
    AffineBinaryOpKind.Mul: arith.MuliOp,
    AffineBinaryOpKind.FloorDiv: arith.DivUIOp,
    AffineBinaryOpKind.Mod: arith.RemUIOp,
}


def clamp(emit: Emitter, index: SSAValue, low: int | None, high: int | None) -> SSAValue:
    """`index` moved into low..high; a None bound is known to hold."""
    if low is not None:
        index = emit.add(arith.MaxSIOp(index, emit.index(low))).result
    if high is not None:
        index = emit.add(arith.MinSIOp(index, emit.index(high))).result
    return index


def all_of(emit: Emitter, conditions: Sequence[SSAValue]) -> SSAValue:
    """The conjunction of at least one i1."""
    value = conditions[0]
    for other in conditions[1:]:
        value = emit.add(arith.AndIOp(value, other)).result
    return value


def _groups_attr(groups: Groups) -> ArrayAttr[ArrayAttr[IntegerAttr]]:
    return ArrayAttr([ArrayAttr([IntegerAttr(i, i64) for i in group]) for group in groups])


def collapse(emit: Emitter, value: SSAValue, groups: Groups) -> SSAValue:
    """`tensor.collapse_shape` by the given groups of dimensions."""
    shape = shape_of(value)
    sizes: list[int] = []
    for group in groups:
        extents = [shape[dim] for dim in group]
        sizes.append(DYNAMIC_INDEX if DYNAMIC_INDEX in extents else prod(extents))
    result = TensorType(tensor_type(value).element_type, sizes)
    op = tensor.CollapseShapeOp(
        operands=[value],
        result_types=[result],
        properties={"reassociation": _groups_attr(groups)},
    )
    return emit.add(op).result


def expand(
    emit: Emitter,
    value: SSAValue,
    groups: Groups,
    shape: Sequence[int],
    sizes: Sequence[SSAValue] = (),
) -> SSAValue:
    """`tensor.expand_shape` to `shape`, whose groups of dimensions are those of `value`; `sizes`
    are those that `shape` leaves open."""
    result = TensorType(tensor_type(value).element_type, shape)
    return emit.add(ExpandShapeOp(value, sizes, _groups_attr(groups), list(shape), result)).result


def reshape_steps(source: Sequence[int], target: Sequence[int]) -> int:
    """How many reshape ops lead from one shape to another: 0, 1 or 2."""
    if tuple(source) == tuple(target):
        return 0
    one = reassociation(source, target) is not None or reassociation(target, source) is not None
    return 1 if one else 2


def reshape(emit: Emitter, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """`value` as a tensor of `shape` with the same elements in row-major order."""
    source = shape_of(value)
    if tuple(source) == tuple(shape):
        return value
    if (groups := reassociation(source, shape)) is not None:
        return collapse(emit, value, groups)
    if (groups := reassociation(shape, source)) is not None:
        return expand(emit, value, groups, shape)
    return reshape(emit, reshape(emit, value, common_shape(source, shape)), shape)


def erase(op: Operation) -> None:
    """Remove an op whose results have no uses left."""
    op.detach()
    op.erase()
