"""The pass `kernel-tile-threadgroups`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import affine, tensor
from xdsl.dialects.builtin import AffineMapAttr, IndexType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, OpResult, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.building import at_end, before
from ingot.compiler.analysis.kernel_shape import is_kernel, kernel_results
from ingot.compiler.analysis.schedule import Schedule
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.dialects.ingot import ScanOp
from ingot.compiler.dialects.scf import ForallOp, InParallelOp
from ingot.compiler.dialects.tensor import ParallelInsertSliceOp
from ingot.passes.kernel.indices import Index, apply_map, erase_unused, tile_size
from ingot.passes.kernel.mapping import block_mapping
from ingot.passes.kernel.results import insert_tile, related_dims
from ingot.passes.kernel.tiling import Tile, Tiler


@dataclass(frozen=True)
class KernelTileThreadgroupsPass(ModulePass):
    """Split every kernel (L2) over threadgroups: an `scf.forall` over tiles of its results (L3).

    before:  %r = linalg.generic ... ins(%x : tensor<100x64xf32>) ... -> tensor<100x64xf32>
    after:   %r = scf.forall (%i) in (25) shared_outs(%o = %empty) -> (tensor<100x64xf32>) {
               %t = linalg.generic ... ins(%x[%i * 4, 0] [4, 64]) ...
    """

    name = "kernel-tile-threadgroups"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp) and is_kernel(func):
                tile_kernel(func, Schedule.from_attr(func.attributes["ingot.schedule"]))


def tile_kernel(func: FuncOp, schedule: Schedule) -> None:
    """Rewrite the body of one kernel."""
    results = kernel_results(func)
    terminator = func.body.block.last_op
    assert isinstance(terminator, ReturnOp)
    old_ops = list(func.body.block.ops)[:-1]
    outer = before(terminator)
    extents = shared_extents(results[0], len(schedule.threadgroup))
    counts = [-(-n // t) for n, t in zip(extents, schedule.threadgroup, strict=True)]
    looped = [i for i, count in enumerate(counts) if count != 1] or [0] * bool(counts)
    bounds = [counts[i] for i in looped] or [1]
    swizzled = looped[-2:] == [len(counts) - 2, len(counts) - 1] and _is_swizzled(counts, schedule)
    if swizzled:
        # the last loop runs over neighbouring rows, the one before over columns
        bounds[-2:] = [counts[-2] // schedule.swizzle, counts[-1], schedule.swizzle]

    inits: list[SSAValue] = []
    for result in results:
        inits.append(outer.insert(tensor.EmptyOp([], result.type)).tensor)
    block = Block(arg_types=[IndexType()] * len(bounds) + [v.type for v in inits])
    location = results[0].op.location
    inner = at_end(block, location)
    tiles: list[Tile] = []
    for i, (size, extent) in enumerate(zip(schedule.threadgroup, extents, strict=True)):
        if i in looped and counts[i] != 1:
            loop = looped.index(i)
            iv = block.args[loop]
            expr: AffineExpr = AffineDimExpr(0) * size
            if swizzled and i == len(counts) - 2:
                expr = expr * schedule.swizzle + AffineDimExpr(1) * size
            offset = apply_map(inner, expr, [iv, block.args[len(bounds) - 1]])
        else:
            offset = 0
        tiles.append(Tile(offset, _size(inner, offset, size, extent, counts[i], schedule)))

    tiler = Tiler(inner)
    inserts: list[ParallelInsertSliceOp] = []
    related = related_dims(old_ops, results, len(tiles))
    for result, dims, shared in zip(results, related, block.args[len(bounds) :], strict=True):
        inserts.append(insert_tile(tiler, result, shared, dims, tiles, result.op))
    inner.insert(InParallelOp(Region(Block(inserts))))
    loop = ForallOp(bounds, inits, Region(block), block_mapping(len(bounds)))
    loop.location = location
    outer.insert(loop)
    for i, value in enumerate(loop.res):
        terminator.operands[i] = value
    erase_unused(old_ops)


def _is_swizzled(counts: list[int], schedule: Schedule) -> bool:
    """Whether rows of threadgroups are visited several at a time."""
    return schedule.swizzle > 1 and counts[-2] % schedule.swizzle == 0


def _size(
    builder: Builder, offset: Index, size: int, extent: int, count: int, schedule: Schedule
) -> Index:
    """The size of a tile. Threads that share reductions compute whole tiles of the scheduled size,
    so even a single tile that is smaller counts as one at the edge."""
    if schedule.kind in ("contraction", "column") and extent < size:
        exprs = (AffineConstantExpr(size), AffineConstantExpr(extent))
        return builder.insert(affine.MinOp([], AffineMapAttr(AffineMap(0, 0, exprs)))).result
    return tile_size(builder, offset, size, extent, count)


def shared_extents(result: OpResult, count: int) -> tuple[int, ...]:
    """Extents of the loops that a schedule tiles: the leading dimensions of the first result."""
    shape = shape_of(result)
    if isinstance(result.op, ScanOp) and result.index == 0:
        dimension = result.op.dimension.value.data
        shape = (*shape[:dimension], *shape[dimension + 1 :])
    return shape[:count]
