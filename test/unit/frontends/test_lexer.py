"""The fast lexer gives the tokens of xDSL's."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from ingot.compiler.frontends.lexer import FastLexer

TESTS = Path(__file__).resolve().parents[2]


def tokens(lexer: MLIRLexer) -> list[tuple[MLIRTokenKind, int, int]] | str:
    """The tokens up to the end, or the message of the first error."""
    found: list[tuple[MLIRTokenKind, int, int]] = []
    while True:
        try:
            token = lexer.lex()
        except ParseError as error:
            return error.msg
        found.append((token.kind, token.span.start, token.span.end))
        if token.kind == MLIRTokenKind.EOF:
            return found


def agree(text: str) -> None:
    assert tokens(FastLexer(Input(text, "t"))) == tokens(MLIRLexer(Input(text, "t")))


@pytest.mark.parametrize("file", sorted(TESTS.glob("**/*.mlir")), ids=lambda file: file.stem)
def test_tokens_of_the_test_files(file: Path) -> None:
    agree(file.read_text())


@settings(deadline=None)
@example("#-}")
@given(st.text('ab_x0189.eE+-#%^!@$"\\/|:,(){}[]<>=*? \n\té', max_size=30))
def test_tokens_of_any_text(text: str) -> None:
    agree(text)


def test_blanks_before_an_odd_token_are_skipped_once() -> None:
    agree(" " * 5000 + '"')


def test_a_string_that_is_not_closed_is_refused_at_once() -> None:
    assert tokens(FastLexer(Input('"' + "a" * 5000, "t"))).startswith("End of file reached")  # pyright: ignore
