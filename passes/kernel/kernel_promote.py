"""The pass `kernel-promote`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.bufferization import AllocTensorOp
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.scf import ForOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from ingot.compiler.analysis.building import at_end, before
from ingot.compiler.analysis.kernel_shape import is_kernel, transposed_inputs
from ingot.compiler.analysis.schedule import Schedule
from ingot.compiler.analysis.structured import (
    element_type,
    indexing_maps,
    match_contraction,
    reduction_loops,
)
from ingot.compiler.dialects.arith import ConstantOp
from ingot.compiler.dialects.gpu import AddressSpace, AddressSpaceAttr
from ingot.compiler.dialects.linalg import GenericOp
from ingot.compiler.dialects.tensor import PadOp, ParallelInsertSliceOp
from ingot.passes.kernel.indices import (
    Index,
    apply_map,
    dimension_sizes,
    mixed_offsets,
    mixed_sizes,
)
from ingot.passes.kernel.tiling import Tile, Tiler


@dataclass(frozen=True)
class KernelPromotePass(ModulePass):
    """Stage tiles that the threads of a threadgroup share in threadgroup memory (L3).

    before:  %c = linalg.generic ins(%a[0, %k] [64, 16], ...)
    after:   %p = bufferization.alloc_tensor() copy(%a[0, %k] [64, 16])
                    {memory_space = #gpu.address_space<workgroup>} : tensor<64x16xf32>
             %c = linalg.generic ins(%p, ...)

    The copy belongs to all threads of the threadgroup. It has the tile's full size: what lies
    beyond the edge of the tensor is zero, so the loop over the tile needs no guard.
    """

    name = "kernel-promote"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp) and is_kernel(func):
                schedule = Schedule.from_attr(func.attributes["ingot.schedule"])
                if schedule.promote:
                    for generic in list(func.walk()):
                        if isinstance(generic, GenericOp):
                            _promote_inputs(generic, schedule)


def _promote_inputs(op: GenericOp, schedule: Schedule) -> None:
    if schedule.kind == "contraction":
        if isinstance(op.parent_op(), ForOp) and match_contraction(op):
            for position in schedule.promote:
                promote_reduction_tile(op, position, schedule)
    elif any(isinstance(use.operation, ParallelInsertSliceOp) for use in op.results[0].uses):
        # Tiling reads some inputs in the body, so the others have other positions now.
        _, transposed = transposed_inputs(op)
        for position in transposed:
            promote_tile(op, position, schedule)


def promote_tile(op: GenericOp, position: int, schedule: Schedule) -> None:
    """Stage input `position`, a thread's slice of its threadgroup's tile.

    Threads read the copy across its rows, so rows are one element longer than the tile: elements of
    a column then lie in different banks.
    """
    thread_slice = op.inputs[position].owner
    if not isinstance(thread_slice, tensor.ExtractSliceOp):
        return
    group = thread_slice.source
    builder = before(thread_slice)
    tiles = [Tile(0, size) for size in dimension_sizes(group)]
    full = [schedule.threadgroup[_shared_loop(op, position, dim)] for dim in range(len(tiles))]
    alloc = _stage(builder, op, _pad(builder, group, tiles, full), "tile")
    alloc.attributes["ingot.pitch"] = IntegerAttr(full[-1] + 1, i64)
    ranges = zip(mixed_offsets(thread_slice), mixed_sizes(thread_slice), strict=True)
    op.operands[position] = Tiler(builder).slice(alloc.tensor, tuple(Tile(*r) for r in ranges))
    if not thread_slice.result.uses:
        thread_slice.detach()
        thread_slice.erase()


def _stage(builder: Builder, op: GenericOp, value: SSAValue, name: str) -> AllocTensorOp:
    alloc = AllocTensorOp(value.type, copy=value)
    alloc.attributes["memory_space"] = AddressSpaceAttr(AddressSpace.WORKGROUP)
    alloc.tensor.name_hint = name
    alloc.location = op.location
    return builder.insert(alloc)


def promote_reduction_tile(op: GenericOp, position: int, schedule: Schedule) -> None:
    """Stage input `position`: a slice along the reduction of the threadgroup's tile."""
    value = op.inputs[position]
    (depth,) = reduction_loops(op)
    builder = before(op)
    tiles = [Tile(0, size) for size in dimension_sizes(value)]
    full = [
        schedule.reduction
        if expr == AffineDimExpr(depth)
        else schedule.threadgroup[_shared_loop(op, position, dim)]
        for dim, expr in enumerate(indexing_maps(op)[position].results)
    ]
    alloc = _stage(builder, op, _pad(builder, value, tiles, full), f"tile_{'ab'[position]}")
    op.operands[position] = alloc.tensor


def _shared_loop(op: GenericOp, position: int, dim: int) -> int:
    """The shared loop that dimension `dim` of an operand runs along."""
    loop = indexing_maps(op)[position].results[dim]
    return indexing_maps(op)[-1].results.index(loop)


def _pad(builder: Builder, value: SSAValue, tiles: list[Tile], full: list[int]) -> SSAValue:
    """Extend `value` with zeros to the sizes `full`."""
    missing: list[Index] = [
        apply_map(builder, AffineDimExpr(0) * -1 + n, [t.size])
        for t, n in zip(tiles, full, strict=True)
    ]
    if all(m == 0 for m in missing):
        return value
    element = element_type(value)
    block = Block(arg_types=[IndexType()] * len(full))
    body = at_end(block)
    zero = body.insert(ConstantOp(_zero(element)))
    body.insert(tensor.YieldOp(zero.result))
    pad = PadOp(value, [0] * len(full), missing, Region(block), TensorType(element, full))
    return builder.insert(pad).result


def _zero(element: Attribute) -> FloatAttr[AnyFloat] | IntegerAttr[IntegerType | IndexType]:
    if isinstance(element, AnyFloat):
        return FloatAttr(0.0, element)
    assert isa(element, IntegerType)
    return IntegerAttr(0, element)
