"""Dynamic forms whose result has a static shape, or whose sizes are known."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo import gather, shapes
from ingot.passes.stablehlo.lowering import Lower, Lowering
from ingot.passes.stablehlo.slices import extract_slice, pad


def _known(low: Lowering, op: StableHLOOp, index: int) -> list[int]:
    """The integers that an operand holds."""
    array = low.known.get(op.ins[index])
    if array is None:
        raise refuse(
            op,
            f"{op.name} by an amount that is computed at run time is not supported yet",
            "export the program with static shapes",
        )
    return [int(number) for number in array.reshape(-1)]


def lower_dynamic_pad(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """`stablehlo.pad` by known amounts."""
    amounts = [_known(low, op, index) for index in (2, 3, 4)]
    return [pad(low.emit, low.value(op.ins[0]), low.scalar(op.ins[1]), *amounts)]


def lower_real_dynamic_slice(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """`stablehlo.slice` at known positions."""
    starts, _, strides = (_known(low, op, index) for index in (1, 2, 3))
    sizes = low.result_type(op).get_shape()
    return [extract_slice(low.emit, low.value(op.ins[0]), starts, sizes, strides)]


def lower_dynamic_gather(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """`stablehlo.gather` of slices of known sizes."""
    op.properties["slice_sizes"] = DenseArrayBase.from_list(i64, _known(low, op, 2))
    return gather.lower_gather(low, op)


LOWERINGS: dict[str, Lower] = {
    "stablehlo.dynamic_broadcast_in_dim": shapes.lower_broadcast_in_dim,
    "stablehlo.dynamic_reshape": shapes.lower_reshape,
    "stablehlo.dynamic_iota": shapes.lower_iota,
    "stablehlo.dynamic_pad": lower_dynamic_pad,
    "stablehlo.real_dynamic_slice": lower_real_dynamic_slice,
    "stablehlo.dynamic_gather": lower_dynamic_gather,
}
"""A static result tells the sizes that the operand of the first three holds."""
