"""What an op is to a group of ops."""

from __future__ import annotations

import pytest

from ingot.compiler.analysis.dispatch_graph import role_of
from ingot.compiler.analysis.fusion_graph import Role
from ingot.compiler.dialects.context import make_context
from ingot.compiler.dialects.linalg import GenericOp
from ingot.compiler.frontends.reader import read_module


@pytest.mark.parametrize(
    ("line", "role"),
    [
        ("z[i] := x[i,j]", Role.ROW_REDUCTION),
        ("z[i] := x[j,i]", Role.REDUCTION),
        ("z[i] := x[i,j] * v[j]", Role.ROW_REDUCTION),
        # The small operand is contiguous along the sum, the large one is not.
        ("z[i] := x[j,i] * v[j]", Role.REDUCTION),
        ("z[i,k] := x[i,j] * x[j,k]", Role.CONTRACTION),
        ("z[i] := x[i,j+1] (j in 0:3)", Role.REDUCTION),
        # A chunk of a line is a range of its last dimension.
        ("z[i,c] := x[i,32c+j] (c in 0:1, j in 0:31)", Role.ROW_REDUCTION),
    ],
)
def test_a_row_is_shared_where_the_large_operand_is_contiguous(line: str, role: Role) -> None:
    text = f"@base 0\n@arg x: f32[64,64], v: f32[64]\n{line}"
    module = read_module(text, "test.tin", make_context())
    (op,) = [op for op in module.walk() if isinstance(op, GenericOp)]
    assert role_of(op) is role
