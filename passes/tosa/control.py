"""TOSA's control flow as scf's: conditions become scalars."""

from __future__ import annotations

from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, Region, SSAValue

from ingot.compiler.analysis.generics import Emitter, erase
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.dialects import tosa
from ingot.compiler.dialects.scf import WhileOp


def _scalar(emit: Emitter, condition: SSAValue) -> SSAValue:
    """The one element of a `tensor<i1>` or `tensor<1xi1>`."""
    zeros = [emit.index(0) for _ in shape_of(condition)]
    return emit.add(tensor.ExtractOp(condition, zeros, i1)).result


def _end_in_yield(region: Region) -> None:
    """`scf.yield` in place of `tosa.yield`."""
    last = region.block.last_op
    if isinstance(last, tosa.YieldOp):
        Emitter.before(last).add(scf.YieldOp(*last.operands))
        erase(last)


def lower_cond_if(op: tosa.CondIfOp) -> Operation:
    """`scf.if`."""
    emit = Emitter.before(op)
    condition = _scalar(emit, op.condition)
    regions = [op.detach_region(region) for region in (op.then_region, op.else_region)]
    for region in regions:
        for argument, value in zip(list(region.block.args), op.inputs, strict=True):
            argument.replace_all_uses_with(value)
            region.block.erase_arg(argument)
        _end_in_yield(region)
    return emit.add(scf.IfOp(condition, list(op.result_types), regions[0], regions[1]))


def lower_while_loop(op: tosa.WhileLoopOp) -> Operation:
    """`scf.while`; the condition passes the values of the loop on."""
    before, after = (op.detach_region(region) for region in (op.condition, op.body))
    last = before.block.last_op
    if isinstance(last, tosa.YieldOp):
        emit = Emitter.before(last)
        condition = _scalar(emit, last.operands[0])
        emit.add(scf.ConditionOp(condition, *before.block.args))
        erase(last)
    _end_in_yield(after)
    return Emitter.before(op).add(WhileOp(list(op.inputs), list(op.result_types), before, after))
