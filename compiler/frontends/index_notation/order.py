"""A good order for a product of several factors that is summed.

`sum_jk A[i,j] B[j,k] C[k,l]` as one loop nest takes I*J*K*L steps; two contractions after one
another take far fewer. The path is `opt_einsum`'s; what is decided here is whether it pays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import cast


@dataclass(frozen=True)
class Step:
    """Multiply the factors at these positions and sum over all indices but `kept`.

    The factors leave the list, and the product is appended to it.
    """

    factors: tuple[int, ...]
    kept: tuple[str, ...]


def contraction_steps(
    factors: Sequence[frozenset[str]], left: Sequence[str], sizes: Mapping[str, int]
) -> list[Step] | None:
    """The steps before the last product, or None where one loop nest is as good.

    `factors` are the indices of each factor, `left` those of the result. The last step, over what
    the list then holds, is the statement itself. Steps pay when they halve the multiplications,
    with each element of an intermediate array counted as one more.
    """
    everything = union(factors)
    whole = prod(sizes[i] for i in everything)
    if len(factors) < 2 or whole == 0 or everything <= set(left):
        return None
    steps: list[Step] = []
    current = list(factors)
    cost = 0
    # What only one factor has is summed before it meets the others.
    for position, factor in enumerate(factors):
        others = frozenset(left) | union(f for i, f in enumerate(factors) if i != position)
        kept = factor & others
        if kept != factor and not (everything - kept) <= factor - kept:
            steps.append(Step((_position(current, factor),), _ordered(kept, left)))
            cost += prod(sizes[i] for i in factor) + prod(sizes[i] for i in kept)
            current.remove(factor)
            current.append(kept)
    if len(current) > 2:
        cost += _pairs(current, left, sizes, steps)
    cost += prod(sizes[i] for i in union(current))
    return steps if steps and 2 * cost <= whole else None


def union(factors: Iterable[frozenset[str]]) -> frozenset[str]:
    """The indices that occur in any factor."""
    return frozenset(index for factor in factors for index in factor)


def _position(current: Sequence[frozenset[str]], factor: frozenset[str]) -> int:
    return list(current).index(factor)


def _pairs(
    current: list[frozenset[str]],
    left: Sequence[str],
    sizes: Mapping[str, int],
    steps: list[Step],
) -> int:
    """Append the steps that leave two factors, in the order of `opt_einsum`; returns their cost."""
    from opt_einsum import contract_path
    from opt_einsum.parser import get_symbol

    names = sorted(frozenset(left) | union(current))
    letter = {name: get_symbol(position) for position, name in enumerate(names)}
    terms = [sorted(factor) for factor in current]
    summed = frozenset(left) & union(current)
    result = "".join(letter[name] for name in _ordered(summed, left))
    text = ",".join("".join(letter[name] for name in term) for term in terms)
    shapes = [tuple(sizes[name] for name in term) for term in terms]
    path, _ = contract_path(f"{text}->{result}", *shapes, shapes=True)
    cost = 0
    for pair in cast("list[tuple[int, ...]]", path)[:-1]:
        chosen = [current[position] for position in pair]
        rest = [f for position, f in enumerate(current) if position not in pair]
        every = union(chosen)
        kept = every & (frozenset(left) | union(rest))
        steps.append(Step(pair, _ordered(kept, left)))
        cost += prod(sizes[i] for i in every) + prod(sizes[i] for i in kept)
        current[:] = [*rest, kept]
    return cost


def _ordered(indices: frozenset[str], left: Sequence[str]) -> tuple[str, ...]:
    """Those of the result in its order, then the others by name."""
    return (*(i for i in left if i in indices), *sorted(indices - set(left)))
