"""Ops are made as xDSL makes them, by fewer steps."""

from __future__ import annotations

import pytest
from xdsl.builder import ImplicitBuilder
from xdsl.dialects import memref, test
from xdsl.dialects.arith import AddiOp, FastMathFlagsAttr, MulfOp
from xdsl.dialects.builtin import f32, i32
from xdsl.dialects.func import CallOp
from xdsl.dialects.scf import IfOp, YieldOp
from xdsl.ir import Block, Region

from ingot.compiler import dialects  # noqa: F401  installs
from ingot.compiler.dialects.spirv import PointerType, StorageClass, VariableOp


def test_values_ops_and_defaults() -> None:
    op = test.TestOp(result_types=[f32])
    product = MulfOp(op, op.results[0])
    assert product.lhs is product.rhs is op.results[0]
    assert product.fastmath == FastMathFlagsAttr("none")
    assert product.result.type == f32


def test_variadic_parts_are_put_in_a_row() -> None:
    a, b, c = test.TestOp(result_types=[i32, i32, i32]).results
    call = CallOp("callee", [a, b], [i32, f32])
    assert list(call.operands) == [a, b]
    assert [result.type for result in call.results] == [i32, f32]
    load = memref.LoadOp.build(operands=[a, (b, c)], result_types=[i32])
    assert load.memref is a
    assert list(load.indices) == [b, c]
    assert list(YieldOp().operands) == []


def test_optional_parts_may_be_there_or_not() -> None:
    (size,) = test.TestOp(result_types=[i32]).results
    pointer = PointerType(i32, StorageClass.Function)
    assert list(VariableOp.build(operands=[None], result_types=[pointer]).operands) == []
    assert list(VariableOp.build(operands=[size], result_types=[pointer]).operands) == [size]
    with pytest.raises(ValueError, match="at most 1"):
        VariableOp.build(operands=[[size, size]], result_types=[pointer])


def test_regions_given_as_ops_go_the_general_way() -> None:
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
    with pytest.raises(ValueError, match="non-variadic"):
        memref.LoadOp.build(operands=[[value, value], [value]], result_types=[i32])


def test_an_implicit_builder_sees_what_is_made() -> None:
    block = Block(arg_types=[i32])
    with ImplicitBuilder(block):
        op = AddiOp(block.args[0], block.args[0])
    assert op.parent is block
