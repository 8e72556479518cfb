"""Linear forms over index values: what vectorization reasons about instead of chains of ops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.builder import Builder
from xdsl.dialects import affine
from xdsl.dialects.builtin import AffineMapAttr, IndexType, IntegerAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from ingot.compiler.analysis.index_range import known_divisor
from ingot.compiler.dialects.arith import AddiOp, ConstantOp, MuliOp, SubiOp
from ingot.passes.kernel.indices import linear_coefficients


@dataclass(frozen=True)
class Linear:
    """constant + the sum of coefficient * value over `terms`; no coefficient is zero."""

    terms: tuple[tuple[SSAValue, int], ...] = ()
    constant: int = 0

    @staticmethod
    def of(value: SSAValue | int) -> Linear:
        """The form of a single value, or of a known number."""
        return Linear((), value) if isinstance(value, int) else Linear(((value, 1),))

    def __add__(self, other: Linear | int) -> Linear:
        if isinstance(other, int):
            return Linear(self.terms, self.constant + other)
        sums = dict(self.terms)
        for value, coefficient in other.terms:
            sums[value] = sums.get(value, 0) + coefficient
        terms = tuple((v, c) for v, c in sums.items() if c)
        return Linear(terms, self.constant + other.constant)

    def __mul__(self, factor: int) -> Linear:
        if factor == 0:
            return Linear()
        return Linear(tuple((v, c * factor) for v, c in self.terms), self.constant * factor)

    @property
    def known(self) -> int | None:
        """The number, when no value is involved."""
        return None if self.terms else self.constant

    def materialize(self, builder: Builder) -> SSAValue:
        """An index value that holds the form, computed at the insertion point."""
        if not self.terms:
            return builder.insert(ConstantOp(_index_attribute(self.constant))).result
        values = [value for value, _ in self.terms]
        coefficients = tuple(coefficient for _, coefficient in self.terms)
        if coefficients == (1,) and not self.constant:
            return values[0]
        map_ = _sum(coefficients, self.constant)
        return builder.insert(affine.ApplyOp(values, map_)).result


@cache
def _sum(coefficients: tuple[int, ...], constant: int) -> AffineMapAttr:
    """The map (d0, d1, ...) -> d0 * coefficient + d1 * coefficient + ... + constant.

    The constant comes last: sums that differ in it alone have the rest in common.
    """
    expr: AffineExpr = AffineConstantExpr(0)
    for i, coefficient in enumerate(coefficients):
        expr = expr + AffineDimExpr(i) * coefficient
    return AffineMapAttr(AffineMap(len(coefficients), 0, (expr + constant,)))


@cache
def _index_attribute(value: int) -> IntegerAttr[IndexType]:
    return IntegerAttr(value, IndexType())


def is_multiple(form: Linear, n: int) -> bool:
    """Whether n divides the form, by what is known of its values."""
    return form.constant % n == 0 and all(c * known_divisor(v) % n == 0 for v, c in form.terms)


def linear_of_expr(expr: AffineExpr, dims: Sequence[Linear]) -> Linear | None:
    """The form of an affine expression over `dims`; None for mod and divisions of unknowns."""
    linear = linear_coefficients(expr, len(dims))
    if linear is None:
        return None
    form = Linear((), linear[1])
    for dim, coefficient in zip(dims, linear[0], strict=True):
        form = form + dim * coefficient
    return form


def linear_of(value: SSAValue) -> Linear:
    """The form of an index value, through additions, constant factors and `affine.apply`."""
    owner = value.owner
    match owner:
        case affine.ApplyOp():
            map_ = owner.map.data
            if map_.num_symbols == 0:
                dims = [linear_of(v) for v in owner.mapOperands]
                form = linear_of_expr(map_.results[0], dims)
                if form is not None:
                    return form
        case ConstantOp() if isinstance(owner.value, IntegerAttr):
            return Linear((), owner.value.value.data)
        case AddiOp():
            return linear_of(owner.lhs) + linear_of(owner.rhs)
        case SubiOp():
            return linear_of(owner.lhs) + linear_of(owner.rhs) * -1
        case MuliOp():
            lhs, rhs = linear_of(owner.lhs), linear_of(owner.rhs)
            if rhs.known is not None:
                return lhs * rhs.known
            if lhs.known is not None:
                return rhs * lhs.known
        case _:
            pass
    return Linear.of(value)
