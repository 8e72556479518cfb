"""Operands of structured ops at each point of the loops: affine maps applied to arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from ingot.compiler.interpreter.values import Array, EvaluationError


def strided_view(array: Array, map: AffineMap, sizes: Sequence[int]) -> Array:
    """The operand at each point of the loops; size 1 along loops that `map` does not use.

    Raises `EvaluationError` when a point lies outside of the array.
    """
    linear = [_linear(expr, len(sizes)) for expr in map.results]
    if any(form is None for form in linear):
        return _gathered(array, map, sizes)
    strides, used = [0] * len(sizes), [False] * len(sizes)
    for form, stride, extent in zip(linear, array.strides, array.shape, strict=True):
        assert form is not None
        coefficients, constant = form
        low = constant + sum(min(0, c * (n - 1)) for c, n in zip(coefficients, sizes, strict=True))
        high = constant + sum(max(0, c * (n - 1)) for c, n in zip(coefficients, sizes, strict=True))
        if 0 not in sizes and not (low >= 0 and high < extent):
            raise EvaluationError(f"an operand of extent {extent} is read from {low} to {high}")
        for dim, coefficient in enumerate(coefficients):
            strides[dim] += coefficient * stride
            used[dim] = used[dim] or coefficient != 0
    shape = tuple(size if used[dim] else 1 for dim, size in enumerate(sizes))
    if 0 in shape:
        return np.empty(shape, array.dtype)
    start = tuple(slice(form[1], form[1] + 1) for form in linear if form is not None)
    # The ellipsis keeps a tensor of rank 0 a view.
    first = array[(*start, ...)]
    return np.lib.stride_tricks.as_strided(first, shape, strides)


def _linear(expr: AffineExpr, dims: int) -> tuple[list[int], int] | None:
    """Coefficients of the loops and the constant; None for division and remainder."""
    match expr:
        case AffineDimExpr(position):
            return [int(dim == position) for dim in range(dims)], 0
        case AffineConstantExpr(value):
            return [0] * dims, value
        case AffineBinaryOpExpr(kind, lhs, rhs):
            left, right = _linear(lhs, dims), _linear(rhs, dims)
            if left is None or right is None:
                return None
            if kind is AffineBinaryOpKind.Add:
                return [a + b for a, b in zip(left[0], right[0], strict=True)], left[1] + right[1]
            if kind is AffineBinaryOpKind.Mul and not any(right[0]):
                return [a * right[1] for a in left[0]], left[1] * right[1]
            if kind is AffineBinaryOpKind.Mul and not any(left[0]):
                return [b * left[1] for b in right[0]], right[1] * left[1]
        case _:
            pass
    return None


def evaluate_expr(expr: AffineExpr, dims: Sequence[Array], symbols: Sequence[Array] = ()) -> Array:
    """An affine expression on arrays; division rounds down, the remainder is not negative."""
    if isinstance(expr, AffineDimExpr):
        return dims[expr.position]
    if isinstance(expr, AffineConstantExpr):
        return np.asarray(expr.value)
    if isinstance(expr, AffineBinaryOpExpr):
        lhs = evaluate_expr(expr.lhs, dims, symbols)
        rhs = evaluate_expr(expr.rhs, dims, symbols)
        match expr.kind:
            case AffineBinaryOpKind.Add:
                return np.asarray(lhs + rhs)
            case AffineBinaryOpKind.Mul:
                return np.asarray(lhs * rhs)
            case AffineBinaryOpKind.FloorDiv:
                return np.asarray(lhs // rhs)
            case AffineBinaryOpKind.CeilDiv:
                return np.asarray(-(-lhs // rhs))
            case AffineBinaryOpKind.Mod:
                return np.asarray(lhs % rhs)
    assert isinstance(expr, AffineSymExpr)
    return symbols[expr.position]


def loop_indices(sizes: Sequence[int]) -> tuple[Array, ...]:
    """The index of each loop as an array along it."""
    return tuple(np.asarray(i) for i in np.indices(tuple(sizes), sparse=True)) if sizes else ()


def _gathered(array: Array, map: AffineMap, sizes: Sequence[int]) -> Array:
    """`strided_view` for maps with division or remainder, by copying."""
    indices = [evaluate_expr(expr, loop_indices(sizes)) for expr in map.results]
    for index, extent in zip(indices, array.shape, strict=True):
        if index.size and not (index.min() >= 0 and index.max() < extent):
            raise EvaluationError(f"an operand of extent {extent} is read outside of it")
    gathered = array[tuple(indices)]
    return gathered.reshape((1,) * (len(sizes) - gathered.ndim) + gathered.shape)
