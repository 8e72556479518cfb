"""A value is used where it is defined before, and nowhere else."""

from __future__ import annotations

import pytest

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.verification import verify
from ingot.compiler.frontends.reader import read_module


def check(body: str) -> None:
    text = f"func.func @f(%c: i1, %x: i32) -> i32 {{\n{body}\n}}\n"
    verify(read_module(text, "in.mlir", make_context()), "as it was read")


@pytest.mark.parametrize(
    "body",
    [
        "%a = arith.addi %x, %a : i32\nreturn %a : i32",
        "%a = arith.addi %x, %b : i32\n%b = arith.addi %x, %x : i32\nreturn %a : i32",
        "%r = scf.if %c -> (i32) {\n%a = arith.addi %x, %x : i32\nscf.yield %a : i32\n} else {\n"
        "scf.yield %a : i32\n}\nreturn %r : i32",
        "cf.cond_br %c, ^a, ^b\n^a:\n%a = arith.addi %x, %x : i32\ncf.br ^b\n^b:\nreturn %a : i32",
    ],
    ids=["itself", "later", "sibling region", "block that does not dominate"],
)
def test_what_is_not_defined_is_refused(body: str) -> None:
    with pytest.raises(Refusal, match=r"not defined") as caught:
        check(body)
    assert caught.value.location is not None


@pytest.mark.parametrize(
    "body",
    [
        "%a = arith.addi %x, %x : i32\nreturn %a : i32",
        "%r = scf.if %c -> (i32) {\nscf.yield %x : i32\n} else {\n"
        "%a = arith.addi %x, %x : i32\nscf.yield %a : i32\n}\nreturn %r : i32",
        "%a = arith.addi %x, %x : i32\ncf.cond_br %c, ^a, ^b\n^a:\ncf.br ^b\n^b:\nreturn %a : i32",
    ],
    ids=["earlier", "outside", "block that dominates"],
)
def test_what_is_defined_may_be_used(body: str) -> None:
    check(body)
