"""Arithmetic of scalars in the bodies of structured ops, with TOSA's rounding."""

from __future__ import annotations

from typing import cast

from xdsl.dialects import math
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    f32,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ingot.compiler.analysis.generics import Emitter
from ingot.compiler.dialects import arith


def is_float(type_: Attribute) -> bool:
    """Whether a scalar type is a float."""
    return isinstance(type_, AnyFloat)


def bits(type_: Attribute) -> int:
    """The width of an integer type."""
    return cast("IntegerType", type_).bitwidth


def lowest(type_: Attribute) -> float | int:
    """The value that every other one is at least as great as."""
    return float("-inf") if is_float(type_) else -(1 << (bits(type_) - 1))


def highest(type_: Attribute) -> float | int:
    """The value that no other one exceeds."""
    return float("inf") if is_float(type_) else (1 << (bits(type_) - 1)) - 1


def constant(emit: Emitter, value: float | int, type_: Attribute) -> SSAValue:
    """A scalar constant; integers are wrapped to the type."""
    if isinstance(type_, AnyFloat):
        return emit.add(arith.ConstantOp(FloatAttr(float(value), type_))).result
    integer = cast("IntegerType", type_)
    return emit.add(arith.ConstantOp(IntegerAttr(int(value), integer, truncate_bits=True))).result


def one(emit: Emitter, op: Operation) -> SSAValue:
    """The result of an op."""
    return emit.add(op).results[0]


def add(emit: Emitter, a: SSAValue, b: SSAValue) -> SSAValue:
    """a + b; integers wrap."""
    return one(emit, arith.AddfOp(a, b) if is_float(a.type) else arith.AddiOp(a, b))


def sub(emit: Emitter, a: SSAValue, b: SSAValue) -> SSAValue:
    """a - b; integers wrap."""
    return one(emit, arith.SubfOp(a, b) if is_float(a.type) else arith.SubiOp(a, b))


def mul(emit: Emitter, a: SSAValue, b: SSAValue) -> SSAValue:
    """a * b; integers wrap."""
    return one(emit, arith.MulfOp(a, b) if is_float(a.type) else arith.MuliOp(a, b))


def maximum(emit: Emitter, a: SSAValue, b: SSAValue, ignore_nan: bool = False) -> SSAValue:
    """The greater; NaN if one is, or the other one under `ignore_nan`."""
    if is_float(a.type):
        return one(emit, arith.MaxnumfOp(a, b) if ignore_nan else arith.MaximumfOp(a, b))
    return one(emit, arith.MaxSIOp(a, b))


def minimum(emit: Emitter, a: SSAValue, b: SSAValue, ignore_nan: bool = False) -> SSAValue:
    """The smaller; NaN if one is, or the other one under `ignore_nan`."""
    if is_float(a.type):
        return one(emit, arith.MinnumfOp(a, b) if ignore_nan else arith.MinimumfOp(a, b))
    return one(emit, arith.MinSIOp(a, b))


def compare(emit: Emitter, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
    """A comparison by the name of its predicate."""
    return one(
        emit,
        arith.CmpfOp(a, b, predicate) if is_float(a.type) else arith.CmpiOp(a, b, predicate),
    )


def select(emit: Emitter, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
    """a where the condition holds, else b."""
    return one(emit, arith.SelectOp(condition, a, b))


def extend(emit: Emitter, value: SSAValue, to: Attribute, unsigned: bool = False) -> SSAValue:
    """A wider type with the same value."""
    if value.type == to:
        return value
    if is_float(to):
        return one(emit, arith.ExtFOp(value, cast("AnyFloat", to)))
    wide = cast("IntegerType", to)
    return one(emit, (arith.ExtUIOp if unsigned else arith.ExtSIOp)(value, wide))


def resize_integer(emit: Emitter, value: SSAValue, to: Attribute) -> SSAValue:
    """Another width: the sign is extended, or the high bits are dropped."""
    width, wanted = bits(value.type), bits(to)
    if width < wanted:
        return extend(emit, value, to, unsigned=value.type == i1)
    return value if width == wanted else one(emit, arith.TruncIOp(value, cast("IntegerType", to)))


def narrow(emit: Emitter, value: SSAValue, to: Attribute) -> SSAValue:
    """A float rounded to a type of the same width or narrower."""
    return value if value.type == to else one(emit, arith.TruncFOp(value, cast("AnyFloat", to)))


def clip(emit: Emitter, value: SSAValue, low: float | int, high: float | int) -> SSAValue:
    """`value` moved into low..high."""
    raised = maximum(emit, value, constant(emit, low, value.type))
    return minimum(emit, raised, constant(emit, high, value.type))


def saturate(emit: Emitter, value: SSAValue, to: Attribute, unsigned: bool = False) -> SSAValue:
    """A signed integer clipped to what a narrower type holds, and converted to it."""
    width = bits(to)
    low, high = (0, (1 << width) - 1) if unsigned else (lowest(to), highest(to))
    if width < bits(value.type):
        value = clip(emit, value, low, high)
    return resize_integer(emit, value, to)


def cast_scalar(emit: Emitter, value: SSAValue, to: Attribute) -> SSAValue:
    """`tosa.cast`: floats round to the nearest even integer and saturate; NaN becomes 0."""
    source = value.type
    if source == to:
        return value
    if is_float(source):
        if to == i1:
            return compare(emit, "une", value, constant(emit, 0.0, source))
        return _cast_float(emit, value, to) if is_float(to) else _round(emit, value, to)
    if to == i1:
        return compare(emit, "ne", value, constant(emit, 0, source))
    if is_float(to):
        number = cast("AnyFloat", to)
        if source == i1:
            return one(emit, arith.UIToFPOp(value, number))
        return one(emit, arith.SIToFPOp(value, number))
    return resize_integer(emit, value, to)


def _cast_float(emit: Emitter, value: SSAValue, to: Attribute) -> SSAValue:
    source, target = cast("AnyFloat", value.type), cast("AnyFloat", to)
    if source.bitwidth < target.bitwidth:
        return extend(emit, value, to)
    if source.bitwidth > target.bitwidth:
        return narrow(emit, value, to)
    # f16 and bf16 have one width: through f32, which holds both.
    return narrow(emit, extend(emit, value, f32), to)


def _round(emit: Emitter, value: SSAValue, to: Attribute) -> SSAValue:
    """The nearest even integer of a float, saturated."""
    if isinstance(value.type, Float16Type | BFloat16Type):
        value = extend(emit, value, f32)
    mantissa = 53 if isinstance(value.type, Float64Type) else 24
    width = bits(to)
    limit = float(1 << (width - 1))
    # The greatest float that the type holds.
    top = limit - float(1 << max(0, width - 1 - mantissa))
    rounded = one(emit, math.RoundEvenOp(value))
    low, high = constant(emit, -limit, value.type), constant(emit, top, value.type)
    inside = minimum(emit, maximum(emit, rounded, low, True), high, True)
    result = one(emit, arith.FPToSIOp(inside, cast("IntegerType", to)))
    if top != limit - 1:
        above = compare(emit, "oge", rounded, constant(emit, limit, value.type))
        result = select(emit, above, constant(emit, highest(to), to), result)
    is_nan = compare(emit, "uno", value, value)
    return select(emit, is_nan, constant(emit, 0, to), result)


def apply_scale(
    emit: Emitter, value: SSAValue, multiplier: SSAValue, shift: SSAValue, double_round: bool
) -> SSAValue:
    """`value * multiplier / 2**shift` in i64, rounded as TOSA's apply_scale_32 and _16 do.

    All operands are i64. A half rounds up; `double_round` first rounds at bit 31 away from zero
    where the shift exceeds 31 (TOSA specification, "Scaling").
    """
    unit = constant(emit, 1, i64)
    half = one(emit, arith.ShLIOp(unit, sub(emit, shift, unit)))
    if double_round:
        positive = constant(emit, 1 << 30, i64)
        negative = constant(emit, -(1 << 30), i64)
        zero = constant(emit, 0, i64)
        bias = select(emit, compare(emit, "sge", value, zero), positive, negative)
        large = compare(emit, "sgt", shift, constant(emit, 31, i64))
        half = add(emit, half, select(emit, large, bias, zero))
    product = add(emit, mul(emit, value, multiplier), half)
    return one(emit, arith.ShRSIOp(product, shift))
