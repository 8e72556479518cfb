"""Replace a function by its vector-Jacobian product."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
)
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, erase
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type

from .derivatives import control, generics, moves, reorder
from .derivatives.activity import is_float, propagate
from .derivatives.kernels import zeros
from .derivatives.reverse import Reverse

RULE_MODULES = (control, generics, moves, reorder)
"""Imported for the rules that they register."""

NO_GRADIENT = "ingot.nograd"
"""Marks an argument that is left out when no arguments are named."""


@dataclass(frozen=True)
class LinalgDifferentiatePass(ModulePass):
    """Replace a function by the one that gives its gradients (L1 to L1, after generalization).

    It takes the arguments, then one cotangent for each float result, and returns one gradient for
    each argument in `wrt`, by position or name (all floats that are not marked `ingot.nograd` when
    it is empty), after the results when `with_value`. No two iterations of a backward kernel add
    to one element.

    When `forward`, it takes one tangent for each argument in `wrt` instead, and returns that of
    each float result.

        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { %y = linalg.generic {exp} ins(%x) }
    becomes
        func.func @f(%x: tensor<4xf32>, %d_y: tensor<4xf32>) -> tensor<4xf32>
            { %y = linalg.generic {exp} ins(%x); %d_x = linalg.generic {mul} ins(%d_y, %y) }
    """

    name = "linalg-differentiate"

    function: str = ""
    wrt: tuple[int | str, ...] = ()
    with_value: bool = False
    forward: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite one function; raises `Refusal` for what has no gradient."""
        function = _find(op, self.function)
        wrt = tuple(_position(function, which) for which in self.wrt) or _all_floats(function)
        if self.forward:
            differentiate_forward(function, wrt, self.with_value)
        else:
            differentiate(function, wrt, self.with_value)


def _find(module: ModuleOp, name: str) -> func.FuncOp:
    """The function of that name, or the only one that is not private."""
    functions = [op for op in module.ops if isinstance(op, func.FuncOp) and op.body.blocks]
    if name:
        found = [f for f in functions if f.sym_name.data == name]
        if not found:
            raise refuse(module, f"the module has no function {name} to differentiate")
        return found[0]
    public = [f for f in functions if f.sym_visibility != StringAttr("private")]
    if len(public) != 1:
        names = ", ".join(f.sym_name.data for f in public) or "none"
        raise refuse(
            module,
            f"the module has {len(public)} functions that could be differentiated: {names}",
            "name one",
        )
    return public[0]


def _position(function: func.FuncOp, which: int | str) -> int:
    """The argument of a position or name."""
    arguments = function.body.block.args
    names = [argument.name_hint or str(argument.index) for argument in arguments]
    if isinstance(which, str) and which in names:
        return names.index(which)
    if (isinstance(which, int) or which.isdecimal()) and int(which) < len(arguments):
        return int(which)
    raise refuse(
        function,
        f"function {function.sym_name.data} has no argument {which}",
        f"its arguments are {', '.join(names)}" if names else "it has none",
    )


def _all_floats(function: func.FuncOp) -> tuple[int, ...]:
    marks = function.arg_attrs.data if function.arg_attrs is not None else ()
    kept = [
        argument.index
        for argument in function.body.block.args
        if is_float(argument.type) and not (marks and NO_GRADIENT in marks[argument.index].data)
    ]
    if not kept:
        raise refuse(function, "the function has no argument of floats to differentiate by")
    return tuple(kept)


def differentiate(
    function: func.FuncOp, wrt: tuple[int, ...], with_value: bool, first: int = 0
) -> None:
    """Replace `function` by its vector-Jacobian product, in place.

    The results before `first` have no cotangents.
    """
    block = function.body.block
    _check(function, wrt)
    terminator = block.last_op
    assert isinstance(terminator, func.ReturnOp)
    arguments = list(block.args)
    results = list(terminator.arguments)
    active: set[SSAValue] = {arguments[i] for i in wrt}
    propagate(block, active)
    reverse = Reverse(Emitter.before(terminator), active)
    forward = [op for op in block.ops if op is not terminator]
    for i, result in enumerate(results):
        if i >= first and is_float(result.type):
            cotangent = block.insert_arg(result.type, len(block.args), terminator.location)
            cotangent.name_hint = f"d_{result.name_hint or f'result{i}'}"
            reverse.add(result, cotangent)
    reverse.run(forward)
    gradients: list[SSAValue] = []
    for i in wrt:
        reverse.emit.location = arguments[i].location
        gradient = reverse.take_or_zeros(arguments[i])
        if not isinstance(gradient.owner, type(block)):
            gradient.name_hint = f"d_{arguments[i].name_hint or f'arg{i}'}"
        gradients.append(gradient)
    returned = [*(results if with_value else []), *gradients]
    Emitter.before(terminator).add(func.ReturnOp(*returned))
    erase(terminator)
    _update_signature(function, returned, len(results) if with_value else 0)


def differentiate_forward(function: func.FuncOp, wrt: tuple[int, ...], with_value: bool) -> None:
    """Replace `function` by its Jacobian-vector product, in place.

    The vector-Jacobian product is linear in the cotangents: differentiated by them, it is the
    product with the Jacobian itself, and does not depend on them any more.
    """
    block = function.body.block
    count, results = len(block.args), len(function.function_type.outputs)
    names = [block.args[i].name_hint or f"arg{i}" for i in wrt]
    terminator = block.last_op
    assert isinstance(terminator, func.ReturnOp)
    outputs = [v.name_hint for v in terminator.arguments if is_float(v.type)]
    kept = results if with_value else 0
    differentiate(function, wrt, with_value)
    cotangents = tuple(range(count, len(block.args)))
    differentiate(function, cotangents, with_value, kept)
    terminator = block.last_op
    assert isinstance(terminator, func.ReturnOp)
    values = list(terminator.arguments)
    tangents = values[len(values) - len(cotangents) :]
    for value, name in zip(tangents, outputs, strict=True):
        if not isinstance(value.owner, type(block)):
            value.name_hint = f"t_{name}" if name else None
    returned = [*values[:kept], *tangents]
    Emitter.before(terminator).add(func.ReturnOp(*returned))
    erase(terminator)
    first = block.first_op
    assert first is not None
    start = Emitter.before(first)
    for i in reversed(cotangents):
        nothing = zeros(start, tensor_type(block.args[i]))
        block.args[i].replace_all_uses_with(nothing)
        block.erase_arg(block.args[i])
    for tangent, name in zip(block.args[count:], names, strict=True):
        tangent.name_hint = f"t_{name}"
    _update_signature(function, returned, kept)


def _check(function: func.FuncOp, wrt: tuple[int, ...]) -> None:
    arguments = function.body.block.args
    name = function.sym_name.data
    for i in wrt:
        if not is_float(arguments[i].type):
            raise refuse(
                arguments[i],
                f"argument {i} of {name} is a {arguments[i].type}: only floats have a gradient",
            )
    for argument in arguments:
        if DYNAMIC_INDEX in shape_of(argument):
            raise refuse(
                argument,
                f"argument {argument.index} of {name} is a {argument.type}: functions with dynamic "
                "shapes cannot be differentiated yet",
                "export the program with static shapes",
            )


def _update_signature(function: func.FuncOp, returned: list[SSAValue], kept_results: int) -> None:
    """The type, and attributes of arguments and results where there were some."""
    arguments = function.body.block.args
    added = max(0, len(arguments) - len(function.function_type.inputs))
    function.properties["function_type"] = FunctionType.from_lists(
        [a.type for a in arguments], [v.type for v in returned]
    )
    nothing = DictionaryAttr({})
    if function.arg_attrs is not None:
        attributes = [*function.arg_attrs.data, *([nothing] * added)][: len(arguments)]
        function.properties["arg_attrs"] = ArrayAttr(attributes)
    if function.res_attrs is not None:
        kept = list(function.res_attrs.data)[:kept_results]
        kept += [nothing] * (len(returned) - kept_results)
        function.properties["res_attrs"] = ArrayAttr(kept)
