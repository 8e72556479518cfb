"""The pass `kernel-tile-reduction`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.scf import ForOp, YieldOp
from xdsl.ir import Block
from xdsl.ir.affine import AffineDimExpr
from xdsl.passes import ModulePass

from ingot.compiler.analysis.building import at_end, before
from ingot.compiler.analysis.kernel_shape import is_kernel
from ingot.compiler.analysis.schedule import Schedule
from ingot.compiler.analysis.structured import (
    indexing_maps,
    loop_extents,
    match_contraction,
    reduction_loops,
)
from ingot.compiler.dialects.arith import ConstantOp
from ingot.compiler.dialects.linalg import GenericOp
from ingot.passes.kernel.indices import dimension_sizes, tile_size
from ingot.passes.kernel.tiling import Tile, Tiler


@dataclass(frozen=True)
class KernelTileReductionPass(ModulePass):
    """Split the reduction loop of a contraction into an `scf.for` over tiles of it (L3).

    before:  %c = linalg.generic ins(%a, %b : tensor<4x256xf32>, tensor<256x4xf32>) outs(%z)
    after:   %c = scf.for %k = 0 to 256 step 16 iter_args(%acc = %z) -> (tensor<4x4xf32>) {
               %d = linalg.generic ins(%a[0, %k] [4, 16], %b[%k, 0] [16, 4]) outs(%acc) ... }
    """

    name = "kernel-tile-reduction"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp) and is_kernel(func):
                schedule = Schedule.from_attr(func.attributes["ingot.schedule"])
                if schedule.kind != "contraction" or schedule.reduction == 0:
                    continue
                for generic in list(func.walk()):
                    if isinstance(generic, GenericOp) and match_contraction(generic):
                        tile_reduction(generic, schedule.reduction)


def tile_reduction(op: GenericOp, size: int) -> None:
    """Replace a contraction with one reduction loop by a loop over tiles of `size` elements."""
    (loop,) = reduction_loops(op)
    extent = loop_extents(op)[loop]
    builder = before(op)
    lower, upper, step = (
        builder.insert(ConstantOp.from_int_and_width(v, IndexType())).result
        for v in (0, extent, size)
    )
    init = op.outputs[0]
    block = Block(arg_types=[IndexType(), init.type])
    inner = at_end(block, op.location)
    k, accumulator = block.args
    tile = Tile(k, tile_size(inner, k, size, extent, extent // size))
    tiler = Tiler(inner)
    inputs = [
        tiler.tile_value(
            value,
            tuple(
                tile if isinstance(e, AffineDimExpr) and e.position == loop else Tile(0, n)
                for e, n in zip(map_.results, dimension_sizes(value), strict=True)
            ),
        )
        for value, map_ in zip(op.inputs, indexing_maps(op), strict=False)
    ]
    partial = GenericOp(
        inputs,
        [accumulator],
        op.body.clone(),
        op.indexing_maps,
        op.iterator_types,
        [init.type],
    )
    partial.location = op.location
    inner.insert(partial)
    inner.insert(YieldOp(partial.results[0]))
    loop_op = ForOp(lower, upper, step, [init], block)
    loop_op.location = op.location
    builder.insert(loop_op)
    op.results[0].replace_all_uses_with(loop_op.results[0])
    op.detach()
    op.erase()
