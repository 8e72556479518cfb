"""`ingot run --verify`: results of a device against the reference evaluator.

The reference computes in float64, so what is measured is the device's error. Integers and truth
values must be equal; floats may differ by a fraction of the largest magnitude, because reductions
add in another order; special values must lie in the same places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

TOLERANCES: dict[str, float] = {
    "float32": 1e-4,
    "complex64": 1e-4,
    "float16": 2e-2,
    "bfloat16": 2e-2,
}
"""Allowed difference relative to the largest magnitude of the expected array; 0 for other types."""


@dataclass(frozen=True)
class Comparison:
    """How two arrays compare."""

    is_right: bool
    text: str

    def __str__(self) -> str:
        return self.text


def compare(got: Array, expected: Array) -> Comparison:
    """Compare a device's array with the expected one; `got` decides the type's tolerance."""
    if got.shape != expected.shape:
        return Comparison(False, f"shape {got.shape}, expected {expected.shape}")
    tolerance = TOLERANCES.get(got.dtype.name, 0.0)
    if tolerance == 0.0:
        wrong = int(np.count_nonzero(got != expected))
        text = f"{wrong} of {got.size} elements differ" if wrong else "equal"
        return Comparison(wrong == 0, text)
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    mine, theirs = got.astype(wide), expected.astype(got.dtype).astype(wide)
    finite = np.isfinite(theirs)
    special = _special(mine[~finite]) == _special(theirs[~finite])
    if not np.all(special) or not np.all(np.isfinite(mine[finite])):
        return Comparison(False, "infinities or NaN in other places")
    scale = float(np.abs(theirs[finite]).max(initial=0.0))
    worst = float(np.abs(mine[finite] - theirs[finite]).max(initial=0.0))
    # The smallest normal float32: below it a device may flush to zero.
    is_right = worst <= tolerance * scale + 1.2e-38
    relative = worst / scale if scale else worst
    return Comparison(is_right, f"largest difference {relative:.1e} of the largest magnitude")


def _special(values: Array) -> NDArray[np.str_]:
    return np.array([str(value) for value in values.reshape(-1)])


def reference_results(
    text: str, filename: str, function: str, arguments: Sequence[Array]
) -> list[Array]:
    """What the reference evaluator computes for a function of a program, in float64."""
    from ingot.compiler.dialects.context import make_context
    from ingot.compiler.frontends.reader import read_module
    from ingot.compiler.interpreter import evaluate

    module = read_module(text, filename, make_context())
    return list(evaluate(module, function, list(arguments)))
