"""Into how many chunks long products are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingot.passes.tensor.linalg_split_contraction import LONG, choose_chunks

sizes = st.one_of(st.integers(0, 70), st.sampled_from([128, 1000, 4096, 4097, 1 << 16, 3 << 15]))


@given(sizes, sizes, sizes, sizes, st.booleans())
def test_chunks_are_equal_and_not_too_short(batch, m, n, k, contiguous):
    chunks = choose_chunks(batch, m, n, k, contiguous)
    assert chunks >= 1 and chunks & (chunks - 1) == 0
    if chunks > 1:
        assert k >= LONG and k % chunks == 0 and k // chunks >= 64
        assert 8 * chunks * m * n <= (m + n) * k


@pytest.mark.parametrize(
    ("sides", "contiguous", "chunks"),
    [
        ((1, 64, 64, 65536), True, 128),
        ((1, 1, 4096, 4096), True, 64),
        ((1, 1, 4096, 4096), False, 1),
        ((1, 4096, 4096, 4096), True, 1),
        ((16, 128, 128, 64), True, 1),
        ((1, 64, 64, 65537), True, 1),
    ],
)
def test_known_shapes(sides: tuple[int, int, int, int], contiguous: bool, chunks: int) -> None:
    assert choose_chunks(*sides, contiguous) == chunks
