"""`arith` and `math` on arrays.

Each function takes the op, its operands as arrays and the types, and returns one array that fits
the result. Floats are computed in float64 and rounded once, which for +, -, *, / and sqrt of f32,
f16 and bf16 is the correctly rounded result. Where MLIR leaves a result undefined, the value is
the one that the compiler promises: x/0 is all ones, x%0 is x, a shift by the width or more gives 0
or the sign, a float that does not fit an integer saturates and NaN becomes 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation

from ingot.compiler.interpreter.values import Array, Types, bit_width, signed, unsigned, wide

Function = Callable[[Operation, Sequence[Array], Types], Array]


def _float(compute: Callable[..., Any]) -> Function:
    """A function of floats, computed in float64."""

    def run(op: Operation, args: Sequence[Array], types: Types) -> Array:
        with np.errstate(all="ignore"):
            result = np.asarray(compute(*(wide(arg) for arg in args)))
        return types.fit(result, op.results[0].type)

    return run


def _int(compute: Callable[..., Any]) -> Function:
    """A function of integers whose low bits do not depend on the sign."""

    def run(op: Operation, args: Sequence[Array], types: Types) -> Array:
        with np.errstate(all="ignore"):
            return types.fit(
                np.asarray(compute(*(signed(arg) for arg in args))), op.results[0].type
            )

    return run


def _unsigned(compute: Callable[..., Any]) -> Function:
    """A function of integers read as unsigned."""

    def run(op: Operation, args: Sequence[Array], types: Types) -> Array:
        values = [
            unsigned(arg, operand.type) for arg, operand in zip(args, op.operands, strict=True)
        ]
        with np.errstate(all="ignore"):
            return types.fit(np.asarray(compute(*values)), op.results[0].type)

    return run


def _zero_sign(a: Array, b: Array, result: Array, zero: Array) -> Array:
    return np.where((a == 0) & (b == 0), zero, result)


def _maximum(a: Array, b: Array) -> Array:
    return _zero_sign(a, b, np.maximum(a, b), a + b)


def _minimum(a: Array, b: Array) -> Array:
    return _zero_sign(a, b, np.minimum(a, b), -(-a + -b))


def _max_number(a: Array, b: Array) -> Array:
    return _zero_sign(a, b, np.fmax(a, b), a + b)


def _min_number(a: Array, b: Array) -> Array:
    return _zero_sign(a, b, np.fmin(a, b), -(-a + -b))


def _trunc_div(a: Array, b: Array) -> Array:
    """Quotient rounded towards zero of signed integers; by zero -1, the smallest by -1 itself."""
    safe = np.where((b == 0) | (b == -1), 1, b)
    quotient = np.floor_divide(a, safe)
    inexact = (quotient * safe != a) & ((a < 0) != (safe < 0))
    quotient = quotient + inexact.astype(quotient.dtype)
    return np.where(b == 0, -1, np.where(b == -1, -a, quotient)).astype(a.dtype)


def _trunc_rem(a: Array, b: Array) -> Array:
    """Remainder with the sign of the dividend; by zero the dividend."""
    safe = np.where((b == 0) | (b == -1), 1, b)
    remainder = a - _trunc_div(a, safe) * safe
    return np.where(b == 0, a, np.where(b == -1, 0, remainder)).astype(a.dtype)


def _floor_div(a: Array, b: Array) -> Array:
    quotient = _trunc_div(a, b)
    below = (b != 0) & (b != -1) & (quotient * b != a) & ((a < 0) != (b < 0))
    return quotient - below.astype(a.dtype)


def _ceil_div(a: Array, b: Array) -> Array:
    quotient = _trunc_div(a, b)
    above = (b != 0) & (b != -1) & (quotient * b != a) & ((a < 0) == (b < 0))
    return quotient + above.astype(a.dtype)


def _udiv(a: Array, b: Array) -> Array:
    return np.where(b == 0, np.iinfo(a.dtype).max, a // np.where(b == 0, 1, b)).astype(a.dtype)


def _urem(a: Array, b: Array) -> Array:
    return np.where(b == 0, a, a % np.where(b == 0, 1, b)).astype(a.dtype)


def _uceil_div(a: Array, b: Array) -> Array:
    safe = np.where(b == 0, 1, b)
    up = a // safe + (a % safe != 0).astype(a.dtype)
    return np.where(b == 0, np.iinfo(a.dtype).max, up).astype(a.dtype)


def _shift(left: bool, arithmetic: bool) -> Function:
    def run(op: Operation, args: Sequence[Array], types: Types) -> Array:
        type = op.results[0].type
        width = bit_width(type)
        value = signed(args[0]) if arithmetic else unsigned(args[0], type)
        amount = unsigned(args[1], type)
        over = amount >= width
        safe = np.where(over, 0, amount).astype(value.dtype)
        shifted = value << safe if left else value >> safe
        beyond = np.where(value < 0, -1, 0).astype(value.dtype) if arithmetic else 0
        return types.fit(np.where(over, beyond, shifted).astype(value.dtype), type)

    return run


def _cmpi(op: Operation, args: Sequence[Array], types: Types) -> Array:
    predicate = cast("IntegerAttr[Any]", op.properties["predicate"]).value.data
    a, b = signed(args[0]), signed(args[1])
    if predicate >= 6:
        a, b = unsigned(args[0], op.operands[0].type), unsigned(args[1], op.operands[1].type)
    compare = (
        np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
        np.less, np.less_equal, np.greater, np.greater_equal,
    )  # fmt: skip
    return np.asarray(compare[predicate](a, b))


_ORDERED: tuple[Callable[[Array, Array], Any], ...] = (
    np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal,
)  # fmt: skip


def _cmpf(op: Operation, args: Sequence[Array], types: Types) -> Array:
    predicate = cast("IntegerAttr[Any]", op.properties["predicate"]).value.data
    a, b = wide(args[0]), wide(args[1])
    nan = np.isnan(a) | np.isnan(b)
    match predicate:
        case 0 | 15:
            return np.full(nan.shape, predicate == 15)
        case 7:
            return ~nan
        case 14:
            return nan
        case _ if predicate < 7:
            return _ORDERED[predicate - 1](a, b) & ~nan
        case _:
            return _ORDERED[predicate - 8](a, b) | nan


def _select(op: Operation, args: Sequence[Array], types: Types) -> Array:
    return np.where(args[0], args[1], args[2])


def _to_int(is_signed: bool) -> Function:
    def run(op: Operation, args: Sequence[Array], types: Types) -> Array:
        type = op.results[0].type
        width = bit_width(type)
        low = -(1 << (width - 1)) if is_signed else 0
        high = (1 << (width - 1)) - 1 if is_signed else (1 << width) - 1
        value = np.nan_to_num(np.trunc(wide(args[0])), nan=0.0, posinf=np.inf, neginf=-np.inf)
        # Above 2^53 the bounds are not floats: compare, then convert only what is inside.
        inside = (value > float(low)) & (value < float(high))
        holder = np.int64 if is_signed else np.uint64
        converted = np.where(inside, value, 0.0).astype(holder)
        result = np.where(
            value >= float(high), holder(high), np.where(inside, converted, holder(low))
        )
        return types.fit(result.view(np.int64) if not is_signed else result, type)

    return run


def _from_int(is_signed: bool) -> Function:
    def run(op: Operation, args: Sequence[Array], types: Types) -> Array:
        value = signed(args[0]) if is_signed else unsigned(args[0], op.operands[0].type)
        dtype = types.dtype(op.results[0].type)
        if dtype.itemsize >= 4:
            return value.astype(dtype)
        return types.fit(value.astype(np.float64), op.results[0].type)

    return run


def _convert(op: Operation, args: Sequence[Array], types: Types) -> Array:
    return types.fit(args[0], op.results[0].type)


def _extend(is_signed: bool) -> Function:
    def run(op: Operation, args: Sequence[Array], types: Types) -> Array:
        source = op.operands[0].type
        value = signed(args[0]) if is_signed else unsigned(args[0], source)
        return types.fit(value, op.results[0].type)

    return run


def _bitcast(op: Operation, args: Sequence[Array], types: Types) -> Array:
    if types.mode == "float64":
        # The bits are those of the program's own types.
        own = Types("program")
        bits = args[0].astype(own.dtype(op.operands[0].type)).view(own.dtype(op.results[0].type))
        return types.fit(bits, op.results[0].type)
    return (
        np.ascontiguousarray(args[0]).reshape(args[0].shape).view(types.dtype(op.results[0].type))
    )


def _erf(x: Array) -> Array:
    return np.asarray(np.frompyfunc(math.erf, 1, 1)(x), np.float64)


def _round_away(x: Array) -> Array:
    rounded = np.trunc(x + np.copysign(0.49999999999999994, x))
    return np.where(np.abs(x) < 2.0**52, np.copysign(rounded, x), x)


def _fma(a: Array, b: Array, c: Array) -> Array:
    return a * b + c


def _clamp(value: Array, low: Array, high: Array) -> Array:
    return _minimum(_maximum(value, low), high)


def _is_normal(op: Operation, args: Sequence[Array], types: Types) -> Array:
    """The smallest normal is that of the program's own type, whatever holds the value."""
    import ml_dtypes

    limits = cast("Any", ml_dtypes.finfo(Types("program").dtype(op.operands[0].type)))
    smallest = float(limits.smallest_normal)
    value = np.abs(wide(args[0]))
    return np.asarray(np.isfinite(value) & (value >= smallest))


def _rsqrt(x: Array) -> Array:
    return 1.0 / np.sqrt(x)


def _powi(op: Operation, args: Sequence[Array], types: Types) -> Array:
    """Integer powers by squaring; of a negative exponent the reciprocal, rounded towards zero,
    and 0 for the base 0."""
    base, exponent = (signed(arg).astype(np.int64) for arg in args)
    result = np.ones(np.broadcast_shapes(base.shape, exponent.shape), np.int64)
    power, left = base, np.maximum(exponent, 0)
    with np.errstate(all="ignore"):
        while np.any(left):
            result = np.where(left & 1, result * power, result)
            power, left = power * power, left >> 1
    odd = np.where(exponent & 1, base, 1)
    negative = np.where(base == 1, 1, np.where(base == -1, odd, 0))
    return types.fit(np.where(exponent < 0, negative, result), op.results[0].type)


def _count_bits(count: Callable[[int, int], int]) -> Function:
    def run(op: Operation, args: Sequence[Array], types: Types) -> Array:
        width = bit_width(op.operands[0].type)
        values = unsigned(args[0], op.operands[0].type)
        counted = np.frompyfunc(lambda value: count(int(value), width), 1, 1)(values)
        return types.fit(np.asarray(counted).astype(np.int64), op.results[0].type)

    return run


def _test(predicate: Callable[[Array], Array]) -> Function:
    return lambda op, args, types: np.asarray(predicate(wide(args[0])))


FUNCTIONS: dict[str, Function] = {
    "arith.addf": _float(np.add),
    "arith.subf": _float(np.subtract),
    "arith.mulf": _float(np.multiply),
    "arith.divf": _float(np.divide),
    "arith.remf": _float(np.fmod),
    "arith.negf": _float(np.negative),
    "arith.maximumf": _float(_maximum),
    "arith.minimumf": _float(_minimum),
    "arith.maxnumf": _float(_max_number),
    "arith.minnumf": _float(_min_number),
    "arith.cmpf": _cmpf,
    "arith.addi": _int(np.add),
    "arith.subi": _int(np.subtract),
    "arith.muli": _int(np.multiply),
    "arith.divsi": _int(_trunc_div),
    "arith.remsi": _int(_trunc_rem),
    "arith.floordivsi": _int(_floor_div),
    "arith.ceildivsi": _int(_ceil_div),
    "arith.divui": _unsigned(_udiv),
    "arith.remui": _unsigned(_urem),
    "arith.ceildivui": _unsigned(_uceil_div),
    "arith.maxsi": _int(np.maximum),
    "arith.minsi": _int(np.minimum),
    "arith.maxui": _unsigned(np.maximum),
    "arith.minui": _unsigned(np.minimum),
    "arith.andi": _int(np.bitwise_and),
    "arith.ori": _int(np.bitwise_or),
    "arith.xori": _int(np.bitwise_xor),
    "arith.shli": _shift(left=True, arithmetic=False),
    "arith.shrui": _shift(left=False, arithmetic=False),
    "arith.shrsi": _shift(left=False, arithmetic=True),
    "arith.cmpi": _cmpi,
    "arith.select": _select,
    "arith.extf": _convert,
    "arith.truncf": _convert,
    "arith.trunci": _convert,
    "arith.extsi": _extend(is_signed=True),
    "arith.extui": _extend(is_signed=False),
    "arith.index_cast": _extend(is_signed=True),
    "arith.index_castui": _extend(is_signed=False),
    "arith.sitofp": _from_int(is_signed=True),
    "arith.uitofp": _from_int(is_signed=False),
    "arith.fptosi": _to_int(is_signed=True),
    "arith.fptoui": _to_int(is_signed=False),
    "arith.bitcast": _bitcast,
    "math.absf": _float(np.abs),
    "math.absi": _int(np.abs),
    "math.acos": _float(np.arccos),
    "math.acosh": _float(np.arccosh),
    "math.asin": _float(np.arcsin),
    "math.asinh": _float(np.arcsinh),
    "math.atan": _float(np.arctan),
    "math.atan2": _float(np.arctan2),
    "math.atanh": _float(np.arctanh),
    "math.cbrt": _float(np.cbrt),
    "math.ceil": _float(np.ceil),
    "math.copysign": _float(np.copysign),
    "math.cos": _float(np.cos),
    "math.cosh": _float(np.cosh),
    "math.clampf": _float(_clamp),
    "math.ctlz": _count_bits(lambda value, width: width - value.bit_length()),
    "math.ctpop": _count_bits(lambda value, _: value.bit_count()),
    "math.cttz": _count_bits(
        lambda value, width: (value & -value).bit_length() - 1 if value else width
    ),
    "math.erf": _float(_erf),
    "math.exp": _float(np.exp),
    "math.exp2": _float(np.exp2),
    "math.expm1": _float(np.expm1),
    "math.floor": _float(np.floor),
    "math.fma": _float(_fma),
    "math.fpowi": lambda op, args, types: types.fit(
        np.float_power(wide(args[0]), signed(args[1])), op.results[0].type
    ),
    "math.ipowi": _powi,
    "math.isfinite": _test(np.isfinite),
    "math.isinf": _test(np.isinf),
    "math.isnan": _test(np.isnan),
    "math.isnormal": _is_normal,
    "math.log": _float(np.log),
    "math.log10": _float(np.log10),
    "math.log1p": _float(np.log1p),
    "math.log2": _float(np.log2),
    "math.powf": _float(np.float_power),
    "math.round": _float(_round_away),
    "math.roundeven": _float(np.rint),
    "math.rsqrt": _float(_rsqrt),
    "math.sin": _float(np.sin),
    "math.sinh": _float(np.sinh),
    "math.sqrt": _float(np.sqrt),
    "math.tan": _float(np.tan),
    "math.tanh": _float(np.tanh),
    "math.trunc": _float(np.trunc),
}
"""Elementwise ops of one result, by name."""


def extended(op: Operation, args: Sequence[Array], types: Types) -> list[Array]:
    """`arith.addui_extended`, `arith.mulsi_extended`, `arith.mului_extended`: two results."""
    type: Attribute = op.operands[0].type
    width = bit_width(type)
    is_signed = op.name == "arith.mulsi_extended"
    a, b = (
        np.asarray(signed(arg) if is_signed else unsigned(arg, type)).astype(object) for arg in args
    )
    exact = a + b if op.name == "arith.addui_extended" else a * b

    def part(shift: int, result: int) -> Array:
        bits = np.asarray((exact >> shift) & ((1 << width) - 1), dtype=object).astype(np.uint64)
        return types.fit(bits.view(np.int64), op.results[result].type)

    return [part(0, 0), part(width, 1)]
