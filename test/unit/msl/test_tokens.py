"""Tokens of MSL text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ingot.targets.msl.tokens import closing_index, is_identifier, rename, split_commas, tokenize


@given(st.text(alphabet="ab_1.[](){}<>,;:/*#\"'\\ \n&-", max_size=60))
def test_tokens_join_to_the_text(text: str) -> None:
    assert "".join(tokenize(text)) == text


def test_attributes_and_nested_indices_are_told_apart() -> None:
    assert tokenize("a[b[i]]") == ["a", "[", "b", "[", "i", "]", "]"]
    assert tokenize("x [[buffer(0)]]") == ["x", " ", "[[", "buffer", "(", "0", ")", "]]"]
    assert tokenize("x[a[b[0]]]")[-3:] == ["]", "]", "]"]


def test_a_rename_reaches_whole_identifiers_only() -> None:
    text = 'x = xx + f.x; // x stays\n"x"'
    assert "".join(rename(tokenize(text), {"x": "y"})) == 'y = xx + f.y; // x stays\n"x"'


def test_literals_are_not_identifiers() -> None:
    tokens = tokenize("1.0e-5 + 0x1fu + as_type<float>(y)")
    assert [token for token in tokens if is_identifier(token)] == ["as_type", "float", "y"]


def test_brackets_close_at_their_depth() -> None:
    tokens = tokenize("f(a, (b), c[d(e)]) + g()")
    assert "".join(tokens[1 : closing_index(tokens, 1) + 1]) == "(a, (b), c[d(e)])"


def test_commas_inside_brackets_do_not_split() -> None:
    pieces = split_commas(tokenize("vec<float, 2> a, thread float (&b)[3], uint c [[x(1, 2)]]"))
    assert ["".join(piece).strip() for piece in pieces] == [
        "vec<float, 2> a",
        "thread float (&b)[3]",
        "uint c [[x(1, 2)]]",
    ]
    assert split_commas(tokenize("  ")) == []
