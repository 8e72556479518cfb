"""Poolings of TOSA: averages that count only what lies inside, and maxima."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import tensor
from xdsl.dialects.builtin import TensorType, i1, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ingot.compiler.analysis.constants import dense_constant
from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Body, Emitter, elementwise
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.tosa import TosaOp
from ingot.passes.tosa.builders import (
    accumulate,
    dims_map,
    element,
    filled,
    map_of,
    not_defined,
    padded,
)
from ingot.passes.tosa.constants import zero_point
from ingot.passes.tosa.products import check_window, pad_pairs, spatial_ints, window_exprs
from ingot.passes.tosa.reductions import wide_float
from ingot.passes.tosa.scalars import (
    add,
    apply_scale,
    constant,
    extend,
    is_float,
    lowest,
    maximum,
    narrow,
    one,
    saturate,
    sub,
)


@dataclass(frozen=True)
class Window:
    """The geometry of a pooling."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    low: Sequence[int]
    high: Sequence[int]
    size: tuple[int, ...]
    """Height and width of the input, without padding."""
    out: tuple[int, ...]

    def counts(self, axis: int) -> list[int]:
        """How many elements of the input each window has along a spatial axis."""
        counts: list[int] = []
        for position in range(self.out[axis]):
            start = position * self.stride[axis] - self.low[axis]
            end = min(start + self.kernel[axis], self.size[axis])
            counts.append(max(0, end - max(start, 0)))
        return counts


def _window(op: TosaOp) -> Window:
    source, result = shape_of(op.ins[0]), shape_of(op.results[0])
    kernel, stride = spatial_ints(op, "kernel", 2), spatial_ints(op, "stride", 2)
    low, high = pad_pairs(op, "pad", 2)
    window = Window(kernel, stride, low, high, source[1:3], result[1:3])
    sizes = [a + s + b for a, s, b in zip(low, window.size, high, strict=True)]
    check_window(op, sizes, kernel, stride, (1, 1), window.out)
    return window


def _pool(
    op: TosaOp,
    emit: Emitter,
    window: Window,
    padding: float | int,
    start: float | int,
    wide: Attribute,
    body: Body,
) -> SSAValue:
    """Accumulate each window in type `wide`; `padding` stands outside of the input."""
    source = padded(emit, op.ins[0], (0, *window.low, 0), (0, *window.high, 0), padding)
    shape_operand = emit.add(tensor.EmptyOp([], TensorType(element(source), window.kernel))).tensor
    # Loops: n, y, x, channel, window y, window x.
    positions = window_exprs((1, 2), (4, 5), window.stride, (1, 1))
    maps = [
        map_of(6, [AffineDimExpr(0), *positions, AffineDimExpr(3)]),
        dims_map(6, [4, 5]),
    ]
    init = filled(emit, start, wide, shape_of(op.results[0]))
    out_map = dims_map(6, range(4))
    return accumulate(emit, [source, shape_operand], maps, [init], out_map, body)[0]


def lower_max_pool(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """The maximum; NaN wins, or is passed over under IGNORE."""
    type_ = element(op.ins[0])
    ignore = op.word("nan_mode") == "IGNORE"
    # Where NaN is ignored, NaN is what changes nothing.
    start = float("nan") if ignore and is_float(type_) else lowest(type_)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        return [maximum(inner, args[2], args[0], ignore)]

    return [_pool(op, emit, _window(op), start, start, type_, body)]


def lower_avg_pool(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """The sum over the count of elements inside; integers by a multiplier and a shift."""
    window, type_ = _window(op), element(op.ins[0])
    if element(op.results[0]) != type_ or type_ == i1:
        raise not_defined(op)
    zero_in = zero_point(op, op.ins[1], "the input zero point")
    wide = wide_float(type_) if is_float(type_) else i32

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        value = extend(inner, args[0], wide)
        if zero_in:
            value = sub(inner, value, constant(inner, zero_in, wide))
        return [add(inner, args[2], value)]

    total = _pool(op, emit, window, zero_in, 0, wide, body)
    counts = [[y * x for x in window.counts(1)] for y in window.counts(0)]
    if any(0 in row for row in counts):
        raise refuse(op, "tosa.avg_pool2d has a window that lies in the padding alone")
    if is_float(type_):
        return [_divide(op, emit, total, counts)]
    return [_scale(op, emit, total, counts)]


def _divide(
    op: TosaOp, emit: Emitter, total: SSAValue, counts: Sequence[Sequence[int]]
) -> SSAValue:
    wide, to = element(total), element(op.results[0])

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        return [narrow(inner, one(inner, arith.DivfOp(args[0], args[1])), to)]

    return _per_position(op, emit, total, [(counts, wide)], body)


def _scale(op: TosaOp, emit: Emitter, total: SSAValue, counts: Sequence[Sequence[int]]) -> SSAValue:
    """`apply_scale_32` by the reciprocal of the count (TOSA specification, AVG_POOL2D)."""
    to = element(op.results[0])
    zero_out = zero_point(op, op.ins[2], "the output zero point")
    scales = [[reciprocal_scale(count) for count in row] for row in counts]
    multipliers = [[scale[0] for scale in row] for row in scales]
    shifts = [[scale[1] for scale in row] for row in scales]

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        value, multiplier, shift = (extend(inner, arg, i64) for arg in args)
        scaled = apply_scale(inner, value, multiplier, shift, double_round=False)
        if zero_out:
            scaled = add(inner, scaled, constant(inner, zero_out, i64))
        return [saturate(inner, scaled, to)]

    return _per_position(op, emit, total, [(multipliers, i32), (shifts, i32)], body)


def reciprocal_scale(count: int) -> tuple[int, int]:
    """Multiplier and shift that divide by `count` (TOSA specification, "Scaling")."""
    exponent = (count - 1).bit_length()
    return (((1 << 30) + 1) << exponent) // count, 30 + exponent


def _per_position(
    op: TosaOp,
    emit: Emitter,
    total: SSAValue,
    tables: Sequence[tuple[Sequence[Sequence[int]], Attribute]],
    body: Body,
) -> SSAValue:
    """Combine the sums with numbers that depend on the window's position alone."""
    import numpy as np

    values = [
        emit.add(arith.ConstantOp(dense_constant(np.array(rows), type_))).result
        for rows, type_ in tables
    ]
    maps = [dims_map(4, range(4)), *(dims_map(4, [1, 2]) for _ in values)]
    return elementwise(emit, tensor_type(op.results[0]), [total, *values], maps, body)
