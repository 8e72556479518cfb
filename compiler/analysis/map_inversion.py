"""Turn the map by which a loop nest reads a tensor round: which iterations read an element.

    x[2 * i + k]   read by loops (i, k)     becomes   i = (p - k) / 2, for each element p and each k
    x[(i + k) mod n]                        becomes   i = (p - k) mod n, and what n fits in further

Pure functions of maps and sizes; `passes/tensor/derivatives` builds kernels from what they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
    AffineMap,
)

from ingot.compiler.analysis.affine_maps import linear_form, permutation_of


@dataclass(frozen=True)
class Form:
    """An index as a linear function of loops: sum of `coefficients[i] * loop i`, plus `offset`."""

    coefficients: tuple[int, ...]
    offset: int
    modulus: int | None = None
    """The index is the function's remainder by this, from 0 on also where the function is less."""

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

    Where a form has a modulus, its pivot is the remainder of that, and of all values that lie a
    multiple of the modulus further: `rounds[d]` of them, over which the contributions are summed,
    too. It is 1 for any other dimension.
    """

    forms: tuple[Form, ...]
    pivots: tuple[int | None, ...]
    order: tuple[int, ...]
    reduced: tuple[int, ...]
    rounds: tuple[int, ...]

    @property
    def repeated(self) -> tuple[int, ...]:
        """The dimensions with several rounds, each of which is one more loop to sum over."""
        return tuple(dim for dim, count in enumerate(self.rounds) if count > 1)


def linear_forms(map_: AffineMap, shape: Sequence[int]) -> tuple[Form, ...] | None:
    """The forms of a map into a tensor of this shape; None when it cannot be solved.

    Divisions cannot, and remainders where they go round the whole dimension only, and with some
    loop that takes its elements one by one.
    """
    forms: list[Form] = []
    for expr, size in zip(map_.results, shape, strict=True):
        inner, modulus = _modulo(expr)
        linear = linear_form(inner, map_.num_dims)
        if linear is None:
            return None
        if modulus is not None and (modulus != size or not any(abs(c) == 1 for c in linear[0])):
            return None
        forms.append(Form(tuple(linear[0]), linear[1], modulus))
    return tuple(forms)


def _modulo(expr: AffineExpr) -> tuple[AffineExpr, int | None]:
    """What a remainder is of, and by which number; or the expression itself."""
    match expr:
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.Mod, lhs=inner, rhs=AffineConstantExpr(value=modulus)
        ) if modulus > 0:
            return inner, modulus
        case _:
            return expr, None


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
        form = forms[dim]
        free = [i for i in form.loops if i not in seen]
        if form.modulus is not None:
            free = [i for i in free if abs(form.coefficients[i]) == 1]
        if free:
            # Of equal loops the one without a division.
            pivots[dim] = max(free, key=lambda i: (extents[i], -abs(form.coefficients[i])))
        seen |= set(form.loops)
        solved.append(dim)
    taken = set(pivots)
    reduced = tuple(i for i in loops if i not in taken)
    rounds = tuple(
        1 if pivot is None or form.modulus is None else -(-extents[pivot] // form.modulus)
        for form, pivot in zip(forms, pivots, strict=True)
    )
    return Inversion(tuple(forms), tuple(pivots), tuple(solved), reduced, rounds)


def span(form: Form, pivot: int | None, size: int, extents: Sequence[int]) -> tuple[int, int]:
    """The least and greatest value of scale * pivot that positions 0..size-1 and the other loops
    ask for, with the sign of the scale taken off."""
    sign = 1 if pivot is None or form.coefficients[pivot] > 0 else -1
    low, high = sorted((sign * -form.offset, sign * (size - 1 - form.offset)))
    for loop in form.loops:
        if loop == pivot:
            continue
        reach = -sign * form.coefficients[loop] * (extents[loop] - 1)
        low, high = low + min(0, reach), high + max(0, reach)
    return low, high
