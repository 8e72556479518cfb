"""Ops that are refused for good, and what to do instead."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.compiler.dialects.stablehlo.operations import CustomCallOp
from ingot.passes.stablehlo.lowering import Lower, Lowering

_MARKERS = frozenset({"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"})
"""Custom calls that say where a tensor lives, and on one device return it as it is."""

_SEVERAL_DEVICES = (
    "all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute",
    "reduce_scatter", "cross-replica-sum", "partition_id", "replica_id",
)  # fmt: skip
_TRANSFERS = ("infeed", "outfeed", "send", "recv", "after_all", "create_token")


def lower_custom_call(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """Markers vanish; everything else is code that is not in the program."""
    assert isinstance(op, CustomCallOp)
    if op.target in _MARKERS and len(op.ins) == 1 and op.ins[0].type == op.outs[0].type:
        return low.operands(op)
    raise refuse(
        op,
        f"stablehlo.custom_call @{op.target} calls code that is not in the program",
        "write the function with operations that StableHLO has, or compute it outside of the "
        "compiled part",
    )


def _refusing(what: str, hint: str) -> Lower:
    def lower(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
        raise refuse(op, f"{op.name} is not supported: {what}", hint)

    return lower


LOWERINGS: dict[str, Lower] = {
    "stablehlo.custom_call": lower_custom_call,
    **{
        f"stablehlo.{name}": _refusing(
            "programs run on one device", "export the program for a single device"
        )
        for name in _SEVERAL_DEVICES
    },
    **{
        f"stablehlo.{name}": _refusing(
            "a program talks to the host by its arguments and results only",
            "pass the tensors as arguments, and return them as results",
        )
        for name in _TRANSFERS
    },
    **{
        f"stablehlo.{name}": _refusing(
            "tuples cannot be stored", "export the program with flat arguments and results"
        )
        for name in ("tuple", "get_tuple_element")
    },
    **{
        f"stablehlo.{name}": _refusing(
            "quantized types cannot be stored",
            "export the program with quantization written out as integer arithmetic",
        )
        for name in ("uniform_quantize", "uniform_dequantize")
    },
    "stablehlo.rng": _refusing(
        "its numbers are not defined", "use stablehlo.rng_bit_generator, as jax.random does"
    ),
}
