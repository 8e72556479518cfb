"""`stablehlo.map`: a region applied to every element."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from ingot.compiler.analysis.generics import elementwise
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.lowering import Lower, Lowering


def lower_map(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """One generic with the region's ops."""
    inputs = low.operands(op)
    type_ = low.result_type(op)
    maps = [AffineMap.identity(type_.get_num_dims())] * len(inputs)
    return [
        elementwise(
            low.emit, type_, inputs, maps, lambda emit, args: low.inline(emit, op.bodies[0], args)
        )
    ]


LOWERINGS: dict[str, Lower] = {"stablehlo.map": lower_map}
