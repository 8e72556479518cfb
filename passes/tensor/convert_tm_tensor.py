"""Turn torch-mlir's `tm_tensor` ops into ours."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, erase
from ingot.compiler.analysis.scalar_folding import constant_of
from ingot.compiler.dialects import ingot, tm_tensor
from ingot.compiler.dialects.linalg import FillOp

_NEUTRAL: dict[type[Operation], float] = {
    arith.AddfOp: 0,
    arith.AddiOp: 0,
    arith.MulfOp: 1,
    arith.MuliOp: 1,
}


def _starts_neutral(op: tm_tensor.ScanOp) -> bool:
    """Whether combining with the initial accumulator changes nothing."""
    init = op.outputs[1].owner
    combine = op.body.block.first_op
    if not isinstance(init, FillOp) or combine is None or type(combine) not in _NEUTRAL:
        return False
    start = constant_of(init.inputs[0])
    return start is not None and start.value.data == _NEUTRAL[type(combine)]


def _convert_scan(op: tm_tensor.ScanOp) -> None:
    dimension = op.properties["dimension"]
    inclusive = op.properties["inclusive"]
    assert isinstance(dimension, IntegerAttr) and isinstance(inclusive, IntegerAttr)
    if inclusive.value.data and not _starts_neutral(op):
        # There the first element is not combined with the accumulator, but ours is.
        raise refuse(
            op, "an inclusive tm_tensor.scan that starts from a value is not supported yet"
        )
    body = op.detach_region(op.body)
    terminator = body.block.last_op
    assert isinstance(terminator, tm_tensor.YieldOp)
    emit = Emitter.at_end(body.block, terminator.location)
    yielded = list(terminator.operands)
    erase(terminator)
    emit.add(ingot.YieldOp(*yielded))
    scan = Emitter.before(op).add(
        ingot.ScanOp(
            op.inputs[0],
            op.outputs[0],
            op.outputs[1],
            dimension.value.data,
            bool(inclusive.value.data),
            body,
        )
    )
    for old, new in zip(op.results, scan.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    erase(op)


@dataclass(frozen=True)
class ConvertTMTensorPass(ModulePass):
    """Turn `tm_tensor.scan` into `ingot.scan` (L1 to L1).

        tm_tensor.scan dimension(1) inclusive(true) ins(%x) outs(%0, %1) { tm_tensor.yield %s }
    becomes
        ingot.scan inclusive dimension = 1 ins(%x) outs(%0, %1) { ingot.yield %s }
    """

    name = "convert-tm-tensor"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions; raises `Refusal` for the other ops of the dialect."""
        for function in host_functions(op):
            for inner in list(function.body.walk()):
                if isinstance(inner, tm_tensor.ScanOp):
                    _convert_scan(inner)
                elif isinstance(inner, tm_tensor.TMTensorOp):
                    raise refuse(inner, f"{inner.name} is not supported yet")
