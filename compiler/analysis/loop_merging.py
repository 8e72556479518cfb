"""Which adjacent loops of structured ops run over contiguous elements, and can be one loop."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from ingot.compiler.analysis.affine_maps import linear_form

Verdict = int | Literal["free", "blocked"]
"""How a map sees the loops j and j + 1: as its results k and k + 1 (k is given), not at all or
within one result ("free"), or so that they cannot be merged ("blocked")."""


def merge_verdict(map_: AffineMap, loop: int, inner_extent: int) -> Verdict:
    """Whether `map_` allows merging `loop` with the next one, of `inner_extent` iterations."""
    users = [k for k, e in enumerate(map_.results) if {loop, loop + 1} & e.used_dims()]
    if not users:
        return "free"
    if len(users) == 1:
        coefficients = linear_form(map_.results[users[0]], map_.num_dims)
        if coefficients is None:
            return "blocked"
        outer, inner = coefficients[0][loop], coefficients[0][loop + 1]
        return "free" if inner and outer == inner * inner_extent else "blocked"
    first, *rest = users
    plain = (AffineDimExpr(loop), AffineDimExpr(loop + 1))
    if rest == [first + 1] and (map_.results[first], map_.results[first + 1]) == plain:
        return first
    return "blocked"


def merge_groups(count: int, merged: Sequence[bool]) -> list[list[int]]:
    """Positions 0..count-1 in groups, where `merged[i]` joins i and i + 1."""
    groups: list[list[int]] = []
    for i in range(count):
        if i and merged[i - 1]:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def merge_map(
    map_: AffineMap, groups: Sequence[Sequence[int]]
) -> tuple[AffineMap, list[list[int]]]:
    """`map_` over merged loops, and the groups of its results that become one.

    Every merge must be allowed by `merge_verdict`.
    """
    count = len(groups)
    of_loop = {loop: new for new, group in enumerate(groups) for loop in group}
    results: list[AffineExpr] = []
    result_groups: list[list[int]] = []
    for k, expr in enumerate(map_.results):
        if isinstance(expr, AffineDimExpr):
            group = groups[of_loop[expr.position]]
            if expr.position != group[0] and result_groups:
                result_groups[-1].append(k)
                continue
            results.append(AffineDimExpr(of_loop[expr.position]))
        else:
            results.append(_merge_sum(expr, map_.num_dims, groups, of_loop))
        result_groups.append([k])
    return AffineMap(count, 0, tuple(results)), result_groups


def _merge_sum(
    expr: AffineExpr, num_dims: int, groups: Sequence[Sequence[int]], of_loop: dict[int, int]
) -> AffineExpr:
    """The innermost loop of a group has the coefficient of the merged loop; outer terms go."""
    linear = linear_form(expr, num_dims)
    if linear is None:
        dims: list[AffineExpr] = [AffineDimExpr(of_loop[i]) for i in range(num_dims)]
        return expr.replace_dims_and_symbols(dims, ())
    result = AffineExpr.constant(linear[1])
    for new, group in enumerate(groups):
        coefficient = linear[0][group[-1]]
        if coefficient:
            term = AffineDimExpr(new) if coefficient == 1 else AffineDimExpr(new) * coefficient
            result = term + result
    return result


@dataclass
class MergeProblem:
    """Pairs of loops, and of dimensions of values, that are merged all together or not at all."""

    _parent: dict[Hashable, Hashable] = field(default_factory=dict[Hashable, Hashable])
    _blocked: set[Hashable] = field(default_factory=set[Hashable])

    def find(self, pair: Hashable) -> Hashable:
        """The representative of the pairs that go with `pair`."""
        parent = self._parent.setdefault(pair, pair)
        if parent != pair:
            parent = self._parent[pair] = self.find(parent)
        return parent

    def join(self, first: Hashable, second: Hashable) -> None:
        """Merge both pairs or none."""
        first, second = self.find(first), self.find(second)
        if first != second:
            self._parent[first] = second
            if first in self._blocked:
                self._blocked.add(second)

    def block(self, pair: Hashable) -> None:
        """Never merge `pair`."""
        self._blocked.add(self.find(pair))

    def allowed(self, pair: Hashable) -> bool:
        """Whether `pair` may be merged."""
        return self.find(pair) not in self._blocked
