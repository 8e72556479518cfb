"""Functions that need a loop, on scalars: a vector calls them once for each element."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

from xdsl.dialects import scf
from xdsl.ir import Block, Region

from ingot.passes.lowering.emitter import Emitter, Value
from ingot.passes.lowering.math_exponential import scale_by_power_of_two, with_sign_of


def _while(
    state: list[Value],
    condition: Callable[[list[Value]], Value],
    step: Callable[[list[Value]], list[Value]],
) -> list[Value]:
    """`while condition(state): state = step(state)`"""
    e = state[0].emitter
    types = [value.type for value in state]

    def region(terminate: Callable[[Emitter, list[Value]], None]) -> Region:
        block = Block(arg_types=types)
        inner = Emitter(block, None, e.location, e.function)
        terminate(inner, [inner.value(arg) for arg in block.args])
        return Region(block)

    def before(inner: Emitter, values: list[Value]) -> None:
        holds = condition(values)
        inner.insert(scf.ConditionOp(holds.ssa, *(value.ssa for value in values)))

    def after(inner: Emitter, values: list[Value]) -> None:
        inner.insert(scf.YieldOp(*(value.ssa for value in step(values))))

    loop = scf.WhileOp([value.ssa for value in state], types, region(before), region(after))
    return [e.value(result) for result in e.insert(loop).results]


def _exponent_and_significand(bits: Value) -> tuple[Value, Value]:
    """Biased exponent (1 for a denormal) and integer significand of a non-negative f32's bits."""
    exponent = bits >> 23
    denormal = exponent.eq(0)
    significand = denormal.select(bits, (bits & 0x7FFFFF) | 0x800000)
    return denormal.select(exponent.like(1), exponent), significand


def remf(x: Value, y: Value) -> Value:
    """x - y trunc(x / y), exactly: long division, seven bits at a time."""
    a, b = x.abs(), y.abs()
    exponent, dividend = _exponent_and_significand(a.bits())
    exponent_b, divisor = _exponent_and_significand(b.bits())
    divisor = divisor.eq(0).select(divisor.like(1), divisor)
    distance = exponent - exponent_b

    def step(state: list[Value]) -> list[Value]:
        rest, left = state
        bits = left.lt(7).select(left, 7)
        shifted = rest << bits
        by = Value(divisor.ssa, rest.emitter)
        return [shifted.remainder(by, signed=False), left - bits]

    rest = dividend.remainder(divisor, signed=False)
    rest, _ = _while([rest, distance], lambda state: state[1].gt(0), step)
    result = scale_by_power_of_two(rest.to_float(x.element), exponent_b - 150)
    result = distance.lt(0).select(a, result)
    defined = a.lt(inf) & b.gt(0.0)
    result = with_sign_of(result, x)
    return (defined & ~y.is_nan()).select(result, nan_like(x))


def nan_like(x: Value) -> Value:
    """NaN in the type of `x`."""
    return x.like(nan)


def ipowi(base: Value, exponent: Value) -> Value:
    """base**exponent modulo 2**width; a negative exponent gives the truncated quotient 1 / base**n.

    0 to a negative power is 0.
    """
    negative = exponent.lt(0)

    def step(state: list[Value]) -> list[Value]:
        power, square, left = state
        power = (left & 1).ne(0).select(power * square, power)
        return [power, square * square, left.shift_right_logical(1)]

    state = [base.like(1), base, negative.select(exponent.like(0), exponent)]
    power, _, _ = _while(state, lambda values: values[2].ne(0), step)
    alternating = (exponent & 1).ne(0).select(base, 1)
    unit = base.eq(1) | base.eq(-1)
    inverse = unit.select(alternating, 0)
    return negative.select(inverse, power)


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "arith.remf": remf,
    "math.ipowi": ipowi,
}
"""Formula of each op, for scalars: f32, or any integer type."""
