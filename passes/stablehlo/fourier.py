"""Fourier transforms, one dimension after another, each in steps of sums against roots of unity.

One kernel for each step. A length that is a product of small factors takes n log n operations; a
prime one, n^2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects import tensor
from xdsl.dialects.builtin import ComplexType, TensorType, f32, i1
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ingot.compiler.analysis.constants import dense_constant
from ingot.compiler.analysis.generics import (
    Emitter,
    elementwise,
    empty,
    fill,
    loop_indices,
    make_generic,
    reshape,
)
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.linalg import IteratorTypeAttr, YieldOp
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.lowering import Lower, Lowering
from ingot.passes.stablehlo.scalar import Scalar, literal
from ingot.passes.stablehlo.slices import extract_slice

MOST_POINTS = 16
"""Points of one step, where the length has factors that allow it: steps of more cost more."""


def radices(size: int) -> list[int]:
    """Factors of a length, each at most `MOST_POINTS` or a prime.

    radices(1024) == [16, 16, 4]
    """
    primes: list[int] = []
    factor = 2
    while size > 1:
        if factor * factor > size:
            factor = size
        while size % factor == 0:
            primes.append(factor)
            size //= factor
        factor += 1
    steps: list[int] = []
    for prime in reversed(primes):
        for i, step in enumerate(steps):
            if step * prime <= MOST_POINTS:
                steps[i] *= prime
                break
        else:
            steps.append(prime)
    return steps or [1]


def _roots(emit: Emitter, size: int, inverse: bool) -> SSAValue:
    """cos and sin of -2 pi j / size (2 pi j / size for the inverse), each rounded once."""
    import numpy as np

    angles = 2 * np.pi * np.arange(size) / size * (1 if inverse else -1)
    table = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return emit.add(arith.ConstantOp(dense_constant(table, f32))).result


def _transform(emit: Emitter, value: SSAValue, dim: int, points: int, inverse: bool) -> SSAValue:
    """The first `points` outputs of the transform along a dimension of a complex tensor.

    One step for each factor of the length (Stockham, "High-speed convolution and correlation",
    1966): the length is `left * done`, of which `done` points are transformed and in order.
    """
    shape = list(shape_of(value))
    size = shape[dim]
    roots = _roots(emit, size, inverse)
    before, after = shape[:dim], shape[dim + 1 :]
    done = 1
    for radix in radices(size):
        left = size // done // radix
        kept = -(-points // done) if left == 1 else radix
        split = reshape(emit, value, [*before, radix, left, done, *after])
        moved = _step(emit, split, dim, kept, roots)
        value = reshape(emit, moved, [*before, left * kept * done, *after])
        done *= radix
    shape[dim] = points
    if shape_of(value) == tuple(shape):
        return value
    return extract_slice(emit, value, [0] * len(shape), shape, [1] * len(shape))


def _step(emit: Emitter, value: SSAValue, dim: int, kept: int, roots: SSAValue) -> SSAValue:
    """`kept` outputs of the transforms of `radix` points, turned by the roots of all.

    From [..., radix, left, done, ...] to [..., left, kept, done, ...]: output (l, k, d) is the sum
    over j of input (j, l, d) times the root of number `k * (j * left + l) * done`.
    """
    shape = list(shape_of(value))
    radix, left, done = shape[dim : dim + 3]
    size = radix * left * done
    shape[dim : dim + 3] = [left, kept, done]
    rank = len(shape)
    element = tensor_type(value).element_type
    extent = empty(emit, TensorType(i1, [radix]))
    block = Block(arg_types=[element, i1, element])
    inner = Emitter.at_end(block, emit.location)
    loops = [Scalar(inner, loop) for loop in loop_indices(inner, rank + 1)]
    number = loops[dim + 1] * (loops[-1] * left + loops[dim])
    turn = (number.as_unsigned() % (size // done) * done).ssa
    cosine, sine = (
        Scalar(inner, inner.add(tensor.ExtractOp(roots, [turn, inner.index(i)], f32)).result)
        for i in range(2)
    )
    term = Scalar(inner, block.args[0]) * cosine.with_imaginary(sine)
    inner.add(YieldOp((Scalar(inner, block.args[2]) + term).ssa))
    position = AffineExpr.dimension(rank)
    output = [AffineExpr.dimension(i) for i in range(rank)]
    source = [*output[:dim], position, output[dim], *output[dim + 2 :]]
    maps = [AffineMap(rank + 1, 0, tuple(exprs)) for exprs in (source, [position], output)]
    iterators = [IteratorTypeAttr.parallel()] * rank + [IteratorTypeAttr.reduction()]
    init = fill(emit, literal(emit, 0, element).ssa, TensorType(element, shape))
    return make_generic(emit, [value, extent], [init], maps, iterators, Region(block)).results[0]


def _converted(
    emit: Emitter, value: SSAValue, element: Attribute, compute: Callable[[Scalar], Scalar]
) -> SSAValue:
    """Each element computed from the one at its place."""
    type_: TensorType[Attribute] = TensorType(element, shape_of(value))

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        return [compute(Scalar(inner, args[0])).ssa]

    identity = AffineMap.identity(type_.get_num_dims())
    return elementwise(emit, type_, [value], [identity], body)


def _mirrored(emit: Emitter, value: SSAValue, size: int) -> SSAValue:
    """All `size` points along the last dimension of a spectrum of which half is given.

    Point k of the other half is the conjugate of point size - k; the imaginary parts of point 0,
    and of the middle one of an even size, do not count.
    """
    shape = list(shape_of(value))
    rank = len(shape)
    half = shape[-1]
    shape[-1] = size
    element = tensor_type(value).element_type

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        *before, k = (Scalar(inner, loop) for loop in loop_indices(inner, rank))
        given = k.lt(half)
        source = given.select(k, size - k).maximum(0).minimum(half - 1)
        at = [*(loop.ssa for loop in before), source.ssa]
        point = Scalar(inner, inner.add(tensor.ExtractOp(value, at, element)).result)
        imaginary = given.select(point.imaginary, -point.imaginary)
        own = k.eq(0) | (k * 2).eq(size)
        return [point.real.with_imaginary(own.select(imaginary.like(0.0), imaginary)).ssa]

    return elementwise(emit, TensorType(element, shape), [], [], body)


def lower_fft(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """FFT, IFFT, RFFT and IRFFT over the last dimensions, which `fft_length` gives."""
    kind = op.word("fft_type")
    lengths = op.ints("fft_length") or ()
    value = low.value(op.ins[0])
    result = low.result_type(op)
    emit = low.emit
    if 0 in result.get_shape():
        return [empty(emit, result)]
    inverse = kind in ("IFFT", "IRFFT")
    if kind == "RFFT":
        value = _converted(emit, value, ComplexType(f32), lambda x: x.to(ComplexType(f32)))
    rank = len(shape_of(value))
    dims = list(range(rank - len(lengths), rank))
    order = dims if kind == "IRFFT" else dims[::-1]
    for dim in order:
        points = size = lengths[dim - dims[0]]
        if dim == dims[-1] and kind == "RFFT":
            points = size // 2 + 1
        if dim == dims[-1] and kind == "IRFFT":
            value = _mirrored(emit, value, size)
        value = _transform(emit, value, dim, points, inverse)
    if kind == "IRFFT":
        value = _converted(emit, value, f32, lambda x: x.real)
    if inverse:
        count = float(prod(lengths))
        value = _converted(emit, value, result.element_type, lambda x: x / count)
    return [value]


LOWERINGS: dict[str, Lower] = {"stablehlo.fft": lower_fft}
