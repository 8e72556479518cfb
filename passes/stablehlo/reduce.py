"""Reductions over dimensions: a generic whose body is the op's."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ingot.compiler.analysis.generics import Emitter, fill, make_generic, sizes_by_maps
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.linalg import IteratorTypeAttr, YieldOp
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.lowering import Lower, Lowering


def combine(
    low: Lowering,
    op: StableHLOOp,
    inputs: Sequence[SSAValue],
    maps: Sequence[AffineMap],
    output: AffineMap,
    windows: Sequence[SSAValue] = (),
    window_maps: Sequence[AffineMap] = (),
) -> Sequence[SSAValue]:
    """Fold `inputs`, read by `maps`, into the op's results by its body; they start as its inits.

    `windows` only give loops their extents.
    """
    count = len(op.outs)
    sizes = sizes_by_maps(low.emit, low.result_type(op).get_shape(), inputs, maps, output)
    inits = [
        fill(low.emit, low.scalar(op.ins[count + i]), low.result_type(op, i), sizes)
        for i in range(count)
    ]
    everything = [*inputs, *windows, *inits]
    block = Block(arg_types=[tensor_type(value).element_type for value in everything])
    inner = Emitter.at_end(block, low.emit.location)
    accumulators = block.args[len(block.args) - count :]
    yielded = low.inline(inner, op.bodies[0], [*accumulators, *block.args[:count]])
    inner.add(YieldOp(*yielded))
    kept = output.used_dims()
    iterators = [
        IteratorTypeAttr.parallel() if dim in kept else IteratorTypeAttr.reduction()
        for dim in range(output.num_dims)
    ]
    all_maps = [*maps, *window_maps, *[output] * count]
    generic = make_generic(low.emit, [*inputs, *windows], inits, all_maps, iterators, Region(block))
    return generic.results


def lower_reduce(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """The inputs read in order, the dimensions that are kept written."""
    inputs = low.operands(op)[: len(op.outs)]
    rank = len(shape_of(inputs[0]))
    dims = op.ints("dimensions") or ()
    kept = tuple(AffineExpr.dimension(dim) for dim in range(rank) if dim not in dims)
    maps = [AffineMap.identity(rank)] * len(inputs)
    return combine(low, op, inputs, maps, AffineMap(rank, 0, kept))


LOWERINGS: dict[str, Lower] = {"stablehlo.reduce": lower_reduce}
