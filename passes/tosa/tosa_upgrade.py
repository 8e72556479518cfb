"""Bring the forms that LLVM 19 to 21 print of TOSA ops to that of LLVM 22."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    TensorType,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter
from ingot.compiler.analysis.tensor_types import as_tensor_type
from ingot.compiler.dialects.tosa import OPS, WORDS, QuantizationAttr, ShapeType, TosaOp
from ingot.passes.tosa.constants import known_ints

_I48 = IntegerType(48)


def _element(value: SSAValue) -> Attribute:
    """The element type of an operand, f32 for one that is no ranked tensor."""
    type_ = as_tensor_type(value.type)
    return i32 if type_ is None else type_.element_type


def _constant(emit: Emitter, numbers: Sequence[int], element: Attribute) -> SSAValue:
    """`tosa.const` of rank 1."""
    type_: TensorType[Attribute] = TensorType(element, [len(numbers)])
    if isinstance(element, AnyFloat):
        values = DenseIntOrFPElementsAttr.from_list(
            cast("TensorType[AnyFloat]", type_), [float(n) for n in numbers]
        )
    else:
        width = cast("IntegerType", element).bitwidth
        wrapped = [(n + (1 << (width - 1))) % (1 << width) - (1 << (width - 1)) for n in numbers]
        values = DenseIntOrFPElementsAttr.from_list(cast("TensorType[IntegerType]", type_), wrapped)
    return emit.add(OPS["tosa.const"]([], [type_], {"values": values})).results[0]


def _sizes(emit: Emitter, numbers: Sequence[int]) -> SSAValue:
    """`tosa.const_shape`."""
    values = DenseIntOrFPElementsAttr.from_list(TensorType(IndexType(), [len(numbers)]), numbers)
    type_ = ShapeType.of(len(numbers))
    return emit.add(OPS["tosa.const_shape"]([], [type_], {"values": values})).results[0]


def _upgrade_words(op: TosaOp) -> None:
    """Strings in place of words; `double_round` in place of a rounding mode."""
    for name, words in WORDS.items():
        value = op.properties.get(name)
        if isinstance(value, StringAttr):
            op.properties[name] = words.of(value.data)
    if "double_round" in op.properties:
        word = "DOUBLE_ROUND" if op.flag("double_round") else "SINGLE_ROUND"
        del op.properties["double_round"]
        op.properties["rounding_mode"] = WORDS["rounding_mode"].of(word)


def _upgrade_constant(op: TosaOp, emit: Emitter) -> None:
    """`value` is called `values` now."""
    value = op.properties.pop("value", None)
    if value is not None:
        op.properties["values"] = value
    if not isinstance(op.properties.get("values"), DenseIntOrFPElementsAttr):
        raise refuse(op, f"{op.name} needs the attribute 'values' with its elements")


def _attributes_to_sizes(*names: str) -> _Upgrade:
    """Lists of sizes become operands, behind the first."""

    def upgrade(op: TosaOp, emit: Emitter) -> None:
        if len(op.ins) == 1:
            missing = next((name for name in names if name not in op.properties), None)
            if missing is not None:
                raise refuse(op, f"{op.name} needs '{missing}' as an operand or an attribute")
            op.operands = [op.ins[0], *(_sizes(emit, op.ints(name)) for name in names)]
        for name in names:
            op.properties.pop(name, None)

    return upgrade


def _zero_points(data: Sequence[int], *names: str) -> _Upgrade:
    """Zero points become operands, behind the data; `data` are the operands that give the types."""

    def upgrade(op: TosaOp, emit: Emitter) -> None:
        numbers = [op.int(name) for name in names]
        info = op.properties.pop("quantization_info", None)
        if isinstance(info, QuantizationAttr):
            numbers = list(info.zero_points())
        for name in names:
            op.properties.pop(name, None)
        count = op.SPEC.operand_range()[0]
        if len(op.ins) == count:
            types = [_element(op.ins[position]) for position in data]
            added = [_constant(emit, [n], t) for n, t in zip(numbers, types, strict=True)]
            op.operands = [*op.ins, *added]

    return upgrade


def _upgrade_mul(op: TosaOp, emit: Emitter) -> None:
    shift = op.int("shift")
    op.properties.pop("shift", None)
    if len(op.ins) == 2:
        op.operands = [*op.ins, _constant(emit, [shift], i8)]


def _upgrade_transpose(op: TosaOp, emit: Emitter) -> None:
    """The permutation, an operand up to LLVM 20, is an attribute now."""
    if len(op.ins) == 2:
        order = known_ints(op, op.ins[1], "the permutation")
        op.operands = [op.ins[0]]
        op.properties["perms"] = DenseArrayBase.from_list(i32, list(order))
    if "perms" not in op.properties:
        raise refuse(op, "tosa.transpose needs 'perms' as an operand or an attribute")


def _upgrade_pad(op: TosaOp, emit: Emitter) -> None:
    """The amounts, a tensor up to LLVM 19, are a list; the value is always there."""
    source, amounts, *value = op.ins
    if not isinstance(amounts.type, ShapeType):
        amounts = _sizes(emit, known_ints(op, amounts, "the padding"))
    number = op.int("input_zp")
    info = op.properties.pop("quantization_info", None)
    if isinstance(info, QuantizationAttr):
        number = info.zero_points()[0]
    op.properties.pop("input_zp", None)
    value = value or [_constant(emit, [number], _element(source))]
    op.operands = [source, amounts, *value]


def _upgrade_clamp(op: TosaOp, emit: Emitter) -> None:
    """Two pairs of bounds, for integers and for floats, are one."""
    element = _element(op.ins[0])
    for name in ("min", "max"):
        integer = op.properties.pop(f"{name}_int", None)
        number = op.properties.pop(f"{name}_fp", None)
        if f"{name}_val" in op.properties:
            continue
        if isinstance(element, AnyFloat) and isinstance(number, FloatAttr):
            op.properties[f"{name}_val"] = FloatAttr(number.value.data, element)
        elif isinstance(element, IntegerType) and isinstance(integer, IntegerAttr):
            type_ = cast("IntegerType", element)
            op.properties[f"{name}_val"] = IntegerAttr(_saturated(integer.value.data, type_), type_)
        else:
            raise refuse(op, f"tosa.clamp needs '{name}_val' of type {element}")


def _saturated(number: int, element: IntegerType) -> int:
    """`number`, or the nearest that the type holds."""
    half = 1 << (element.bitwidth - 1)
    return max(-half, min(half - 1, number))


def _upgrade_rescale(op: TosaOp, emit: Emitter) -> None:
    """Multipliers, shifts and zero points become operands."""
    if len(op.ins) == 1:
        for name in ("multiplier", "shift"):
            if name not in op.properties:
                raise refuse(op, f"tosa.rescale needs '{name}' as an operand or an attribute")
        multiplier = _constant(emit, op.ints("multiplier"), i32 if op.flag("scale32") else i16)
        shift = _constant(emit, op.ints("shift"), i8)
        op.operands = [op.ins[0], multiplier, shift]
    if len(op.ins) == 3:
        types = (_element(op.ins[0]), _element(op.results[0]))
        numbers = (op.int("input_zp"), op.int("output_zp"))
        added = [_constant(emit, [n], t) for n, t in zip(numbers, types, strict=True)]
        op.operands = [*op.ins, *added]
    for name in ("multiplier", "shift", "input_zp", "output_zp"):
        op.properties.pop(name, None)


_Upgrade = Callable[[TosaOp, Emitter], None]

_UPGRADES: dict[str, _Upgrade] = {
    "tosa.const": _upgrade_constant,
    "tosa.const_shape": _upgrade_constant,
    "tosa.reshape": _attributes_to_sizes("new_shape"),
    "tosa.slice": _attributes_to_sizes("start", "size"),
    "tosa.tile": _attributes_to_sizes("multiples"),
    "tosa.resize": _attributes_to_sizes("scale", "offset", "border"),
    "tosa.conv2d": _zero_points((0, 1), "input_zp", "weight_zp"),
    "tosa.conv3d": _zero_points((0, 1), "input_zp", "weight_zp"),
    "tosa.depthwise_conv2d": _zero_points((0, 1), "input_zp", "weight_zp"),
    "tosa.transpose_conv2d": _zero_points((0, 1), "input_zp", "weight_zp"),
    "tosa.fully_connected": _zero_points((0, 1), "input_zp", "weight_zp"),
    "tosa.matmul": _zero_points((0, 1), "a_zp", "b_zp"),
    "tosa.avg_pool2d": _zero_points((0, 0), "input_zp", "output_zp"),
    "tosa.negate": _zero_points((0, 0), "input1_zp", "output_zp"),
    "tosa.mul": _upgrade_mul,
    "tosa.transpose": _upgrade_transpose,
    "tosa.pad": _upgrade_pad,
    "tosa.clamp": _upgrade_clamp,
    "tosa.rescale": _upgrade_rescale,
}


def _widen_i48(function: func.FuncOp) -> None:
    """Let 64 bits hold what TOSA accumulates in 48: no value that it defines needs more."""
    types = (*function.function_type.inputs.data, *function.function_type.outputs.data)
    if any(_is_i48(type_) for type_ in types):
        raise refuse(
            function,
            f"{function.sym_name.data} takes or returns i48, which no buffer holds",
            "end the function after the tosa.rescale to a narrower type",
        )
    for op in function.body.walk():
        for value in (*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)):
            if _is_i48(value.type):
                value._type = _widened(value.type)  # pyright: ignore[reportPrivateUsage]
        values = op.properties.get("values")
        if isinstance(values, DenseIntOrFPElementsAttr):
            dense = cast("DenseIntOrFPElementsAttr[Any]", values)
            if _is_i48(dense.type):
                wide = cast("TensorType[IntegerType]", _widened(dense.type))
                op.properties["values"] = DenseIntOrFPElementsAttr(wide, dense.data)


def _is_i48(type_: Attribute) -> bool:
    tensor = as_tensor_type(type_)
    return tensor is not None and tensor.element_type == _I48


def _widened(type_: Attribute) -> TensorType[Attribute]:
    tensor = as_tensor_type(type_)
    assert tensor is not None
    return TensorType(i64, tensor.get_shape())


def _upgrade(op: TosaOp) -> None:
    if isinstance(op, OPS["tosa.reduce_prod"]):
        renamed = OPS["tosa.reduce_product"](op.ins, op.result_types, op.properties)
        Emitter.before(op).add(renamed)
        op.results[0].replace_all_uses_with(renamed.results[0])
        op.detach()
        op.erase()
        return
    _upgrade_words(op)
    upgrade = _UPGRADES.get(op.name)
    if upgrade is not None:
        upgrade(op, Emitter.before(op))


@dataclass(frozen=True)
class TosaUpgradePass(ModulePass):
    """Bring every form of a TOSA op that LLVM 19 to 21 print to that of LLVM 22 (TOSA to TOSA).

    Shapes, shifts, scales and zero points become operands, words replace strings and flags, and
    i64 holds what is i48.

        %1 = tosa.mul %a, %b {shift = 0 : i8} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    becomes
        %0 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
        %1 = tosa.mul %a, %b, %0 : (tensor<4xi32>, tensor<4xi32>, tensor<1xi8>) -> tensor<4xi32>
    """

    name = "tosa-upgrade"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions; raises `Refusal` for what no version has."""
        for function in host_functions(op):
            ops = [inner for inner in function.body.walk() if isinstance(inner, TosaOp)]
            if not ops:
                continue
            for inner in ops:
                _upgrade(inner)
            _widen_i48(function)
