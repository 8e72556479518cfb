"""Where a float is a constant zero, or may become one when a driver folds and unrolls."""

from __future__ import annotations

from math import copysign
from typing import cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, VectorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

_SPREAD = frozenset({"vector.broadcast", "vector.splat"})
_CONVERTED = frozenset({"arith.extf", "arith.truncf"})
_PLACES = frozenset({"gpu.thread_id", "gpu.block_id", "gpu.lane_id", "gpu.subgroup_id"})

Signs = tuple[int | None, ...]


def zero_signs(value: SSAValue) -> Signs:
    """For each lane (one of a scalar) the sign bit of the zero that it is known to be, or None."""
    type_ = cast("Attribute | VectorType[Attribute]", value.type)
    count = type_.get_shape()[0] if isinstance(type_, VectorType) else 1
    owner = value.owner
    if isinstance(owner, Operation):
        if owner.name in _SPREAD:
            return zero_signs(owner.operands[0]) * count
        if owner.name in _CONVERTED:
            return zero_signs(owner.operands[0])
        if owner.name == "vector.from_elements":
            return tuple(zero_signs(element)[0] for element in owner.operands)
        if isinstance(owner, arith.ConstantOp):
            numbers = _numbers(owner.value)
            return tuple(map(_zero_sign, numbers)) * (count if len(numbers) == 1 else 1)
    return (None,) * count


def _numbers(attribute: Attribute) -> tuple[float, ...]:
    if isinstance(attribute, FloatAttr):
        return (float(attribute.value.data),)
    assert isinstance(attribute, DenseIntOrFPElementsAttr)
    return tuple(float(number) for number in attribute.get_values())


def _zero_sign(number: float) -> int | None:
    return int(copysign(1.0, number) < 0) if number == 0 else None


def is_folded(value: SSAValue, known: dict[SSAValue, bool]) -> bool:
    """Whether a value is made of constants, places of threads and counts of loops alone, and is no
    constant itself: unrolled, or in a loop or threadgroup of one, it is one for the driver.

    `known` keeps the answers for whoever asks about many values.
    """
    return not isinstance(value.owner, arith.ConstantOp) and _needs_no_memory(value, known)


def starts_at_zero(value: SSAValue) -> bool:
    """Whether a value is a constant zero in the first turn of the loop that carries it."""
    owner = value.owner
    if not isinstance(owner, Block) or not isinstance(loop := owner.parent_op(), scf.ForOp):
        return False
    assert isinstance(value, BlockArgument)
    start = loop.iter_args[value.index - 1] if value.index else None
    return start is not None and any(sign is not None for sign in zero_signs(start))


def _needs_no_memory(value: SSAValue, known: dict[SSAValue, bool]) -> bool:
    answer = known.get(value)
    if answer is None:
        answer = known[value] = _find_no_memory(value, known)
    return answer


def _find_no_memory(value: SSAValue, known: dict[SSAValue, bool]) -> bool:
    owner = value.owner
    if isinstance(owner, Block):
        assert isinstance(value, BlockArgument)
        return isinstance(owner.parent_op(), scf.ForOp) and value.index == 0
    if owner.name in _PLACES:
        return True
    is_computed = owner.name.startswith(("arith.", "math.", "vector.")) and not owner.regions
    return (
        is_computed
        and (bool(owner.operands) or isinstance(owner, arith.ConstantOp))
        and all(_needs_no_memory(operand, known) for operand in owner.operands)
    )
