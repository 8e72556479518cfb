"""Structured control flow: `scf` loops and branches as SPIR-V's, with state in variables.

A value that leaves a loop or a branch does so through a function variable, as MLIR 19 and every
SPIR-V tool expect; what reads the SPIR-V finds the loops of the source again.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.index_range import is_non_negative
from ingot.compiler.dialects import spirv
from ingot.passes.lowering.conversion import FunctionConversion, Handler


def _variable(c: FunctionConversion, type_: Attribute, hint: str | None) -> SSAValue:
    pointer = c.emit(spirv.VariableOp(type_))
    pointer.name_hint = hint
    return pointer


def _variables(c: FunctionConversion, op: Operation, names: Sequence[SSAValue]) -> list[SSAValue]:
    """A variable for each result of `op`, named after the result or else after `names`."""
    return [
        _variable(c, c.type(result.type, op), result.name_hint or name.name_hint)
        for result, name in zip(op.results, names, strict=True)
    ]


def _store_all(
    c: FunctionConversion, pointers: Sequence[SSAValue], values: Sequence[SSAValue]
) -> None:
    for pointer, value in zip(pointers, values, strict=True):
        c.add(spirv.StoreOp(pointer, value))


def _converted(c: FunctionConversion, values: Sequence[SSAValue]) -> list[SSAValue]:
    return [c.value(value) for value in values]


def _yielded(block: Block) -> Sequence[SSAValue]:
    last = block.last_op
    assert last is not None
    return last.operands


def convert_for(c: FunctionConversion, op: Operation) -> list[SSAValue]:
    assert isinstance(op, scf.ForOp)
    source = op.body.block
    counter_source, *carried_sources = source.args
    counter_type = c.type(counter_source.type, op)
    carried = _variables(c, op, carried_sources)
    _store_all(c, carried, _converted(c, op.iter_args))
    counter = _variable(c, counter_type, counter_source.name_hint)
    c.add(spirv.StoreOp(counter, c.value(op.lb)))
    entry, header, body, step, merge = (Block() for _ in range(5))
    entry.add_op(spirv.BranchOp(header))
    merge.add_op(spirv.MergeOp())
    upper, stride = c.value(op.ub), c.value(op.step)
    # unsigned: what both bounds show to be no less than zero reads better without a cast
    unsigned = is_non_negative(op.lb) and is_non_negative(op.ub)
    with c.within(header):
        count = c.emit(spirv.LoadOp(counter))
        less = spirv.ULessThanOp if unsigned else spirv.SLessThanOp
        c.add(spirv.BranchConditionalOp(c.emit(less(count, upper)), body, merge))
    with c.within(body):
        position = c.emit(spirv.LoadOp(counter))
        position.name_hint = counter_source.name_hint
        c.values[counter_source] = position
        _load_all(c, carried_sources, carried)
        c.convert_ops(source)
        _store_all(c, carried, _converted(c, _yielded(source)))
        c.add(spirv.BranchOp(step))
    with c.within(step):
        count = c.emit(spirv.LoadOp(counter))
        c.add(spirv.StoreOp(counter, c.emit(spirv.IAddOp(count, stride))))
        c.add(spirv.BranchOp(header))
    c.add(spirv.LoopOp([entry, header, body, step, merge]))
    return _results(c, op, carried)


def _load_all(
    c: FunctionConversion, sources: Sequence[SSAValue], pointers: Sequence[SSAValue]
) -> None:
    for source, pointer in zip(sources, pointers, strict=True):
        value = c.emit(spirv.LoadOp(pointer))
        value.name_hint = source.name_hint
        c.values[source] = value


def _results(c: FunctionConversion, op: Operation, pointers: Sequence[SSAValue]) -> list[SSAValue]:
    """Load what left the region through variables; a result nobody uses is its variable."""
    return [
        c.emit(spirv.LoadOp(pointer)) if result.uses else pointer
        for result, pointer in zip(op.results, pointers, strict=True)
    ]


def convert_while(c: FunctionConversion, op: Operation) -> list[SSAValue]:
    assert isinstance(op, scf.WhileOp)
    before, after = op.before_region.block, op.after_region.block
    condition = before.last_op
    assert isinstance(condition, scf.ConditionOp)
    holds, *passed = condition.operands
    state = [
        _variable(c, c.type(argument.type, op), argument.name_hint) for argument in before.args
    ]
    _store_all(c, state, _converted(c, op.arguments))
    # a result needs a variable of its own unless it is a value carried into the test
    leaving = [
        state[argument.index]
        if isinstance(argument, BlockArgument) and argument.owner is before
        else _variable(c, c.type(argument.type, op), result.name_hint)
        for argument, result in zip(passed, op.results, strict=True)
    ]
    entry, header, test, body, step, merge = (Block() for _ in range(6))
    entry.add_op(spirv.BranchOp(header))
    merge.add_op(spirv.MergeOp())
    # the header may hold the test itself, unless the test has control flow of its own
    nested = any(inner.regions for inner in before.ops)
    if nested:
        header.add_op(spirv.BranchOp(test))
    with c.within(test if nested else header):
        _load_all(c, before.args, state)
        c.convert_ops(before)
        for argument, pointer in zip(passed, leaving, strict=True):
            if argument.owner is not before:
                c.add(spirv.StoreOp(pointer, c.value(argument)))
        c.add(spirv.BranchConditionalOp(c.value(holds), body, merge))
    with c.within(body):
        _load_all(c, after.args, leaving)
        c.convert_ops(after)
        _store_all(c, state, _converted(c, _yielded(after)))
        c.add(spirv.BranchOp(step))
    step.add_op(spirv.BranchOp(header))
    blocks = [entry, header, *([test] if nested else []), body, step, merge]
    c.add(spirv.LoopOp(blocks))
    return _results(c, op, leaving)


def convert_if(c: FunctionConversion, op: Operation) -> list[SSAValue]:
    assert isinstance(op, scf.IfOp)
    condition = c.value(op.cond)
    sources = [region.block for region in op.regions if region.blocks]
    outcomes = _variables(c, op, op.results)
    arms: list[Block] = []
    for source in sources:
        arm = Block()
        with c.within(arm):
            c.convert_ops(source)
            _store_all(c, outcomes, _converted(c, _yielded(source)))
        arms.append(arm)
    if len(arms) == 2 and arms[1].first_op is None:
        arms.pop()
    c.add(spirv.SelectionOp.if_then_else(condition, *arms))
    return _results(c, op, outcomes)


def convert_return(c: FunctionConversion, op: Operation) -> None:
    """End a function."""
    values = c.operands(op)
    if len(values) > 1:
        raise refuse(op, "a function of a kernel with more than one result")
    c.add(spirv.ReturnValueOp(values[0]) if values else spirv.ReturnOp())


HANDLERS: dict[str, Handler] = {
    "scf.for": convert_for,
    "scf.while": convert_while,
    "scf.if": convert_if,
}
"""Handlers by op name."""
