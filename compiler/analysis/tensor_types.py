"""Tensor types: as such, and how many bytes a tensor takes in a buffer."""

from __future__ import annotations

from math import prod
from typing import cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue


def as_tensor_type(type_: Attribute) -> TensorType[Attribute] | None:
    """`type_` if it is a ranked tensor type."""
    return cast("TensorType[Attribute]", type_) if isinstance(type_, TensorType) else None


def tensor_type(value: SSAValue) -> TensorType[Attribute]:
    """The type of a ranked tensor value."""
    type_ = as_tensor_type(value.type)
    assert type_ is not None
    return type_


def integer_width(type_: Attribute) -> int | None:
    """The bits of an integer type; None for `index` and everything else."""
    return cast("IntegerType", type_).width.data if isinstance(type_, IntegerType) else None


def element_bytes(type_: Attribute) -> int:
    """Bytes of one element in memory: i1 takes a whole one. Raises ValueError for other types."""
    if isinstance(type_, Float32Type):
        return 4
    if isinstance(type_, Float16Type | BFloat16Type):
        return 2
    width = integer_width(type_)
    if width not in (1, 8, 16, 32, 64):
        raise ValueError(f"{type_} has no layout in memory")
    return max(1, width // 8)


def byte_size(value: SSAValue) -> int:
    """Bytes of a tensor of static shape, contiguous and row-major."""
    type_ = tensor_type(value)
    return prod(type_.get_shape()) * element_bytes(type_.element_type)
