"""Errors in units of the last place."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def ulp_errors(got: Array, exact: Array) -> NDArray[np.float64]:
    """How far each float is from the exact value (float64), in units of the last place that its
    type has there; infinite where one is NaN and the other not, or an infinity is wrong.

    A value above the type's largest number rounds to infinity as IEEE 754 says. Below the smallest
    normal number the unit is that of the subnormals.
    """
    limits: Any = ml_dtypes.finfo(got.dtype)
    with np.errstate(all="ignore"):
        rounded = exact.astype(got.dtype).astype(np.float64)
        value = got.astype(np.float64)
        exponent = np.frexp(np.where(np.isfinite(exact), exact, 1.0))[1] - 1
        unit = np.exp2(np.maximum(exponent, int(limits.minexp)) - int(limits.nmant))
        errors = np.abs(value - exact) / unit
        special = ~np.isfinite(exact) | ~np.isfinite(rounded) | ~np.isfinite(value)
        same = (value == rounded) | (np.isnan(value) & np.isnan(exact))
    # one that overflows by less than a unit may still be the largest number
    largest = float(limits.max)
    close = np.isfinite(exact) & (np.abs(exact) < largest * 1.01) & (np.abs(value) >= largest)
    errors = np.where(special, np.where(same, 0.0, np.where(close, 1.0, np.inf)), errors)
    return np.asarray(errors, np.float64)


def is_subnormal(x: Array) -> NDArray[np.bool_]:
    """Where a float is neither zero nor a normal number (nor special)."""
    limits: Any = ml_dtypes.finfo(x.dtype)
    magnitude = np.abs(x.astype(np.float64))
    return np.asarray((magnitude > 0) & (magnitude < float(limits.smallest_normal)))
