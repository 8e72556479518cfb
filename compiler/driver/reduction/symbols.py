"""Fewer functions, and fewer arguments and results of theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue
from xdsl.traits import SymbolOpInterface

from ingot.compiler.analysis.generics import erase

if TYPE_CHECKING:
    from ingot.compiler.driver.reduction.search import Part

Item = TypeVar("Item")


@dataclass(frozen=True)
class DropSymbols:
    """Erase functions and other named ops that nothing left names."""

    name = "functions"

    def parts(self, module: ModuleOp) -> Sequence[Part]:
        """Positions of named ops."""
        return [(index,) for index, op in enumerate(module.walk()) if _name(op) is not None]

    def take(self, module: ModuleOp, parts: Sequence[Part]) -> None:
        """Erase them, all or none: the last one must stay, and no name may be left dangling."""
        ops = list(module.walk())
        chosen = [ops[index] for (index,) in parts]
        inside = {inner for op in chosen for inner in op.walk()}
        named = {name for op in chosen if (name := _name(op)) is not None}
        left = [op for op in ops if op not in inside]
        if any(named & _references(op) for op in left) or not any(map(_name, left)):
            return
        for op in chosen:
            if op.parent is not None:
                erase(op)


@dataclass(frozen=True)
class DropResults:
    """Let functions that nobody calls return less."""

    name = "results"

    def parts(self, module: ModuleOp) -> Sequence[Part]:
        """Positions of functions, and numbers of their results, from the last."""
        return [
            (index, number)
            for index, function in _free_functions(module)
            for number in reversed(range(len(function.function_type.outputs)))
        ]

    def take(self, module: ModuleOp, parts: Sequence[Part]) -> None:
        """Drop the results from the function's type and its returns."""
        ops = list(module.walk())
        for index, number in sorted(parts, reverse=True):
            _drop_result(cast("func.FuncOp", ops[index]), number)


@dataclass(frozen=True)
class DropArguments:
    """Drop unused arguments of functions that nobody calls."""

    name = "arguments"

    def parts(self, module: ModuleOp) -> Sequence[Part]:
        """Positions of functions, and numbers of arguments without a use, from the last."""
        return [
            (index, argument.index)
            for index, function in _free_functions(module)
            for argument in reversed(function.args)
            if not argument.uses
        ]

    def take(self, module: ModuleOp, parts: Sequence[Part]) -> None:
        """Drop the arguments from the function's type and its body."""
        ops = list(module.walk())
        for index, number in sorted(parts, reverse=True):
            _drop_argument(cast("func.FuncOp", ops[index]), number)


def free_functions(module: ModuleOp) -> set[func.FuncOp]:
    """The functions that have a body and that nothing names, so that their types may change."""
    named: set[str] = set()
    functions: set[func.FuncOp] = set()
    for op in module.walk():
        named |= _references(op)
        if isinstance(op, func.FuncOp) and not op.is_declaration:
            functions.add(op)
    return {function for function in functions if function.sym_name.data not in named}


def add_argument(function: func.FuncOp, type: Attribute) -> SSAValue:
    """A new argument after the others."""
    count = len(function.args)
    value = function.body.block.insert_arg(type, count)
    _set_type(function, [*function.function_type.inputs, type], function.function_type.outputs.data)
    if function.arg_attrs is not None:
        function.arg_attrs = ArrayAttr([*function.arg_attrs, DictionaryAttr({})])
    return value


def _free_functions(module: ModuleOp) -> Iterator[tuple[int, func.FuncOp]]:
    free = free_functions(module)
    for index, op in enumerate(module.walk()):
        if isinstance(op, func.FuncOp) and op in free:
            yield index, op


def _drop_result(function: func.FuncOp, number: int) -> None:
    for op in function.body.walk():
        if isinstance(op, func.ReturnOp) and op.parent_op() is function:
            op.operands = _without(op.operands, number)
    outputs = _without(function.function_type.outputs.data, number)
    _set_type(function, function.function_type.inputs.data, outputs)
    if function.res_attrs is not None:
        function.res_attrs = ArrayAttr(_without(function.res_attrs.data, number))


def _drop_argument(function: func.FuncOp, number: int) -> None:
    block = function.body.block
    count = len(block.args)
    block.erase_arg(block.args[number])
    inputs = _without(function.function_type.inputs.data, number)
    _set_type(function, inputs, function.function_type.outputs.data)
    if function.arg_attrs is not None:
        function.arg_attrs = ArrayAttr(_without(function.arg_attrs.data, number))
    # What kernels say of each argument: its name, how it is accessed.
    for name, value in function.attributes.items():
        if isinstance(value, ArrayAttr) and len(listed := cast("ArrayAttr[Attribute]", value)) == (
            count
        ):
            function.attributes[name] = ArrayAttr(_without(listed.data, number))


def _set_type(
    function: func.FuncOp, inputs: Sequence[Attribute], outputs: Sequence[Attribute]
) -> None:
    function.function_type = FunctionType.from_lists(list(inputs), list(outputs))


def _without(items: Sequence[Item], number: int) -> list[Item]:
    return [item for n, item in enumerate(items) if n != number]


def _name(op: Operation) -> str | None:
    symbol = op.get_trait(SymbolOpInterface) if op.parent is not None else None
    attribute = symbol.get_sym_attr_name(op) if symbol is not None else None
    return attribute.data if attribute is not None else None


def _references(op: Operation) -> set[str]:
    """Every part of every name that an op's attributes refer to."""
    found: set[str] = set()
    pending: list[Attribute] = [*op.properties.values(), *op.attributes.values()]
    while pending:
        attribute = pending.pop()
        match attribute:
            case SymbolRefAttr():
                found.add(attribute.root_reference.data)
                found.update(name.data for name in attribute.nested_references)
            case ArrayAttr():
                pending += attribute.data
            case DictionaryAttr():
                pending += attribute.data.values()
            case ParametrizedAttribute():
                pending += attribute.parameters
            case _:
                pass
    return found
