"""How many bytes a tensor takes in a buffer."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute


def element_bytes(type_: Attribute) -> int:
    """Bytes of one element in memory: i1 takes a whole one. Raises ValueError for other types."""
    match type_:
        case Float32Type():
            return 4
        case Float16Type() | BFloat16Type():
            return 2
        case IntegerType(width=width) if width.data in (1, 8, 16, 32, 64):
            return max(1, width.data // 8)
        case _:
            raise ValueError(f"{type_} has no layout in memory")


def byte_size(type_: Attribute) -> int:
    """Bytes of a tensor of static shape, contiguous and row-major."""
    assert isinstance(type_, TensorType)
    return prod(type_.get_shape()) * element_bytes(type_.element_type)
