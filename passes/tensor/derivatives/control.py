"""Loops and branches between kernels, backwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, TensorType, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from ingot.compiler.analysis.captures import captured_values
from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, empty, erase
from ingot.compiler.analysis.scalar_folding import int_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith

from .kernels import zeros
from .reverse import Reverse, cotangent_type, reverses


@dataclass
class _Clone:
    """The ops of a region in another block, and what stands for its values there."""

    values: dict[SSAValue, SSAValue]
    ops: list[Operation]
    yielded: list[SSAValue]


def _clone(region: Region, emit: Emitter, values: dict[SSAValue, SSAValue]) -> _Clone:
    ops: list[Operation] = []
    block = region.block
    for op in block.ops:
        if op is block.last_op:
            break
        new = emit.builder.insert(op.clone(values))
        for old, copy in zip(op.walk(), new.walk(), strict=True):
            copy.location = old.location
            for a, b in zip(old.results, copy.results, strict=True):
                values[a] = b
            for a_region, b_region in zip(old.regions, copy.regions, strict=True):
                for a_block, b_block in zip(a_region.blocks, b_region.blocks, strict=True):
                    values.update(zip(a_block.args, b_block.args, strict=True))
        ops.append(new)
    assert block.last_op is not None
    return _Clone(values, ops, [values.get(v, v) for v in block.last_op.operands])


def _active_from_above(regions: Sequence[Region], active: set[SSAValue]) -> list[SSAValue]:
    """The active values that regions use and do not make, in order of first use."""
    return [value for value in captured_values(regions) if value in active]


def _reversed_clone(clone: _Clone, emit: Emitter, active: set[SSAValue]) -> Reverse:
    """The walk over cloned ops, for the copies of active values and those from above."""
    copies = {clone.values[v] for v in active if v in clone.values}
    return Reverse(emit, active | copies)


@reverses(scf.IfOp)
def _if(reverse: Reverse, op: Operation, cotangents: Sequence[SSAValue | None]) -> None:
    """The branch that was taken runs again, then backwards."""
    assert isinstance(op, scf.IfOp)
    wanted = _active_from_above(op.regions, reverse.active)
    if not wanted:
        return
    types = [cotangent_type(v.type) for v in wanted]
    regions: list[Region] = []
    for region in (op.true_region, op.false_region):
        block = Block()
        emit = Emitter.at_end(block, op.location)
        clone = _clone(region, emit, {})
        inner = _reversed_clone(clone, emit, reverse.active)
        for value, cotangent in zip(clone.yielded, cotangents, strict=True):
            inner.add(value, cotangent)
        inner.run(clone.ops)
        emit.add(scf.YieldOp(*[inner.take_or_zeros(v) for v in wanted]))
        regions.append(Region(block))
    branch = reverse.emit.add(scf.IfOp(op.cond, types, regions[0], regions[1]))
    for value, result in zip(wanted, branch.results, strict=True):
        reverse.add(value, result)


@reverses(scf.WhileOp)
def _while(reverse: Reverse, op: Operation, cotangents: Sequence[SSAValue | None]) -> None:
    raise refuse(
        op,
        "a loop that ends when its data says so cannot be differentiated: how often it runs is not "
        "known, so what it carries cannot be kept",
        "give it a fixed trip count (scf.for, or a counter that alone decides)",
    )


@reverses(scf.ForOp)
def _for(reverse: Reverse, op: Operation, cotangents: Sequence[SSAValue | None]) -> None:
    """The loop also keeps what it carries into each iteration; then the iterations run again one
    by one, from the last, and each backwards."""
    assert isinstance(op, scf.ForOp)
    lower, upper, step = (int_of(v) for v in (op.lb, op.ub, op.step))
    if lower is None or upper is None or step is None or step <= 0:
        raise refuse(
            op,
            "scf.for whose trip count is computed cannot be differentiated",
            "give it constant bounds",
        )
    for argument in op.body.block.args[1:]:
        if not isinstance(argument.type, TensorType):
            raise refuse(
                op,
                f"scf.for that carries a {argument.type} cannot be differentiated",
                f"carry a tensor<{argument.type}>",
            )
    times = max(0, -(-(upper - lower) // step))
    if times == 0:
        for init, cotangent in zip(op.iter_args, cotangents, strict=True):
            reverse.add(init, cotangent)
        return
    loop = _Loop(op, times, lower, step)
    stacks = loop.keep()
    loop.backwards(reverse, stacks, cotangents)
    erase(op)


@dataclass(frozen=True)
class _Loop:
    """A loop with a fixed trip count, counted from 0 by an index in what is made of it."""

    op: scf.ForOp
    times: int
    lower: int
    step: int

    @property
    def carried(self) -> Sequence[SSAValue]:
        """What the loop carries, as its body sees it."""
        return self.op.body.block.args[1:]

    def _is_kept(self, position: int) -> bool:
        """Whether the body reads what is carried, and changes it."""
        terminator = self.op.body.block.last_op
        argument = self.carried[position]
        assert terminator is not None
        is_read = any(use.operation is not terminator for use in argument.uses)
        return is_read and terminator.operands[position] is not argument

    def keep(self) -> dict[int, SSAValue]:
        """Put a loop in the place of `op` that also stacks what each iteration begins with; the
        stacks, by the position of what they hold."""
        emit = Emitter.before(self.op)
        kept = [i for i in range(len(self.carried)) if self._is_kept(i)]
        types = [tensor_type(self.carried[i]) for i in kept]
        stack_types = [TensorType(t.element_type, [self.times, *t.get_shape()]) for t in types]
        carried_types = [v.type for v in self.carried]
        block = Block(arg_types=[IndexType(), *carried_types, *stack_types])
        for argument, old in zip(block.args, self.op.body.block.args, strict=False):
            argument.name_hint = old.name_hint
        inner = Emitter.at_end(block, self.op.location)
        counter, *arguments = block.args
        carried, stacks = arguments[: len(carried_types)], arguments[len(carried_types) :]
        filled: list[SSAValue] = []
        for i, stack in zip(kept, stacks, strict=True):
            sizes = [1, *tensor_type(self.carried[i]).get_shape()]
            filled.append(
                inner.add(
                    tensor.InsertSliceOp.build(
                        operands=[carried[i], stack, [counter], [], []],
                        result_types=[stack.type],
                        properties=_one_of_stack(sizes),
                    )
                ).result
            )
        values = self._inside(inner, counter, carried)
        clone = _clone(self.op.body, inner, values)
        inner.add(scf.YieldOp(*clone.yielded, *filled))
        starts = [*self.op.iter_args, *(empty(emit, t) for t in stack_types)]
        loop = self._count(emit, starts, block)
        for old, new in zip(self.op.results, loop.results, strict=False):
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        return dict(zip(kept, loop.results[len(carried_types) :], strict=True))

    def _count(self, emit: Emitter, starts: Sequence[SSAValue], block: Block) -> scf.ForOp:
        bounds = emit.index(0), emit.index(self.times), emit.index(1)
        return emit.add(scf.ForOp(*bounds, starts, block))

    def _inside(
        self, emit: Emitter, counter: SSAValue, carried: Sequence[SSAValue]
    ) -> dict[SSAValue, SSAValue]:
        """What stands for the arguments of the body in iteration `counter`."""
        induction, *arguments = self.op.body.block.args
        values: dict[SSAValue, SSAValue] = dict(zip(arguments, carried, strict=True))
        values[induction] = counter
        if not induction.uses:
            return values
        place = counter
        if self.step != 1:
            place = emit.add(arith.MuliOp(place, emit.index(self.step))).result
        if self.lower != 0:
            place = emit.add(arith.AddiOp(place, emit.index(self.lower))).result
        if not isinstance(induction.type, IndexType):
            place = emit.add(arith.IndexCastOp(place, induction.type)).result
        values[induction] = place
        return values

    def backwards(
        self,
        reverse: Reverse,
        stacks: dict[int, SSAValue],
        cotangents: Sequence[SSAValue | None],
    ) -> None:
        """Emit the loop from the last iteration to the first, and add what comes out of it."""
        emit = reverse.emit
        active = [i for i, v in enumerate(self.carried) if v in reverse.active]
        above = _active_from_above([self.op.body], reverse.active)
        starts: list[SSAValue] = []
        for i in active:
            given = cotangents[i]
            type_ = tensor_type(self.carried[i])
            starts.append(zeros(emit, type_) if given is None else given)
        starts += [zeros(emit, cotangent_type(v.type)) for v in above]
        block = Block(arg_types=[IndexType(), *(v.type for v in starts)])
        inner = Emitter.at_end(block, self.op.location)
        last = inner.index(self.times - 1)
        counter = inner.add(arith.SubiOp(last, block.args[0])).result
        carried = [self._begun_with(inner, i, stacks, counter) for i in range(len(self.carried))]
        clone = _clone(self.op.body, inner, self._inside(inner, counter, carried))
        walk = _reversed_clone(clone, inner, reverse.active)
        walk.active.update(carried[i] for i in active)
        sums = block.args[1 + len(active) :]
        for value, so_far in zip(above, sums, strict=True):
            walk.add(value, so_far)
        for i, cotangent in zip(active, block.args[1:], strict=False):
            walk.add(clone.yielded[i], cotangent)
        walk.run(clone.ops)
        results = [walk.take_or_zeros(carried[i]) for i in active]
        results += [walk.take_or_zeros(v) for v in above]
        inner.add(scf.YieldOp(*results))
        loop = self._count(emit, starts, block)
        values = [*(self.op.iter_args[i] for i in active), *above]
        for value, result in zip(values, loop.results, strict=True):
            reverse.add(value, result)

    def _begun_with(
        self, emit: Emitter, position: int, stacks: dict[int, SSAValue], counter: SSAValue
    ) -> SSAValue:
        """What iteration `counter` had of a carried value; of one that it does not change the
        value from before the loop, by a name of its own."""
        type_ = tensor_type(self.carried[position])
        if position not in stacks:
            return emit.add(tensor.CastOp(self.op.iter_args[position], type_)).dest
        return emit.add(
            tensor.ExtractSliceOp.build(
                operands=[stacks[position], [counter], [], []],
                result_types=[type_],
                properties=_one_of_stack([1, *type_.get_shape()]),
            )
        ).result


def _one_of_stack(sizes: Sequence[int]) -> dict[str, DenseArrayBase]:
    """The slice at a computed place of the first dimension."""
    zeros_ = [0] * (len(sizes) - 1)
    return {
        "static_offsets": DenseArrayBase.from_list(i64, [DYNAMIC_INDEX, *zeros_]),
        "static_sizes": DenseArrayBase.from_list(i64, sizes),
        "static_strides": DenseArrayBase.from_list(i64, [1] * len(sizes)),
    }
