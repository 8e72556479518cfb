"""Values of the evaluator: NumPy arrays, and how each type is held, rounded and wrapped.

A tensor is an array of its shape. A scalar is an array of rank 0, or, inside the body of a
structured op, an array over the op's loops (size 1 along the loops it does not depend on).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import AnyFloat, ComplexType
from xdsl.ir import Attribute

from ingot.compiler.analysis.constants import numpy_dtype
from ingot.compiler.analysis.types import as_integer, element_type

Array = npt.NDArray[Any]
Mode = Literal["program", "float64"]


class EvaluationError(Exception):
    """The program has no value here: a failed assert, an index out of range, wrong inputs."""


@dataclass(frozen=True)
class Types:
    """How the types of a program are held: as they are, or with every float as float64."""

    mode: Mode

    def dtype(self, type: Attribute) -> np.dtype[Any]:
        """The NumPy type of the elements of `type` (of `type` itself when it is a scalar)."""
        element = element_type(type)
        if self.mode == "float64":
            if isinstance(element, AnyFloat):
                return np.dtype(np.float64)
            if isinstance(element, ComplexType):
                return np.dtype(np.complex128)
        return numpy_dtype(element)

    def fit(self, value: Array, type: Attribute) -> Array:
        """Round a float to `type` (nearest, ties to even); wrap an integer to its width."""
        dtype = self.dtype(type)
        if dtype == np.bool_:
            return (
                value.astype(np.bool_) if value.dtype == np.bool_ else (value & 1).astype(np.bool_)
            )
        if (integer := as_integer(type)) is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                held = value.astype(dtype)
            spare = dtype.itemsize * 8 - integer.width.data
            return (held << spare) >> spare if spare else held
        if value.dtype == dtype:
            return value
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            return value.astype(dtype)

    def undefined(self, shape: tuple[int, ...], type: Attribute) -> Array:
        """The contents of `tensor.empty`: a value that shows when it is used."""
        dtype = self.dtype(type)
        if dtype.kind in "iub":
            return np.full(
                shape, dtype.type(-0x5A5A5A5B & ((1 << (dtype.itemsize * 8 - 1)) - 1)), dtype
            )
        return np.full(shape, np.nan, dtype)


def wide(value: Array) -> Array:
    """A float as float64, so that a function of it is rounded once; other arrays as they are."""
    if value.dtype.kind in "fV" or value.dtype.name.startswith(("bfloat", "float8")):
        return value if value.dtype == np.float64 else value.astype(np.float64)
    return value


def signed(value: Array) -> Array:
    """An integer read as signed: i1's true is -1."""
    return -value.astype(np.int8) if value.dtype == np.bool_ else value


def unsigned(value: Array, type: Attribute) -> Array:
    """An integer read as unsigned, in NumPy's unsigned type of its size."""
    if value.dtype == np.bool_:
        return value.astype(np.uint8)
    result = (
        value.view(np.dtype(f"u{value.dtype.itemsize}"))
        if value.flags.c_contiguous
        else (value.astype(np.dtype(f"u{value.dtype.itemsize}")))
    )
    width = bit_width(type)
    if width < value.dtype.itemsize * 8:
        result = result & result.dtype.type((1 << width) - 1)
    return result


def bit_width(type: Attribute) -> int:
    """The width of an integer type (64 for `index`), of the elements when it is a tensor."""
    integer = as_integer(element_type(type))
    return 64 if integer is None else integer.width.data
