"""Fewer ops: erased, replaced by other values, constants and arguments, or unwrapped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    ModuleOp,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator, SymbolOpInterface
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from ingot.compiler.analysis.generics import erase
from ingot.compiler.driver.reduction.constants import has_zero, is_constant, zero_of
from ingot.compiler.driver.reduction.symbols import add_argument, free_functions

if TYPE_CHECKING:
    from ingot.compiler.driver.reduction.search import Part

StandIn = Callable[[OpResult], SSAValue | None]
"""A value to use instead of a result, made if need be before its op; None where there is none."""


@dataclass(frozen=True)
class EraseUnused:
    """Erase ops whose results nobody uses, whatever else they do."""

    name = "unused ops"

    def parts(self, module: ModuleOp) -> Sequence[Part]:
        """Positions, the last op first: it may be the only user of earlier ones."""
        return [
            (index,)
            for index, op in reversed(_removable(module))
            if not any(result.uses for result in op.results)
        ]

    def take(self, module: ModuleOp, parts: Sequence[Part]) -> None:
        """Erase the ops, and those before them that nothing needs any more."""
        ops = list(module.walk())
        for (index,) in sorted(parts, reverse=True):
            if _is_there(ops[index]) and not any(result.uses for result in ops[index].results):
                _erase_with_sources(ops[index])


@dataclass(frozen=True)
class ReplaceOps:
    """Use other values instead of an op's results, and erase it."""

    name: str
    stand_in: StandIn
    exists: Callable[[OpResult], bool]
    """Whether there is a stand-in, without making one."""

    def parts(self, module: ModuleOp) -> Sequence[Part]:
        """Positions, the last op first: what only it needed goes with it."""
        return [
            (index,)
            for index, op in reversed(_removable(module))
            if op.results and all(self.exists(result) for result in op.results if result.uses)
        ]

    def take(self, module: ModuleOp, parts: Sequence[Part]) -> None:
        """Replace the ops for which there are other values."""
        ops = list(module.walk())
        for (index,) in sorted(parts, reverse=True):
            if _is_there(ops[index]):
                _replace(ops[index], self.stand_in)


def _replace(op: Operation, stand_in: StandIn) -> None:
    used = [result for result in op.results if result.uses]
    values = [stand_in(result) for result in used]
    if None in values:
        return
    for result, value in zip(used, cast("list[SSAValue]", values), strict=True):
        result.replace_all_uses_with(value)
    _erase_with_sources(op)


def _operand(result: OpResult) -> SSAValue | None:
    return next((value for value in result.op.operands if value.type == result.type), None)


def _visible_argument(result: OpResult) -> SSAValue | None:
    """An argument of the innermost block that has one of this type."""
    block: Block | None = result.op.parent
    while block is not None:
        for value in block.args:
            if value.type == result.type:
                return value
        parent = block.parent_op()
        block = parent.parent if parent is not None and not _is_symbol(parent) else None
    return None


def _has_zero(result: OpResult) -> bool:
    if is_constant(result.op) or result.op.name.startswith("spirv."):
        return False
    return has_zero(result.type)


def _zero(result: OpResult) -> SSAValue | None:
    return _zero_before(result.op, result.type)


def _zero_before(op: Operation, type: Attribute) -> SSAValue:
    constant = arith.ConstantOp(zero_of(type), type)
    constant.location = op.location
    assert op.parent is not None
    op.parent.insert_op_before(constant, op)
    return constant.result


def _function_of(op: Operation) -> func.FuncOp | None:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, func.FuncOp):
        parent = parent.parent_op()
    return parent


def _new_argument(result: OpResult) -> SSAValue | None:
    function = _function_of(result.op)
    return add_argument(function, result.type) if function is not None else None


BYPASS = ReplaceOps("bypass ops", _operand, lambda r: _operand(r) is not None)
TO_ARGUMENTS = ReplaceOps(
    "ops to arguments", _visible_argument, lambda r: _visible_argument(r) is not None
)
TO_ZEROS = ReplaceOps("ops to zeros", _zero, _has_zero)


@dataclass(frozen=True)
class ToNewArguments:
    """Give the functions that nobody calls new arguments instead of an op's results."""

    name = "ops to new arguments"

    def parts(self, module: ModuleOp) -> Sequence[Part]:
        """Positions, the last op first."""
        free = free_functions(module)
        return [
            (index,)
            for index, op in reversed(_removable(module))
            if op.results and not is_constant(op) and _function_of(op) in free
        ]

    def take(self, module: ModuleOp, parts: Sequence[Part]) -> None:
        """Replace the ops by arguments."""
        ops = list(module.walk())
        for (index,) in sorted(parts, reverse=True):
            if _is_there(ops[index]):
                _replace(ops[index], _new_argument)


@dataclass(frozen=True)
class ReturnEarlier:
    """Return what an op of the function's body computes instead of what comes later.

    Of many parts the last one counts, so that the search by halves finds the first op that matters.
    """

    name = "return earlier"

    def parts(self, module: ModuleOp) -> Sequence[Part]:
        """Positions of ops with results in the bodies of functions that nobody calls."""
        free = free_functions(module)
        return [
            (index,)
            for index, op in enumerate(module.walk())
            if op.results and not is_constant(op) and op.parent_op() in free
        ]

    def take(self, module: ModuleOp, parts: Sequence[Part]) -> None:
        """Return the results of the last of the ops, and erase what they do not need."""
        op = list(module.walk())[parts[-1][0]]
        function = op.parent_op()
        block = op.parent
        assert isinstance(function, func.FuncOp) and block is not None
        if not isinstance(block.last_op, func.ReturnOp):
            return
        erase(block.last_op)
        while block.last_op is not op:
            assert block.last_op is not None
            erase(block.last_op)
        block.add_op(func.ReturnOp(*op.results))
        function.update_function_type()
        function.res_attrs = None
        for other in reversed(list(block.ops)):
            if is_trivially_dead(other):
                erase(other)


@dataclass(frozen=True)
class Unwrap:
    """Leave what a region does once in place of the op that has it."""

    name = "unwrap regions"

    def parts(self, module: ModuleOp) -> Sequence[Part]:
        """Positions and regions of one block that yields what the op gives."""
        return [
            (index, number)
            for index, op in reversed(_removable(module))
            for number, region in enumerate(op.regions)
            if len(region.blocks) == 1 and _yields(region.blocks[0], op)
        ]

    def take(self, module: ModuleOp, parts: Sequence[Part]) -> None:
        """Move the bodies out; their arguments become operands of the op, or zeros."""
        ops = list(module.walk())
        for index, number in sorted(parts, reverse=True):
            if _is_there(ops[index]):
                _unwrap(ops[index], ops[index].regions[number].block)


def _yields(block: Block, op: Operation) -> bool:
    last = block.last_op
    return last is not None and list(last.operand_types) == list(op.result_types)


def _unwrap(op: Operation, body: Block) -> None:
    place = op.parent
    last = body.last_op
    assert place is not None and last is not None
    # The operands of a loop that are carried come last.
    free = list(reversed(op.operands))
    for argument in reversed(body.args):
        value = next((v for v in free if v.type == argument.type), None)
        if value is not None:
            free.remove(value)
        elif has_zero(argument.type):
            value = _zero_before(op, argument.type)
        else:
            return
        argument.replace_all_uses_with(value)
    yielded = list(last.operands)
    erase(last)
    for inner in list(body.ops):
        inner.detach()
        place.insert_op_before(inner, op)
    for result, value in zip(op.results, yielded, strict=True):
        result.replace_all_uses_with(value)
    _erase_with_sources(op)


def _removable(module: ModuleOp) -> list[tuple[int, Operation]]:
    """The ops that a block can be without, with their positions."""
    return [
        (index, op)
        for index, op in enumerate(module.walk())
        if op.parent is not None
        and not _is_symbol(op)
        and not op.has_trait(IsTerminator, value_if_unregistered=op.next_op is None)
    ]


def _is_there(op: Operation) -> bool:
    """Whether an op has not been erased together with another one."""
    root = op
    while (parent := root.parent_op()) is not None:
        root = parent
    return isinstance(root, ModuleOp) and op is not root


def _is_symbol(op: Operation) -> bool:
    return op.has_trait(SymbolOpInterface, value_if_unregistered=False)


def _erase_with_sources(op: Operation) -> None:
    """Erase an op, and before it what had no other use."""
    sources = [v.op for inner in op.walk() for v in inner.operands if isinstance(v, OpResult)]
    erase(op)
    for source in dict.fromkeys(sources):
        if source.parent is not None and is_trivially_dead(source):
            _erase_with_sources(source)
