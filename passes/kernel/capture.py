"""Operands that no slice expresses: read inside the body of their op instead."""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    IndexType,
    TensorType,
)
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import (
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from ingot.compiler.analysis.building import at_end, before
from ingot.compiler.analysis.structured import indexing_maps, loop_extents
from ingot.compiler.dialects.arith import ConstantOp
from ingot.compiler.dialects.linalg import GenericOp, IndexOp
from ingot.passes.kernel.indices import Index, apply_map, linear_coefficients


def is_sliceable(expr: AffineExpr, num_dims: int, tiled: set[int]) -> bool:
    """Whether the elements that a tile reads along `expr` form a range that moves with the tile."""
    if not (expr.used_dims() & tiled):
        return True
    linear = linear_coefficients(expr, num_dims)
    return linear is not None and all(c >= 0 for c in linear[0])


def capture_operand(op: GenericOp, position: int, builder: Builder) -> GenericOp:
    """Read input `position` by `tensor.extract` in the body instead of through its indexing map.

    Used for maps that no slice expresses (reversed, mod). A loop whose extent only this operand
    gave keeps it through an unused `tensor.empty` input.
    """
    source = op.inputs[position]
    map_ = indexing_maps(op)[position]
    extents = loop_extents(op)
    inputs = [v for i, v in enumerate(op.inputs) if i != position]
    maps = [m for i, m in enumerate(indexing_maps(op)) if i != position]
    body = op.body.clone()
    block = body.block
    replaced = block.args[position]
    inner = before(first) if (first := block.first_op) else at_end(block)
    loops: list[SSAValue] = [inner.insert(IndexOp(i)).result for i in range(map_.num_dims)]
    indices: list[SSAValue] = []
    for expr in map_.results:
        index = apply_map(inner, expr, loops)
        indices.append(_as_value(inner, index))
    element = inner.insert(tensor.ExtractOp(source, indices, replaced.type)).result
    replaced.replace_all_uses_with(element)
    block.erase_arg(replaced)
    for loop in loops:
        if not loop.uses:
            owner = loop.owner
            assert isinstance(owner, Operation)
            owner.detach()
            owner.erase()
    defined = {e.position for m in maps for e in m.results if isinstance(e, AffineDimExpr)}
    for loop in range(map_.num_dims):
        if loop in defined:
            continue
        element_type = replaced.type
        shape = builder.insert(tensor.EmptyOp([], TensorType(element_type, [extents[loop]])))
        block.insert_arg(element_type, len(inputs))
        inputs.append(shape.tensor)
        maps.insert(len(inputs) - 1, AffineMap(map_.num_dims, 0, (AffineDimExpr(loop),)))
    new_op = GenericOp(
        inputs,
        list(op.outputs),
        body,
        [AffineMapAttr(m) for m in maps],
        op.iterator_types,
        list(op.result_types),
    )
    new_op.location = op.location
    builder.insert(new_op)
    return new_op


def _as_value(builder: Builder, index: Index) -> SSAValue:
    if isinstance(index, SSAValue):
        return index
    return builder.insert(ConstantOp.from_int_and_width(index, IndexType())).result
