"""Index expressions: which are affine in the indices of a statement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ingot.compiler.frontends.index_notation.syntax import Call, Expression, Name, Number


@dataclass(frozen=True)
class Affine:
    """`constant` plus the sum of coefficient times index; no coefficient is 0."""

    coefficients: Mapping[str, int] = field(default_factory=dict[str, int])
    constant: int = 0

    @property
    def plain(self) -> str | None:
        """The index when the expression is an index and nothing else."""
        if self.constant == 0 and list(self.coefficients.values()) == [1]:
            return next(iter(self.coefficients))
        return None

    def bounds(self, ranges: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
        """The smallest and largest value over ranges of the indices that are not empty."""
        low = high = self.constant
        for index, factor in self.coefficients.items():
            ends = [factor * end for end in ranges[index]]
            low, high = low + min(ends), high + max(ends)
        return low, high

    def combined(self, other: Affine, factor: int) -> Affine:
        """`self + factor * other`."""
        sums = dict(self.coefficients)
        for index, coefficient in other.coefficients.items():
            sums[index] = sums.get(index, 0) + factor * coefficient
        kept = {index: value for index, value in sums.items() if value}
        return Affine(kept, self.constant + factor * other.constant)


def affine(expression: Expression, is_index: Callable[[str], bool]) -> Affine | None:
    """The expression as an affine one; None where it is not."""
    match expression:
        case Number(value=int(value)):
            return Affine({}, value)
        case Name(name=name) if is_index(name):
            return Affine({name: 1})
        case Call(function="neg", operands=(operand,)):
            inner = affine(operand, is_index)
            return inner and Affine().combined(inner, -1)
        case Call(function="+" | "-" | "*" as function, operands=(left, right)):
            first, second = affine(left, is_index), affine(right, is_index)
            if first is None or second is None:
                return None
            if function != "*":
                return first.combined(second, 1 if function == "+" else -1)
            if not first.coefficients:
                return Affine().combined(second, first.constant)
            return None if second.coefficients else Affine().combined(first, second.constant)
        case _:
            return None
