"""Inline calls of private functions."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import file_line_col, refuse
from ingot.compiler.analysis.generics import erase

_State = dict[str, bool]
"""Functions whose calls are being inlined (False) or all are (True)."""


def _calls(function: func.FuncOp) -> list[func.CallOp]:
    return [op for op in function.walk() if isinstance(op, func.CallOp)]


def _inline(call: func.CallOp, callee: func.FuncOp) -> None:
    """Copy the body in front of the call."""
    values: dict[SSAValue, SSAValue] = dict(zip(callee.body.block.args, call.operands, strict=True))
    block = call.parent_block()
    assert block is not None
    for op in callee.body.block.ops:
        if isinstance(op, func.ReturnOp):
            results = [values.get(value, value) for value in op.operands]
            for old, new in zip(call.results, results, strict=True):
                if isinstance(new.owner, Operation):
                    new.name_hint = old.name_hint or new.name_hint
                old.replace_all_uses_with(new)
            break
        copy = op.clone(values)
        _locate(copy, op, call)
        block.insert_op_before(copy, call)
    erase(call)


def _locate(new: Operation, old: Operation, call: func.CallOp) -> None:
    """The places of the copied ops, or the call's where they have none (JAX's own functions)."""
    for source, copy in zip(old.walk(), new.walk(), strict=True):
        known = file_line_col(source.location) is not None
        copy.location = source.location if known else call.location


def _expand(function: func.FuncOp, functions: dict[str, func.FuncOp], state: _State) -> None:
    """Inline all calls in a function, those in the callees first."""
    state[function.sym_name.data] = False
    for call in _calls(function):
        name = call.callee.string_value()
        callee = functions.get(name)
        if callee is None or callee.is_declaration:
            raise refuse(
                call,
                f"function {name} has no body",
                "only functions that are defined in the module can be compiled",
            )
        if len(callee.body.blocks) != 1:
            raise refuse(
                callee, f"function {name} has branches between blocks, which is not supported"
            )
        if name not in state:
            _expand(callee, functions, state)
        if not state[name]:
            raise refuse(call, f"function {name} calls itself, which is not supported")
        _inline(call, callee)
    state[function.sym_name.data] = True


def _is_private(function: func.FuncOp) -> bool:
    return function.sym_visibility == StringAttr("private")


@dataclass(frozen=True)
class InlineCallsPass(ModulePass):
    """Replace calls by the bodies of the functions, and drop the private ones (L1 to L1).

        %r = func.call @relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
    becomes
        %r = linalg.max ins(%x, %zero) outs(%empty)
    """

    name = "inline-calls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module; raises `Refusal` for recursion and functions without a body."""
        functions = {f.sym_name.data: f for f in op.ops if isinstance(f, func.FuncOp)}
        called = {call.callee.string_value() for f in functions.values() for call in _calls(f)}
        if not called:
            return
        state: _State = {}
        for function in functions.values():
            if function.sym_name.data not in state:
                _expand(function, functions, state)
        for name in called:
            if name in functions and _is_private(functions[name]):
                erase(functions[name])
