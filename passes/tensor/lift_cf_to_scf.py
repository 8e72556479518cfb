"""Turn branches between blocks into structured control flow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import cf, func, scf
from xdsl.dialects.builtin import LocationAttr, ModuleOp, i1
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.functions import branching_functions
from ingot.compiler.analysis.generics import Emitter, erase
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.scf import WhileOp

Edge = tuple[Block, Sequence[SSAValue]]
"""Where a branch goes, and the arguments that it passes."""


def _edges(block: Block) -> list[Edge]:
    """Where a block may go next."""
    last = block.last_op
    match last:
        case cf.BranchOp():
            return [(last.successor, list(last.arguments))]
        case cf.ConditionalBranchOp():
            return [
                (last.then_block, list(last.then_arguments)),
                (last.else_block, list(last.else_arguments)),
            ]
        case _:
            return []


def _predecessors(region: Region) -> dict[Block, list[Block]]:
    """For each block the blocks that go there, one entry for each edge."""
    found: dict[Block, list[Block]] = {block: [] for block in region.blocks}
    for block in region.blocks:
        for target, _ in _edges(block):
            found[target].append(block)
    return found


def _remove_terminator(block: Block) -> LocationAttr:
    last = block.last_op
    assert last is not None
    location = last.location
    erase(last)
    return location


def _move_ops(source: Block, target: Block) -> None:
    for op in list(source.ops):
        op.detach()
        target.add_op(op)


def _bind(block: Block, values: Sequence[SSAValue]) -> None:
    """Let the ops of a block use `values` in place of its arguments."""
    for argument, value in zip(block.args, values, strict=True):
        argument.replace_all_uses_with(value)


def _drop(block: Block) -> None:
    region = block.parent
    assert region is not None
    region.detach_block(block)
    block.erase()


def _join_returns(region: Region) -> None:
    """Leave one return, to which all others branch."""
    returns = [b.last_op for b in region.blocks if isinstance(b.last_op, func.ReturnOp)]
    if len(returns) < 2:
        return
    first = returns[0]
    assert first is not None
    exit_ = Block(arg_types=[v.type for v in first.operands])
    region.add_block(exit_)
    Emitter.at_end(exit_, first.location).add(func.ReturnOp(*exit_.args))
    for op in returns:
        assert op is not None
        block = op.parent_block()
        assert block is not None
        emit, values = Emitter.before(op), list(op.operands)
        emit.add(cf.BranchOp(exit_, *values))
        erase(op)


def _merge(block: Block, predecessors: dict[Block, list[Block]]) -> bool:
    """Append the only successor of a block that goes nowhere else and has no other way in."""
    edges = _edges(block)
    if len(edges) != 1:
        return False
    target, values = edges[0]
    if target is block or len(predecessors[target]) != 1:
        return False
    _remove_terminator(block)
    _bind(target, values)
    _move_ops(target, block)
    _drop(target)
    return True


def _lift_if(block: Block, predecessors: dict[Block, list[Block]]) -> bool:
    """Turn a branch whose sides meet again in one block into an `scf.if`."""
    last = block.last_op
    if not isinstance(last, cf.ConditionalBranchOp):
        return False

    def through(edge: Edge) -> tuple[Block, Block | None]:
        """The block where a side ends, and the block of its own that it runs, if any."""
        target, _ = edge
        onward = _edges(target)
        if len(onward) == 1 and len(predecessors[target]) == 1 and onward[0][0] is not target:
            return onward[0][0], target
        return target, None

    sides = _edges(block)
    ends = [through(edge) for edge in sides]
    join = _meeting(sides, ends)
    if join is None or join is block:
        return False
    condition = last.cond
    location = _remove_terminator(block)
    regions: list[Region] = []
    results: Sequence[SSAValue]
    for (target, values), (_, own) in zip(sides, ends, strict=True):
        side = Block()
        if own is not None and target is not join:
            _bind(own, values)
            _, results = _edges(own)[0]
            _remove_terminator(own)
            _move_ops(own, side)
            _drop(own)
        else:
            results = values
        Emitter.at_end(side, location).add(scf.YieldOp(*results))
        regions.append(Region(side))
    emit = Emitter.at_end(block, location)
    branch = emit.add(scf.IfOp(condition, [a.type for a in join.args], regions[0], regions[1]))
    emit.add(cf.BranchOp(join, *branch.results))
    return True


def _meeting(sides: Sequence[Edge], ends: Sequence[tuple[Block, Block | None]]) -> Block | None:
    """The block where both sides of a branch go on: after a block of their own, or at once."""
    first, second = ({target, end} for (target, _), (end, _) in zip(sides, ends, strict=True))
    common = first & second
    return next(iter(common)) if len(common) == 1 else None


def _lift_while(block: Block, predecessors: dict[Block, list[Block]]) -> bool:
    """Turn a block that decides whether to run a body, or itself, again into an `scf.while`."""
    last = block.last_op
    if not isinstance(last, cf.ConditionalBranchOp):
        return False
    for again, leave in ((0, 1), (1, 0)):
        body, passed = _edges(block)[again]
        after, given = _edges(block)[leave]
        if after in (block, body):
            continue
        if body is block:
            _make_while(block, None, passed, after, given, again == 1)
            return True
        onward = _edges(body)
        returns = len(onward) == 1 and onward[0][0] is block
        if returns and len(predecessors[body]) == 1:
            _make_while(block, body, passed, after, given, again == 1)
            return True
    return False


def _make_while(
    header: Block,
    body: Block | None,
    passed: Sequence[SSAValue],
    after: Block,
    given: Sequence[SSAValue],
    negated: bool,
) -> None:
    """`header` becomes a loop that goes on to `after`; values of the header are passed on."""
    last = header.last_op
    assert isinstance(last, cf.ConditionalBranchOp)
    condition: SSAValue = last.cond
    location = _remove_terminator(header)
    before = Block(arg_types=[a.type for a in header.args])
    inner = list(header.ops)
    made: list[SSAValue] = [*header.args, *(r for op in inner for r in op.results)]
    _move_ops(header, before)
    inside = {*inner, *(nested for op in inner for nested in op.walk())}
    used_later = [value for value in made if any(use.operation not in inside for use in value.uses)]
    forwarded = [*passed, *given, *used_later]
    types = [v.type for v in forwarded]
    do = Block(arg_types=types)
    tail = do.args[len(passed) + len(given) :]
    if body is not None:
        _bind(body, do.args[: len(passed)])
        _, back = _edges(body)[0]
        _remove_terminator(body)
        _move_ops(body, do)
        _drop(body)
    else:
        back = list(do.args[: len(passed)])
    in_body = set(do.walk())
    for value, new in zip(used_later, tail, strict=True):
        value.replace_uses_with_if(new, lambda use: use.operation in in_body)
        back = [new if v is value else v for v in back]
    Emitter.at_end(do, location).add(scf.YieldOp(*back))
    end = Emitter.at_end(before, location)
    if negated:
        true = end.add(arith.ConstantOp.from_int_and_width(1, i1)).result
        condition = end.add(arith.XOrIOp(condition, true)).result
    end.add(scf.ConditionOp(condition, *forwarded))
    emit = Emitter.at_end(header, location)
    loop = emit.add(WhileOp(list(header.args), types, Region(before), Region(do)))
    in_before = set(before.walk())
    for argument, new in zip(header.args, before.args, strict=True):
        argument.replace_uses_with_if(new, lambda use: use.operation in in_before)
    results = loop.results[len(passed) + len(given) :]
    for value, new in zip(used_later, results, strict=True):
        value.replace_uses_with_if(
            new, lambda use: not _is_in(use.operation, loop) and use.operation is not loop
        )
    emit.add(cf.BranchOp(after, *loop.results[len(passed) : len(passed) + len(given)]))


def _is_in(op: Operation, ancestor: Operation) -> bool:
    parent: Operation | None = op
    while parent is not None:
        if parent is ancestor:
            return True
        parent = parent.parent_op()
    return False


def _lift(region: Region) -> None:
    _join_returns(region)
    changed = True
    while changed and len(region.blocks) > 1:
        changed = False
        predecessors = _predecessors(region)
        for block in list(region.blocks):
            if _merge(block, predecessors) or _lift_if(block, predecessors):
                changed = True
                break
            if _lift_while(block, predecessors):
                changed = True
                break


@dataclass(frozen=True)
class LiftCfToScfPass(ModulePass):
    """Turn branches between the blocks of host functions into `scf.if` and `scf.while`, where they
    have that shape (L1 to L1).

        cf.cond_br %p, ^then, ^join(%x)
      ^then: ... ; cf.br ^join(%y)
      ^join(%r): ...
    becomes
        %r = scf.if %p { ... ; scf.yield %y } else { scf.yield %x }
        ...
    """

    name = "lift-cf-to-scf"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the functions that have several blocks; what has another shape is left."""
        for function in branching_functions(op):
            _lift(function.body)
