"""Names of the source as names in MSL."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingot.targets.msl import msl_identifier
from ingot.targets.msl.reserved import RESERVED


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x", "x"),
        ("input", "input"),
        ("softmax_0", "softmax_0"),
        ("main", "main_"),
        ("kernel", "kernel_"),
        ("float", "float_"),
        ("abs", "abs_"),
        ("float4", "float4_"),
        ("half3x4", "half3x4_"),
        ("M_PI_F", "M_PI_F_"),
        ("thread_position_in_grid", "thread_position_in_grid_"),
        ("a.b", "a_b"),
        ("__x", "x"),
        ("a__b", "a_b"),
        ("2d", "v2d"),
        ("gl_Position", "v_gl_Position"),
        ("spvThing", "v_spvThing"),
        ("", "v"),
        ("-", "v"),
        ("caf\u00e9", "cafe"),
        ("\u03b1", "alpha"),
        ("\u0394x", "Deltax"),
        ("\u0432\u0435\u0441", "veiees"),
        ("a\u2192b", "a_u2192_b"),
    ],
)
def test_a_name_becomes_an_identifier(name: str, expected: str) -> None:
    assert msl_identifier(name) == expected


def test_taken_names_are_numbered() -> None:
    assert msl_identifier("x", {"x"}) == "x_1"
    assert msl_identifier("x", {"x", "x_1"}) == "x_2"
    assert msl_identifier("abs", {"abs_"}) == "abs_1"


@given(st.text(max_size=20), st.sets(st.text(alphabet="abx_1", max_size=4), max_size=20))
def test_every_name_gets_a_valid_free_identifier(name: str, taken: set[str]) -> None:
    result = msl_identifier(name, taken)
    assert re.fullmatch(r"[A-Za-z]\w*", result, re.ASCII)
    assert "__" not in result
    assert result not in RESERVED
    assert result not in taken
    assert result == msl_identifier(name, taken)
