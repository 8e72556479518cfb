"""`expected-error` comments against produced diagnostics."""

from __future__ import annotations

from ingot.compiler.driver.diagnostics import Diagnostic
from ingot.compiler.driver.expected_diagnostics import expectations, mismatches


def error(message: str, line: int) -> Diagnostic:
    return Diagnostic("error", message, "f.mlir", line, 1)


def test_designators_name_lines() -> None:
    text = "\n".join(
        [
            "// expected-error@+1 {{one}}",
            "op",
            "op // expected-error {{two}}",
            "// expected-error@above {{three}}",
            "// expected-error@below {{four}}",
            "op",
            "// expected-error@unknown {{five}}",
            "// expected-warning@-4 {{six}}",
        ]
    )
    found = [(e.text, e.line) for e in expectations(text, first_line=10)]
    assert found == [
        ("one", 11),
        ("two", 12),
        ("three", 12),
        ("four", 15),
        ("five", 0),
        ("six", 13),
    ]


def test_a_substring_matches() -> None:
    expected = expectations("// expected-error@+1 {{no such op}}")
    assert mismatches(expected, [error("there is no such op here", 2)], "f.mlir") == []


def test_a_regex_matches_inside_double_braces() -> None:
    expected = expectations("// expected-error-re@+1 {{got {{[0-9]+}} values}}")
    assert mismatches(expected, [error("got 17 values", 2)], "f.mlir") == []


def test_missing_and_unexpected_are_both_reported() -> None:
    expected = expectations("// expected-error@+1 {{a}}")
    problems = mismatches(expected, [error("b", 2)], "f.mlir")
    assert problems == [
        "f.mlir:2:1: error: unexpected error: b",
        'f.mlir:1:1: error: expected error "a" was not produced',
    ]


def test_the_line_counts() -> None:
    expected = expectations("// expected-error@+1 {{a}}")
    assert len(mismatches(expected, [error("a", 3)], "f.mlir")) == 2


def test_remarks_are_expected_like_others() -> None:
    (expected,) = expectations("// expected-remark {{a}}")
    assert mismatches([expected], [], "f") == ['f:1:1: error: expected remark "a" was not produced']
