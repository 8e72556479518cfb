"""`tosa.resize`: nearest neighbour and bilinear, of floats and integers.

With y = oy * scale_d + offset, an output reads around floor(y / scale_n), and the fraction is what
is left over scale_n; integers keep the fraction as it is, so that the result is scaled by the
product of both scale_n (TOSA specification, RESIZE).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import tensor
from xdsl.dialects.builtin import AnyFloat, i8, i16, i32, i64
from xdsl.ir import Attribute, SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, clamp, elementwise, loop_indices
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.tosa import TosaOp
from ingot.passes.tosa.builders import element, not_defined
from ingot.passes.tosa.constants import known_ints
from ingot.passes.tosa.reductions import wide_float
from ingot.passes.tosa.scalars import (
    add,
    compare,
    constant,
    extend,
    is_float,
    mul,
    narrow,
    one,
    resize_integer,
    select,
    sub,
)


@dataclass(frozen=True)
class Axis:
    """One spatial dimension: position `(o * denominator + offset) / numerator` of the input."""

    numerator: int
    denominator: int
    offset: int
    size: int


@dataclass(frozen=True)
class Sample:
    """The two neighbours along an axis, and how far the position is past the first.

    `fraction` is an index from 0 to the numerator - 1.
    """

    before: SSAValue
    after: SSAValue
    fraction: SSAValue


def _sample(emit: Emitter, axis: Axis, loop: SSAValue) -> Sample:
    # Index division is exact for what is not negative: move the position up by whole elements.
    lift = max(0, -(axis.offset // axis.numerator))
    start = axis.offset + lift * axis.numerator
    numerator = emit.index(axis.numerator)
    scaled = one(emit, arith.MuliOp(loop, emit.index(axis.denominator)))
    position = one(emit, arith.AddiOp(scaled, emit.index(start)))
    floor = one(emit, arith.DivUIOp(position, numerator))
    fraction = one(emit, arith.RemUIOp(position, numerator))
    first = one(emit, arith.SubiOp(floor, emit.index(lift)))
    second = one(emit, arith.AddiOp(first, emit.index(1)))
    last = axis.size - 1
    return Sample(clamp(emit, first, 0, last), clamp(emit, second, 0, last), fraction)


def _axes(op: TosaOp) -> tuple[Axis, Axis]:
    scale = known_ints(op, op.ins[1], "the scale")
    offset = known_ints(op, op.ins[2], "the offset")
    border = known_ints(op, op.ins[3], "the border")
    source, result = shape_of(op.ins[0]), shape_of(op.results[0])
    if (len(scale), len(offset), len(border)) != (4, 2, 2):
        raise refuse(op, "tosa.resize needs 4 scales, 2 offsets and 2 borders")
    if source[0] != result[0] or source[3] != result[3]:
        raise refuse(op, f"tosa.resize cannot make {op.results[0].type} of {op.ins[0].type}")
    axes: list[Axis] = []
    for dim in (0, 1):
        numerator, denominator = scale[2 * dim], scale[2 * dim + 1]
        size = source[1 + dim]
        if numerator < 1 or denominator < 1:
            raise refuse(op, f"tosa.resize by {numerator}/{denominator} is not defined")
        room = (size - 1) * numerator - offset[dim] + border[dim]
        if room // denominator + 1 != result[1 + dim]:
            raise refuse(
                op,
                f"tosa.resize of {size} elements by {numerator}/{denominator}, offset "
                f"{offset[dim]} and border {border[dim]} does not make {result[1 + dim]}",
            )
        axes.append(Axis(numerator, denominator, offset[dim], size))
    return axes[0], axes[1]


_BILINEAR: dict[Attribute, Attribute] = {i8: i32, i16: i64}
"""The results of integers, which hold the products of both numerators; floats keep their type."""


def lower_resize(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """A generic that reads one element, or four and their weights, for each of the result."""
    axes = _axes(op)
    source, result = op.ins[0], tensor_type(op.results[0])
    nearest = op.word("mode") == "NEAREST_NEIGHBOR"
    wide = element(source) if nearest else _BILINEAR.get(element(source), element(source))
    if result.element_type != wide:
        raise not_defined(op)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        n, y, x, c = loop_indices(inner, 4)
        rows, columns = _sample(inner, axes[0], y), _sample(inner, axes[1], x)

        def read(row: SSAValue, column: SSAValue) -> SSAValue:
            return one(inner, tensor.ExtractOp(source, [n, row, column, c], element(source)))

        if nearest:
            return [read(_nearest(inner, axes[0], rows), _nearest(inner, axes[1], columns))]
        corners = [
            read(row, column)
            for row in (rows.before, rows.after)
            for column in (columns.before, columns.after)
        ]
        vertical = _weights(op, inner, axes[0], rows)
        horizontal = _weights(op, inner, axes[1], columns)
        return [_bilinear(inner, corners, vertical, horizontal, result.element_type)]

    return [elementwise(emit, result, [], [], body)]


def _nearest(emit: Emitter, axis: Axis, sample: Sample) -> SSAValue:
    """The second neighbour from the middle on."""
    twice = one(emit, arith.MuliOp(sample.fraction, emit.index(2)))
    past = compare(emit, "sge", twice, emit.index(axis.numerator))
    return select(emit, past, sample.after, sample.before)


def _weights(op: TosaOp, emit: Emitter, axis: Axis, sample: Sample) -> tuple[SSAValue, SSAValue]:
    """The weights of both neighbours in the type of the sum."""
    to = element(op.results[0])
    if not isinstance(to, AnyFloat):
        after = one(emit, arith.IndexCastOp(sample.fraction, to))
        return sub(emit, constant(emit, axis.numerator, to), after), after
    wide = wide_float(to)
    assert isinstance(wide, AnyFloat)
    whole = one(emit, arith.SIToFPOp(one(emit, arith.IndexCastOp(sample.fraction, i32)), wide))
    after = one(emit, arith.DivfOp(whole, constant(emit, axis.numerator, wide)))
    return sub(emit, constant(emit, 1.0, wide), after), after


def _bilinear(
    emit: Emitter,
    corners: Sequence[SSAValue],
    rows: tuple[SSAValue, SSAValue],
    columns: tuple[SSAValue, SSAValue],
    to: Attribute,
) -> SSAValue:
    """The sum of four products, in the order of the specification."""
    wide = rows[0].type
    total: SSAValue | None = None
    factors = [(row, column) for row in rows for column in columns]
    for corner, (row, column) in zip(corners, factors, strict=True):
        value = extend(emit, corner, wide) if is_float(wide) else resize_integer(emit, corner, wide)
        term = mul(emit, mul(emit, value, row), column)
        total = term if total is None else add(emit, total, term)
    assert total is not None
    return narrow(emit, total, to) if is_float(wide) else total
