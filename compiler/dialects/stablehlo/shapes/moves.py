"""Ops that move elements: transpositions, broadcasts, reshapes, reductions and sorts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DYNAMIC_INDEX

from ingot.compiler.dialects.stablehlo.shapes.common import (
    Rule,
    agree,
    alike,
    different,
    first,
    line,
    result_is,
    same_count,
    scalars,
    shape,
    takes_scalars,
)

if TYPE_CHECKING:
    from ingot.compiler.dialects.stablehlo.base import StableHLOOp


def _broadcast_in_dim(op: StableHLOOp) -> str | None:
    dims = op.ints("broadcast_dimensions") or ()
    source, target = shape(op.ins[0]), shape(op.outs[0])
    if len(dims) != len(source):
        return f"needs {len(source)} broadcast_dimensions, but has {list(dims)}"
    if (broken := different("broadcast_dimensions", dims, len(target))) is not None:
        return broken
    if not all(n == 1 or agree([n], [target[d]]) for n, d in zip(source, dims, strict=True)):
        return f"cannot broadcast {op.ins[0].type} to {op.outs[0].type}"
    return None


def _transpose(op: StableHLOOp) -> str | None:
    order, source = op.ints("permutation") or (), shape(op.ins[0])
    if sorted(order) != list(range(len(source))):
        return f"needs a permutation of {len(source)} dimensions, but has {list(order)}"
    if not agree([source[d] for d in order], shape(op.outs[0])):
        return f"cannot transpose {op.ins[0].type} to {op.outs[0].type}"
    return None


def _broadcast(op: StableHLOOp) -> str | None:
    sizes = op.ints("broadcast_sizes") or ()
    if any(size < 0 for size in sizes):
        return f"needs broadcast_sizes of at least 0, but has {list(sizes)}"
    return result_is(op, [*sizes, *shape(op.ins[0])])


def _dynamic_broadcast_in_dim(op: StableHLOOp) -> str | None:
    broken = line("output_dimensions", op.ins[1], len(shape(op.outs[0]))) or _broadcast_in_dim(op)
    rank = len(shape(op.ins[0]))
    names = ("known_expanding_dimensions", "known_nonexpanding_dimensions")
    return broken or first(different(name, op.ints(name) or (), rank) for name in names)


def _reshape(op: StableHLOOp) -> str | None:
    if not same_count(shape(op.ins[0]), shape(op.outs[0])):
        return f"cannot reshape {op.ins[0].type} to {op.outs[0].type}"
    return None


def _dynamic_reshape(op: StableHLOOp) -> str | None:
    return line("output_shape", op.ins[1], len(shape(op.outs[0]))) or _reshape(op)


def _reverse(op: StableHLOOp) -> str | None:
    source = shape(op.ins[0])
    broken = different("dimensions", op.ints("dimensions") or (), len(source))
    return broken or result_is(op, source)


def _iota(op: StableHLOOp) -> str | None:
    return different("iota_dimension", [op.int("iota_dimension")], len(shape(op.outs[0])))


def _dynamic_iota(op: StableHLOOp) -> str | None:
    return line("output_shape", op.ins[0], len(shape(op.outs[0]))) or _iota(op)


def _get_dimension_size(op: StableHLOOp) -> str | None:
    broken = different("dimension", [op.int("dimension")], len(shape(op.ins[0])))
    return broken or result_is(op, [])


def _concatenate(op: StableHLOOp) -> str | None:
    shapes = [shape(value) for value in op.ins]
    rank, dim = len(shape(op.outs[0])), op.int("dimension")
    if not shapes or any(len(sizes) != rank for sizes in shapes):
        return f"needs operands with the {rank} dimensions of its result"
    if (broken := different("dimension", [dim], rank)) is not None:
        return broken
    rests = [[*sizes[:dim], *sizes[dim + 1 :]] for sizes in shapes]
    if not all(agree(rest, other) for rest in rests for other in rests):
        return f"needs operands that differ along dimension {dim} only"
    lengths = [sizes[dim] for sizes in shapes]
    whole = DYNAMIC_INDEX if DYNAMIC_INDEX in lengths else sum(lengths)
    return result_is(op, [*shapes[0][:dim], whole, *shapes[0][dim + 1 :]])


def _reduce(op: StableHLOOp) -> str | None:
    dims, source, count = op.ints("dimensions") or (), shape(op.ins[0]), len(op.outs)
    if len(op.ins) != 2 * count:
        return "takes an input and an initial value for each result"
    broken = (
        alike("inputs", op.ins[:count])
        or scalars("initial values", op.ins[count:])
        or different("dimensions", dims, len(source))
        or takes_scalars(op, 0, 2 * count, count)
    )
    kept = [size for dim, size in enumerate(source) if dim not in dims]
    return broken or first(result_is(op, kept, i) for i in range(count))


def _sort(op: StableHLOOp) -> str | None:
    count = len(op.ins)
    if not count or len(op.outs) != count:
        return "needs an operand for each result"
    dim, source = op.int("dimension", -1), shape(op.ins[0])
    rank = len(source)
    return (
        alike("operands", op.ins)
        or (different("dimension", [dim + rank if dim < 0 else dim], rank) if rank else None)
        or first(result_is(op, source, i) for i in range(count))
        or takes_scalars(op, 0, 2 * count, 1)
    )


def _rng_bit_generator(op: StableHLOOp) -> str | None:
    if len(op.outs) != 2:
        return f"makes a state and numbers, but has {len(op.outs)} results"
    return result_is(op, shape(op.ins[0]))


RULES: dict[str, Rule] = {
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.broadcast": _broadcast,
    "stablehlo.dynamic_broadcast_in_dim": _dynamic_broadcast_in_dim,
    "stablehlo.reshape": _reshape,
    "stablehlo.dynamic_reshape": _dynamic_reshape,
    "stablehlo.transpose": _transpose,
    "stablehlo.reverse": _reverse,
    "stablehlo.iota": _iota,
    "stablehlo.dynamic_iota": _dynamic_iota,
    "stablehlo.get_dimension_size": _get_dimension_size,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.reduce": _reduce,
    "stablehlo.sort": _sort,
    "stablehlo.rng_bit_generator": _rng_bit_generator,
}
