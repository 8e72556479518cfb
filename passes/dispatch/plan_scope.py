"""Where the values of a host function lie, and the commands that it becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    IntAttr,
    ModuleOp,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ingot.compiler.analysis.command_tree import (
    Command,
    If,
    Loop,
    Simple,
    While,
    lifetimes,
)
from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.fill_pattern import fill_pattern
from ingot.compiler.analysis.memory_plan import ALIGNMENT, Interval, MemoryPlan, plan_memory
from ingot.compiler.analysis.scalar_folding import constant_of
from ingot.compiler.analysis.sized_grid import GROUPS_X, MOST_ELEMENTS, THREADS
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import plan
from ingot.compiler.dialects.dispatch import CallOp
from ingot.compiler.dialects.host import CheckOp, IfOp, LoopOp, WhileOp
from ingot.compiler.dialects.host import DispatchOp as SizedDispatchOp
from ingot.compiler.dialects.linalg import FillOp
from ingot.compiler.dialects.plan import (
    ConstantOp,
    CopyOp,
    DispatchOp,
    RangeAttr,
    Storage,
    StoreOp,
)
from ingot.compiler.dialects.plan import FillOp as PlanFillOp

from .host_numbers import HostNumbers, Number

_VIEWS = (tensor.CollapseShapeOp, tensor.ExpandShapeOp, tensor.CastOp)

Place = tuple[Storage, int]
"""A storage and its index; for `transient` the number of the intermediate."""


def _root(value: SSAValue) -> SSAValue:
    """The value whose buffer `value` is a view of: reshapes keep the elements where they are."""
    while isinstance(value.owner, _VIEWS):
        value = value.owner.operands[0]
    return value


@dataclass
class Constants:
    """The constants of the module, each stored once."""

    module: ModuleOp
    taken: set[str]
    known: dict[tuple[bytes, Attribute], int] = field(
        default_factory=dict[tuple[bytes, Attribute], int]
    )
    ops: list[ConstantOp] = field(default_factory=list[ConstantOp])

    def index(self, value: SSAValue) -> int:
        """The number of the constant with the data of `value`, an `arith.constant`."""
        assert isinstance(value.owner, arith.ConstantOp)
        attribute = value.owner.value
        type_ = tensor_type(value)
        assert isinstance(attribute, DenseIntOrFPElementsAttr)
        key = attribute.data.data, type_
        if key not in self.known:
            self.known[key] = len(self.ops)
            hint = value.name_hint
            op = ConstantOp(self._name(hint or "constant"), attribute, type_)
            op.location = value.owner.location
            self.ops.append(op)
        return self.known[key]

    def _name(self, hint: str) -> str:
        name, number = hint, 1
        while name in self.taken:
            name, number = f"{hint}_{number}", number + 1
        self.taken.add(name)
        return name


@dataclass
class Arena:
    """The intermediates of one program."""

    sizes: list[Number] = field(default_factory=list["Number"])
    """Bytes of each."""

    def new(self, size: Number) -> Place:
        """Room for one more."""
        self.sizes.append(size)
        return "transient", len(self.sizes) - 1

    def plan(
        self, commands: Sequence[Command], numbers: HostNumbers
    ) -> tuple[dict[int, Number], MemoryPlan, Number]:
        """Where the intermediates lie, by their lifetimes; the plan of those whose size is known,
        and the size of the arena.

        Those of which only a call knows the size follow behind; two of the same size share a place
        where they do not live at the same time.
        """
        ranges = lifetimes(commands)
        known = [
            Interval(size, *ranges[i])
            if i in ranges and isinstance(size, int)
            else Interval(0, 0, 0)
            for i, size in enumerate(self.sizes)
        ]
        plan = plan_memory(known)
        offsets: dict[int, Number] = dict(enumerate(plan.offsets))
        end: Number = -(-plan.peak // ALIGNMENT) * ALIGNMENT
        slots: list[tuple[Number, Number, list[Interval]]] = []
        for i, size in enumerate(self.sizes):
            if isinstance(size, int) or i not in ranges:
                continue
            life = Interval(0, *ranges[i])
            for offset, other, lives in slots:
                if other == size and not any(map(life.meets, lives)):
                    offsets[i] = offset
                    lives.append(life)
                    break
            else:
                # A register of its own, also for the first: it never equals a known offset.
                offsets[i] = numbers.copy_of(end)
                slots.append((offsets[i], size, [life]))
                last = numbers.compute("add", size, ALIGNMENT - 1)
                blocks = numbers.compute("divide", last, ALIGNMENT)
                bytes_ = numbers.compute("multiply", blocks, ALIGNMENT)
                end = numbers.compute("add", offsets[i], bytes_)
        return offsets, plan, end if slots else 0


_MADE_HERE = (CallOp, SizedDispatchOp, FillOp, LoopOp, IfOp)
"""Ops that write a result where they are told to."""


@dataclass
class Scope:
    """One run of a function's block: where its values lie, and the commands so far."""

    functions: Mapping[str, func.FuncOp]
    constants: Constants
    arena: Arena
    numbers: HostNumbers
    most_turns: int = 0
    """Turns of a thread's loops from which a driver may end them; 0 if it never does."""
    places: dict[SSAValue, Place] = field(default_factory=dict[SSAValue, Place])
    commands: list[Command] = field(default_factory=list["Command"])
    prologue: list[Simple] = field(default_factory=list["Simple"])
    """What is done before all commands: the sizes that kernels need."""
    size_buffers: dict[tuple[Number, ...], RangeAttr] = field(
        default_factory=dict["tuple[Number, ...]", RangeAttr]
    )

    def range_of(self, value: SSAValue) -> RangeAttr:
        """Where `value` lies; intermediates are numbered, and get their offsets at the end."""
        root = _root(value)
        if root not in self.places:
            if isinstance(root.owner, arith.ConstantOp):
                self.places[root] = "constant", self.constants.index(root)
            else:
                self.places[root] = self.arena.new(self._bytes(root))
        storage, index = self.places[root]
        return RangeAttr.of(storage, index, 0, self._bytes(root))

    def _bytes(self, value: SSAValue) -> Number:
        return self.numbers.byte_size(value)

    def add(self, command: Simple, like: Operation) -> None:
        """Append a command that comes from the op `like`."""
        command.location = like.location
        self.commands.append(command)

    def run(self, block: Block, targets: Sequence[RangeAttr]) -> None:
        """Append what a function does and leave what it returns in `targets`.

        What makes a returned value writes it there if nothing needs what was there before.
        """
        returned = block.last_op
        assert isinstance(returned, func.ReturnOp)
        for value, target in zip(returned.operands, targets, strict=True):
            root = _root(value)
            if isinstance(root.owner, _MADE_HERE) and root not in self.places:
                assert isinstance(root.owner, Operation)
                if not self._is_read_from(root.owner, block, target.place):
                    self.places[root] = target.place
        for op in reversed(list(block.ops)):
            if isinstance(op, LoopOp):
                self._place_initial(op)
        for op in block.ops:
            self.visit(op)
        self.copy_to(returned, returned.operands, targets)

    def _is_read_from(self, op: Operation, block: Block, place: Place) -> bool:
        """Whether `op` or an op after it reads what lies in `place` when the block starts."""
        following: Operation | None = op
        while following is not None:
            for inner in following.operands:
                if self.places.get(_root(inner)) == place:
                    return True
            following = following.next_op
        return False

    def _place_initial(self, op: LoopOp) -> None:
        """Let what makes the first value of a loop write it where the loop has it."""
        for result, initial in zip(op.res, op.carried, strict=True):
            target = self.range_of(result).place
            made_here = isinstance(initial.owner, _MADE_HERE)
            if made_here and len(list(initial.uses)) == 1 and initial not in self.places:
                self.places[initial] = target

    def copy_to(
        self, like: Operation, values: Sequence[SSAValue], targets: Sequence[RangeAttr]
    ) -> None:
        """Copy values that do not lie where they belong, all at once."""
        moves: list[tuple[RangeAttr, RangeAttr]] = []
        for value, target in zip(values, targets, strict=True):
            if isinstance(_root(value).owner, tensor.EmptyOp):
                continue  # its contents are undefined
            source = self.range_of(value)
            if source.length != target.length:
                # The numbers are equal, but computed in different ways.
                source = RangeAttr(source.storage, source.index, source.offset, target.length)
            if source.place != target.place and not source.is_empty:
                moves.append((source, target))
        written = {target.place for _, target in moves}
        sources: dict[Place, RangeAttr] = {}
        for source, _ in moves:
            if source.place in written and source.place not in sources:
                # A swap: the old value is kept until everything has been read.
                length = source.length.data if isinstance(source.length, IntAttr) else source.length
                kept = RangeAttr.of(*self.arena.new(length), 0, length)
                sources[source.place] = kept
                self.add(CopyOp(source, kept), like)
        for source, target in moves:
            self.add(CopyOp(sources.get(source.place, source), target), like)

    def visit(self, op: Operation) -> None:
        """Append what `op` does, if it does anything."""
        match op:
            case CallOp():
                if any(prod(shape_of(r)) for r in op.res):
                    reads = [self.range_of(v) for v in op.arguments]
                    writes = [self.range_of(v) for v in op.res]
                    self.add(DispatchOp(op.callee, reads, writes), op)
            case FillOp():
                self._fill(op)
            case LoopOp():
                self._loop(op)
            case WhileOp():
                self._while(op)
            case IfOp():
                self._if(op)
            case SizedDispatchOp():
                self._sized(op)
            case CheckOp():
                self.numbers.check(self.numbers.scalar(op.condition), op.message.data, op)
            case tensor.CastOp():
                self._check_cast(op)
            case arith.ConstantOp() | tensor.EmptyOp() | tensor.DimOp() | func.ReturnOp():
                pass
            case _ if isinstance(op, _VIEWS) or op.name.startswith("arith."):
                pass  # The host computes scalars where it needs them.
            case _:
                raise refuse(op, f"{op.name} is not a command that a device can run")

    def _fill(self, op: FillOp) -> None:
        scalar = constant_of(op.inputs[0])
        pattern = None if scalar is None else fill_pattern(scalar)
        if pattern is None:
            raise refuse(op, "linalg.fill with such a value is not a command of a device")
        target = self.range_of(op.results[0])
        if not target.is_empty:
            self.add(PlanFillOp(target, pattern), op)

    def _sized(self, op: SizedDispatchOp) -> None:
        """A kernel whose sizes a call decides: it gets them in a buffer."""
        numbers = self.numbers
        elements = numbers.product([numbers.scalar(v) for v in op.extents])
        fits = numbers.compute("less", elements, MOST_ELEMENTS)
        numbers.check(fits, f"a tensor would have {MOST_ELEMENTS} elements or more", op)
        for size in (n for value in op.res for n in numbers.sizes(value)):
            numbers.check_not_negative(size, op)
        if op.turns is not None and self.most_turns:
            few = numbers.compute("less", numbers.scalar(op.turns), self.most_turns)
            what = f"a loop of a thread would have {self.most_turns} turns or more"
            numbers.check(few, f"{what}, where drivers may end it", op)
        for value in (*op.arguments, *op.res):
            below = numbers.compute("less", numbers.byte_size(value), 1 << 31)
            numbers.check(below, "a tensor would have 2 GiB or more", op)
        last = numbers.compute("add", elements, THREADS - 1)
        groups = numbers.compute("divide", last, THREADS)
        rows = numbers.compute("add", groups, GROUPS_X - 1)
        grid = (
            numbers.compute("minimum", groups, GROUPS_X),
            numbers.compute("divide", rows, GROUPS_X),
            1,
        )
        reads = [self.range_of(v) for v in op.arguments]
        if op.sizes:
            reads.append(self._stored(tuple(map(numbers.scalar, op.sizes)), op))
        writes = [self.range_of(v) for v in op.res]
        groups_attr = ArrayAttr[plan.Number]([plan.number(n) for n in grid])
        self.add(DispatchOp(op.callee, reads, writes, groups_attr), op)

    def _stored(self, sizes: tuple[Number, ...], like: Operation) -> RangeAttr:
        """A buffer of i32 with the given numbers, written once before all else."""
        if sizes not in self.size_buffers:
            _, index = self.arena.new(4 * len(sizes))
            buffer = self.size_buffers[sizes] = RangeAttr.of("transient", index, 0, 4 * len(sizes))
            stores = [
                PlanFillOp(word, size.to_bytes(4, "little"))
                if isinstance(size, int)
                else StoreOp(size, word)
                for size, word in zip(sizes, _words(buffer), strict=True)
            ]
            for store in stores:
                store.location = like.location
            self.prologue.extend(stores)
        return self.size_buffers[sizes]

    def _check_cast(self, op: tensor.CastOp) -> None:
        """A cast to a type with more known sizes claims that they are right."""
        numbers = self.numbers
        for dim, size in enumerate(shape_of(op.dest)):
            if size >= 0:
                equal = numbers.compute("equal", numbers.sizes(op.source)[dim], size)
                numbers.check(
                    equal, f"dimension {dim} of a cast to {op.dest.type} has another size", op
                )

    def _inner(self, name: SymbolRefAttr, values: Sequence[RangeAttr]) -> tuple[Scope, Block]:
        """A run of a function whose arguments lie in the given ranges."""
        block = self.functions[name.root_reference.data].body.block
        scope = Scope(
            self.functions,
            self.constants,
            self.arena,
            self.numbers,
            self.most_turns,
            prologue=self.prologue,
            size_buffers=self.size_buffers,
        )
        for argument, range_ in zip(block.args, values, strict=True):
            scope.places[argument] = range_.place
        return scope, block

    def _check_carried(
        self, op: LoopOp | WhileOp, body: Block, carried: Sequence[SSAValue]
    ) -> None:
        """A loop has one place for what it carries, so each turn must leave the same sizes."""
        returned = body.last_op
        assert isinstance(returned, func.ReturnOp)
        for value, initial in zip(returned.operands, carried, strict=True):
            what = "a loop must carry tensors of one size, but its body changes it"
            self.numbers.check_same_sizes(value, initial, what, op)

    def _loop(self, op: LoopOp) -> None:
        carried = [self.range_of(r) for r in op.res]
        self.copy_to(op, op.carried, carried)
        captured = [self.range_of(v) for v in op.captured]
        scope, block = self._inner(op.body, [*carried, *captured])
        self._check_carried(op, block, op.carried)
        scope.run(block, carried)
        if op.count is not None:
            times = self.range_of(op.count)
        else:
            assert op.times is not None
            times = op.times.value.data
        self.commands.append(Loop(times, scope.commands, carried, op.location))

    def _while(self, op: WhileOp) -> None:
        bytes_ = map(self._bytes, op.carried)
        carried = [RangeAttr.of(*self.arena.new(size), 0, size) for size in bytes_]
        self.copy_to(op, op.carried, carried)
        captured = [self.range_of(v) for v in op.captured]
        condition, block = self._inner(op.condition, [*carried, *captured])
        returned = block.last_op
        assert isinstance(returned, func.ReturnOp)
        flag, *passed = (condition.range_of(v) for v in returned.operands)
        condition.run(block, [flag, *passed])
        body, block = self._inner(op.body, [*passed, *captured])
        self._check_carried(op, block, op.carried)
        body.run(block, carried)
        self.commands.append(While(condition.commands, flag, body.commands, carried, op.location))
        self.places.update(zip(op.res, (range_.place for range_ in passed), strict=True))

    def _if(self, op: IfOp) -> None:
        targets = [self.range_of(r) for r in op.res]
        captured = [self.range_of(v) for v in op.captured]
        lists: list[list[Command]] = []
        for name in (op.then, op.otherwise):
            scope, block = self._inner(name, captured)
            returned = block.last_op
            assert isinstance(returned, func.ReturnOp)
            for value, result in zip(returned.operands, op.res, strict=True):
                what = "the branches of an scf.if must give tensors of one size, but differ"
                self.numbers.check_same_sizes(value, result, what, op)
            scope.run(block, targets)
            lists.append(scope.commands)
        then, otherwise = lists
        self.commands.append(If(self.range_of(op.condition), then, otherwise, op.location))


def shaped_like(functions: Mapping[str, func.FuncOp]) -> dict[SSAValue, SSAValue]:
    """Of the arguments of bodies and the results of control flow, the values with their sizes."""
    found: dict[SSAValue, SSAValue] = {}

    def inside(name: SymbolRefAttr, given: Sequence[SSAValue]) -> Sequence[SSAValue]:
        block = functions[name.root_reference.data].body.block
        found.update(zip(block.args, given, strict=True))
        returned = block.last_op
        assert isinstance(returned, func.ReturnOp)
        return returned.operands

    for function in functions.values():
        for op in function.body.block.ops:
            match op:
                case LoopOp():
                    inside(op.body, [*op.carried, *op.captured])
                    found.update(zip(op.res, op.carried, strict=True))
                case WhileOp():
                    _, *passed = inside(op.condition, [*op.carried, *op.captured])
                    inside(op.body, [*passed, *op.captured])
                    found.update(zip(op.res, passed, strict=True))
                case IfOp():
                    inside(op.otherwise, op.captured)
                    found.update(zip(op.res, inside(op.then, op.captured), strict=True))
                case _:
                    pass
    return found


def _words(buffer: RangeAttr) -> list[RangeAttr]:
    """The words of a buffer of i32."""
    assert isinstance(buffer.length, IntAttr)
    storage, index = buffer.place
    return [RangeAttr.of(storage, index, 4 * i, 4) for i in range(buffer.length.data // 4)]
