"""What a backward kernel reads again, and what it computes again."""

from __future__ import annotations

from ingot.compiler.analysis.cost import TRANSCENDENTAL
from ingot.compiler.analysis.saving import is_hoisted, reads_saved


def test_cheap_ops_are_computed_again_and_functions_read() -> None:
    assert not reads_saved(cost=1, elements=1000, iterations=1000)
    assert not reads_saved(cost=4, elements=1000, iterations=1000)
    assert reads_saved(cost=TRANSCENDENTAL, elements=1000, iterations=1000)


def test_small_values_are_read() -> None:
    assert reads_saved(cost=1, elements=10, iterations=1000)
    assert not reads_saved(cost=0, elements=10, iterations=1000)


def test_what_a_sum_repeats_is_computed_ahead() -> None:
    assert is_hoisted(cost=4, elements=1024, iterations=1024 * 1024)
    assert not is_hoisted(cost=1, elements=1024, iterations=1024 * 1024)
    assert not is_hoisted(cost=12, elements=500, iterations=1000)
