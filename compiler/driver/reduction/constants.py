"""What constants say, and how to say less: zeros, and one value for all elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Literal, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, Operation

from ingot.compiler.analysis.constants import is_repeated, numpy_dtype
from ingot.compiler.analysis.generics import zero

if TYPE_CHECKING:
    from ingot.compiler.driver.reduction.search import Part

_NAMES = ("value", "values")
"""Where ops keep the value that they are: `arith.constant`, `tosa.const`, `stablehlo.constant`."""


def is_constant(op: Operation) -> bool:
    """Whether an op is nothing but the value in its attribute."""
    return not op.operands and len(op.results) == 1 and _value(op) is not None


def contents(op: Operation) -> int:
    """How much there is to say about a constant: 0 for zero, 1 for one value, or its bytes."""
    value = _value(op)
    if isinstance(value, IntegerAttr | FloatAttr):
        return int(cast("Any", value).value.data != 0)
    if not isinstance(value, DenseIntOrFPElementsAttr):
        return 1
    data: bytes = value.data.data
    if not any(data):
        return 0
    return 1 if _is_splat(cast("DenseIntOrFPElementsAttr[Any]", value)) else len(data)


def has_zero(type: Attribute) -> bool:
    """Whether there is a constant of this type: scalars, vectors and tensors of known size."""
    if isinstance(type, TensorType | VectorType):
        shaped = cast("TensorType[Any] | VectorType[Any]", type)
        return min(shaped.get_shape(), default=0) >= 0 and has_zero(shaped.element_type)
    return isinstance(type, IntegerType | IndexType | AnyFloat)


def zero_of(type: Attribute) -> Any:
    """The value of `arith.constant` that is zero, of a type that `has_zero`."""
    if not isinstance(type, TensorType | VectorType):
        return zero(type)
    shaped = cast("TensorType[Any] | VectorType[Any]", type)
    width = numpy_dtype(shaped.element_type).itemsize
    return DenseIntOrFPElementsAttr(shaped, BytesAttr(bytes(width * prod(shaped.get_shape()))))


@dataclass(frozen=True)
class SimplifyConstants:
    """Make constants zero, or give all their elements the value of the first."""

    to: Literal["zero", "first element"]

    @property
    def name(self) -> str:
        """For the progress display."""
        return f"constants to {self.to}"

    def parts(self, module: ModuleOp) -> Sequence[Part]:
        """The positions of constants that could say less."""
        least = 0 if self.to == "zero" else 1
        return [
            (index,)
            for index, op in enumerate(module.walk())
            if is_constant(op) and contents(op) > least
        ]

    def take(self, module: ModuleOp, parts: Sequence[Part]) -> None:
        """Replace the values."""
        ops = list(module.walk())
        for (index,) in parts:
            place, name = _place(ops[index])
            place[name] = _simpler(place[name], self.to)


def _simpler(value: Attribute, to: str) -> Attribute:
    match value:
        case IntegerAttr() if to == "zero":
            return IntegerAttr(0, cast("Any", value).type)
        case FloatAttr() if to == "zero":
            return FloatAttr(0.0, cast("Any", value).type)
        case DenseIntOrFPElementsAttr():
            dense = cast("DenseIntOrFPElementsAttr[Any]", value)
            width = len(dense.data.data) // max(len(dense), 1)
            first = bytes(width) if to == "zero" else dense.data.data[:width]
            return DenseIntOrFPElementsAttr(dense.type, BytesAttr(first * len(dense)))
        case _:
            return value


def _value(op: Operation) -> Attribute | None:
    place, name = _place(op)
    return place.get(name)


def _place(op: Operation) -> tuple[dict[str, Attribute], str]:
    """Where an op keeps its value."""
    for place in (op.properties, op.attributes):
        for name in _NAMES:
            if isinstance(place.get(name), IntegerAttr | FloatAttr | DenseIntOrFPElementsAttr):
                return place, name
    return op.properties, _NAMES[0]


def _is_splat(value: DenseIntOrFPElementsAttr[Any]) -> bool:
    return is_repeated(value.data.data, len(value.data.data) // max(len(value), 1))
