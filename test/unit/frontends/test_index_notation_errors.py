"""What is wrong with a program in index notation is said at its place in the notation."""

from __future__ import annotations

import pytest

from ingot.compiler.analysis.diagnostics import Refusal, file_line_col
from ingot.compiler.frontends.index_notation import lower_program, parse_program

ARGUMENTS = "@arg x: f32[5], M: f32[3, 4], N: f32[5, 4], k: i32[5], s: f32, b: bool[5], e: f32[0]"

WRONG = {
    "A[i] := x[i] $ 2": (14, "unexpected character `$`"),
    "A[i] := )": (9, "expected an expression, found `)`"),
    "A[i] x[i]": (6, "expected `:=`, `=`, `+=`, `*=` or another assignment, found `x`"),
    "A[i] := x[i": (12, "expected `]`, found `@`"),
    "A[i] := x[i] )": (14, "expected the end of the line, found `)`"),
    "A[i] := x[i] (i in 1:n)": (22, "expected the last index of the range, found `n`"),
    "A[i] := y[i]": (9, "there is no array y"),
    "A[i] := x[i,j]": (9, "x has 1 dimension, not 2"),
    "A[i] := s[i]": (9, "s has no dimensions, not 1"),
    "A[i] := M * x[i]": (9, "M has 2 dimensions"),
    "A[i,j] := x[i]": (5, "the range of index j does not follow from any array"),
    "A[i] := M[i,j] * N[i,j]": (
        20,
        "index i runs over 1:3 in dimension 1 of M and over 1:5 in dimension 1 of N",
    ),
    "A[i] := x[i+1] (i in 1:5)": (
        12,
        "the index of dimension 1 of x runs over 2:6, and the array has 1:5",
    ),
    "A[i] := x[i] (j in 1:5)": (15, "j indexes nothing here"),
    "A[i] := x[i] (i in 1:2, i in 1:3)": (25, "the range of i is given twice"),
    "A[i] := x[2.5]": (11, "an index is an integer"),
    "A[i] := x[s]": (11, "an index is an integer"),
    "A[s] := x[i]": (3, "an index is an integer"),
    "A[i+1] := x[i]": (4, "the first index of A here is 2, and arrays begin at 1"),
    "A[k[i]] := x[i]": (3, "the size of A does not follow from computed indices"),
    "y[i] = x[i]": (1, "there is no array y to write to"),
    "x[i,j] = x[i]": (1, "x has 1 dimension, not 2"),
    "k[i] = x[i]": (8, "the value is a float, and k holds integers"),
    "b[i] = k[i]": (8, "the value is no condition, and b holds booleans"),
    "(*) x[i] += x[i]": (1, "`+=` combines by +, not by *"),
    "(&) A[i] := M[i,j]": (13, "`&` combines booleans or integers"),
    "A[i] := x[i] & 1": (14, "`&` combines booleans or integers"),
    "A[i] := x[i] ? 1 : 2": (9, "a condition is a comparison"),
    "A[i] := !x[i]": (10, "a condition is a comparison"),
    "A[i] := sine(x[i])": (9, "unknown function sine"),
    "A[i] := x(i) (i in 1:5)": (9, "x is an array"),
    "A[i] := exp(x[i], 2)": (9, "exp takes one operand, not 2"),
    "A[i] := pad(x[i], 2)": (9, "pad stands around an index of an array"),
    "A[i] := count_ones(x[i])": (9, "count_ones takes an integer"),
    "A[i] := k[i] ^ k[i]": (
        14,
        "the exponent of an integer is a number that is written, or a float",
    ),
    "A[i] := k[i] * 3000000000": (16, "3000000000 does not fit i32"),
    "A[i] := i (i in 1:3000000000)": (19, "3000000000 is too large"),
    "A[i] := x[pad(i)]": (11, "pad needs how far the index goes past the ends"),
    "A[i] := x[pad(i, j)]": (18, "the padding of an index is a number"),
    "A[i] := e[mod(i)] (i in 1:3)": (11, "dimension 1 of e is empty, and mod finds no element"),
    "A[i] := _ * 2 (i in 1:5)": (9, "`_` stands for nothing here"),
    "A[i] := M[i,j] |> 2": (19, "a finisher is a function or an expression of `_`"),
    "A[i] := M[i,j] |> _ + x[j]": (25, "j is reduced before the finisher"),
    "k[k[i]] = 1; A[i] := x[i] |> _ + k[k[j]]": (38, "j is reduced before the finisher"),
    "A[i+k[i]+_] := x[i]": (9, "`_` shifts sums of indices"),
    "A[i+j-1] := x[i] * M[j,1] |> sqrt": (
        30,
        "a finisher needs a target with one value for each element",
    ),
    "A[i] := x[i]\n@base 2": (None, "the base of indices is 0 or 1"),
    "A[i] := x[i]\n@order any": (None, "the order is fixed or free"),
    "A[i] := x[i]\n@arf y: f32": (None, "unknown declaration `@arf`"),
    "A[i] := x[i]\n@arg y: f31": (None, "there is no element type f31"),
    "A[i] := x[i]\n@arg y: f32[-1]": (None, "a size is not negative"),
    "A[i] := x[i]\n@arg x: f32": (None, "x is declared twice"),
    "A[i] := x[i]\n@nograd A": (None, "there is no argument A"),
    "A[i] := x[i]\n@return y": (None, "there is no array y to return"),
    "": (None, "there is no statement"),
}


@pytest.mark.parametrize("notation", WRONG)
def test_the_mistake_is_pointed_at(notation: str) -> None:
    column, message = WRONG[notation]
    with pytest.raises(Refusal) as refused:
        lower_program(parse_program(f"{notation}\n{ARGUMENTS}", "wrong.tin"))
    assert refused.value.message == message
    place = file_line_col(refused.value.location)
    assert place is not None
    if column is not None and "found `@`" not in message:
        assert place == ("wrong.tin", 1, column)
