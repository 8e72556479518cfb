"""`rng_bit_generator` by Philox 4x32 with 10 rounds (Salmon et al., "Parallel random numbers: as
easy as 1, 2, 3", 2011), each element computed from the key and its own counter.

How the state and the elements map to keys and counters follows XLA. The state is ui64: the key, and
the low and the high half of a counter of 128 bits, which are the other way round, with the high
half also the key, in a state of two. Four elements of 32 bits, or two of 64, share a counter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects.builtin import IntegerType, i32, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from ingot.compiler.analysis.generics import Emitter, elementwise, loop_indices
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.lowering import Lowering
from ingot.passes.stablehlo.scalar import Scalar

Words = tuple[Scalar, Scalar, Scalar, Scalar]
Read = Callable[[Emitter, SSAValue, int], Scalar]

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10


def halves(value: Scalar) -> tuple[Scalar, Scalar]:
    """The low and the high half of an i64."""
    return value.to(i32), value.shift_right(32, arithmetic=False).to(i32)


def philox(key: tuple[Scalar, Scalar], counter: Words) -> Words:
    """Four i32 that depend on all bits of key and counter."""
    a, b, c, d = counter
    first, second = key
    for _ in range(_ROUNDS):
        low_a, high_a = halves(a.as_unsigned().to(i64) * _MULTIPLIERS[0])
        low_c, high_c = halves(c.as_unsigned().to(i64) * _MULTIPLIERS[1])
        a, b, c, d = high_c ^ b ^ first, low_c, high_a ^ d ^ second, low_a
        first, second = first + _KEY_STEPS[0], second + _KEY_STEPS[1]
    return a, b, c, d


def _counter(emit: Emitter, state: SSAValue, read: Read) -> tuple[Scalar, Scalar]:
    """The low and the high half of the counter."""
    low, high = (1, 2) if shape_of(state)[0] == 3 else (1, 0)
    return read(emit, state, low), read(emit, state, high)


def _add(low: Scalar, high: Scalar, amount: Scalar) -> tuple[Scalar, Scalar]:
    """A counter that is `amount` further."""
    total = (low + amount).as_unsigned()
    carry = total.lt(low).to(i64)
    return total.as_signed(), high + carry


def lower_philox(low: Lowering, op: StableHLOOp, state: SSAValue, read: Read) -> Sequence[SSAValue]:
    """The new state, and the elements; `read` reads an element of the state."""
    type_ = low.result_type(op, 1)
    element = type_.element_type
    assert isinstance(element, IntegerType)
    shape = type_.get_shape()
    wide = element.bitwidth == 64
    shared = 2 if wide else 4

    def body(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        linear = Scalar(emit, emit.index(0))
        for size, loop in zip(shape, loop_indices(emit, len(shape)), strict=True):
            linear = linear * size + Scalar(emit, loop)
        linear = linear.as_unsigned()
        number, place = linear / shared, linear % shared
        counter = _add(*_counter(emit, state, read), number.to(i64))
        words = (*halves(counter[0]), *halves(counter[1]))
        mixed: Sequence[Scalar] = philox(halves(read(emit, state, 0)), words)
        if wide:
            mixed = [
                mixed[i].as_unsigned().to(i64) | mixed[i + 1].as_unsigned().to(i64).shift_left(32)
                for i in (0, 2)
            ]
        chosen = mixed[-1]
        for i in reversed(range(shared - 1)):
            chosen = place.eq(i).select(mixed[i], chosen)
        return [chosen.to(IntegerType(element.bitwidth)).ssa]

    def next_state(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        place = Scalar(emit, loop_indices(emit, 1)[0])
        old = _counter(emit, state, read)
        new = _add(*old, old[0].like(-(-prod(shape) // shared)))
        has_high = shape_of(state)[0] == 3
        value = place.eq(1).select(new[0], new[1]) if has_high else new[0]
        return [place.eq(0).select(Scalar(emit, args[0]), value).ssa]

    identity = [AffineMap.identity(1)]
    new_state = elementwise(low.emit, tensor_type(state), [state], identity, next_state)
    return [new_state, elementwise(low.emit, type_, [], [], body)]
