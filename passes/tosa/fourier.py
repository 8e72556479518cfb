"""`tosa.fft2d` and `rfft2d` as products with the matrices of the discrete transform.

A matrix of n by n cosines and sines is exact to the last bit, and a product is what a GPU is good
at; the work grows with n squared, which is less than the overhead of a fast transform up to some
hundred points.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from ingot.compiler.analysis.constants import dense_constant
from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, elementwise
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.tosa import TosaOp
from ingot.passes.tosa.builders import accumulate, dims_map, element, filled
from ingot.passes.tosa.scalars import add, is_float, mul, sub

Complex = tuple[SSAValue, SSAValue | None]
"""Real and imaginary parts; None for an imaginary part of zero."""


def lower_fft(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """The transform of both dimensions, without a factor in either direction."""
    _check(op)
    _, height, width = shape_of(op.ins[0])
    value: Complex = (op.ins[0], op.ins[1])
    inverse = op.flag("inverse")
    return _both(emit, value, height, width, width, inverse)


def lower_rfft(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """The transform of real numbers: the first half of the last dimension says all."""
    _check(op)
    _, height, width = shape_of(op.ins[0])
    return _both(emit, (op.ins[0], None), height, width, width // 2 + 1, inverse=False)


def _check(op: TosaOp) -> None:
    for value in op.ins:
        if not is_float(element(value)):
            raise refuse(op, f"{op.name} of {value.type} is not defined: it takes floats")


def _both(
    emit: Emitter, value: Complex, height: int, width: int, columns: int, inverse: bool
) -> Sequence[SSAValue]:
    value = _transform(emit, value, 2, width, columns, inverse)
    real, imaginary = _transform(emit, value, 1, height, height, inverse)
    assert imaginary is not None
    return [real, imaginary]


def _transform(
    emit: Emitter, value: Complex, axis: int, size: int, kept: int, inverse: bool
) -> Complex:
    """The first `kept` frequencies along an axis."""
    import numpy as np

    angles = 2 * np.pi * (np.outer(np.arange(size), np.arange(kept)) % size) / size
    parts = (np.cos(angles), np.sin(angles) * (1 if inverse else -1))
    type_ = element(value[0])
    # NumPy's sine of pi is not quite 0, but what it multiplies must vanish.
    matrices = [
        emit.add(
            arith.ConstantOp(dense_constant(np.where(np.abs(part) < 1e-12, 0, part), type_))
        ).result
        for part in parts
    ]
    real, imaginary = value
    real_cos, real_sin = (_product(emit, real, m, axis) for m in matrices)
    if imaginary is None:
        return real_cos, real_sin
    imaginary_cos, imaginary_sin = (_product(emit, imaginary, m, axis) for m in matrices)
    return (
        _combine(emit, real_cos, imaginary_sin, subtract=True),
        _combine(emit, real_sin, imaginary_cos, subtract=False),
    )


def _product(emit: Emitter, value: SSAValue, matrix: SSAValue, axis: int) -> SSAValue:
    """Sum over `axis` of the elements times the matrix's row."""
    shape = list(shape_of(value))
    shape[axis] = shape_of(matrix)[1]
    # Loops: those of the result, then the summed one.
    read = [3 if dim == axis else dim for dim in range(3)]

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        return [add(inner, args[2], mul(inner, args[0], args[1]))]

    init = filled(emit, 0.0, element(value), shape)
    maps = [dims_map(4, read), dims_map(4, [3, axis])]
    return accumulate(emit, [value, matrix], maps, [init], dims_map(4, range(3)), body)[0]


def _combine(emit: Emitter, a: SSAValue, b: SSAValue, subtract: bool) -> SSAValue:
    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        return [(sub if subtract else add)(inner, args[0], args[1])]

    identity = dims_map(3, range(3))
    type_ = TensorType(element(a), shape_of(a))
    return elementwise(emit, type_, [a, b], [identity] * 2, body)
