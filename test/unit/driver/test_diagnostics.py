"""What a user reads when something fails."""

from __future__ import annotations

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.driver.diagnostics import Diagnostic, diagnose, render


def test_place_source_line_caret_and_help() -> None:
    location = FileLineColLoc(StringAttr("a.mlir"), IntAttr(2), IntAttr(5))
    diagnostic = diagnose(Refusal("f64 is not supported", location, "pass --demote-f64"))
    assert render(diagnostic, {"a.mlir": "first\nabc def\n"}) == (
        "a.mlir:2:5: error: f64 is not supported\n  abc def\n      ^\nhelp: pass --demote-f64"
    )


def test_without_a_place_the_file_is_named() -> None:
    assert render(diagnose(Refusal("no"), "a.mlir"), {"a.mlir": "x"}) == "a.mlir: error: no"


def test_a_long_line_is_cut_around_the_caret() -> None:
    text = "x" * 5000 + "HERE" + "y" * 5000
    shown = render(Diagnostic("error", "m", "a", 1, 5001), {"a": text}).splitlines()
    assert len(shown[1]) <= 170
    assert shown[1][shown[2].index("^") :].startswith("HERE")
