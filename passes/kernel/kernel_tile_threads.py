"""The pass `kernel-tile-threads`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.passes import ModulePass

from ingot.compiler.analysis.building import at_end, before
from ingot.compiler.analysis.kernel_shape import is_kernel
from ingot.compiler.analysis.schedule import Schedule
from ingot.compiler.analysis.shared_loops import Dims
from ingot.compiler.dialects.scf import ForallOp, InParallelOp
from ingot.compiler.dialects.tensor import ParallelInsertSliceOp
from ingot.passes.kernel.indices import (
    apply_map,
    dimension_sizes,
    erase_unused,
    tile_size,
)
from ingot.passes.kernel.mapping import is_over_blocks, thread_mapping
from ingot.passes.kernel.results import insert_tile, related_dims
from ingot.passes.kernel.tiling import Tile, Tiler


@dataclass(frozen=True)
class KernelTileThreadsPass(ModulePass):
    """Split a threadgroup's tile over its threads: an `scf.forall` inside the other (L3).

    before:  %t = linalg.generic ... -> tensor<4x64xf32>
    after:   %t = scf.forall (%i, %j) in (4, 16) shared_outs(%o = ...) -> (tensor<4x64xf32>) {
               %e = linalg.generic ... -> tensor<1x4xf32> ... } {mapping = [#gpu.thread<...>, ...]}

    The ops of a row kernel and of a contraction stay as they are: outside a loop over threads, an
    op belongs to all threads of the threadgroup together.
    """

    name = "kernel-tile-threads"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp) and is_kernel(func):
                schedule = Schedule.from_attr(func.attributes["ingot.schedule"])
                if schedule.kind != "pointwise":
                    continue
                for loop in list(func.body.block.ops):
                    if isinstance(loop, ForallOp) and is_over_blocks(loop):
                        tile_threads(loop, schedule)


def tile_threads(blocks: ForallOp, schedule: Schedule) -> None:
    """Rewrite the body of the loop over threadgroups."""
    body = blocks.body.block
    in_parallel = body.last_op
    assert isinstance(in_parallel, InParallelOp)
    inserts = [op for op in in_parallel.region.block.ops if isinstance(op, ParallelInsertSliceOp)]
    old_ops = list(body.ops)[:-1]
    outer = before(in_parallel, blocks.location)

    counts = [-(-n // t) for n, t in zip(schedule.threadgroup, schedule.thread, strict=True)]
    looped = [i for i, count in enumerate(counts) if count != 1]
    bounds = [counts[i] for i in looped] or [1]
    shared = [
        outer.insert(
            tensor.ExtractSliceOp(
                insert.dest,
                insert.mixed_offsets,
                insert.mixed_sizes,
                [1] * len(insert.mixed_offsets),
                insert.source.type,
            )
        ).result
        for insert in inserts
    ]
    block = Block(arg_types=[IndexType()] * len(bounds) + [v.type for v in shared])
    inner = at_end(block, blocks.location)
    offsets = [
        apply_map(inner, AffineDimExpr(0) * t, [block.args[looped.index(i)]]) if i in looped else 0
        for i, t in enumerate(schedule.thread)
    ]
    tiler = Tiler(inner)
    related = related_dims(old_ops, [insert.source for insert in inserts], len(offsets))
    tiles = _thread_tiles(inner, inserts[0].source, related[0], offsets, schedule)
    nested: list[ParallelInsertSliceOp] = []
    for insert, dims, arg in zip(inserts, related, block.args[len(bounds) :], strict=True):
        nested.append(insert_tile(tiler, insert.source, arg, dims, tiles, insert))
    inner.insert(InParallelOp(Region(Block(nested))))
    loop = ForallOp(bounds, shared, Region(block), thread_mapping(len(bounds)))
    loop.location = blocks.location
    outer.insert(loop)
    for insert, result in zip(inserts, loop.res, strict=True):
        insert.operands[0] = result
    erase_unused(old_ops)


def _thread_tiles(
    builder: Builder,
    source: SSAValue,
    dims: Dims,
    offsets: list[SSAValue | int],
    schedule: Schedule,
) -> list[Tile]:
    """The range of each shared loop that one thread computes, inside its threadgroup's tile."""
    sizes = dict(zip(dims, dimension_sizes(source), strict=True))
    return [
        Tile(offset, tile_size(builder, offset, size, sizes[loop], group // size))
        for loop, (offset, size, group) in enumerate(
            zip(offsets, schedule.thread, schedule.threadgroup, strict=True)
        )
    ]
