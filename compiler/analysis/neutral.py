"""Neutral elements: what changes no value that it is combined with."""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute

from ingot.compiler.analysis.tensor_types import integer_width

_FLOATS: dict[str, float] = {
    "arith.addf": -0.0,  # 0.0 would change the sign of -0.0
    "arith.mulf": 1.0,
    "arith.maximumf": float("-inf"),
    "arith.minimumf": float("inf"),
}

_INTEGERS: dict[str, int] = {
    "arith.addi": 0,
    "arith.muli": 1,
    "arith.ori": 0,
    "arith.xori": 0,
    "arith.andi": -1,
    "arith.maxui": 0,
    "arith.minui": -1,
}


def neutral_element(combiner: str, element: Attribute) -> IntegerAttr | FloatAttr | None:
    """The neutral element of an associative op (`arith.addf`) on a type; None where none is known.

    Booleans have none here: their arithmetic is modulo two, and signed ones are 0 and -1.
    """
    if isinstance(element, AnyFloat):
        value = _FLOATS.get(combiner)
        return None if value is None else FloatAttr(value, element)
    width = integer_width(element)
    if width is None or width == 1:
        return None
    half = 1 << (width - 1)
    number = (_INTEGERS | {"arith.maxsi": -half, "arith.minsi": half - 1}).get(combiner)
    return None if number is None else IntegerAttr(number, IntegerType(width))
