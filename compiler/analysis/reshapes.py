"""Which dimensions of two row-major shapes with as many elements belong together."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

Groups = tuple[tuple[int, ...], ...]
"""For each dimension of the shorter shape the consecutive dimensions of the longer one."""


def reassociation(longer: Sequence[int], shorter: Sequence[int]) -> Groups | None:
    """How dimensions of `longer` collapse into those of `shorter`; None when they do not."""
    if not shorter:
        return () if all(size == 1 for size in longer) else None
    groups: list[list[int]] = []
    position = 0
    for size in shorter:
        if position == len(longer):
            return None
        group = [position]
        product = longer[position]
        position += 1
        while product != size and position < len(longer):
            product *= longer[position]
            group.append(position)
            position += 1
        if product != size:
            return None
        groups.append(group)
    for rest in range(position, len(longer)):
        groups[-1].append(rest)
    if prod(longer[i] for i in groups[-1]) != shorter[-1]:
        return None
    return tuple(tuple(group) for group in groups)


def _cuts(shape: Sequence[int]) -> set[int]:
    """How many elements there are in the first dimensions, for each number of them."""
    cuts: set[int] = set()
    count = 1
    for size in shape:
        count *= size
        cuts.add(count)
    return cuts


def common_shape(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...]:
    """The finest shape that both collapse to; the shapes have the same number of elements."""
    total = prod(first)
    if total == 0:
        return (0,)
    cuts = sorted(_cuts(first) & _cuts(second))
    return tuple(high // low for low, high in zip([1, *cuts], cuts, strict=False) if high != low)
