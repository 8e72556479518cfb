"""Emit stores that never leave the buffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from xdsl.builder import Builder
from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, BoolAttr
from xdsl.dialects.scf import IfOp, YieldOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from ingot.compiler.analysis.building import at_end
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.dialects.arith import AndIOp, CmpiOp
from ingot.passes.kernel.emitter import Lanes
from ingot.passes.kernel.evaluate import Evaluator
from ingot.passes.kernel.linear import Linear
from ingot.passes.kernel.memory import View, shift

Index = Sequence[Linear]


def store(
    evaluator: Evaluator,
    view: View,
    index: Index,
    lanes: Lanes | None,
    value: SSAValue,
    guard: SSAValue | None = None,
) -> None:
    """Store an element or vector of a tile where `guard` holds and it lies inside the buffer."""
    store_all(evaluator, view, [(index, value)], lanes, guard)


def store_all(
    evaluator: Evaluator,
    view: View,
    elements: Sequence[tuple[Index, SSAValue]],
    lanes: Lanes | None,
    guard: SSAValue | None = None,
) -> None:
    """Store elements or vectors of a tile as `store` does.

    Those that follow each other under the same condition, as along a row, share one test of it.
    """
    stores = [
        part
        for index, value in elements
        for part in _stores(evaluator, view, index, lanes, value, guard)
    ]
    for condition, together in groupby(stores, lambda part: part.guard):
        if condition is None:
            for part in together:
                part.emit(evaluator.builder, view)
            continue
        block = Block()
        inner = at_end(block, evaluator.location)
        for part in together:
            part.emit(inner, view)
        inner.insert(YieldOp())
        evaluator.emit(IfOp(condition, [], Region(block)))


@dataclass(frozen=True)
class _Store:
    """A store of a scalar, or of a vector along the last dimension."""

    positions: Sequence[SSAValue]
    lanes: Lanes | None
    value: SSAValue
    guard: SSAValue | None

    def emit(self, builder: Builder, view: View) -> None:
        if self.lanes is None:
            builder.insert(memref.StoreOp.get(self.value, view.buffer, self.positions))
            return
        rank = len(self.positions)
        map_ = AffineMap(rank, 0, (AffineDimExpr(rank - 1),))
        in_bounds = BoolAttr.from_bool(not view.partial[self.lanes.dim])
        builder.insert(
            vector.TransferWriteOp(
                self.value,
                view.buffer,
                self.positions,
                ArrayAttr([in_bounds]),
                permutation_map=AffineMapAttr(map_),
            )
        )


def _stores(
    evaluator: Evaluator,
    view: View,
    index: Index,
    lanes: Lanes | None,
    value: SSAValue,
    guard: SSAValue | None,
) -> Iterator[_Store]:
    """The stores of an element or vector: one, or one for each lane across the last dimension."""
    if lanes is not None and lanes.dim != len(index) - 1:
        for lane in range(lanes.width):
            at, element = shift(index, lanes.dim, lane), evaluator.lane(value, lane)
            yield from _stores(evaluator, view, at, None, element, guard)
        return
    value = evaluator.widen(value, None if lanes is None else lanes.width)
    positions = [
        evaluator.materialize(offset + local)
        for offset, local in zip(view.offsets, index, strict=True)
    ]
    for dim, position in enumerate(positions):
        if view.partial[dim] and not (lanes is not None and lanes.dim == dim):
            extent = evaluator.index_value(shape_of(view.buffer)[dim])
            inside = evaluator.pure(CmpiOp, position, extent, "slt")
            guard = inside if guard is None else evaluator.pure(AndIOp, guard, inside)
    yield _Store(positions, lanes, value, guard)
