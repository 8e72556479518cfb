"""Emit stores that never leave the buffer."""

from __future__ import annotations

from collections.abc import Sequence

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
from ingot.passes.kernel.memory import View


def store(
    evaluator: Evaluator,
    view: View,
    index: Sequence[Linear],
    lanes: Lanes | None,
    value: SSAValue,
    guard: SSAValue | None = None,
) -> None:
    """Store an element or vector of a tile where `guard` holds and it lies inside the buffer."""
    if lanes is not None and lanes.dim != len(index) - 1:
        for lane in range(lanes.width):
            shifted = [f + lane if i == lanes.dim else f for i, f in enumerate(index)]
            store(evaluator, view, shifted, None, evaluator.lane(value, lane), guard)
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
    if guard is None:
        _emit_store(evaluator.builder, view, positions, lanes, value)
        return
    block = Block()
    inner = at_end(block, evaluator.location)
    _emit_store(inner, view, positions, lanes, value)
    inner.insert(YieldOp())
    evaluator.emit(IfOp(guard, [], Region(block)))


def _emit_store(
    builder: Builder,
    view: View,
    positions: Sequence[SSAValue],
    lanes: Lanes | None,
    value: SSAValue,
) -> None:
    if lanes is None:
        builder.insert(memref.StoreOp.get(value, view.buffer, positions))
        return
    rank = len(positions)
    map_ = AffineMap(rank, 0, (AffineDimExpr(rank - 1),))
    in_bounds = BoolAttr.from_bool(not view.partial[lanes.dim])
    builder.insert(
        vector.TransferWriteOp(
            value,
            view.buffer,
            positions,
            ArrayAttr([in_bounds]),
            permutation_map=AffineMapAttr(map_),
        )
    )
