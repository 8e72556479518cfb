"""Division of floats that holds where a target's own does not.

Vulkan promises a quotient only for divisors of up to 2**126 in magnitude; NVIDIA's driver gives 0
beyond. Of f16 it is off by more than a unit in the last place there, and NaN for the quotient of
0 and a subnormal number.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from ingot.compiler.analysis.index_range import constant_number
from ingot.passes.lowering import zero_arithmetic
from ingot.passes.lowering.emitter import Emitter, Value
from ingot.passes.lowering.zero_arithmetic import Zeros

_LARGE = 2.0**64


def scaled(a: Value, b: Value) -> Value:
    """a / b by way of a divisor that is not larger than 2**64; powers of two change no digit."""
    scale = b.abs().gt(_LARGE).select(b.like(2.0**-64), 1.0)
    return (a * scale) / (b * scale)


def divide(op: Operation, e: Emitter) -> Value | None:
    """The scaled quotient, unless the divisor is a constant that needs none."""
    a, b = (e.value(operand) for operand in op.operands)
    zeros = zero_arithmetic.divide(Zeros(), a, b, lambda a, b: e.call(op.name, a, b))
    if zeros is not None:
        return zeros
    known = constant_number(op.operands[1])
    if known is not None and abs(known) <= _LARGE:
        return None
    return e.call(op.name, a, b)


FUNCTIONS: dict[str, Callable[..., Value]] = {"arith.divf": scaled}
"""Formula by op name, for f32."""
