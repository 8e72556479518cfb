"""The value of scalar arith ops whose operands are known.

Floats are computed by NumPy in the op's own type, so that a folded value is the one that the op
has; NumPy is imported when the first one is met.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ingot.compiler.analysis.constants import numpy_dtype

_INTEGER_OPS: dict[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
    arith.AndIOp: lambda a, b: a & b,
    arith.OrIOp: lambda a, b: a | b,
    arith.XOrIOp: lambda a, b: a ^ b,
    arith.MaxSIOp: max,
    arith.MinSIOp: min,
}

_FLOAT_OPS: dict[type[Operation], Callable[[Any, Any], Any]] = {
    arith.AddfOp: lambda a, b: a + b,
    arith.SubfOp: lambda a, b: a - b,
    arith.MulfOp: lambda a, b: a * b,
    arith.DivfOp: lambda a, b: a / b,
}
"""On NumPy scalars of the op's type."""

_CMPI: tuple[Callable[[int, int], bool] | None, ...] = (
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
    None,
    None,
    None,
    None,
)
"""By the value of the predicate; the unsigned ones are not folded."""

_CMPF: dict[int, Callable[[Any, Any], Any]] = {
    1: lambda a, b: a == b,
    2: lambda a, b: a > b,
    3: lambda a, b: a >= b,
    4: lambda a, b: a < b,
    5: lambda a, b: a <= b,
    13: lambda a, b: a != b,
}
"""Predicates whose Python comparison has the same answer for NaN: the ordered ones, and `une`."""


FOLDED: tuple[type[Operation], ...] = (
    *_INTEGER_OPS,
    *_FLOAT_OPS,
    arith.SelectOp,
    arith.DivSIOp,
    arith.DivUIOp,
    arith.CmpiOp,
    arith.CmpfOp,
    arith.IndexCastOp,
    arith.ExtSIOp,
    arith.ExtFOp,
    arith.TruncFOp,
    arith.NegfOp,
)
"""The classes of the ops that `fold` may know a value of."""


def constant_of(value: SSAValue) -> IntegerAttr | FloatAttr | None:
    """The scalar constant that a value is."""
    if isinstance(value.owner, arith.ConstantOp):
        attribute = value.owner.value
        if isinstance(attribute, IntegerAttr | FloatAttr):
            return attribute
    return None


def int_of(value: SSAValue) -> int | None:
    """The integer or index constant that a value is."""
    constant = constant_of(value)
    return constant.value.data if isinstance(constant, IntegerAttr) else None


def fold(op: Operation) -> IntegerAttr | FloatAttr | SSAValue | None:
    """What the single result of a scalar op is known to be: a constant or another value."""
    if len(op.results) != 1 or op.regions or isinstance(op, arith.ConstantOp):
        return None
    constants = [constant_of(v) for v in op.operands]
    if isinstance(op, arith.SelectOp):
        condition = int_of(op.cond)
        if condition is not None:
            return op.lhs if condition else op.rhs
        return op.lhs if op.lhs is op.rhs else None
    if (same := _neutral(op)) is not None:
        return same
    if isinstance(op, arith.SubiOp) and op.lhs is op.rhs:
        return _integer(0, op.results[0].type)
    if not constants or None in constants:
        return None
    return _fold_constants(op, [c for c in constants if c is not None])


def _neutral(op: Operation) -> SSAValue | None:
    """The operand that an integer op leaves as it is."""
    if isinstance(op, arith.AddiOp | arith.SubiOp) and int_of(op.rhs) == 0:
        return op.lhs
    if isinstance(op, arith.AddiOp) and int_of(op.lhs) == 0:
        return op.rhs
    if isinstance(op, arith.MuliOp | arith.DivSIOp | arith.DivUIOp) and int_of(op.rhs) == 1:
        return op.lhs
    if isinstance(op, arith.MuliOp) and int_of(op.lhs) == 1:
        return op.rhs
    return None


def _fold_constants(
    op: Operation, constants: list[IntegerAttr | FloatAttr]
) -> IntegerAttr | FloatAttr | None:
    type_ = op.results[0].type
    values = [c.value.data for c in constants]
    if type(op) in _INTEGER_OPS:
        return _integer(_INTEGER_OPS[type(op)](int(values[0]), int(values[1])), type_)
    if type(op) in _FLOAT_OPS:
        return _fold_float(_FLOAT_OPS[type(op)], values, type_)
    match op:
        case arith.CmpiOp():
            compare = _CMPI[op.predicate.value.data]
            return None if compare is None else _integer(compare(*map(int, values)), type_)
        case arith.CmpfOp():
            compare = _CMPF.get(op.predicate.value.data)
            return None if compare is None else _integer(bool(compare(*values)), type_)
        case arith.IndexCastOp() | arith.ExtSIOp():
            # i1 is stored as 0 or -1; both conversions extend the sign.
            return _integer(int(values[0]), type_)
        case arith.ExtFOp() | arith.TruncFOp():
            return _fold_float(lambda a, _: a, [values[0], values[0]], type_)
        case arith.NegfOp():
            return _fold_float(lambda a, _: -a, [values[0], values[0]], type_)
        case _:
            return None


def _fold_float(
    compute: Callable[[Any, Any], Any], values: list[int | float], type_: Attribute
) -> FloatAttr | None:
    """The value of a function of two floats, rounded to the type."""
    if not isinstance(type_, Float64Type | Float32Type | Float16Type | BFloat16Type):
        return None
    import numpy as np

    kind = numpy_dtype(type_).type
    with np.errstate(all="ignore"):
        return FloatAttr(float(compute(kind(values[0]), kind(values[1]))), type_)


def _integer(value: int, type_: Attribute) -> IntegerAttr | None:
    """`value` wrapped to the type."""
    if isinstance(type_, IndexType):
        return IntegerAttr(value, type_)
    if isinstance(type_, IntegerType):
        return IntegerAttr(value, cast("IntegerType", type_), truncate_bits=True)
    return None
