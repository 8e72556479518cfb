"""Reading gives back what was written, for random kernels and for control flow by hand."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from unit.spirv.kernels import parse
from unit.spirv.random_modules import RandomKernel

from ingot.targets.spirv import deserialize, serialize, validate


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_random_kernels_are_valid_and_round_trip_to_the_bit(random: Random) -> None:
    module = RandomKernel(random).module()
    module.verify()
    binary = serialize(module)
    validate(binary)
    again = deserialize(binary)
    assert serialize(again) == binary
    assert serialize(parse(str(again))) == binary
    assert serialize(parse(str(module))) == binary
