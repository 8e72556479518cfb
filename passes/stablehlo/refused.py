"""Ops that are refused for good, and what to do instead."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.lowering import Lower, Lowering

_SEVERAL_DEVICES = (
    "all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute",
    "reduce_scatter", "cross-replica-sum", "partition_id", "replica_id",
)  # fmt: skip
_TRANSFERS = ("infeed", "outfeed", "send", "recv", "after_all", "create_token")


def _refusing(what: str, hint: str) -> Lower:
    def lower(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
        raise refuse(op, f"{op.name} is not supported: {what}", hint)

    return lower


LOWERINGS: dict[str, Lower] = {
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
    "stablehlo.set_dimension_size": _refusing(
        "the size of a tensor cannot change while the program runs",
        "pad the tensor, and mask what is past its end",
    ),
    "stablehlo.rng": _refusing(
        "its numbers are not defined", "use stablehlo.rng_bit_generator, as jax.random does"
    ),
}
