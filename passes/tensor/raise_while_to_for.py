"""Loops that a counter alone ends, as loops with a trip count."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, BlockArgument, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.generics import Emitter, erase
from ingot.compiler.analysis.scalar_folding import int_of
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.linalg import FillOp, GenericOp

_PREDICATES = {1: "ne", 2: "slt", 3: "sle"}
"""Comparisons of a counter that grows with its end, by the value of the predicate."""


def _scalar(value: SSAValue) -> SSAValue:
    """The scalar that a value of the host stands for: through rank 0 tensors and their bodies."""
    while True:
        owner = value.owner
        match owner:
            case tensor.ExtractOp() if not owner.indices:
                value = owner.tensor
            case FillOp():
                value = owner.inputs[0]
            case GenericOp() if not owner.iterator_types.data and len(owner.results) == 1:
                assert owner.body.block.last_op is not None
                value = owner.body.block.last_op.operands[0]
            case Block() if isinstance(value, BlockArgument) and isinstance(
                owner.parent_op(), GenericOp
            ):
                generic = owner.parent_op()
                assert isinstance(generic, GenericOp)
                value = generic.operands[value.index]
            case _:
                return value


@dataclass(frozen=True)
class _Counter:
    """Which carried value counts, from where to where and by what."""

    position: int
    start: int
    end: int
    step: int

    @property
    def times(self) -> int:
        """The trip count."""
        return max(0, -(-(self.end - self.start) // self.step))


def _counter(op: scf.WhileOp) -> _Counter | None:
    before, after = op.before_region.block, op.after_region.block
    condition, step = before.last_op, after.last_op
    if not isinstance(condition, scf.ConditionOp) or not isinstance(step, scf.YieldOp):
        return None
    if list(condition.operands[1:]) != list(before.args):
        return None
    compare = _scalar(condition.operands[0]).owner
    if not isinstance(compare, arith.CmpiOp):
        return None
    counter, end = _scalar(compare.lhs), int_of(_scalar(compare.rhs))
    predicate = _PREDICATES.get(compare.predicate.value.data)
    if counter not in before.args or end is None or predicate is None:
        return None
    assert isinstance(counter, BlockArgument)
    position = counter.index
    start = int_of(_scalar(op.arguments[position]))
    add = _scalar(step.operands[position]).owner
    if start is None or not isinstance(add, arith.AddiOp):
        return None
    amounts = [int_of(_scalar(v)) for v in add.operands if _scalar(v) is not after.args[position]]
    if len(amounts) != 1 or amounts[0] is None or amounts[0] < 1:
        return None
    if predicate == "ne" and (end < start or (end - start) % amounts[0]):
        return None
    return _Counter(position, start, end + (predicate == "sle"), amounts[0])


def _raise(op: scf.WhileOp, counter: _Counter) -> None:
    emit = Emitter.before(op)
    source = op.after_region.block
    block = Block(arg_types=[IndexType(), *(v.type for v in source.args)])
    for old, new in zip(source.args, block.args[1:], strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    for inner in list(source.ops):
        inner.detach()
        block.add_op(inner)
    bounds = emit.index(0), emit.index(counter.times), emit.index(1)
    loop = emit.add(scf.ForOp(*bounds, list(op.arguments), block))
    for old, new in zip(op.results, loop.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    erase(op)


@dataclass(frozen=True)
class RaiseWhileToForPass(ModulePass):
    """Turn loops that count to a constant into `scf.for` (L1 to L1).

        scf.while (%i = %zero, %x = %x0) { %c = cmpi slt, %i, 16; condition(%c) %i, %x }
            do { ...; yield %i + 1, %y }
    becomes
        scf.for %k = 0 to 16 step 1 iter_args(%i = %zero, %x = %x0) { ...; yield %i + 1, %y }
    """

    name = "raise-while-to-for"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every loop of the module, the inner ones too."""
        loops = [inner for inner in op.walk() if isinstance(inner, scf.WhileOp)]
        for loop in loops:
            counter = _counter(loop)
            if counter is not None:
                _raise(loop, counter)
