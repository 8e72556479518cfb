"""Take signed and unsigned integer types for signless ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects import arith, builtin, func
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import erase
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import as_tensor_type
from ingot.compiler.analysis.types import as_integer, element_type
from ingot.compiler.dialects.dispatch import SIGNATURE
from ingot.compiler.dialects.tensor import BitcastOp

_OWN_RULES = ("stablehlo.", "chlo.", "tosa.")
"""Dialects whose ops mean different things for signed and unsigned types."""


def _signless(type_: Attribute) -> Attribute:
    integer = as_integer(element_type(type_))
    if integer is None or integer.signedness.data is Signedness.SIGNLESS:
        return type_
    plain = IntegerType(integer.width.data)
    tensor_ = as_tensor_type(type_)
    if tensor_ is None:
        return plain
    return TensorType(plain, tensor_.get_shape(), tensor_.encoding)


def _retype(value: SSAValue) -> None:
    new = _signless(value.type)
    if new != value.type:
        value._type = new  # pyright: ignore[reportPrivateUsage]


def _retype_constant(op: arith.ConstantOp) -> None:
    match op.value:
        case DenseIntOrFPElementsAttr() as dense:
            values: DenseIntOrFPElementsAttr[Any] = dense
            type_: TensorType[Any] = TensorType(
                _signless(element_type(op.result.type)), shape_of(op.result)
            )
            op.properties["value"] = DenseIntOrFPElementsAttr(type_, values.data)
        case IntegerAttr() as integer:
            number: IntegerAttr[Any] = integer
            plain = IntegerType(number.type.width.data)
            op.properties["value"] = IntegerAttr(number.value.data, plain, truncate_bits=True)
        case _:
            pass


def _drop(function: func.FuncOp) -> None:
    for op in list(function.body.walk()):
        signed = any(_signless(r.type) != r.type for r in op.results)
        if signed and isinstance(op, arith.ConstantOp):
            _retype_constant(op)
        for result in op.results:
            _retype(result)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    _retype(argument)
    for argument in function.body.block.args:
        _retype(argument)
    for op in list(function.body.walk()):
        casts = isinstance(op, BitcastOp | builtin.UnrealizedConversionCastOp)
        if casts and [v.type for v in op.operands] == [r.type for r in op.results]:
            for result, operand in zip(op.results, op.operands, strict=True):
                result.replace_all_uses_with(operand)
            erase(op)
    type_ = function.function_type
    inputs = [_signless(t) for t in type_.inputs]
    outputs = [_signless(t) for t in type_.outputs]
    if (new := FunctionType.from_lists(inputs, outputs)) != type_:
        function.attributes.setdefault(SIGNATURE, type_)
        function.properties["function_type"] = new


def _has_own_rules(function: func.FuncOp) -> bool:
    return any(op.name.startswith(_OWN_RULES) for op in function.body.walk())


def _has_signs(function: func.FuncOp) -> bool:
    values = [*function.body.block.args, *(r for op in function.body.walk() for r in op.results)]
    return any(_signless(value.type) != value.type for value in values)


@dataclass(frozen=True)
class DropSignednessPass(ModulePass):
    """Take `ui8`, `si32` and their kin for `i8` and `i32` in functions of upstream's dialects,
    where ops and not types say what is unsigned (L1 to L1).

    `ingot.signature` keeps the types of the source for the bundle. StableHLO and TOSA have rules of
    their own.

        %1 = tensor.bitcast %x : tensor<4xui8> to tensor<4xi8>
    becomes
        %x : tensor<4xi8>
    """

    name = "drop-signedness"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions."""
        for function in host_functions(op):
            if not _has_own_rules(function) and _has_signs(function):
                _drop(function)
