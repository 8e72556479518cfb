"""What shapes and dimension numbers of StableHLO ops have to fit, by op.

Of the specification's constraints these are the ones that a lowering relies on; element types and
the sizes of elementwise operands are checked on the ops that it makes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import SSAValue

if TYPE_CHECKING:
    from ingot.compiler.dialects.stablehlo.base import StableHLOOp

Rule = Callable[["StableHLOOp"], str | None]


def broken_shape(op: StableHLOOp) -> str | None:
    """The sentence for a rule about shapes that the op breaks, or None."""
    rule = _RULES.get(op.name)
    if rule is None or not all(isinstance(value.type, TensorType) for value in (*op.ins, *op.outs)):
        return None
    return rule(op)


def _shape(value: SSAValue) -> tuple[int, ...]:
    type_ = value.type
    assert isinstance(type_, TensorType)
    return type_.get_shape()


def _agree(left: Sequence[int], right: Sequence[int]) -> bool:
    """Whether two shapes may be the same."""
    return len(left) == len(right) and all(
        a == b or DYNAMIC_INDEX in (a, b) for a, b in zip(left, right, strict=True)
    )


def _dims(name: str, dims: Sequence[int], rank: int) -> str | None:
    """Different dimensions of a tensor."""
    if len(set(dims)) < len(dims) or not all(0 <= dim < rank for dim in dims):
        return f"needs different {name} of 0 to {rank - 1}, but has {list(dims)}"
    return None


def _broadcast_in_dim(op: StableHLOOp) -> str | None:
    dims = op.ints("broadcast_dimensions") or ()
    source, target = _shape(op.ins[0]), _shape(op.outs[0])
    if len(dims) != len(source):
        return f"needs {len(source)} broadcast_dimensions, but has {list(dims)}"
    if (broken := _dims("broadcast_dimensions", dims, len(target))) is not None:
        return broken
    if not all(n == 1 or _agree([n], [target[d]]) for n, d in zip(source, dims, strict=True)):
        return f"cannot broadcast {op.ins[0].type} to {op.outs[0].type}"
    return None


def _transpose(op: StableHLOOp) -> str | None:
    order, source = op.ints("permutation") or (), _shape(op.ins[0])
    if sorted(order) != list(range(len(source))):
        return f"needs a permutation of {len(source)} dimensions, but has {list(order)}"
    if not _agree([source[d] for d in order], _shape(op.outs[0])):
        return f"cannot transpose {op.ins[0].type} to {op.outs[0].type}"
    return None


def _reverse(op: StableHLOOp) -> str | None:
    return _dims("dimensions", op.ints("dimensions") or (), len(_shape(op.ins[0])))


def _iota(op: StableHLOOp) -> str | None:
    return _dims("iota_dimension", [op.int("iota_dimension")], len(_shape(op.outs[0])))


def _concatenate(op: StableHLOOp) -> str | None:
    rank = len(_shape(op.outs[0]))
    if not op.ins or any(len(_shape(value)) != rank for value in op.ins):
        return f"needs operands with the {rank} dimensions of its result"
    return _dims("dimension", [op.int("dimension")], rank)


def _slice(op: StableHLOOp) -> str | None:
    source, target = _shape(op.ins[0]), _shape(op.outs[0])
    ranges = [op.ints(name) or () for name in ("start_indices", "limit_indices", "strides")]
    if any(len(r) != len(source) for r in (*ranges, target)):
        return f"needs a start, a limit and a stride for each of {len(source)} dimensions"
    for size, extent, start, limit, stride in zip(source, target, *ranges, strict=True):
        if size == DYNAMIC_INDEX:
            continue
        if stride < 1 or not 0 <= start <= limit <= size:
            return f"cannot take {start}:{limit}:{stride} of {size} elements"
        if extent not in (DYNAMIC_INDEX, -(-(limit - start) // stride)):
            return f"takes {-(-(limit - start) // stride)} elements, but its result has {extent}"
    return None


def _pad(op: StableHLOOp) -> str | None:
    source, target = _shape(op.ins[0]), _shape(op.outs[0])
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    amounts = [op.ints(name) or () for name in names]
    if any(len(amount) != len(source) for amount in (*amounts, target)):
        return f"needs amounts for each of {len(source)} dimensions"
    for size, extent, low, high, between in zip(source, target, *amounts, strict=True):
        padded = low + size + max(size - 1, 0) * between + high
        if between < 0 or (DYNAMIC_INDEX not in (size, extent) and padded != extent):
            return f"cannot pad {op.ins[0].type} to {op.outs[0].type} by these amounts"
    return None


def _reduce(op: StableHLOOp) -> str | None:
    dims, source = op.ints("dimensions") or (), _shape(op.ins[0])
    if not all(_agree(_shape(value), source) for value in op.ins[: len(op.outs)]):
        return "needs inputs of one shape"
    return _dims("dimensions", dims, len(source))


def _sort(op: StableHLOOp) -> str | None:
    dim, rank = op.int("dimension", -1), len(_shape(op.ins[0])) if op.ins else 0
    return _dims("dimension", [dim + rank if dim < 0 else dim], rank)


_RULES: dict[str, Rule] = {
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.transpose": _transpose,
    "stablehlo.reverse": _reverse,
    "stablehlo.iota": _iota,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.slice": _slice,
    "stablehlo.pad": _pad,
    "stablehlo.reduce": _reduce,
    "stablehlo.sort": _sort,
}
