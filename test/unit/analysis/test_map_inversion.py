"""Which iterations read an element."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from xdsl.ir.affine import AffineDimExpr, AffineMap

from ingot.compiler.analysis.map_inversion import Form, invert, linear_forms, reads_whole, span


def form(*coefficients: int, offset: int = 0) -> Form:
    return Form(coefficients, offset)


def iterations_by_inversion(
    forms: Sequence[Form], extents: Sequence[int], place: Sequence[int]
) -> set[tuple[int, ...]]:
    """The iterations that read `place`, as a turned kernel finds them."""
    inversion = invert(forms, extents, range(len(extents)))
    found: set[tuple[int, ...]] = set()
    for point in itertools.product(*(range(extents[i]) for i in inversion.reduced)):
        loops = dict(zip(inversion.reduced, point, strict=True))
        exists = True
        for dim in inversion.order:
            pivot, f = inversion.pivots[dim], inversion.forms[dim]
            rest = place[dim] - f.offset
            rest -= sum(f.coefficients[i] * loops[i] for i in f.loops if i != pivot)
            if pivot is None:
                exists &= rest == 0
                continue
            value, remainder = divmod(rest, f.coefficients[pivot])
            exists &= remainder == 0 and 0 <= value < extents[pivot]
            loops[pivot] = value
        if exists:
            found.add(tuple(loops[i] for i in range(len(extents))))
    return found


@pytest.mark.parametrize(
    ("forms", "extents"),
    [
        ((form(1, 0), form(0, 1)), (3, 4)),
        ((form(1, 1),), (4, 3)),
        ((form(2, 1, offset=1),), (4, 3)),
        ((form(-1, 0, offset=3),), (4, 2)),
        ((form(1, 0), form(1, 0)), (4, 2)),
        ((form(1, 1), form(1, -1, offset=3)), (4, 4)),
        ((form(1, 1, 0), form(0, 1, 1)), (3, 4, 2)),
        ((form(1, 0), form(0, 0, offset=2), form(1, 1)), (3, 3)),
        ((form(-2, 3, offset=8),), (4, 3)),
    ],
)
def test_inversion_finds_the_iterations(forms: Sequence[Form], extents: Sequence[int]) -> None:
    reads: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for point in itertools.product(*map(range, extents)):
        place = tuple(
            sum(c * i for c, i in zip(f.coefficients, point, strict=True)) + f.offset for f in forms
        )
        reads.setdefault(place, set()).add(point)
    sizes = [max(p[d] for p in reads) + 2 for d in range(len(forms))]
    for place in itertools.product(*map(range, sizes)):
        assert iterations_by_inversion(forms, extents, place) == reads.get(place, set())


def test_the_longest_loop_is_solved() -> None:
    inversion = invert([form(1, 1)], (56, 3), (0, 1))
    assert inversion.pivots == (0,)
    assert inversion.reduced == (1,)


@pytest.mark.parametrize("coefficients", [(1, 1), (2, 1), (-1, 2), (3, -2)])
def test_span_is_what_positions_ask_for(coefficients: tuple[int, int]) -> None:
    f, extents, size = Form(coefficients, 4), (5, 3), 9
    sign = 1 if coefficients[0] > 0 else -1
    asked = [sign * (p - 4 - coefficients[1] * k) for p in range(size) for k in range(extents[1])]
    assert span(f, 0, size, extents) == (min(asked), max(asked))


def test_maps_with_divisions_have_no_forms() -> None:
    d0, d1 = AffineDimExpr(0), AffineDimExpr(1)
    assert linear_forms(AffineMap(2, 0, (d0 * 2 + d1, d1))) == (form(2, 1), form(0, 1))
    assert linear_forms(AffineMap(2, 0, (d0 // 2,))) is None


def test_a_part_is_not_the_whole() -> None:
    plain = AffineMap(2, 0, (AffineDimExpr(1),))
    assert reads_whole(plain, (3, 4), (4,))
    assert not reads_whole(plain, (3, 4), (5,))
