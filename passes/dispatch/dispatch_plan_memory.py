"""Turn host functions into commands over byte ranges, with every intermediate in one arena."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    FunctionType,
    ModuleOp,
    StringAttr,
)
from xdsl.ir import Attribute, BlockArgument
from xdsl.passes import ModulePass

from ingot.compiler.analysis.command_tree import (
    resolved,
)
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.tensor_types import as_tensor_type
from ingot.compiler.dialects import plan
from ingot.compiler.dialects.dispatch import SIGNATURE
from ingot.compiler.dialects.host import HOST_BODY
from ingot.compiler.dialects.plan import (
    ProgramOp,
    RangeAttr,
)

from .host_numbers import HostNumbers
from .plan_scope import Arena, Constants, Scope, shaped_like


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


def _signature(function: func.FuncOp) -> FunctionType:
    """The function type as the source has it, with unsigned integers."""
    declared = function.attributes.get(SIGNATURE)
    return declared if isinstance(declared, FunctionType) else function.function_type


def _shape(type_: Attribute) -> tuple[int, ...]:
    tensor_ = as_tensor_type(type_)
    assert tensor_ is not None
    return tensor_.get_shape()


def _plan(
    function: func.FuncOp,
    functions: Mapping[str, func.FuncOp],
    constants: Constants,
    most_turns: int,
) -> ProgramOp:
    block = function.body.block
    numbers = HostNumbers(shaped_like(functions))
    scope = Scope(functions, constants, Arena(), numbers, most_turns)
    for argument in block.args:
        scope.places[argument] = "argument", argument.index
    returned = block.last_op
    assert isinstance(returned, func.ReturnOp)
    results = [
        RangeAttr.of("result", i, 0, numbers.byte_size(v)) for i, v in enumerate(returned.operands)
    ]
    scope.run(block, results)
    commands = [*scope.prologue, *scope.commands]
    offsets, memory, arena = scope.arena.plan(commands, numbers)
    ops = resolved(commands, offsets)
    op = ProgramOp(
        function.sym_name.data,
        _signature(function),
        [*numbers.setup, *ops],
        0 if arena else memory.peak,
        memory.lower_bound,
        [_argument_name(a) for a in block.args],
        _result_names(function),
    )
    if numbers.count:
        open_sizes = [
            plan.number(size)
            for value, type_ in zip(returned.operands, function.function_type.outputs, strict=True)
            for size, declared in zip(numbers.sizes(value), _shape(type_), strict=True)
            if declared < 0
        ]
        op.set_sizes(numbers.count, arena, open_sizes)
    op.location = function.location
    return op


@dataclass(frozen=True)
class DispatchPlanMemoryPass(ModulePass):
    """Replace each host function by a `plan.program` (L2 to a plan; kernels stay as they are).

    Intermediates share one transient arena by their lifetimes, results are written in place by the
    kernels that make them, reshapes are views, and barriers separate only dependent commands. What
    a loop carries has one buffer; a body writes its new value there itself where nothing needs the
    old one any more, and else the end of the body copies it.

        %0 = dispatch.call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
        return %0
    becomes
        plan.dispatch @k [#plan.range<argument 0, 0 : 16>, #plan.range<result 0, 0 : 16>] reads 1
    """

    name = "dispatch-plan-memory"
    most_turns: int = 0
    """Turns of a thread's loops from which a driver may end them; 0 if it never does."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Plan every host function; raises `Refusal` for ops that are not commands."""
        functions = {f.sym_name.data: f for f in host_functions(op)}
        constants = Constants(op, {f.sym_name.data for f in op.ops if isinstance(f, func.FuncOp)})
        for function in functions.values():
            if HOST_BODY not in function.attributes:
                program = _plan(function, functions, constants, self.most_turns)
                op.body.block.insert_op_before(program, function)
        for function in functions.values():
            function.detach()
            function.erase()
        first = op.body.block.first_op
        for constant in constants.ops:
            if first is None:
                op.body.block.add_op(constant)
            else:
                op.body.block.insert_op_before(constant, first)
