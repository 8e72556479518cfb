"""Make the bodies of loops and branches functions of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func, scf, tensor
from xdsl.dialects.builtin import (
    FunctionType,
    IndexType,
    ModuleOp,
    TensorType,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.captures import captured_values
from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, elementwise, erase, fill
from ingot.compiler.analysis.scalar_folding import constant_of, int_of
from ingot.compiler.analysis.sizes import is_size
from ingot.compiler.analysis.tensor_types import integer_width
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.host import HOST_BODY, IfOp, LoopOp, WhileOp
from ingot.compiler.dialects.linalg import FillOp

MOST_NESTED = 30
"""How deep control flow may be nested: a bundle allows a little more."""

ControlFlow = scf.ForOp | scf.WhileOp | scf.IfOp

Finish = Callable[[Emitter, Sequence[SSAValue], Operation], Sequence[SSAValue]]
"""What a function returns, given its arguments as in the region, and the region's terminator."""


def _stored_type(type_: Attribute) -> TensorType[Attribute]:
    """What crosses a border for a value of this type."""
    if isinstance(type_, TensorType):
        return type_  # pyright: ignore[reportUnknownVariableType]
    return TensorType(i32 if isinstance(type_, IndexType) else type_, [])


def _to_tensor(emit: Emitter, value: SSAValue) -> SSAValue:
    """A scalar as a tensor of rank 0."""
    if isinstance(value.type, TensorType):
        return value
    type_ = _stored_type(value.type)
    owner = value.owner
    if isinstance(owner, tensor.ExtractOp) and owner.tensor.type == type_:
        return owner.tensor

    if constant_of(value) is not None:
        number = int_of(value)
        if isinstance(value.type, IndexType) and number is not None:
            value = emit.add(arith.ConstantOp.from_int_and_width(number, i32)).result
        return fill(emit, value, type_)

    def body(inner: Emitter, _: Sequence[SSAValue]) -> list[SSAValue]:
        if isinstance(value.type, IndexType):
            return [inner.add(arith.IndexCastOp(value, i32)).result]
        return [value]

    return elementwise(emit, type_, [], [], body)


def _from_tensor(emit: Emitter, stored: SSAValue, type_: Attribute) -> SSAValue:
    """The value of `type_` that `_to_tensor` stored."""
    if stored.type == type_:
        return stored
    element = i32 if isinstance(type_, IndexType) else type_
    scalar = emit.add(tensor.ExtractOp(stored, [], element)).result
    if isinstance(type_, IndexType):
        return emit.add(arith.IndexCastOp(scalar, type_)).result
    return scalar


def _is_local(value: SSAValue) -> bool:
    """Whether a body makes the value itself instead of getting it: it costs nothing.

    So are sizes and what the host computes of them, which tell how large the tensors of the body
    are; the tensors whose sizes they are go in.
    """
    owner = value.owner
    match owner:
        case arith.ConstantOp() | tensor.DimOp():
            return True
        case tensor.EmptyOp() | FillOp():
            return all(map(_is_local, owner.operands))
        case _:
            return is_size(value)


def _needed(value: SSAValue) -> list[SSAValue]:
    """What a body gets from above to have `value`: the value itself unless it makes it."""
    if not _is_local(value):
        return [value]
    owner = value.owner
    assert isinstance(owner, Operation)
    if isinstance(owner, tensor.DimOp):
        return [owner.source, *_needed(owner.index)]
    return [needed for operand in owner.operands for needed in _needed(operand)]


def _captured(regions: Sequence[Region], more: Sequence[SSAValue]) -> list[SSAValue]:
    """What regions use from above, in order; values of `more` count as used."""
    found: dict[SSAValue, None] = {}
    for value in (*captured_values(regions), *more):
        found.update((value, None) for value in _needed(value))
    return list(found)


def _clone_locals(
    emit: Emitter, block: Block, more: Sequence[SSAValue], given: Mapping[SSAValue, SSAValue]
) -> list[SSAValue]:
    """Make in a function what its ops take from above; returns the values of `more` inside.

    `given` are the values that the function has of those above.
    """
    known = dict(given)

    def inside(value: SSAValue) -> SSAValue:
        if value in known:
            return known[value]
        owner = value.owner
        if not isinstance(owner, Operation) or _is_below(owner, block) or not _is_local(value):
            return value
        operands = {operand: inside(operand) for operand in owner.operands}
        known[value] = emit.add(owner.clone(operands)).results[0]
        return known[value]

    for op in list(block.walk()):
        for i, operand in enumerate(op.operands):
            op.operands[i] = inside(operand)
    return [inside(value) for value in more]


def _is_below(op: Operation, block: Block) -> bool:
    parent = op.parent_block()
    while parent is not None and parent is not block:
        above = parent.parent_op()
        parent = above.parent_block() if above is not None else None
    return parent is block


@dataclass
class _Outliner:
    """Outlines the control flow of a module."""

    module: ModuleOp
    taken: set[str]

    def function(self, function: func.FuncOp, depth: int) -> None:
        """Outline what lies directly in `function`, then what lies in that."""
        for op in list(function.body.block.ops):
            if not isinstance(op, ControlFlow):
                continue
            if depth == MOST_NESTED:
                raise refuse(op, f"control flow is nested more than {MOST_NESTED} deep")
            self._op(op, function.sym_name.data, depth)

    def _op(self, op: ControlFlow, name: str, depth: int) -> None:
        emit = Emitter.before(op)
        match op:
            case scf.ForOp():
                results, made = self._for(op, emit, name)
            case scf.WhileOp():
                results, made = self._while(op, emit, name)
            case scf.IfOp():
                condition = int_of(op.cond)
                if condition is not None:
                    self._inline(op, op.true_region if condition else op.false_region, name, depth)
                    return
                results, made = self._if(op, emit, name)
        for old, stored in zip(op.results, results, strict=True):
            old.replace_all_uses_with(_from_tensor(emit, stored, old.type))
        erase(op)
        for function in made:
            self.function(function, depth + 1)

    def _inline(self, op: scf.IfOp, taken: Region, name: str, depth: int) -> None:
        """A branch that is known needs no branch."""
        block = op.parent_block()
        assert block is not None
        moved: list[Operation] = []
        for inner in list(taken.block.ops if taken.blocks else ()):
            if isinstance(inner, scf.YieldOp):
                for old, new in zip(op.results, inner.operands, strict=True):
                    old.replace_all_uses_with(new)
                continue
            inner.detach()
            block.insert_op_before(inner, op)
            moved.append(inner)
        erase(op)
        for inner in moved:
            if isinstance(inner, ControlFlow):
                self._op(inner, name, depth)

    def _for(
        self, op: scf.ForOp, emit: Emitter, name: str
    ) -> tuple[Sequence[SSAValue], list[func.FuncOp]]:
        times = _trip_count(op)
        if times == 0:
            return [_to_tensor(emit, v) for v in op.iter_args], []
        block = op.body.block
        counts = bool(block.args[0].uses)
        carried = [op.lb, *op.iter_args] if counts else list(op.iter_args)
        captured = _captured([op.body], [op.step] if counts else [])

        def finish(
            inner: Emitter, args: Sequence[SSAValue], terminator: Operation
        ) -> Sequence[SSAValue]:
            if not counts:
                return terminator.operands
            *_, step = args
            return [inner.add(arith.AddiOp(args[0], step)).result, *terminator.operands]

        function = self._outline(
            op,
            op.body,
            block.args if counts else block.args[1:],
            captured,
            f"{name}_loop",
            finish,
            [op.step] if counts else [],
        )
        loop = LoopOp(
            function.sym_name.data,
            _computed_count(op, emit) if times is None else times,
            [_to_tensor(emit, v) for v in carried],
            [_to_tensor(emit, v) for v in captured],
        )
        return emit.add(loop).res[counts:], [function]

    def _while(
        self, op: scf.WhileOp, emit: Emitter, name: str
    ) -> tuple[Sequence[SSAValue], list[func.FuncOp]]:
        captured = _captured([op.before_region, op.after_region], [])
        before, after = op.before_region.block, op.after_region.block
        condition = self._outline(
            op, op.before_region, before.args, captured, f"{name}_while_condition", _operands
        )
        body = self._outline(op, op.after_region, after.args, captured, f"{name}_while", _operands)
        loop = WhileOp(
            condition.sym_name.data,
            body.sym_name.data,
            [_to_tensor(emit, v) for v in op.arguments],
            [_to_tensor(emit, v) for v in captured],
            [_stored_type(r.type) for r in op.results],
        )
        return emit.add(loop).res, [condition, body]

    def _if(
        self, op: scf.IfOp, emit: Emitter, name: str
    ) -> tuple[Sequence[SSAValue], list[func.FuncOp]]:
        if not op.results:
            return [], []
        captured = _captured([op.true_region, op.false_region], [])
        then = self._outline(op, op.true_region, [], captured, f"{name}_then", _operands)
        otherwise = self._outline(op, op.false_region, [], captured, f"{name}_else", _operands)
        branch = IfOp(
            _to_tensor(emit, op.cond),
            then.sym_name.data,
            otherwise.sym_name.data,
            [_to_tensor(emit, v) for v in captured],
            [_stored_type(r.type) for r in op.results],
        )
        return emit.add(branch).res, [then, otherwise]

    def _outline(
        self,
        op: Operation,
        region: Region,
        arguments: Sequence[SSAValue],
        captured: Sequence[SSAValue],
        name: str,
        finish: Finish,
        more: Sequence[SSAValue] = (),
    ) -> func.FuncOp:
        """A function of `arguments` and `captured` that does what the region does.

        `finish` gets the arguments and then the values of `more` as they are called inside.
        """
        source = region.block
        types = [_stored_type(v.type) for v in (*arguments, *captured)]
        block = Block(arg_types=types)
        emit = Emitter.at_end(block, op.location)
        inside = [
            _from_tensor(emit, argument, value.type)
            for argument, value in zip(block.args, (*arguments, *captured), strict=True)
        ]
        for inner in list(source.ops):
            inner.detach()
            block.add_op(inner)
        for value, new, argument in zip((*arguments, *captured), inside, block.args, strict=True):
            argument.name_hint = value.name_hint
            value.replace_uses_with_if(new, lambda use: _is_below(use.operation, block))
        mapped = dict(zip((*arguments, *captured), inside, strict=True))
        start = Emitter.before(first) if (first := block.first_op) is not None else emit
        more_inside = _clone_locals(start, block, more, mapped)
        terminator = block.last_op
        assert terminator is not None
        end = Emitter.before(terminator)
        given = [*inside[: len(arguments)], *more_inside]
        returned = [_to_tensor(end, v) for v in finish(end, given, terminator)]
        emit.add(func.ReturnOp(*returned))
        erase(terminator)
        function = func.FuncOp(
            self._symbol(name),
            FunctionType.from_lists(types, [v.type for v in returned]),
            Region(block),
            "private",
        )
        function.attributes[HOST_BODY] = UnitAttr()
        function.location = op.location
        self.module.body.block.add_op(function)
        return function

    def _symbol(self, name: str) -> str:
        candidate, number = name, 1
        while candidate in self.taken:
            candidate, number = f"{name}_{number}", number + 1
        self.taken.add(candidate)
        return candidate


def _operands(emit: Emitter, args: Sequence[SSAValue], terminator: Operation) -> Sequence[SSAValue]:
    return terminator.operands


def _trip_count(op: scf.ForOp) -> int | None:
    """How often a loop runs, when that is known."""
    lower, upper, step = (int_of(v) for v in (op.lb, op.ub, op.step))
    if step is not None and step <= 0:
        raise refuse(op, f"scf.for with a step of {step} is not supported", "steps are positive")
    if lower is None or upper is None or step is None:
        return 0 if lower is not None and lower == upper else None
    if isinstance(op.lb.type, IndexType) and not -(2**31) <= lower <= upper + step < 2**31:
        if lower >= upper:
            return 0
        raise refuse(
            op,
            f"scf.for from {lower} to {upper} is not supported: an index on the device has 32 bits",
            "count in i64",
        )
    return max(0, -(-(upper - lower) // step))


def _computed_count(op: scf.ForOp, emit: Emitter) -> SSAValue:
    """How often a loop runs as a tensor<i32> or tensor<i64>, computed on the device.

    The difference of two signed numbers fits the same width without sign.
    """
    type_ = op.lb.type
    wide = integer_width(type_) == 64

    def body(inner: Emitter, _: Sequence[SSAValue]) -> list[SSAValue]:
        def constant(value: int) -> SSAValue:
            if isinstance(type_, IndexType):
                return inner.index(value)
            width = integer_width(type_)
            assert width is not None
            return inner.add(arith.ConstantOp.from_int_and_width(value, width)).result

        distance = inner.add(arith.SubiOp(op.ub, op.lb)).result
        last = inner.add(arith.SubiOp(distance, constant(1))).result
        before = inner.add(arith.DivUIOp(last, op.step)).results[0]
        count = inner.add(arith.AddiOp(before, constant(1))).result
        runs = inner.add(arith.CmpiOp(op.lb, op.ub, "slt")).result
        count = inner.add(arith.SelectOp(runs, count, constant(0))).result
        if isinstance(type_, IndexType):
            return [inner.add(arith.IndexCastOp(count, i32)).result]
        return [count if wide or type_ == i32 else inner.add(arith.ExtUIOp(count, i32)).result]

    return elementwise(emit, TensorType(i64 if wide else i32, []), [], [], body)


@dataclass(frozen=True)
class OutlineControlFlowPass(ModulePass):
    """Make the bodies of `scf.for`, `scf.while` and `scf.if` between kernels functions of tensors
    (L1 to L1).

    Scalars that go in or out become tensors of rank 0, also the induction variable, which the body
    counts up itself: no kernel needs the host to tell it where a loop stands. Constants, fills and
    empty tensors are made where they are used. Branches on a constant disappear.

        %r = scf.for %i = %c0 to %c16 step %c1 iter_args(%h = %x) -> (tensor<4xf32>) { ... }
    becomes
        %r:2 = host.loop @main_loop times 16 carry(%zero, %x : tensor<i32>, tensor<4xf32>) -> ...
        func.func private @main_loop(%i: tensor<i32>, %h: tensor<4xf32>) -> ... { ... }
    """

    name = "outline-control-flow"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Outline what the host functions hold; raises `Refusal` where no device can count."""
        taken = {f.sym_name.data for f in op.ops if isinstance(f, func.FuncOp)}
        outliner = _Outliner(op, taken)
        for function in host_functions(op):
            outliner.function(function, 0)
