"""Runs the ops of a block over arrays, under a mask of the lanes that are active.

At the top level every scalar has rank 0. In the body of a structured op a scalar is an array over
the op's loops, so one run of the body covers many iterations; where control flow diverges, both
sides run and `mask` says which lanes count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from ingot.compiler.analysis.constants import constant_array
from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.types import element_type
from ingot.compiler.interpreter.arithmetic import FUNCTIONS, extended
from ingot.compiler.interpreter.values import Array, EvaluationError, Types

Handler = Callable[["Frame", Operation], Sequence[Array]]
"""Evaluates one op: returns its results."""

HANDLERS: dict[str, Handler] = {}
"""Handlers of the ops that are not elementwise functions, by name."""


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Register a handler for ops of these names."""

    def register(handler: Handler) -> Handler:
        for name in names:
            HANDLERS[name] = handler
        return handler

    return register


@dataclass
class Frame:
    """Values in scope, and what is fixed while a function runs."""

    module: ModuleOp
    types: Types
    values: dict[SSAValue, Array] = field(default_factory=dict[SSAValue, Array])
    mask: Array | None = None
    """The active lanes; None when all are."""

    loop_values: tuple[Array, ...] = ()
    """The index of each loop, shaped along it."""

    def get(self, value: SSAValue) -> Array:
        """The array of a value."""
        return self.values[value]

    def operands(self, op: Operation) -> list[Array]:
        """The arrays of an op's operands."""
        values = self.values
        return [values[operand] for operand in op.operands]

    def run_region(self, region: Region, args: Sequence[Array]) -> list[Array]:
        """Run a region from its first block; returns the operands of the terminator."""
        block: Block | None = region.blocks.first
        while block is not None:
            terminator = self.run_block(block, args)
            if isinstance(terminator, cf.BranchOp | cf.ConditionalBranchOp):
                block, args = self._branch(terminator)
                continue
            return self.operands(terminator) if terminator is not None else []
        return []

    def run_block(self, block: Block, args: Sequence[Array]) -> Operation | None:
        """Run the ops of a block; returns its terminator, which is not run."""
        self.values.update(zip(block.args, args, strict=True))
        for op in block.ops:
            if op is block.last_op and op.has_trait(IsTerminator):
                return op
            self.run(op)
        return None

    def run(self, op: Operation) -> None:
        """Run one op and store its results."""
        name = op.name
        function = FUNCTIONS.get(name)
        if function is not None:
            self.values[op.results[0]] = function(op, self.operands(op), self.types)
            return
        handler = HANDLERS.get(name)
        if handler is None:
            raise refuse(op, f"the reference evaluator does not know '{name}'")
        self.values.update(zip(op.results, handler(self, op), strict=True))

    def run_under(self, mask: Array, region: Region, args: Sequence[Array]) -> list[Array]:
        """Run a region with only the lanes of `mask` active."""
        outer = self.mask
        self.mask = mask if outer is None else outer & mask
        results = self.run_region(region, args)
        self.mask = outer
        return results

    def _branch(self, op: cf.BranchOp | cf.ConditionalBranchOp) -> tuple[Block, list[Array]]:
        if isinstance(op, cf.BranchOp):
            return op.successor, [self.get(value) for value in op.arguments]
        if self.get(op.cond).item():
            return op.then_block, [self.get(value) for value in op.then_arguments]
        return op.else_block, [self.get(value) for value in op.else_arguments]

    def is_active(self, condition: Array) -> bool:
        """Whether the condition holds in any active lane."""
        return bool(np.any(condition if self.mask is None else condition & self.mask))


@handles("arith.constant")
def _constant(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, arith.ConstantOp)
    return [frame.types.fit(constant_array(op.value), element_type(op.result.type))]


@handles("arith.addui_extended", "arith.mulsi_extended", "arith.mului_extended")
def _extended(frame: Frame, op: Operation) -> Sequence[Array]:
    return extended(op, frame.operands(op), frame.types)


@handles("math.sincos")
def _sincos(frame: Frame, op: Operation) -> Sequence[Array]:
    functions = (FUNCTIONS["math.sin"], FUNCTIONS["math.cos"])
    return [function(op, frame.operands(op), frame.types) for function in functions]


@handles("cf.assert")
def _assert(frame: Frame, op: Operation) -> Sequence[Array]:
    if frame.is_active(~frame.operands(op)[0]):
        message = op.properties.get("msg")
        text = message.data if isinstance(message, StringAttr) else "assertion"
        raise EvaluationError(f"assertion failed: {text}")
    return []


@handles("func.call", "dispatch.call")
def _call(frame: Frame, op: Operation) -> Sequence[Array]:
    callee = op.properties.get("callee") or op.attributes.get("callee")
    assert isinstance(callee, SymbolRefAttr)
    return call(frame.module, callee.root_reference.data, frame.operands(op), frame.types)


def find_function(module: ModuleOp, name: str) -> FuncOp | None:
    """The function of that name, if the module has it."""
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == name:
            return op
    return None


def call(module: ModuleOp, name: str, args: Sequence[Array], types: Types) -> list[Array]:
    """Run a function of the module on arrays that fit its types."""
    function = find_function(module, name)
    if function is None or not function.body.blocks:
        raise EvaluationError(f"the module has no function '{name}' with a body")
    return Frame(module, types).run_region(function.body, args)


def index_of(value: Any) -> int:
    """A scalar of rank 0 as a Python integer."""
    return int(np.asarray(value).item())
