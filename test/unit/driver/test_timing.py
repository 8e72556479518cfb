"""Where the time goes: the tree, and its text. What a clock says is not tested."""

from __future__ import annotations

import re
from contextlib import nullcontext

from ingot.compiler.driver.timing import Phase, Timing, phase, timing_text


def test_phases_nest_and_count() -> None:
    timing = Timing()
    for _ in range(3):
        with timing.phase("code"), timing.phase("SPIR-V"):
            pass
    with timing.phase("cse", once=True):
        pass
    with timing.phase("cse", once=True):
        pass
    code, *passes = timing.root.phases
    assert (code.name, code.count, [p.name for p in code.phases]) == ("code", 3, ["SPIR-V"])
    assert [p.name for p in passes] == ["cse", "cse"]


def test_a_phase_that_fails_is_closed() -> None:
    timing = Timing()
    try:
        with timing.phase("outer"), timing.phase("inner"):
            raise ValueError
    except ValueError:
        pass
    with timing.phase("next"):
        pass
    assert [p.name for p in timing.root.phases] == ["outer", "next"]


def test_nothing_is_measured_where_nobody_asks() -> None:
    assert isinstance(phase(None, "x"), nullcontext)


def test_the_text_is_a_tree_with_what_is_left() -> None:
    timing = Timing()
    inner = Phase("cse", 2, 0.25, 0.25)
    timing.root.phases = [Phase("read", 1, 1.0, 0.5), Phase("tensor", 1, 3.0, 1.5, [inner])]
    lines = timing_text(timing).splitlines()
    assert "  Total Execution Time: 4.0000 seconds" in lines
    rows = [re.sub(r" +", " ", line).strip() for line in lines[6:]]
    assert rows == [
        "1.0000 ( 25.0%) 0.5000 ( 25.0%) read",
        "3.0000 ( 75.0%) 1.5000 ( 75.0%) tensor",
        "0.2500 ( 6.2%) 0.2500 ( 12.5%) cse (x2)",
        "2.7500 ( 68.8%) 1.2500 ( 62.5%) rest",
        "4.0000 (100.0%) 2.0000 (100.0%) total",
    ]
