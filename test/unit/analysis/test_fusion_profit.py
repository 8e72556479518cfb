"""When computing a value twice is worth it."""

from __future__ import annotations

from ingot.compiler.analysis.fusion_profit import Candidate, should_fuse


def test_moving_data_is_always_fused() -> None:
    assert should_fuse(Candidate(cost=0, elements=64, reads=10_000_000, only_user=False))
    assert should_fuse(
        Candidate(cost=0, elements=64, reads=64, only_user=False, into_contraction=True)
    )


def test_arithmetic_is_not_repeated_inside_a_contraction() -> None:
    assert not should_fuse(
        Candidate(cost=1, elements=64, reads=64, only_user=True, into_contraction=True)
    )


def test_a_single_reader_takes_its_producer_at_any_cost() -> None:
    assert should_fuse(Candidate(cost=100, elements=64, reads=64, only_user=True))


def test_overlapping_windows_do_not_repeat_an_exponential() -> None:
    assert not should_fuse(Candidate(cost=12, elements=1 << 20, reads=3 << 20, only_user=True))


def test_a_cheap_value_is_computed_again_only_if_it_is_never_stored() -> None:
    cheap = Candidate(cost=2, elements=4096, reads=4096, only_user=False, one_large_input=True)
    assert should_fuse(cheap)
    stored = Candidate(
        cost=2,
        elements=4096,
        reads=4096,
        only_user=False,
        one_large_input=True,
        can_vanish=False,
    )
    assert not should_fuse(stored)


def test_small_vectors_are_recomputed_instead_of_dispatched() -> None:
    vector = Candidate(cost=5, elements=32, reads=32768, only_user=True)
    assert should_fuse(vector)


def test_what_finishes_a_reduction_stays_with_it() -> None:
    mean = Candidate(cost=4, elements=64, reads=32768, only_user=True, follows_reduction=True)
    assert not should_fuse(mean)
