"""Where a float is a constant zero, or may become one when a driver folds and unrolls."""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign
from typing import cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, VectorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from ingot.compiler.analysis.index_range import IDS, constant_number

_SPREAD = frozenset({"vector.broadcast", "vector.splat"})
_CONVERTED = frozenset({"arith.extf", "arith.truncf"})

ZERO_STAYS = "ingot.zero_stays"
"""Unit attribute of a product: a zero may stay one whatever the other factor is."""

Signs = tuple[int | None, ...]


def zero_signs(value: SSAValue) -> Signs:
    """For each lane (one of a scalar) the sign bit of the zero that it is known to be, or None."""
    return tuple(
        int(copysign(1.0, number) < 0) if number == 0 else None for number in _numbers(value)
    )


def _numbers(value: SSAValue) -> tuple[float | None, ...]:
    """For each lane the number that it is known to be, or None; conversions keep what is zero."""
    type_ = cast("Attribute | VectorType[Attribute]", value.type)
    count = type_.get_shape()[0] if isinstance(type_, VectorType) else 1
    if (number := constant_number(value)) is not None:
        return (number,) * count
    owner = value.owner
    if isinstance(owner, Operation):
        if owner.name in _SPREAD:
            return _numbers(owner.operands[0]) * count
        if owner.name in _CONVERTED:
            return _numbers(owner.operands[0])
        if owner.name == "vector.from_elements":
            return tuple(_numbers(element)[0] for element in owner.operands)
        if isinstance(owner, arith.ConstantOp):
            assert isinstance(owner.value, DenseIntOrFPElementsAttr)
            return tuple(cast("Sequence[float]", owner.value.get_values()))
    return (None,) * count


def is_folded(value: SSAValue, known: dict[SSAValue, bool]) -> bool:
    """Whether a value is made of constants, places of threads and counts of loops alone, and is no
    constant itself: unrolled, or in a loop or threadgroup of one, it is one for the driver.

    `known` keeps the answers for whoever asks about many values.
    """
    return None in _numbers(value) and _needs_no_memory(value, known)


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
    if owner.name in IDS:
        return True
    is_computed = owner.name.startswith(("arith.", "math.", "vector.")) and not owner.regions
    return (
        is_computed
        and (bool(owner.operands) or isinstance(owner, arith.ConstantOp))
        and all(_needs_no_memory(operand, known) for operand in owner.operands)
    )
