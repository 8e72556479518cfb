"""What is known of an index: that it is not negative, what divides it, its constant value."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import cast

from xdsl.dialects import affine, arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IndexType, IntegerAttr
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

IDS = frozenset(
    {
        "gpu.thread_id",
        "gpu.block_id",
        "gpu.block_dim",
        "gpu.grid_dim",
        "gpu.global_id",
        "gpu.lane_id",
        "gpu.subgroup_id",
        "gpu.subgroup_size",
        "gpu.num_subgroups",
    }
)
"""Ops that say where a thread is, and among how many."""
_CLOSED = frozenset(
    {
        "arith.addi",
        "arith.muli",
        "arith.divsi",
        "arith.divui",
        "arith.floordivsi",
        "arith.ceildivsi",
        "arith.ceildivui",
        "arith.remui",
        "arith.minsi",
        "arith.minui",
        "arith.maxui",
        "arith.ori",
        "arith.index_cast",
    }
)
"""Ops that give no negative index from operands that are not negative: indices do not wrap."""


def constant_int(value: SSAValue) -> int | None:
    """The integer a value is known to be (for a vector: each of its elements), or None."""
    number = constant_number(value)
    return number if isinstance(number, int) else None


def constant_number(value: SSAValue) -> int | float | None:
    """The number a value, or each element of a vector, is known to be, or None."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return None
    if owner.name in ("vector.broadcast", "vector.splat"):
        return constant_number(owner.operands[0])
    if not isinstance(owner, arith.ConstantOp):
        return None
    attr = owner.value
    if isinstance(attr, IntegerAttr | FloatAttr):
        return attr.value.data
    if isinstance(attr, DenseIntOrFPElementsAttr) and attr.is_splat():
        return cast("int | float", attr.get_values()[0])
    return None


def is_non_negative(value: SSAValue, proved: dict[int, bool] | None = None) -> bool:
    """Whether an index is proved not to be negative.

    `proved` keeps the answers by the values' `id`, for whoever asks about many values.
    """
    proved = {} if proved is None else proved
    answer = proved.get(id(value))
    if answer is None:
        answer = proved[id(value)] = _prove_non_negative(value, proved)
    return answer


def _prove_non_negative(value: SSAValue, proved: dict[int, bool]) -> bool:
    number = constant_int(value)
    if number is not None:
        return number >= 0
    owner = value.owner
    if isinstance(value, BlockArgument):
        loop = value.block.parent_op()
        return (
            isinstance(loop, scf.ForOp)
            and value.index == 0
            and is_non_negative(loop.lb, proved)
            and is_non_negative(loop.step, proved)
        )
    assert isinstance(owner, Operation)
    if owner.name in IDS or owner.name in ("arith.index_castui", "arith.extui"):
        return True
    if not isinstance(value.type, IndexType):
        # other integers wrap around
        return False
    if owner.name in _CLOSED:
        return all(is_non_negative(operand, proved) for operand in owner.operands)
    if owner.name in ("arith.andi", "arith.maxsi"):
        return any(is_non_negative(operand, proved) for operand in owner.operands)
    if owner.name == "arith.subi":
        minuend, most = constant_int(owner.operands[0]), _most(owner.operands[1])
        return minuend is not None and most is not None and most <= minuend
    if owner.name in ("arith.remsi", "arith.shrui", "arith.shrsi", "arith.shli"):
        return is_non_negative(owner.operands[0], proved)
    if owner.name == "arith.select":
        return all(is_non_negative(operand, proved) for operand in owner.operands[1:])
    return False


def _most(value: SSAValue) -> int | None:
    """The most that an index can be, where its last op says so."""
    number = constant_int(value)
    owner = value.owner
    if number is None and isinstance(owner, Operation) and owner.name == "arith.minsi":
        known = [n for operand in owner.operands if (n := constant_int(operand)) is not None]
        number = min(known, default=None)
    return number


def known_divisor(value: SSAValue) -> int:
    """A positive integer that divides an index, as large as its structure shows; 0 for zero."""
    number = constant_int(value)
    if number is not None:
        return abs(number)
    if isinstance(value, BlockArgument):
        loop = value.block.parent_op()
        if isinstance(loop, scf.ForOp) and value.index == 0:
            return gcd(known_divisor(loop.lb), known_divisor(loop.step))
        return 1
    owner = value.owner
    assert isinstance(owner, Operation)
    match owner.name:
        case "arith.addi" | "arith.subi":
            return gcd(known_divisor(owner.operands[0]), known_divisor(owner.operands[1]))
        case "arith.muli":
            return known_divisor(owner.operands[0]) * known_divisor(owner.operands[1])
        case "arith.minsi" | "arith.maxsi" | "arith.minui" | "arith.maxui":
            return gcd(known_divisor(owner.operands[0]), known_divisor(owner.operands[1]))
        case "arith.select":
            return gcd(known_divisor(owner.operands[1]), known_divisor(owner.operands[2]))
        case "arith.shli":
            shift = constant_int(owner.operands[1])
            return known_divisor(owner.operands[0]) << shift if shift is not None else 1
        case "arith.remui" | "arith.remsi":
            return gcd(known_divisor(owner.operands[0]), known_divisor(owner.operands[1]))
        case "arith.index_cast" | "arith.index_castui":
            return known_divisor(owner.operands[0])
        case "affine.apply" | "affine.min":
            assert isinstance(owner, affine.ApplyOp | affine.MinOp)
            divisors = [known_divisor(operand) for operand in owner.operands]
            return gcd(*(_divisor_of(expr, divisors) for expr in owner.map.data.results))
        case _:
            return 1


def _divisor_of(expr: AffineExpr, dims: Sequence[int]) -> int:
    """What divides an expression over dimensions that are multiples of `dims`."""
    match expr:
        case AffineConstantExpr(value):
            return abs(value)
        case AffineDimExpr(position):
            return dims[position]
        case AffineBinaryOpExpr(kind, lhs, rhs):
            left, right = _divisor_of(lhs, dims), _divisor_of(rhs, dims)
            if kind is AffineBinaryOpKind.Mul:
                return left * right
            if kind in (AffineBinaryOpKind.Add, AffineBinaryOpKind.Mod):
                return gcd(left, right)
            return 1
        case _:
            return 1
