"""How a length is split into the steps of a Fourier transform."""

from __future__ import annotations

from math import prod

import pytest

from ingot.passes.stablehlo.fourier import MOST_POINTS, radices


@pytest.mark.parametrize("size", [1, 2, 12, 97, 360, 1024, 2 * 3 * 19, 1 << 20])
def test_steps_multiply_to_the_length(size: int) -> None:
    steps = radices(size)
    assert prod(steps) == size
    assert all(step <= MOST_POINTS or step in (19, 97) for step in steps)


def test_powers_of_two_take_few_steps() -> None:
    assert radices(1024) == [16, 16, 4]
    assert radices(30) == [15, 2]
