"""The ranges of the indices of a statement, inferred from the arrays that they index.

An index that stands alone runs over the whole dimension, and dimensions with the same index must
agree in size. Where an index is shifted or scaled, or several are summed, it runs over all values
for which every such access lies inside its array: `x[i+1] - x[i]` has one element less than `x`,
and `N[x+i-1] * K[i]` those of a valid convolution. A range that is written is taken as it is, and
each access is checked against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.frontends.index_notation.affine import Affine
from ingot.compiler.frontends.index_notation.syntax import Place, Range

Ranges = dict[str, tuple[int, int]]
"""First and last value of each index; an empty range ends one before it begins."""


@dataclass(frozen=True)
class Bound:
    """An index expression whose values must lie in low..high, both included."""

    place: Place
    what: str
    """What is indexed, for messages: `dimension 2 of A`."""
    expression: Affine
    low: int
    high: int

    @property
    def plain(self) -> str | None:
        """The index that stands alone here."""
        return self.expression.plain


def infer_ranges(
    indices: Mapping[str, Place], bounds: Sequence[Bound], written: Sequence[Range]
) -> Ranges:
    """The range of every index of `indices` (with the place to blame for it).

    Raises `Refusal` where sizes disagree, an index has no range, or an access leaves its array.
    """
    ranges: Ranges = {}
    for each in written:
        if each.index not in indices:
            raise Refusal(f"{each.index} indexes nothing here", each.place.location)
        if each.index in ranges:
            raise Refusal(f"the range of {each.index} is given twice", each.place.location)
        ranges[each.index] = (each.low, max(each.high, each.low - 1))
    fixed = frozenset(ranges)
    _plain(bounds, fixed, ranges)
    _solve(bounds, fixed, ranges)
    for index, place in indices.items():
        if index not in ranges:
            raise Refusal(
                f"the range of index {index} does not follow from any array",
                place.location,
                f"write it: ({index} in 1:10)",
            )
    _check(bounds, ranges)
    return ranges


def _plain(bounds: Sequence[Bound], fixed: frozenset[str], ranges: Ranges) -> None:
    """Ranges of the indices that stand alone somewhere."""
    first: dict[str, Bound] = {}
    for bound in bounds:
        index = bound.plain
        if index is None or index in fixed:
            continue
        known = first.setdefault(index, bound)
        if (known.low, known.high) != (bound.low, bound.high):
            raise Refusal(
                f"index {index} runs over {_span(known)} in {known.what}"
                f" and over {_span(bound)} in {bound.what}",
                bound.place.location,
                "sizes with the same index must be equal",
            )
        ranges[index] = (bound.low, bound.high)


def _span(bound: Bound) -> str:
    return f"{bound.low}:{bound.high}"


def _solve(bounds: Sequence[Bound], fixed: frozenset[str], ranges: Ranges) -> None:
    """Narrow the ranges by the other bounds, each once all but one of its indices are known."""
    others = [b for b in bounds if b.plain is None and b.expression.coefficients]
    # Indices that stand alone and are shifted as well: the smaller of both.
    for bound in others:
        names = list(bound.expression.coefficients)
        if len(names) == 1 and names[0] in ranges and names[0] not in fixed:
            _narrow(names[0], [_limit(bound, names[0], ranges), ranges[names[0]]], ranges)
    while True:
        open_ = [(bound, _unknown(bound, ranges)) for bound in others]
        index = next((names[0] for _, names in open_ if len(names) == 1), None)
        if index is None:
            return
        # All bounds on one index at once, before others build on it.
        limits = [_limit(bound, index, ranges) for bound, names in open_ if names == [index]]
        _narrow(index, limits, ranges)


def _narrow(index: str, limits: Sequence[tuple[int, int]], ranges: Ranges) -> None:
    low, high = max(low for low, _ in limits), min(high for _, high in limits)
    ranges[index] = (low, max(high, low - 1))


def _unknown(bound: Bound, ranges: Ranges) -> list[str]:
    return [index for index in bound.expression.coefficients if index not in ranges]


def _limit(bound: Bound, index: str, ranges: Ranges) -> tuple[int, int]:
    """The values of `index` for which the bound holds whatever the other indices are."""
    factor = bound.expression.coefficients[index]
    others = {i: f for i, f in bound.expression.coefficients.items() if i != index}
    least, most = Affine(others, bound.expression.constant).bounds(ranges)
    low, high = bound.low - least, bound.high - most
    if factor < 0:
        factor, low, high = -factor, -high, -low
    return -(-low // factor), high // factor


def _check(bounds: Sequence[Bound], ranges: Ranges) -> None:
    for bound in bounds:
        if any(ranges[i][0] > ranges[i][1] for i in bound.expression.coefficients):
            continue
        low, high = bound.expression.bounds(ranges)
        if low < bound.low or high > bound.high:
            raise Refusal(
                f"the index of {bound.what} runs over {low}:{high},"
                f" and the array has {bound.low}:{bound.high}",
                bound.place.location,
                "give the indices other ranges, or write pad(...), clamp(...) or mod(...)",
            )
