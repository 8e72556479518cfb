"""Which dimensions of the values in a kernel run along the loops that the kernel shares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ingot.compiler.analysis.structured import indexing_maps, shape_of
from ingot.compiler.dialects.ingot import ScanOp
from ingot.compiler.dialects.linalg import GenericOp

Dims = tuple[int | None, ...]
"""For each dimension of a value the shared loop that it runs along, or None."""

Positions = Sequence[int | None]
"""For each dimension of a value the loop of an op that it runs along, or None."""


def shared_dims(ops: Iterable[Operation], anchor: SSAValue, count: int) -> dict[SSAValue, Dims]:
    """Relate the values of `ops` to the shared loops, which are leading dimensions of `anchor`.

    `count` is the number of shared loops; of a scan's result, its scanned dimension is none of
    them. Values that no chain of ops connects to `anchor` are missing from the answer.
    """
    accesses = [access for op in ops if (access := _access(op)) is not None]
    known: dict[SSAValue, Dims] = {anchor: _anchor_dims(anchor, count)}
    if not count:  # what shares no loops is known at once, connected or not
        known |= {value: (None,) * len(at) for access in accesses for value, at in access.all}
    changed = True
    while changed:
        changed = False
        for access in accesses:
            loops = _loops(access, known)
            if not loops:
                continue
            for value, positions in access.all:
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


@dataclass(frozen=True)
class _Access:
    """The tensors that an op touches, each with the op's loop for each dimension."""

    operands: list[tuple[SSAValue, Positions]]
    results: list[tuple[SSAValue, Positions]]
    """What it writes, with what that begins as."""

    @property
    def all(self) -> list[tuple[SSAValue, Positions]]:
        return self.operands + self.results


def _access(op: Operation) -> _Access | None:
    match op:
        case GenericOp():
            positions = [[_position(e) for e in map_.results] for map_ in indexing_maps(op)]
            inputs = len(op.inputs)
            written = positions[inputs:]
            return _Access(
                list(zip(op.inputs, positions[:inputs], strict=True)),
                [*zip(op.outputs, written, strict=True), *zip(op.results, written, strict=True)],
            )
        case ScanOp():
            loops = list(range(len(shape_of(op.input))))
            kept = [i for i in loops if i != op.dimension.value.data]
            return _Access(
                [(op.input, loops)],
                [(op.output, loops), (op.init, kept), (op.scanned, loops), (op.last, kept)],
            )
        case _:
            return None


def _position(expr: object) -> int | None:
    return expr.position if isinstance(expr, AffineDimExpr) else None


def _loops(access: _Access, known: dict[SSAValue, Dims]) -> dict[int, int]:
    """The shared loop of each loop of an op that is known from the tensors that it touches.

    Ops that only read the same tensor may read it across each other. What their operands and
    results then say of the loops differs, and the part of them that says most is believed.
    """
    loops = _agreed(access.operands + access.results, known)
    if loops is None:
        parts = (_agreed(part, known) for part in (access.operands, access.results))
        loops = max((part for part in parts if part is not None), key=len, default=dict[int, int]())
    return loops


def _agreed(
    tensors: list[tuple[SSAValue, Positions]], known: dict[SSAValue, Dims]
) -> dict[int, int] | None:
    """The loops that the tensors tell of, or None where two are one or one is two."""
    loops: dict[int, int] = {}
    for value, positions in tensors:
        for position, shared in zip(positions, known.get(value, ()), strict=False):
            if position is None or shared is None:
                continue
            if loops.setdefault(position, shared) != shared:
                return None
    return loops if len(set(loops.values())) == len(loops) else None
