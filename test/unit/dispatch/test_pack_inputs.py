"""Which inputs are packed: small ones, of one type, and no more than it takes."""

from __future__ import annotations

from xdsl.dialects.builtin import f32, i32

from ingot.passes.dispatch.dispatch_pack_inputs import chosen


def test_the_smallest_are_packed_until_the_rest_fits() -> None:
    candidates = [(f32, 100), (f32, 1), (f32, 50), (f32, 2)]
    assert chosen(candidates, buffers=6, most=4) == [[1, 3, 2]]


def test_a_second_type_is_packed_where_the_first_has_too_few() -> None:
    candidates = [(f32, 4), (i32, 4), (f32, 4), (i32, 4), (f32, 4)]
    assert chosen(candidates, buffers=6, most=3) == [[0, 2, 4], [1, 3]]


def test_nothing_is_packed_without_need() -> None:
    assert chosen([(f32, 4), (f32, 4)], buffers=3, most=3) == []
