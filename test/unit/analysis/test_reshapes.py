"""Shapes that hold the same elements in the same order."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingot.compiler.analysis.reshapes import common_shape, reassociation

shapes = st.lists(st.sampled_from([1, 2, 3, 4, 6]), max_size=5)


@pytest.mark.parametrize(
    ("longer", "shorter", "groups"),
    [
        ((2, 3, 4), (6, 4), ((0, 1), (2,))),
        ((4, 1, 5), (4, 5), ((0,), (1, 2))),
        ((1, 4), (4,), ((0, 1),)),
        ((1, 1), (), ()),
        ((4, 1), (4,), ((0, 1),)),
    ],
)
def test_dimensions_that_collapse(
    longer: tuple[int, ...], shorter: tuple[int, ...], groups: tuple[tuple[int, ...], ...]
) -> None:
    assert reassociation(longer, shorter) == groups


def test_other_shapes_do_not_collapse() -> None:
    assert reassociation((4, 6), (8, 3)) is None
    assert reassociation((2, 2), ()) is None


@given(shapes, shapes)
def test_groups_cover_all_dimensions_in_order(longer: list[int], shorter: list[int]) -> None:
    groups = reassociation(longer, shorter)
    if groups is None:
        return
    if shorter:
        assert [d for group in groups for d in group] == list(range(len(longer)))
    assert [prod(longer[d] for d in group) for group in groups] == shorter


@given(shapes, st.randoms())
def test_both_shapes_collapse_to_their_common_shape(first: list[int], random: object) -> None:
    second = list(reversed(first))
    shared = common_shape(first, second)
    assert reassociation(first, shared) is not None
    assert reassociation(second, shared) is not None
