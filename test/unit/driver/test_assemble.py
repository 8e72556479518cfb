"""From a plan to the bundle's model."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import (
    ComplexType,
    FileLineColLoc,
    Float64Type,
    IndexType,
    IntAttr,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
    f32,
    i1,
)

from ingot.compiler.analysis.constants import dense_constant
from ingot.compiler.dialects import plan
from ingot.compiler.driver.assemble import (
    ConstantPool,
    constant_bytes,
    dtype_of,
    position,
    tensor_type,
)
from ingot.targets.bundle.model import DType
from ingot.targets.bundle.model import TensorType as BundleType


def test_element_types() -> None:
    assert dtype_of(f32) is DType.F32
    assert dtype_of(IndexType()) is DType.I64
    assert dtype_of(ComplexType(f32)) is DType.C64
    assert dtype_of(IntegerType(8, Signedness.UNSIGNED)) is DType.UI8
    assert dtype_of(IntegerType(8)) is DType.I8
    with pytest.raises(KeyError):
        dtype_of(Float64Type())


def test_a_scalar_has_rank_zero() -> None:
    assert tensor_type(f32) == BundleType(DType.F32, ())
    assert tensor_type(TensorType(i1, [2, 3])) == BundleType(DType.I1, (2, 3))


def test_a_position_has_no_folder() -> None:
    location = FileLineColLoc(StringAttr("/some/where/a.mlir"), IntAttr(3), IntAttr(4))
    assert position(location) == "a.mlir:3:4"
    assert position(None) == ""


def constant(values: np.ndarray, element: IntegerType) -> plan.ConstantOp:
    type_ = TensorType(element, values.shape)
    return plan.ConstantOp("c", dense_constant(values, element), type_)


def test_truth_values_are_bytes() -> None:
    assert constant_bytes(constant(np.array([True, False, True]), i1)) == b"\1\0\1"


def test_four_bit_integers_are_packed_low_first() -> None:
    packed = constant_bytes(constant(np.array([1, -1, 7], np.int8), IntegerType(4)))
    assert packed == bytes([0xF1, 0x07])


def test_equal_constants_are_stored_once() -> None:
    pool = ConstantPool()
    vector = BundleType(DType.F32, (2,))
    assert pool.add("a", vector, b"12345678") == 0
    assert pool.add("b", vector, b"12345678") == 0
    assert pool.add("c", BundleType(DType.I32, (2,)), b"12345678") == 1
    assert [entry.name for entry in pool.entries()] == ["a", "c"]
