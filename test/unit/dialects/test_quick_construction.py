"""Ops are made as xDSL makes them, by fewer steps."""

from __future__ import annotations

import pytest
from xdsl.builder import ImplicitBuilder
from xdsl.dialects import test
from xdsl.dialects.arith import AddiOp, FastMathFlagsAttr, MulfOp
from xdsl.dialects.builtin import f32, i32
from xdsl.dialects.scf import IfOp, YieldOp
from xdsl.ir import Block, Region

from ingot.compiler import dialects  # noqa: F401  installs


def test_values_ops_and_defaults() -> None:
    op = test.TestOp(result_types=[f32])
    product = MulfOp(op, op.results[0])
    assert product.lhs is product.rhs is op.results[0]
    assert product.fastmath == FastMathFlagsAttr("none")
    assert product.result.type == f32


def test_variadic_and_optional_parts_go_the_general_way() -> None:
    condition = test.TestOp(result_types=[i32]).results[0]
    op = IfOp(condition, [], [YieldOp()])
    assert [type(inner) for inner in op.true_region.block.ops] == [YieldOp]
    assert isinstance(op.false_region, Region)


def test_wrong_arguments_are_refused_as_before() -> None:
    value = test.TestOp(result_types=[i32]).results[0]
    with pytest.raises(ValueError, match="Expected 2"):
        AddiOp.build(operands=[value], result_types=[i32])
    with pytest.raises(ValueError, match="non-variadic"):
        AddiOp.build(operands=[value, None], result_types=[i32])


def test_an_implicit_builder_sees_what_is_made() -> None:
    block = Block(arg_types=[i32])
    with ImplicitBuilder(block):
        op = AddiOp(block.args[0], block.args[0])
    assert op.parent is block
