"""`rng_bit_generator`: by ThreeFry 2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as
easy as 1, 2, 3", 2011), each element computed from the key and its own counter.

The state is two ui64: the key, and the counter of the first element. How counters map to elements
follows XLA, whose numbers JAX users know: 64-bit elements take one counter each; of narrower ones a
pair along one dimension shares a counter.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, elementwise, empty, loop_indices
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.analysis.types import as_integer
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.lowering import Lower, Lowering
from ingot.passes.stablehlo.random_philox import halves, lower_philox
from ingot.passes.stablehlo.scalar import Scalar

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_STATES: dict[bool, tuple[tuple[int, ...], ...]] = {False: ((2,),), True: ((2,), (3,))}
"""Shapes of the state, by whether the algorithm is Philox."""


def threefry(key: tuple[Scalar, Scalar], counter: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
    """Two i32 that depend on all bits of key and counter."""
    keys = (key[0], key[1], key[0] ^ key[1] ^ _PARITY)
    x, y = counter[0] + keys[0], counter[1] + keys[1]
    for step in range(5):
        for rotation in _ROTATIONS[step % 2]:
            x = x + y
            y = y.shift_left(rotation) | y.shift_right(32 - rotation, arithmetic=False)
            y = y ^ x
        x = x + keys[(step + 1) % 3]
        y = y + keys[(step + 2) % 3] + (step + 1)
    return x, y


def _paired_dim(shape: Sequence[int]) -> int:
    """The dimension along which two elements share a counter: the first of even size, or the
    first of the largest size."""
    even = [dim for dim, size in enumerate(shape) if size % 2 == 0]
    return even[0] if even else max(range(len(shape)), key=lambda dim: shape[dim])


def lower_rng_bit_generator(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """The new state, and the elements."""
    (state,) = low.operands(op)
    type_ = low.result_type(op, 1)
    shape = type_.get_shape()
    element = as_integer(type_.element_type)
    if element is None:
        raise refuse(op, f"stablehlo.rng_bit_generator of {type_.element_type} is not supported")
    if 0 in shape:
        return [state, empty(low.emit, type_)]
    algorithm = op.word("rng_algorithm")
    philox = algorithm in ("PHILOX", "DEFAULT")
    if tensor_type(state).element_type != i64 or shape_of(state) not in _STATES[philox]:
        raise refuse(
            op,
            f"stablehlo.rng_bit_generator by {algorithm} with a state of {op.ins[0].type} is not "
            "supported",
            "use a state of two ui64 as JAX does, or for PHILOX one of three",
        )
    if philox:
        return lower_philox(low, op, state, _element)
    wide = element.bitwidth == 64
    paired = _paired_dim(shape) if shape and not wide else None
    counters = [-(-size // 2) if dim == paired else size for dim, size in enumerate(shape)]
    count = 1
    for size in counters:
        count *= size

    def body(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        loops = [Scalar(emit, loop) for loop in loop_indices(emit, len(shape))]
        linear = Scalar(emit, emit.index(0))
        for dim, loop in enumerate(loops):
            place = loop.as_unsigned() / 2 if dim == paired else loop
            linear = linear * counters[dim] + place.as_signed()
        key = _element(emit, state, 0)
        counter = _element(emit, state, 1) + linear.to(i64)
        first, second = threefry(halves(key), halves(counter))
        if wide:
            both = first.as_unsigned().to(i64) | second.as_unsigned().to(i64).shift_left(32)
            return [both.ssa]
        if paired is not None:
            odd = (loops[paired].as_unsigned() % 2).ne(0)
            first = odd.select(second, first)
        return [first.to(IntegerType(element.bitwidth)).ssa]

    def next_state(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        is_counter = Scalar(emit, loop_indices(emit, 1)[0]).ne(0)
        value = Scalar(emit, args[0])
        return [is_counter.select(value + count, value).ssa]

    new_state = elementwise(
        low.emit, low.result_type(op), [state], [AffineMap.identity(1)], next_state
    )
    return [new_state, elementwise(low.emit, type_, [], [], body)]


def _element(emit: Emitter, state: SSAValue, position: int) -> Scalar:
    return Scalar(emit, emit.add(tensor.ExtractOp(state, [emit.index(position)], i64)).result)


LOWERINGS: dict[str, Lower] = {"stablehlo.rng_bit_generator": lower_rng_bit_generator}
