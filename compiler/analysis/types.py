"""Narrowing of attributes to types, so that the type checker knows their parameters."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import IntegerType, MemRefType, ShapedType, TensorType, VectorType
from xdsl.ir import Attribute


def as_integer(type: Attribute) -> IntegerType | None:
    """The type when it is an integer type (not `index`)."""
    match type:
        case IntegerType():
            return type
        case _:
            return None


def as_tensor(type: Attribute) -> TensorType[Attribute] | None:
    """The type when it is a ranked tensor."""
    match type:
        case TensorType():
            tensor: TensorType[Any] = type
            return tensor
        case _:
            return None


def element_type(type: Attribute) -> Attribute:
    """The element type of a tensor, memref or vector, or the scalar type itself."""
    match type:
        case TensorType() | MemRefType() | VectorType():
            shaped: TensorType[Any] | MemRefType[Any] | VectorType[Any] = type
            return shaped.element_type
        case _:
            return type


def shape_of_type(type: Attribute) -> tuple[int, ...]:
    """The shape of a shaped type, -1 where it is dynamic; empty for a scalar."""
    return tuple(type.get_shape()) if isinstance(type, ShapedType) else ()
