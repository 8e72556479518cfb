"""The range of an integer or index inside the body of a structured op."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import inf

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ingot.compiler.analysis.scalar_folding import int_of
from ingot.compiler.analysis.tensor_types import integer_width
from ingot.compiler.dialects.linalg import IndexOp

Bounds = tuple[float, float]
"""The least and the largest value, both included; infinite where nothing is known."""


def index_bounds(value: SSAValue, extents: Sequence[int]) -> Bounds:
    """Bounds of `value`, given the trip counts of the loops that `linalg.index` runs over."""
    constant = int_of(value)
    if constant is not None:
        return constant, constant
    owner = value.owner
    match owner:
        case IndexOp():
            return 0, extents[owner.dim.value.data] - 1
        case arith.AddiOp() | arith.SubiOp() | arith.MuliOp():
            low, high = index_bounds(owner.lhs, extents)
            other_low, other_high = index_bounds(owner.rhs, extents)
            if inf in (-low, high, -other_low, other_high):
                return _of_type(value)
            if isinstance(owner, arith.AddiOp):
                found = low + other_low, high + other_high
            elif isinstance(owner, arith.SubiOp):
                found = low - other_high, high - other_low
            else:
                corners = [a * b for a, b in product((low, high), (other_low, other_high))]
                found = min(corners), max(corners)
            return _unless_wrapped(found, value)
        case arith.MaxSIOp():
            (low, high), (low2, high2) = (index_bounds(v, extents) for v in owner.operands)
            return max(low, low2), max(high, high2)
        case arith.MinSIOp():
            (low, high), (low2, high2) = (index_bounds(v, extents) for v in owner.operands)
            return min(low, low2), min(high, high2)
        case arith.SelectOp():
            low, high = index_bounds(owner.lhs, extents)
            low2, high2 = index_bounds(owner.rhs, extents)
            return min(low, low2), max(high, high2)
        case arith.DivUIOp() | arith.RemUIOp():
            low, high = index_bounds(owner.lhs, extents)
            divisor = int_of(owner.rhs)
            if not divisor or divisor < 0 or low < 0:
                return _of_type(value)
            if isinstance(owner, arith.RemUIOp):
                return 0, min(high, divisor - 1)
            return (low, high) if high == inf else (low // divisor, high // divisor)
        case arith.IndexCastOp() | arith.ExtSIOp():
            return _unless_wrapped(index_bounds(owner.input, extents), value)
        case _:
            return _of_type(value)


def _of_type(value: SSAValue) -> Bounds:
    width = integer_width(value.type)
    if width is not None:
        half = 1 << (width - 1)
        return -half, half - 1
    return -inf, inf


def _unless_wrapped(found: Bounds, value: SSAValue) -> Bounds:
    """`found`, unless the type of `value` is too narrow to hold it."""
    low, high = _of_type(value)
    return found if low <= found[0] and found[1] <= high else (low, high)
