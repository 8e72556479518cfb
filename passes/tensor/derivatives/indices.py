"""Computed indices as linear functions of the loops, or remainders of these, where they are."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from ingot.compiler.analysis.affine_maps import linear_form
from ingot.compiler.analysis.index_bounds import Bounds, index_bounds
from ingot.compiler.analysis.scalar_folding import int_of
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.linalg import IndexOp

_FAR = (1 << 31) - 1


def affine_of(value: SSAValue, extents: Sequence[int]) -> AffineExpr | None:
    """An index as a linear function of the loops, or one with remainders, where it is that."""
    number = int_of(value)
    if number is not None:
        return AffineConstantExpr(number)
    owner = value.owner
    match owner:
        case IndexOp():
            return AffineDimExpr(owner.dim.value.data)
        case arith.AddiOp() | arith.SubiOp() | arith.MuliOp():
            left, right = affine_of(owner.lhs, extents), affine_of(owner.rhs, extents)
            if left is None or right is None:
                return None
            if isinstance(owner, arith.MuliOp):
                constant = isinstance(left, AffineConstantExpr) or isinstance(
                    right, AffineConstantExpr
                )
                return left * right if constant else None
            return left + right if isinstance(owner, arith.AddiOp) else left + right * -1
        case arith.IndexCastOp():
            # A wrapped index would lie outside of the tensor.
            return affine_of(owner.input, extents)
        case arith.MaxSIOp() | arith.MinSIOp():
            # A bound that always holds.
            for inner, bound in (owner.operands, tuple(reversed(owner.operands))):
                limit = int_of(bound)
                low, high = index_bounds(inner, extents)
                if limit is None:
                    continue
                if low >= limit if isinstance(owner, arith.MaxSIOp) else high <= limit:
                    return affine_of(inner, extents)
            return None
        case arith.RemSIOp() | arith.RemUIOp() if index_bounds(owner.lhs, extents)[0] >= 0:
            return _remainder(owner.lhs, owner.rhs, extents)
        case arith.SelectOp() if (remainder := _floored(owner)) is not None:
            return _remainder(remainder.lhs, remainder.rhs, extents)
        case _:
            return None


def _remainder(value: SSAValue, modulus: SSAValue, extents: Sequence[int]) -> AffineExpr | None:
    number, expr = int_of(modulus), affine_of(value, extents)
    if number is None or number < 1 or expr is None or linear_form(expr, len(extents)) is None:
        return None
    # What was wrapped on the way has another remainder.
    low, high = index_bounds(value, extents)
    return expr % number if low > -_FAR and high < _FAR else None


def _floored(op: arith.SelectOp) -> arith.RemSIOp | None:
    """The remainder of which `op` is what goes from 0 on: `r < 0 ? r + n : r`."""
    remainder, moved = op.rhs.owner, op.lhs.owner
    if not isinstance(remainder, arith.RemSIOp) or not isinstance(moved, arith.AddiOp):
        return None
    if {moved.lhs, moved.rhs} != {remainder.result, remainder.rhs}:
        return None
    signs = [_holds(op.cond, remainder.result, number) for number in (-1, 0, 1)]
    return remainder if signs == [True, False, False] else None


def _holds(condition: SSAValue, value: SSAValue, number: int) -> bool | None:
    """A condition made of comparisons of `value` with 0, if it is `number`; None for others."""
    constant = int_of(condition)
    if constant is not None:
        return constant != 0
    owner = condition.owner
    if isinstance(owner, arith.CmpiOp) and owner.lhs is value and int_of(owner.rhs) == 0:
        predicate = _NAMES[owner.predicate.value.data]
        compared = {"slt": number < 0, "sge": number >= 0, "eq": number == 0, "ne": number != 0}
        return compared.get(predicate)
    if not isinstance(owner, arith.CmpiOp | arith.AndIOp | arith.OrIOp | arith.XOrIOp):
        return None
    left, right = (_holds(operand, value, number) for operand in owner.operands)
    if left is None or right is None:
        return None
    match owner:
        case arith.AndIOp():
            return left and right
        case arith.OrIOp():
            return left or right
        case arith.XOrIOp():
            return left != right
        case _:
            predicate = _NAMES[owner.predicate.value.data]
            return {"eq": left == right, "ne": left != right}.get(predicate)


def place_of(
    index: SSAValue, condition: SSAValue | None, extents: Sequence[int], size: int
) -> AffineExpr | None:
    """An index as a function of the loops wherever `condition` holds, as `affine_of` has it.

    Pads and concatenations read by a clamped index, and select the element where the index was
    inside: what the clamp does outside does not matter then. None where the index is another
    function, or may lie outside of the `size` elements.
    """
    low, high = 0, size - 1
    while isinstance(owner := index.owner, arith.MaxSIOp | arith.MinSIOp):
        bounds = [int_of(v) for v in owner.operands]
        limit = next((b for b in bounds if b is not None), None)
        if limit is None:
            return None
        index = owner.operands[0 if bounds[0] is None else 1]
        if isinstance(owner, arith.MaxSIOp):
            low = max(low, limit)
        else:
            high = min(high, limit)
    expr = affine_of(index, extents)
    if expr is None:
        return None
    least, most = index_bounds(index, extents)
    match expr:
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mod, rhs=AffineConstantExpr(value=modulus)):
            least, most = 0, modulus - 1
        case _:
            pass
    for known_low, known_high in _bounds_under(condition, expr, extents):
        least, most = max(least, known_low), min(most, known_high)
    return expr if least >= low and most <= high else None


def _bounds_under(
    condition: SSAValue | None, expr: AffineExpr, extents: Sequence[int]
) -> list[Bounds]:
    """What each comparison that must hold says about a linear expression."""
    if condition is None:
        return []
    owner = condition.owner
    if isinstance(owner, arith.AndIOp):
        return [b for part in owner.operands for b in _bounds_under(part, expr, extents)]
    holds = True
    if isinstance(owner, arith.XOrIOp) and any(int_of(v) in (1, -1) for v in owner.operands):
        holds = False
        inner = owner.operands[0 if int_of(owner.operands[0]) is None else 1]
        owner = inner.owner
    if not isinstance(owner, arith.CmpiOp):
        return []
    found = _comparison(owner, holds, extents)
    if found is None:
        return []
    compared, (low, high) = found
    count = len(extents)
    mine, theirs = linear_form(expr, count), linear_form(compared, count)
    if mine is None or theirs is None or mine[0] != theirs[0]:
        return []
    shift = mine[1] - theirs[1]
    return [(low + shift, high + shift)]


_NEGATED = {"slt": "sge", "sle": "sgt", "sgt": "sle", "sge": "slt", "eq": "ne"}
_SWAPPED = {"slt": "sgt", "sle": "sge", "sgt": "slt", "sge": "sle", "eq": "eq", "ult": "ugt"}
_NAMES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


def _comparison(
    op: arith.CmpiOp, holds: bool, extents: Sequence[int]
) -> tuple[AffineExpr, Bounds] | None:
    """The bounds that a comparison of a linear expression with a number gives it."""
    predicate: str | None = _NAMES[op.predicate.value.data]
    left, right, limit = op.lhs, op.rhs, int_of(op.rhs)
    if limit is None:
        left, limit, predicate = right, int_of(op.lhs), _SWAPPED.get(predicate)
    expr = affine_of(left, extents)
    if predicate is not None and not holds:
        predicate = _NEGATED.get(predicate)
    if limit is None or expr is None:
        return None
    match predicate:
        case "slt":
            return expr, (-inf, limit - 1)
        case "sle":
            return expr, (-inf, limit)
        case "sgt":
            return expr, (limit + 1, inf)
        case "sge":
            return expr, (limit, inf)
        case "eq":
            return expr, (limit, limit)
        case "ult" if limit >= 0:
            return expr, (0, limit - 1)
        case _:
            return None
