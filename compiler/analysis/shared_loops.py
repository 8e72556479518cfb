"""Which dimensions of the values in a kernel run along the loops that the kernel shares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ingot.compiler.analysis.structured import indexing_maps, shape_of
from ingot.compiler.dialects.ingot import ScanOp
from ingot.compiler.dialects.linalg import GenericOp

Dims = tuple[int | None, ...]
"""For each dimension of a value the shared loop that it runs along, or None."""


def shared_dims(ops: Iterable[Operation], anchor: SSAValue, count: int) -> dict[SSAValue, Dims]:
    """Relate the values of `ops` to the shared loops, which are leading dimensions of `anchor`.

    `count` is the number of shared loops; of a scan's result, its scanned dimension is none of
    them. Values that no chain of ops connects to `anchor` are missing from the answer.
    """
    accesses = [access for op in ops if (access := list(_accesses(op)))]
    known: dict[SSAValue, Dims] = {anchor: _anchor_dims(anchor, count)}
    if not count:  # what shares no loops is known at once, connected or not
        known |= {value: (None,) * len(at) for access in accesses for value, at in access}
    changed = True
    while changed:
        changed = False
        for access in accesses:
            loops = _loops(access, known)
            if not loops:
                continue
            for value, positions in access:
                if value not in known:
                    known[value] = tuple(loops.get(p) if p is not None else None for p in positions)
                    changed = True
    return known


def _anchor_dims(anchor: SSAValue, count: int) -> Dims:
    rank = len(shape_of(anchor))
    owner = anchor.owner
    if isinstance(owner, ScanOp) and anchor is owner.scanned:
        loops = iter(range(count))
        scanned = owner.dimension.value.data
        return tuple(None if d == scanned else next(loops, None) for d in range(rank))
    return tuple(d if d < count else None for d in range(rank))


def _accesses(op: Operation) -> Iterator[tuple[SSAValue, Sequence[int | None]]]:
    """The tensors that an op touches, each with the op's loop for each dimension."""
    match op:
        case GenericOp():
            maps = indexing_maps(op)
            for value, map_ in zip(op.operands, maps, strict=True):
                yield value, [_position(e) for e in map_.results]
            for value, map_ in zip(op.results, maps[len(op.inputs) :], strict=True):
                yield value, [_position(e) for e in map_.results]
        case ScanOp():
            loops = list(range(len(shape_of(op.input))))
            kept = [i for i in loops if i != op.dimension.value.data]
            yield from ((v, loops) for v in (op.input, op.output, op.scanned))
            yield from ((v, kept) for v in (op.init, op.last))
        case _:
            return


def _position(expr: object) -> int | None:
    return expr.position if isinstance(expr, AffineDimExpr) else None


def _loops(
    access: list[tuple[SSAValue, Sequence[int | None]]], known: dict[SSAValue, Dims]
) -> dict[int, int]:
    loops: dict[int, int] = {}
    for value, positions in access:
        for position, shared in zip(positions, known.get(value, ()), strict=False):
            if position is not None and shared is not None:
                loops.setdefault(position, shared)
    return loops
