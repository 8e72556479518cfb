"""What a backward kernel reads again and what it computes again: pure functions of costs."""

from __future__ import annotations

from ingot.compiler.analysis.cost import TRANSCENDENTAL

RELOAD = TRANSCENDENTAL
"""Cost of an iteration, in additions, from which reading its stored result is the shorter way."""


def reads_saved(cost: int, elements: int, iterations: int) -> bool:
    """Whether a backward kernel reads a value that the forward op stored, instead of computing it
    again from the op's inputs, which it reads anyway.

    `cost` is that of computing one element again (additions, `cost.py`), `elements` how many were
    stored and `iterations` how many times the kernel needs one. Sums and products never come here:
    what they made is always stored. A value that few iterations of many loops share is small, so
    that reading it costs nothing.
    """
    if elements * 2 <= iterations:
        return cost > 0
    return cost >= RELOAD


HOIST = 4
"""Cost, in additions, from which a value that a sum would compute again and again is stored."""


def is_hoisted(cost: int, elements: int, iterations: int) -> bool:
    """Whether what depends on some of a sum's loops only is computed ahead, into a small tensor.

    `cost` is that of one element (additions), `elements` how many there are and `iterations` how
    many times the sum needs one.
    """
    return cost >= HOIST and elements * 8 <= iterations
