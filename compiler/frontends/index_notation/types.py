"""The types of scalar expressions, and how they meet.

A number and an index are weak: they take the type of what they are combined with, as `2` and `i` do
in `2x[i] + i`. Among themselves integers stay integers and `/` makes a float.
"""

from __future__ import annotations

from enum import Enum
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute


class Weak(Enum):
    """A type that gives way to any other of its kind."""

    INTEGER = "integer"
    FLOAT = "float"


Scalar = Attribute | Weak

ELEMENT_TYPES: dict[str, Attribute] = {
    "f64": f64,
    "f32": f32,
    "f16": f16,
    "bf16": bf16,
    "i64": i64,
    "i32": IntegerType(32),
    "i16": IntegerType(16),
    "i8": IntegerType(8),
    "i1": i1,
    "bool": i1,
}
"""What may be written after the colon of a declaration."""


def is_float(type_: Scalar) -> bool:
    """Whether arithmetic on the type is that of floats."""
    return type_ is Weak.FLOAT or isinstance(type_, AnyFloat)


def as_float(type_: Attribute) -> AnyFloat:
    """The type, known to be a float."""
    assert isinstance(type_, AnyFloat)
    return type_


def as_integer(type_: Attribute) -> IntegerType:
    """The type, known to be an integer other than `index`."""
    assert isinstance(type_, IntegerType)
    return cast("IntegerType", type_)


def constant(number: float, type_: Attribute) -> FloatAttr | IntegerAttr:
    """A number as the value of a constant."""
    if isinstance(type_, AnyFloat):
        return FloatAttr(float(number), as_float(type_))
    if isinstance(type_, IndexType):
        return IntegerAttr(int(number), type_)
    return IntegerAttr(int(number), as_integer(type_))


def bits(type_: Attribute) -> int:
    """The width of a scalar type other than `index`."""
    if isinstance(type_, AnyFloat):
        return _FLOAT_BITS[type(type_)]
    return as_integer(type_).width.data


def concrete(type_: Scalar) -> Attribute:
    """The type of an array of such values; weak floats are f32 and weak integers i64."""
    if isinstance(type_, Weak):
        return f32 if type_ is Weak.FLOAT else i64
    return type_


def meet(left: Scalar, right: Scalar) -> Scalar:
    """The type in which two values are added: floats before integers, wide before narrow."""
    if left == right:
        return left
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Weak):
            if one is Weak.FLOAT and not is_float(other):
                return one if other is Weak.INTEGER else f32
            return other
    if is_float(left) != is_float(right):
        return left if is_float(left) else right
    if is_float(left):
        widest = max(left, right, key=lambda type_: bits(cast("Attribute", type_)))
        return f32 if {left, right} == {f16, bf16} else widest
    return max(left, right, key=lambda type_: bits(cast("Attribute", type_)))


_FLOAT_BITS: dict[type[Attribute], int] = {
    BFloat16Type: 16,
    Float16Type: 16,
    Float32Type: 32,
    Float64Type: 64,
}


def number_of(type_: Scalar) -> Scalar:
    """The type in which a value counts: booleans count in integers."""
    return Weak.INTEGER if type_ == i1 else type_


def accumulator(type_: Attribute) -> Attribute:
    """The type in which values are summed: 16-bit floats in f32."""
    return f32 if isinstance(type_, Float16Type | BFloat16Type) else type_
