"""Which iterations read an element."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from xdsl.ir.affine import AffineDimExpr, AffineMap

from ingot.compiler.analysis.map_inversion import Form, invert, linear_forms, reads_whole, span


def form(*coefficients: int, offset: int = 0, modulus: int | None = None) -> Form:
    return Form(coefficients, offset, modulus)


def place_of(form: Form, point: Sequence[int]) -> int:
    place = sum(c * i for c, i in zip(form.coefficients, point, strict=True)) + form.offset
    return place if form.modulus is None else place % form.modulus


def iterations_by_inversion(
    forms: Sequence[Form], extents: Sequence[int], place: Sequence[int]
) -> set[tuple[int, ...]]:
    """The iterations that read `place`, as a turned kernel finds them."""
    inversion = invert(forms, extents, range(len(extents)))
    found: set[tuple[int, ...]] = set()
    summed = [*(extents[i] for i in inversion.reduced), *inversion.rounds]
    for point in itertools.product(*map(range, summed)):
        loops = dict(zip(inversion.reduced, point, strict=False))
        rounds = point[len(inversion.reduced) :]
        exists = True
        for dim in inversion.order:
            pivot, f = inversion.pivots[dim], inversion.forms[dim]
            rest = place[dim] - f.offset
            rest -= sum(f.coefficients[i] * loops[i] for i in f.loops if i != pivot)
            if f.modulus is not None:
                scale = 1 if pivot is None else f.coefficients[pivot]
                rest = (scale * rest % f.modulus + rounds[dim] * f.modulus) * scale
            if pivot is None:
                exists &= rest == 0
                continue
            value, remainder = divmod(rest, f.coefficients[pivot])
            exists &= remainder == 0 and 0 <= value < extents[pivot]
            loops[pivot] = value
        if exists:
            iteration = tuple(loops[i] for i in range(len(extents)))
            assert iteration not in found, "an iteration counts once"
            found.add(iteration)
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
        ((form(1, 0, modulus=3), form(0, 1)), (3, 2)),
        ((form(1, offset=-2, modulus=5),), (12,)),
        ((form(-1, 2, offset=1, modulus=4),), (9, 3)),
        ((form(1, 1, modulus=6),), (2, 3)),
        ((form(1, 1, 0, 0, modulus=4), form(0, 0, 1, -1, modulus=3)), (4, 2, 7, 2)),
        ((form(1, modulus=3), form(1, offset=1, modulus=3)), (5,)),
        ((form(1, 0), form(1, 1, modulus=3)), (4, 5)),
    ],
)
def test_inversion_finds_the_iterations(forms: Sequence[Form], extents: Sequence[int]) -> None:
    reads: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for point in itertools.product(*map(range, extents)):
        place = tuple(place_of(f, point) for f in forms)
        reads.setdefault(place, set()).add(point)
    sizes = [f.modulus or max(p[d] for p in reads) + 2 for d, f in enumerate(forms)]
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


def test_maps_that_cannot_be_solved_have_no_forms() -> None:
    d0, d1 = AffineDimExpr(0), AffineDimExpr(1)
    assert linear_forms(AffineMap(2, 0, (d0 * 2 + d1, d1)), (9, 3)) == (form(2, 1), form(0, 1))
    assert linear_forms(AffineMap(2, 0, (d0 // 2,)), (9,)) is None
    wraps = AffineMap(2, 0, ((d0 * 2 - d1 + 1) % 5,))
    assert linear_forms(wraps, (5,)) == (form(2, -1, offset=1, modulus=5),)
    assert linear_forms(wraps, (6,)) is None, "the last element is left out"
    assert linear_forms(AffineMap(1, 0, ((d0 * 2) % 5,)), (5,)) is None, "no loop goes by ones"


def test_a_part_is_not_the_whole() -> None:
    plain = AffineMap(2, 0, (AffineDimExpr(1),))
    assert reads_whole(plain, (3, 4), (4,))
    assert not reads_whole(plain, (3, 4), (5,))
