"""What an op is to a group of ops."""

from __future__ import annotations

import pytest
from support.index_notation import program

from ingot.compiler.analysis.dispatch_graph import role_of
from ingot.compiler.analysis.fusion_graph import Role
from ingot.compiler.dialects.context import make_context
from ingot.compiler.dialects.linalg import GenericOp
from ingot.compiler.frontends.reader import read_module


@pytest.mark.parametrize(
    ("line", "role"),
    [
        ("z[i:64] = sum(j:64) x[i, j]", Role.ROW_REDUCTION),
        ("z[i:64] = sum(j:64) x[j, i]", Role.REDUCTION),
        ("z[i:64] = sum(j:64) x[i, j] * v[j]", Role.ROW_REDUCTION),
        # The small operand is contiguous along the sum, the large one is not.
        ("z[i:64] = sum(j:64) x[j, i] * v[j]", Role.REDUCTION),
        ("z[i:64, k:64] = sum(j:64) x[i, j] * x[j, k]", Role.CONTRACTION),
        ("z[i:64] = sum(j:4) x[i, j + 1]", Role.REDUCTION),
        # A chunk of a line is a range of its last dimension.
        ("z[i:64, c:2] = sum(j:32) x[i, 32 * c + j]", Role.ROW_REDUCTION),
    ],
)
def test_a_row_is_shared_where_the_large_operand_is_contiguous(line: str, role: Role) -> None:
    shapes = {"x": (64, 64), "v": (64,)}
    module = read_module(program(shapes, [line]), "test.mlir", make_context())
    (op,) = [op for op in module.walk() if isinstance(op, GenericOp)]
    assert role_of(op) is role
