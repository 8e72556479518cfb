"""Questions about affine maps, and maps made from others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)


def plain_dims(map_: AffineMap) -> tuple[int | None, ...]:
    """For each result the dimension that it is, or None where it is more than one dimension."""
    return tuple(e.position if isinstance(e, AffineDimExpr) else None for e in map_.results)


def permutation_of(map_: AffineMap) -> tuple[int, ...] | None:
    """The distinct dimensions that the results are, or None for any other map.

    A map may leave dimensions out: `(d0, d1, d2) -> (d2, d0)` gives (2, 0).
    """
    dims = plain_dims(map_)
    known = tuple(d for d in dims if d is not None)
    return known if len(known) == len(dims) == len(set(known)) else None


def dims_given(maps: Iterable[AffineMap]) -> set[int]:
    """The dimensions that are a whole result of some map: their extents are sizes of operands."""
    return {d for m in maps for d in plain_dims(m) if d is not None}


def substitute(map_: AffineMap, dims: Sequence[AffineExpr], num_dims: int) -> AffineMap:
    """`map_` with its dimension i replaced by `dims[i]`, over `num_dims` dimensions."""
    results = tuple(simplify(e.replace_dims_and_symbols(dims, ()), num_dims) for e in map_.results)
    return AffineMap(num_dims, 0, results)


def simplify(expr: AffineExpr, num_dims: int) -> AffineExpr:
    """Collect equal terms; divisions and remainders are simplified where they can be."""
    if isinstance(expr, AffineBinaryOpExpr) and expr.is_pure_affine():
        return expr.simplify(num_dims, 0)
    return expr


def rename_dims(map_: AffineMap, new_position: Sequence[int]) -> AffineMap:
    """`map_` with dimension i called `new_position[i]`."""
    return substitute(map_, [AffineDimExpr(p) for p in new_position], map_.num_dims)


def linear_form(expr: AffineExpr, num_dims: int) -> tuple[list[int], int] | None:
    """Coefficients and constant of a linear expression; None for divisions and remainders."""
    match expr:
        case AffineConstantExpr(value):
            return [0] * num_dims, value
        case AffineDimExpr(position):
            return [int(d == position) for d in range(num_dims)], 0
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            left, right = linear_form(lhs, num_dims), linear_form(rhs, num_dims)
            if left is None or right is None:
                return None
            if kind is AffineBinaryOpKind.Add:
                return [a + b for a, b in zip(left[0], right[0], strict=True)], left[1] + right[1]
            if kind is AffineBinaryOpKind.Mul and not any(right[0]):
                return [c * right[1] for c in left[0]], left[1] * right[1]
            if kind is AffineBinaryOpKind.Mul and not any(left[0]):
                return [c * left[1] for c in right[0]], left[1] * right[1]
            return None
        case _:
            return None
