"""Gathers of every form of dimension numbers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, elementwise, empty, loop_indices, size_of
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.stablehlo.attributes import GatherAttr
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.lowering import Lower, Lowering, is_unsigned
from ingot.passes.stablehlo.shapes import index_of
from ingot.passes.stablehlo.sizes import Index, open_only, room, sizes_of


def lower_gather(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """`gather` of slices of known sizes."""
    return [gather(low, op, op.ints("slice_sizes") or ())]


def gather(low: Lowering, op: StableHLOOp, sizes: Sequence[Index]) -> SSAValue:
    """Each element read at its start indices, moved so that the slice fits, plus its offsets.

    Every component of the start indices is an input of its own, so that what computes the indices
    fuses with the gather.
    """
    numbers = op.properties.get("dimension_numbers")
    if not isinstance(numbers, GatherAttr):
        raise refuse(op, "stablehlo.gather without dimension numbers")
    value, indices, *_ = low.operands(op)
    type_ = low.result_type(op)
    rank = type_.get_num_dims()
    extents, index_shape = sizes_of(low.emit, value), shape_of(indices)
    if 0 in type_.get_shape() and DYNAMIC_INDEX not in type_.get_shape():
        return empty(low.emit, type_)
    offset_dims = numbers.list_of("offset_dims")
    collapsed = numbers.list_of("collapsed_slice_dims")
    operand_batch = numbers.list_of("operand_batching_dims")
    index_batch = numbers.list_of("start_indices_batching_dims")
    start_map = numbers.list_of("start_index_map")
    vector_dim = numbers.single("index_vector_dim")

    batch_loops = [dim for dim in range(rank) if dim not in offset_dims]
    window_dims = [d for d in range(len(extents)) if d not in (*collapsed, *operand_batch)]
    offset_of = dict(zip(window_dims, offset_dims, strict=True))
    index_dims = [dim for dim in range(len(index_shape)) if dim != vector_dim]
    loop_of_index = dict(zip(index_dims, batch_loops, strict=True))

    def component_map(component: int) -> AffineMap:
        return AffineMap(
            rank,
            0,
            tuple(
                AffineConstantExpr(component)
                if dim == vector_dim
                else AffineExpr.dimension(loop_of_index[dim])
                for dim in range(len(index_shape))
            ),
        )

    unsigned = is_unsigned(op.ins[1].type)

    def body(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        loops = loop_indices(emit, rank)
        position: list[SSAValue] = []
        for dim, extent in enumerate(extents):
            terms: list[SSAValue] = []
            if dim in start_map and (most := room(emit, extent, sizes[dim])) != 0:
                start = args[start_map.index(dim)]
                terms.append(index_of(emit, start, unsigned, most))
            if dim in operand_batch:
                terms.append(loops[loop_of_index[index_batch[operand_batch.index(dim)]]])
            if dim in offset_of:
                terms.append(loops[offset_of[dim]])
            if not terms:
                terms.append(emit.index(0))
            total = terms[0]
            for term in terms[1:]:
                total = emit.add(arith.AddiOp(total, term)).result
            position.append(total)
        return [emit.add(tensor.ExtractOp(value, position, type_.element_type)).result]

    maps = [component_map(i) for i in range(len(start_map))]
    loop_sizes: list[Index] = [1] * rank
    for dim, loop in offset_of.items():
        loop_sizes[loop] = sizes[dim]
    for dim, loop in loop_of_index.items():
        loop_sizes[loop] = size_of(low.emit, indices, dim)
    open_sizes = open_only(low.emit, type_, loop_sizes)
    return elementwise(low.emit, type_, [indices] * len(maps), maps, body, open_sizes)


def lower_torch_index_select(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """Along dimension `dim` what the indices name, which are moved into it.

    Loops: the operand's dimensions before `dim`, those of the indices, those after `dim`; the first
    `batch_dims` are the operand's and the indices'.
    """
    value, indices = low.operands(op)
    type_ = low.result_type(op)
    dim, batch = op.int("dim"), op.int("batch_dims")
    size = shape_of(value)[dim]
    rank, more = type_.get_num_dims(), len(shape_of(indices)) - batch
    if 0 in type_.get_shape():
        return [empty(low.emit, type_)]
    own = (*range(batch), *range(dim, dim + more))
    map_ = AffineMap(rank, 0, tuple(AffineExpr.dimension(loop) for loop in own))
    unsigned = is_unsigned(op.ins[1].type)

    def body(emit: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        loops = loop_indices(emit, rank)
        at = [*loops[:dim], index_of(emit, args[0], unsigned, size - 1), *loops[dim + more :]]
        return [emit.add(tensor.ExtractOp(value, at, type_.element_type)).result]

    return [elementwise(low.emit, type_, [indices], [map_], body)]


LOWERINGS: dict[str, Lower] = {
    "stablehlo.gather": lower_gather,
    "stablehlo.torch_index_select": lower_torch_index_select,
}
