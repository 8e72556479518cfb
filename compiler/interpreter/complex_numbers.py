"""`complex` on arrays, computed in double precision and rounded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, FloatAttr
from xdsl.ir import Operation

from ingot.compiler.interpreter.frame import HANDLERS, Frame, Handler, handles
from ingot.compiler.interpreter.values import Array


def _function(compute: Callable[..., Any]) -> Handler:
    def run(frame: Frame, op: Operation) -> Sequence[Array]:
        args = [
            value.astype(np.complex128 if value.dtype.kind == "c" else np.float64)
            for value in frame.operands(op)
        ]
        with np.errstate(all="ignore"):
            result = np.asarray(compute(*args))
        return [frame.types.fit(result, op.results[0].type)]

    return run


@handles("complex.constant")
def _constant(frame: Frame, op: Operation) -> Sequence[Array]:
    real, imaginary = cast("ArrayAttr[FloatAttr[Any]]", op.properties["value"])
    value = np.asarray(complex(real.value.data, imaginary.value.data))
    return [frame.types.fit(value, op.results[0].type)]


def _create(real: Array, imaginary: Array) -> Array:
    result = np.empty(np.broadcast_shapes(real.shape, imaginary.shape), np.complex128)
    result.real, result.imag = real, imaginary
    return result


def _rsqrt(x: Array) -> Array:
    return 1.0 / np.sqrt(x)


def _sign(x: Array) -> Array:
    """z / |z|; zero stays."""
    size = np.abs(x)
    return np.where(size == 0, x, x / np.where(size == 0, 1, size))


HANDLERS.update(
    {
        "complex.create": _function(_create),
        "complex.re": _function(np.real),
        "complex.im": _function(np.imag),
        "complex.add": _function(np.add),
        "complex.sub": _function(np.subtract),
        "complex.mul": _function(np.multiply),
        "complex.div": _function(np.divide),
        "complex.neg": _function(np.negative),
        "complex.conj": _function(np.conj),
        "complex.abs": _function(np.abs),
        "complex.angle": _function(np.angle),
        "complex.exp": _function(np.exp),
        "complex.expm1": _function(np.expm1),
        "complex.log": _function(np.log),
        "complex.log1p": _function(np.log1p),
        "complex.sin": _function(np.sin),
        "complex.cos": _function(np.cos),
        "complex.sign": _function(_sign),
        "complex.tan": _function(np.tan),
        "complex.tanh": _function(np.tanh),
        "complex.sqrt": _function(np.sqrt),
        "complex.rsqrt": _function(_rsqrt),
        "complex.pow": _function(np.power),
        "complex.eq": lambda frame, op: [np.equal(*frame.operands(op))],
        "complex.neq": lambda frame, op: [np.not_equal(*frame.operands(op))],
    }
)
