"""What is known of the operands of TOSA ops: shapes, zero points, shifts."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.tensor_types import as_tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.tosa import TosaOp


def constant_attribute(value: SSAValue) -> DenseIntOrFPElementsAttr[Any] | None:
    """The elements of a constant tensor or list of sizes; None where data decides."""
    owner = value.owner
    attr: Attribute | None = None
    if isinstance(owner, TosaOp) and owner.name in ("tosa.const", "tosa.const_shape"):
        attr = owner.properties.get("values") or owner.properties.get("value")
    elif isinstance(owner, arith.ConstantOp):
        attr = owner.value
    if not isinstance(attr, DenseIntOrFPElementsAttr):
        return None
    return cast("DenseIntOrFPElementsAttr[Any]", attr)


def constant_ints(value: SSAValue) -> tuple[int, ...] | None:
    """The integers that a value holds, in row-major order; None where data decides."""
    attr = constant_attribute(value)
    if attr is None:
        return None
    return tuple(int(number) for number in attr.get_values())


def known_ints(op: Operation, value: SSAValue, what: str) -> tuple[int, ...]:
    """The integers that an operand holds; refused where data decides."""
    found = constant_ints(value)
    if found is None:
        raise refuse(
            op,
            f"{what} of {op.name} is computed at run time, which is not supported",
            "pass a tosa.const or tosa.const_shape",
        )
    return found


def zero_point(op: Operation, value: SSAValue, what: str, unsigned: bool = False) -> int:
    """A zero point. Those of floats are zero by definition, whatever computes them."""
    type_ = as_tensor_type(value.type)
    assert type_ is not None
    if isinstance(type_.element_type, AnyFloat):
        return 0
    found = known_ints(op, value, what)
    if len(found) != 1:
        raise refuse(op, f"{what} of {op.name} must have one element, but has {len(found)}")
    number = found[0]
    width = cast("IntegerType", type_.element_type).bitwidth
    return number % (1 << width) if unsigned else _as_signed(number, width)


def _as_signed(number: int, width: int) -> int:
    """A signless integer may be written as the unsigned one with the same bits."""
    return number - (1 << width) if number >= 1 << (width - 1) else number
