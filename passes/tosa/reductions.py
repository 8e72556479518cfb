"""Reductions of TOSA along one axis, which stays as a dimension of one element; and argmax."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import BFloat16Type, Float16Type, TensorType, f32, i1
from xdsl.ir import Attribute, SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.linalg import IndexOp
from ingot.compiler.dialects.tosa import TosaOp
from ingot.passes.tosa.builders import (
    accumulate,
    dims_map,
    element,
    elementwise,
    is_integer,
    not_defined,
    start,
)
from ingot.passes.tosa.reshaping import reshape_to
from ingot.passes.tosa.scalars import (
    add,
    compare,
    extend,
    highest,
    is_float,
    lowest,
    maximum,
    minimum,
    mul,
    narrow,
    one,
    select,
)

Combine = Callable[[Emitter, SSAValue, SSAValue], SSAValue]


def reduced_axis(op: TosaOp) -> int:
    """The axis of a reduction; refused where the operand has no such dimension."""
    rank, axis = len(shape_of(op.ins[0])), op.int("axis")
    if not 0 <= axis < rank:
        raise refuse(op, f"{op.name}: {op.ins[0].type} has no axis {axis}")
    return axis


def wide_float(type_: Attribute) -> Attribute:
    """The type in which sums of floats are accumulated: at least f32."""
    return f32 if isinstance(type_, Float16Type | BFloat16Type) else type_


def lower_reduction(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """A generic over the other dimensions; the axis comes back by a reshape."""
    axis = reduced_axis(op)
    source, result = op.ins[0], tensor_type(op.results[0])
    type_ = element(source)
    kind = op.name.removeprefix("tosa.reduce_")
    if (type_ == i1) != (kind in ("all", "any")):
        raise not_defined(op)
    wide = wide_float(type_) if kind in ("sum", "product") else type_
    neutral, combine = _combiner(kind, wide, op.word("nan_mode") == "IGNORE")
    rank = len(shape_of(source))
    kept = [dim for dim in range(rank) if dim != axis]
    shape = [shape_of(source)[dim] for dim in kept]
    if list(result.get_shape()) != [*shape[:axis], 1, *shape[axis:]]:
        raise refuse(op, f"{op.name} of {source.type} along axis {axis} does not make {result}")

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        return [combine(inner, args[1], extend(inner, args[0], wide))]

    maps, out_map = [dims_map(rank, range(rank))], dims_map(rank, kept)
    init = start(emit, neutral, TensorType(wide, shape), out_map, [(source, maps[0])])
    (total,) = accumulate(emit, [source], maps, [init], out_map, body)
    total = rounded(emit, total, type_)
    return [reshape_to(op, emit, total, result)]


def rounded(emit: Emitter, value: SSAValue, to: Attribute) -> SSAValue:
    """A tensor of floats in a narrower type, or the tensor itself."""
    if element(value) == to:
        return value
    shape = shape_of(value)
    identity = dims_map(len(shape), range(len(shape)))
    return elementwise(
        emit,
        TensorType(to, shape),
        [value],
        [identity],
        lambda inner, args: [narrow(inner, args[0], to)],
    )


def _combiner(kind: str, type_: Attribute, ignore_nan: bool) -> tuple[float | int, Combine]:
    """What a reduction starts from, and how it takes in an element."""

    def extremum(build: Callable[..., SSAValue], start: float | int) -> tuple[float | int, Combine]:
        # Where NaN is ignored, NaN is what changes nothing: only a row of nothing else is NaN.
        neutral = float("nan") if ignore_nan and is_float(type_) else start
        return neutral, lambda emit, a, b: build(emit, a, b, ignore_nan)

    match kind:
        case "sum":
            return 0, add
        case "product":
            return 1, mul
        case "max":
            return extremum(maximum, lowest(type_))
        case "min":
            return extremum(minimum, highest(type_))
        case "all":
            return 1, lambda emit, a, b: one(emit, arith.AndIOp(a, b))
        case _:
            return 0, lambda emit, a, b: one(emit, arith.OrIOp(a, b))


def lower_argmax(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """The first position of the greatest element, or of the first NaN unless it is ignored."""
    axis = reduced_axis(op)
    source, result = op.ins[0], tensor_type(op.results[0])
    type_, index_type = element(source), result.element_type
    if type_ == i1 or not is_integer(index_type):
        raise not_defined(op)
    ignore = op.word("nan_mode") == "IGNORE"
    rank = len(shape_of(source))
    kept = [dim for dim in range(rank) if dim != axis]

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        value, best, position = args
        if is_float(type_):
            # Unordered: NaN is greater than all, once. Ignored, it is less than all.
            greater = compare(inner, "ugt", value, best)
            number = value if ignore else best
            ordered = compare(inner, "ord", number, number)
            better = one(inner, arith.AndIOp(greater, ordered))
        else:
            better = compare(inner, "sgt", value, best)
        here = one(inner, arith.IndexCastOp(one(inner, IndexOp(axis)), index_type))
        return [select(inner, better, value, best), select(inner, better, here, position)]

    least = float("nan") if ignore and is_float(type_) else lowest(type_)
    maps, out_map = [dims_map(rank, range(rank))], dims_map(rank, kept)
    inits = [
        start(emit, value, TensorType(kind, result.get_shape()), out_map, [(source, maps[0])])
        for value, kind in ((least, type_), (0, index_type))
    ]
    _, positions = accumulate(emit, [source], maps, inits, out_map, body)
    return [positions]
