"""Folding of scalars, and bounds of indices."""

from __future__ import annotations

import math

import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, f16, f32, i1, i8, i32
from xdsl.ir import Block, Operation, SSAValue

from ingot.compiler.analysis.index_bounds import index_bounds
from ingot.compiler.analysis.scalar_folding import fold
from ingot.compiler.dialects.linalg import IndexOp

index = IndexType()


def constant(value: int | float, type_: object) -> SSAValue:
    if type_ in (f16, f32):
        return arith.ConstantOp(FloatAttr(float(value), type_)).result  # type: ignore[arg-type]
    return arith.ConstantOp(IntegerAttr(int(value), type_)).result  # type: ignore[arg-type]


def folded(op: Operation) -> int | float:
    result = fold(op)
    assert isinstance(result, IntegerAttr | FloatAttr)
    return result.value.data


def test_integers_wrap_in_their_type() -> None:
    assert folded(arith.AddiOp(constant(127, i8), constant(1, i8))) == -128


def test_floats_round_in_their_type() -> None:
    assert folded(arith.AddfOp(constant(2048, f16), constant(1, f16))) == 2048
    third = folded(arith.DivfOp(constant(1, f32), constant(3, f32)))
    assert third == float(np.float32(1) / np.float32(3))


def test_division_by_zero_is_infinite() -> None:
    assert folded(arith.DivfOp(constant(1, f32), constant(0, f32))) == math.inf


@pytest.mark.parametrize(("name", "expected"), [("oeq", False), ("une", True), ("olt", False)])
def test_comparisons_with_nan(name: str, expected: bool) -> None:
    nan = constant(math.nan, f32)
    assert bool(folded(arith.CmpfOp(nan, nan, name))) is expected


def test_a_known_condition_selects_a_value() -> None:
    a, b = constant(1, f32), constant(2, f32)
    assert fold(arith.SelectOp(constant(1, i1), a, b)) is a
    assert fold(arith.SelectOp(constant(0, i1), a, b)) is b


def test_unknown_operands_are_left_alone() -> None:
    assert fold(arith.AddiOp(IndexOp(0).result, constant(2, index))) is None


def test_bounds_follow_arithmetic() -> None:
    loop = IndexOp(0).result
    reversed_ = arith.SubiOp(constant(7, index), loop).result
    assert index_bounds(loop, [8]) == (0, 7)
    assert index_bounds(reversed_, [8]) == (0, 7)
    assert index_bounds(arith.MuliOp(reversed_, constant(3, index)).result, [8]) == (0, 21)


def test_clamped_data_is_bounded() -> None:
    data = Block(arg_types=[i32]).args[0]
    unknown = arith.IndexCastOp(data, index).result
    low = arith.MaxSIOp(unknown, constant(0, index)).result
    high = arith.MinSIOp(low, constant(9, index)).result
    assert index_bounds(high, [8]) == (0, 9)


def test_sums_that_may_wrap_have_the_bounds_of_their_type() -> None:
    loop = arith.IndexCastOp(IndexOp(0).result, i8).result
    assert index_bounds(arith.AddiOp(loop, constant(100, i8)).result, [100]) == (-128, 127)
