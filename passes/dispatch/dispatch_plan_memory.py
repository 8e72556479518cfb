"""Turn host functions into commands over byte ranges, with every intermediate in one arena."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.fill_pattern import fill_pattern
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.liveness import live_ranges
from ingot.compiler.analysis.memory_plan import Interval, plan_memory
from ingot.compiler.analysis.scalar_folding import constant_of
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import byte_size, tensor_type
from ingot.compiler.dialects.dispatch import CallOp
from ingot.compiler.dialects.linalg import FillOp
from ingot.compiler.dialects.plan import (
    BarrierOp,
    ConstantOp,
    CopyOp,
    DispatchOp,
    ProgramOp,
    RangeAttr,
    Storage,
)
from ingot.compiler.dialects.plan import FillOp as PlanFillOp

_VIEWS = (tensor.CollapseShapeOp, tensor.ExpandShapeOp, tensor.CastOp)

Place = tuple[Storage, int]
"""A storage and its index; for `transient` the number of the intermediate."""


def _root(value: SSAValue) -> SSAValue:
    """The value whose buffer `value` is a view of: reshapes keep the elements where they are."""
    while isinstance(value.owner, _VIEWS):
        value = value.owner.operands[0]
    return value


@dataclass
class _Constants:
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
class _Program:
    """Commands of one function while it is planned."""

    constants: _Constants
    places: dict[SSAValue, Place] = field(default_factory=dict[SSAValue, Place])
    sizes: list[int] = field(default_factory=list[int])
    """Bytes of each intermediate."""
    commands: list[DispatchOp | PlanFillOp | CopyOp] = field(
        default_factory=list["DispatchOp | PlanFillOp | CopyOp"]
    )

    def range_of(self, value: SSAValue) -> RangeAttr:
        """Where `value` lies; intermediates are numbered, and get their offsets at the end."""
        root = _root(value)
        if root not in self.places:
            if isinstance(root.owner, arith.ConstantOp):
                self.places[root] = "constant", self.constants.index(root)
            else:
                self.places[root] = "transient", len(self.sizes)
                self.sizes.append(byte_size(root))
        storage, index = self.places[root]
        return RangeAttr.of(storage, index, 0, byte_size(root))

    def add(self, command: DispatchOp | PlanFillOp | CopyOp, like: Operation) -> None:
        """Append a command that comes from the op `like`."""
        command.location = like.location
        self.commands.append(command)

    def place_results(self, returned: func.ReturnOp) -> None:
        """Let what makes a result write it where it belongs."""
        for i, value in enumerate(returned.operands):
            root = _root(value)
            made_here = isinstance(root.owner, CallOp | FillOp)
            if made_here and root not in self.places:
                self.places[root] = "result", i

    def copy_results(self, returned: func.ReturnOp) -> None:
        """Copy results that no command writes: arguments, constants, the same value again."""
        for i, value in enumerate(returned.operands):
            if isinstance(_root(value).owner, tensor.EmptyOp):
                continue  # its contents are undefined
            source = self.range_of(value)
            if source.place != ("result", i) and source.length.data:
                target = RangeAttr.of("result", i, 0, source.length.data)
                self.add(CopyOp(source, target), returned)

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
            case func.ReturnOp():
                self.copy_results(op)
            case arith.ConstantOp() | tensor.EmptyOp():
                pass
            case _ if isinstance(op, _VIEWS):
                pass
            case _:
                raise refuse(op, f"{op.name} is not a command that a device can run")

    def _fill(self, op: FillOp) -> None:
        scalar = constant_of(op.inputs[0])
        pattern = None if scalar is None else fill_pattern(scalar)
        if pattern is None:
            raise refuse(op, "linalg.fill with such a value is not a command of a device")
        target = self.range_of(op.results[0])
        if target.length.data:
            self.add(PlanFillOp(target, pattern), op)

    def transient_offsets(self) -> tuple[Sequence[int], int, int]:
        """Offsets of the intermediates, the size of the arena, and its lower bound."""
        touched = [
            [r.index.data for r in (*c.reads(), *c.writes()) if r.storage.data == "transient"]
            for c in self.commands
        ]
        ranges = live_ranges(touched)
        intervals = [
            Interval(size, *ranges[i]) if i in ranges else Interval(0, 0, 0)
            for i, size in enumerate(self.sizes)
        ]
        plan = plan_memory(intervals)
        return plan.offsets, plan.peak, plan.lower_bound


def _moved(range_: RangeAttr, offsets: Sequence[int]) -> RangeAttr:
    """The range of a numbered intermediate in the arena."""
    if range_.storage.data != "transient":
        return range_
    return RangeAttr.of("transient", 0, offsets[range_.index.data], range_.length.data)


def _resolved(
    command: DispatchOp | PlanFillOp | CopyOp, offsets: Sequence[int]
) -> DispatchOp | PlanFillOp | CopyOp:
    match command:
        case DispatchOp():
            reads = [_moved(r, offsets) for r in command.reads()]
            new = DispatchOp(command.kernel, reads, [_moved(r, offsets) for r in command.writes()])
        case PlanFillOp():
            new = PlanFillOp(_moved(command.target, offsets), command.pattern.data)
        case CopyOp():
            new = CopyOp(_moved(command.source, offsets), _moved(command.target, offsets))
    new.location = command.location
    return new


def with_barriers(
    commands: Sequence[DispatchOp | PlanFillOp | CopyOp],
) -> list[Operation]:
    """Put a barrier before each command that depends on one since the last barrier: it reads what
    that one writes, or writes what that one reads or writes."""
    result: list[Operation] = []
    read: list[RangeAttr] = []
    written: list[RangeAttr] = []
    for command in commands:
        reads, writes = command.reads(), command.writes()
        if any(r.overlaps(w) for r in (*reads, *writes) for w in written) or any(
            w.overlaps(r) for w in writes for r in read
        ):
            barrier = BarrierOp()
            barrier.location = command.location
            result.append(barrier)
            read, written = [], []
        result.append(command)
        read.extend(reads)
        written.extend(writes)
    return result


def _argument_name(argument: BlockArgument) -> str:
    return argument.name_hint or f"arg{argument.index}"


def _result_names(function: func.FuncOp) -> list[str]:
    """`jax.result_info` where JAX left it, and numbers otherwise."""
    names: list[str] = []
    attributes = function.res_attrs.data if function.res_attrs is not None else ()
    for i in range(len(function.function_type.outputs.data)):
        info = attributes[i].data.get("jax.result_info") if i < len(attributes) else None
        text = info.data.strip("[]'\"") if isinstance(info, StringAttr) else ""
        names.append(text or f"result{i}")
    return names


def _plan(function: func.FuncOp, constants: _Constants) -> ProgramOp:
    block = function.body.block
    program = _Program(constants)
    for argument in block.args:
        program.places[argument] = "argument", argument.index
    returned = block.last_op
    assert isinstance(returned, func.ReturnOp)
    program.place_results(returned)
    for op in block.ops:
        program.visit(op)
    offsets, peak, lower_bound = program.transient_offsets()
    commands = with_barriers([_resolved(c, offsets) for c in program.commands])
    op = ProgramOp(
        function.sym_name.data,
        function.function_type,
        commands,
        peak,
        lower_bound,
        [_argument_name(a) for a in block.args],
        _result_names(function),
    )
    op.location = function.location
    return op


@dataclass(frozen=True)
class DispatchPlanMemoryPass(ModulePass):
    """Replace each host function by a `plan.program` (L2 to a plan; kernels stay as they are).

    Intermediates share one transient arena by their lifetimes, results are written in place by the
    kernels that make them, reshapes are views, and barriers separate only dependent commands.

        %0 = dispatch.call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
        return %0
    becomes
        plan.dispatch @k [#plan.range<argument 0, 0 : 16>, #plan.range<result 0, 0 : 16>] reads 1
    """

    name = "dispatch-plan-memory"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Plan every host function; raises `Refusal` for ops that are not commands."""
        functions = host_functions(op)
        constants = _Constants(op, {f.sym_name.data for f in op.ops if isinstance(f, func.FuncOp)})
        for function in functions:
            program = _plan(function, constants)
            op.body.block.insert_op_before(program, function)
            function.detach()
            function.erase()
        first = op.body.block.first_op
        for constant in constants.ops:
            if first is None:
                op.body.block.add_op(constant)
            else:
                op.body.block.insert_op_before(constant, first)
