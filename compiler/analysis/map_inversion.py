"""Turn the map by which a loop nest reads a tensor round: which iterations read an element.

    x[2 * i + k]   read by loops (i, k)     becomes   i = (p - k) / 2, for each element p and each k

Pure functions of maps and sizes; `passes/tensor/derivatives` builds kernels from what they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir.affine import AffineMap

from ingot.compiler.analysis.affine_maps import linear_form, permutation_of


@dataclass(frozen=True)
class Form:
    """An index as a linear function of loops: sum of `coefficients[i] * loop i`, plus `offset`."""

    coefficients: tuple[int, ...]
    offset: int

    @property
    def loops(self) -> tuple[int, ...]:
        """The loops that it depends on."""
        return tuple(i for i, c in enumerate(self.coefficients) if c)


@dataclass(frozen=True)
class Inversion:
    """How the loops follow from an element's position p.

    `pivots[d]` is the loop that dimension d gives: its scale times the loop is p[d] without the
    rest of the form, if that divides and lies in the loop's range. A dimension without a pivot
    only tells whether an iteration reads the element. `reduced` are the loops that stay loops,
    over which the contributions to an element are summed. Pivots come in an order in which each
    can be computed (`order`): beside its own, a form has pivots of earlier dimensions only.
    """

    forms: tuple[Form, ...]
    pivots: tuple[int | None, ...]
    order: tuple[int, ...]
    reduced: tuple[int, ...]


def linear_forms(map_: AffineMap) -> tuple[Form, ...] | None:
    """The forms of a map's results; None when one has a division or a remainder."""
    forms: list[Form] = []
    for expr in map_.results:
        form = linear_form(expr, map_.num_dims)
        if form is None:
            return None
        forms.append(Form(tuple(form[0]), form[1]))
    return tuple(forms)


def reads_whole(map_: AffineMap, extents: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether each dimension is a loop of its own that runs over all of it."""
    dims = permutation_of(map_)
    return dims is not None and all(extents[d] == n for d, n in zip(dims, shape, strict=True))


def invert(forms: Sequence[Form], extents: Sequence[int], loops: Sequence[int]) -> Inversion:
    """Solve each dimension for the longest loop that it can give, so that few are left to sum over.

    `loops` are all loops that the contributions depend on.
    """
    pivots: list[int | None] = [None] * len(forms)
    solved: list[int] = []
    seen: set[int] = set()
    # Dimensions of one loop first: they leave nothing to sum over.
    for dim in sorted(range(len(forms)), key=lambda d: len(forms[d].loops)):
        free = [i for i in forms[dim].loops if i not in seen]
        if free:
            # Of equal loops the one without a division.
            pivots[dim] = max(free, key=lambda i: (extents[i], -abs(forms[dim].coefficients[i])))
        seen |= set(forms[dim].loops)
        solved.append(dim)
    taken = set(pivots)
    reduced = tuple(i for i in loops if i not in taken)
    return Inversion(tuple(forms), tuple(pivots), tuple(solved), reduced)


def span(form: Form, pivot: int, size: int, extents: Sequence[int]) -> tuple[int, int]:
    """The least and greatest value of scale * pivot that positions 0..size-1 and the other loops
    ask for, with the sign of the scale taken off."""
    sign = 1 if form.coefficients[pivot] > 0 else -1
    low, high = sorted((sign * -form.offset, sign * (size - 1 - form.offset)))
    for loop in form.loops:
        if loop == pivot:
            continue
        reach = -sign * form.coefficients[loop] * (extents[loop] - 1)
        low, high = low + min(0, reach), high + max(0, reach)
    return low, high
