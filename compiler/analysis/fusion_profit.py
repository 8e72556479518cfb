"""Whether to compute a producer inside its consumer: a pure function of a few numbers."""

from __future__ import annotations

from dataclasses import dataclass

CHEAP = 4
"""Cost per element (see `cost.py`) up to which computing a value again from one tensor of its size
is no slower than loading it."""

SMALL_WORK = 1 << 20
"""Additions that take less time than one more dispatch."""

LONG_BODY = 64
"""Cost of one iteration up to which a consumer takes in work that it repeats."""

BROADCAST = 4
"""From how many reads of each element a producer counts as small beside its consumer."""


@dataclass(frozen=True)
class Candidate:
    """An elementwise producer and one consumer of it."""

    cost: int
    """Additions for each element of the producer."""
    elements: int
    """Elements that the producer computes."""
    reads: int
    """How many times the consumer reads an element, in all."""
    only_user: bool
    """Whether the consumer is the producer's only user."""
    consumer_cost: int = 0
    """Additions for each iteration of the consumer."""
    into_contraction: bool = False
    """The consumer is a matrix product or convolution, which reads each element many times."""
    follows_reduction: bool = False
    """The producer finishes a reduction, in whose kernel it runs once for each row."""
    can_vanish: bool = True
    """Every user could compute the producer itself, so that nothing is stored."""
    one_large_input: bool = False
    """The producer reads no more bytes than it writes."""


def should_fuse(candidate: Candidate) -> bool:
    """Never recompute work that costs more than the traffic, or the dispatch, that it saves."""
    c = candidate
    if c.cost == 0:
        return True
    if c.into_contraction:
        return False
    if c.only_user and c.reads <= c.elements:
        return True
    if c.reads >= BROADCAST * c.elements:
        short = c.cost + c.consumer_cost <= LONG_BODY
        return short and not c.follows_reduction and c.reads * c.cost <= SMALL_WORK
    return c.reads <= c.elements and c.cost <= CHEAP and c.one_large_input and c.can_vanish
