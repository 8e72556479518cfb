"""Control flow on the host: `while`, `if` and `case` become scf ops on tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.scf import ConditionOp, IfOp, YieldOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.scf import WhileOp
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.lowering import Lower, Lowering, signless
from ingot.passes.stablehlo.scalar import constant


def _yields(low: Lowering) -> Callable[[Operation], None]:
    """The terminator of a region that returns its values."""

    def last(op: Operation) -> None:
        low.emit.add(YieldOp(*(low.value(value) for value in op.operands)))

    return last


def lower_while(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """`scf.while`; the condition is read on the host."""
    inits = low.operands(op)
    types = [signless(result.type) for result in op.outs]
    cond, body = op.bodies

    def condition(last: Operation) -> None:
        flag = low.scalar(last.operands[0])
        low.emit.add(ConditionOp(flag, *(low.value(arg) for arg in cond.block.args)))

    before = low.region(cond, condition)
    after = low.region(body, _yields(low))
    return low.emit.add(WhileOp(inits, types, before, after)).results


def lower_if(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """`scf.if`."""
    types = [signless(result.type) for result in op.outs]
    flag = low.scalar(op.ins[0])
    regions = [low.region(region, _yields(low)) for region in op.bodies]
    return low.emit.add(IfOp(flag, types, regions[0], regions[1])).results


def lower_case(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """A chain of `scf.if`; an index that names no branch takes the last one."""
    if not op.bodies:
        raise refuse(op, "stablehlo.case without branches")
    index = low.scalar(op.ins[0])
    types = [signless(result.type) for result in op.outs]
    emit = low.emit

    def branch(number: int) -> Region:
        if number == len(op.bodies) - 1:
            return low.region(op.bodies[number], _yields(low))
        block = Block()
        low.emit = type(emit).at_end(block, emit.location)
        results = choose(number)
        low.emit.add(YieldOp(*results))
        low.emit = emit
        return Region(block)

    def choose(number: int) -> Sequence[SSAValue]:
        here = low.emit
        wanted = here.add(arith.ConstantOp(constant(number, index.type))).result
        flag = here.add(arith.CmpiOp(index, wanted, "eq")).result
        then = low.region(op.bodies[number], _yields(low))
        otherwise = branch(number + 1)
        low.emit = here
        return here.add(IfOp(flag, types, then, otherwise)).results

    if len(op.bodies) == 1:
        return _inlined(low, op.bodies[0])
    return choose(0)


def _inlined(low: Lowering, region: Region) -> Sequence[SSAValue]:
    found: list[SSAValue] = []

    def last(op: Operation) -> None:
        found.extend(low.value(value) for value in op.operands)

    low.ops(list(region.block.ops), last)
    return found


LOWERINGS: dict[str, Lower] = {
    "stablehlo.while": lower_while,
    "stablehlo.if": lower_if,
    "stablehlo.case": lower_case,
}
