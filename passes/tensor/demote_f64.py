"""Compute in f32 what a program computes in f64 without need."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float64Type,
    FloatAttr,
    FunctionType,
    ModuleOp,
    TensorType,
    f32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.type import get_element_type_or_self

from ingot.compiler.analysis.constants import constant_array, dense_constant
from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.module_warnings import add_warning
from ingot.compiler.analysis.tensor_types import as_tensor_type

_HINT = "pass --demote-f64 to compute in f32 instead"


def _is_f64(type_: Attribute) -> bool:
    return isinstance(get_element_type_or_self(type_), Float64Type)


def _demoted(type_: Attribute) -> Attribute:
    """f32 in place of f64."""
    if not _is_f64(type_):
        return type_
    tensor = as_tensor_type(type_)
    return f32 if tensor is None else TensorType(f32, tensor.get_shape(), tensor.encoding)


def _may_be_demoted(op: Operation) -> bool:
    """Whether f64 only passes through `op`, or is widened from a float or narrowed to one."""
    return not isinstance(
        op,
        arith.SIToFPOp
        | arith.UIToFPOp
        | arith.FPToSIOp
        | arith.FPToUIOp
        | arith.BitcastOp
        | func.CallOp,
    )


def _touches_f64(op: Operation) -> bool:
    return any(_is_f64(v.type) for v in (*op.operands, *op.results))


def _check(function: func.FuncOp) -> None:
    """Refuse f64 that somebody outside the function, or an integer, would see."""
    for argument in function.body.block.args:
        if _is_f64(argument.type):
            raise refuse(argument, f"argument {argument.index} is f64, which no target has", _HINT)
    for op in function.body.walk():
        if isinstance(op, func.ReturnOp) and _touches_f64(op):
            raise refuse(op, "a result is f64, which no target has", _HINT)
        if _touches_f64(op) and not _may_be_demoted(op):
            raise refuse(op, f"{op.name} needs f64, which no target has", _HINT)


def _retype(value: SSAValue) -> None:
    if _is_f64(value.type):
        value._type = _demoted(value.type)  # pyright: ignore[reportPrivateUsage]


def _demote_constant(op: arith.ConstantOp) -> None:
    value = op.value
    if isinstance(value, FloatAttr):
        op.properties["value"] = FloatAttr(value.value.data, f32)
    elif isinstance(value, DenseIntOrFPElementsAttr):
        op.properties["value"] = dense_constant(constant_array(value), f32)


def _demote(function: func.FuncOp) -> None:
    for op in list(function.walk()):
        if isinstance(op, arith.ConstantOp) and _touches_f64(op):
            _demote_constant(op)
        for result in op.results:
            _retype(result)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    _retype(argument)
    for op in list(function.walk()):
        # f32 to f64 and back is nothing now; other widths still convert.
        if isinstance(op, arith.ExtFOp | arith.TruncFOp) and op.input.type == op.result.type:
            op.result.replace_all_uses_with(op.input)
            op.detach()
            op.erase()
    inputs = [a.type for a in function.body.block.args]
    outputs = [_demoted(t) for t in function.function_type.outputs.data]
    function.properties["function_type"] = FunctionType.from_lists(inputs, outputs)


@dataclass(frozen=True)
class DemoteF64Pass(ModulePass):
    """Compute in f32 where f64 starts from a narrower float or a constant and ends in one
    (L1 to L1).

    Frameworks widen some sums for accuracy only (torch-mlir: the variance of a layer norm). A
    warning is left in the module's `ingot.warnings`. f64 in a signature, or next to an integer, is
    refused unless `all` is set.

        %1 = arith.extf %x : f32 to f64
        %2 = arith.addf %1, %y : f64
    becomes
        %2 = arith.addf %x, %y : f32
    """

    name = "demote-f64"

    all: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions; raises `Refusal` for f64 that is not only internal."""
        demoted: list[str] = []
        for function in host_functions(op):
            if not any(_touches_f64(inner) for inner in function.body.walk()):
                continue
            if not self.all:
                _check(function)
            _demote(function)
            demoted.append(function.sym_name.data)
        if demoted:
            names = ", ".join(demoted)
            add_warning(op, f"f64 inside {names} is computed in f32")
