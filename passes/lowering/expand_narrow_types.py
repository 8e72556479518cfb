"""The pass `expand-narrow-types`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    FunctionType,
    IndexType,
    MemRefType,
    ModuleOp,
    VectorType,
    f32,
    i1,
    i8,
    i16,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import kernel_functions
from ingot.compiler.analysis.index_range import constant_int, constant_number
from ingot.compiler.dialects import arith
from ingot.passes.lowering.emitter import (
    Emitter,
    Value,
    constant_op,
    element_type,
    replace_op,
    with_element,
)
from ingot.passes.lowering.kernel import buffer_type
from ingot.passes.lowering.math_functions import ROUND_TO_BF16, FunctionLibrary
from ingot.targets.profiles import PROFILES

bf16 = BFloat16Type()

_STORED_AS: dict[Attribute, Attribute] = {i1: i8, bf16: i16, IndexType(): i64}
"""What memory holds for an element type."""

COPIED = VectorType(bf16, [8])
"""A vector that is only copied, and stays as it is in memory."""

_LOADS = frozenset({"memref.load", "vector.load"})
_STORES = frozenset({"memref.store", "vector.store"})
_EXACT = frozenset(
    {
        *("arith.constant", "arith.negf", "arith.select", "arith.cmpf", "arith.bitcast"),
        *("math.absf", "math.ceil", "math.floor", "math.trunc", "math.roundeven"),
    }
)
"""Ops of arith and math whose result on bf16 values, computed in f32, is a bf16 value."""


@dataclass(frozen=True)
class ExpandNarrowTypesPass(ModulePass):
    """Stores i1 as bytes, bf16 as 16-bit and index as 64-bit integers, on L4 kernels.

    A bf16 value becomes the f32 of the same number: arithmetic runs in f32, and each result is
    rounded to bf16, to nearest even. With `target`, element types that it cannot store are refused.

    ```mlir
    %0 = memref.load %m[%i] : memref<8xi1>
    ```
    becomes
    ```mlir
    %b = memref.load %m[%i] : memref<8xi8>
    %0 = arith.cmpi ne, %b, %c0 : i8
    ```
    """

    name = "expand-narrow-types"

    target: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        library = FunctionLibrary(op)
        for kernel in kernel_functions(op):
            self._check(kernel)
            _expand(kernel, library)

    def _check(self, kernel: FuncOp) -> None:
        if not self.target:
            return
        profile = PROFILES[self.target]
        for argument in kernel.body.block.args:
            element = buffer_type(argument).element_type
            stored = _STORED_AS.get(element, element)
            if str(stored) not in profile.storage_types:
                raise refuse(kernel, f"{profile.name} has no storage of type {element}")


def _stored_type(type_: Attribute) -> Attribute:
    """A memref with the element type that memory holds."""
    if not isinstance(type_, MemRefType):
        return type_
    buffer = cast("MemRefType[Attribute]", type_)
    stored = _STORED_AS.get(buffer.element_type)
    if stored is None:
        return buffer
    return MemRefType(stored, buffer.shape, buffer.layout, buffer.memory_space)


def _value_type(type_: Attribute) -> Attribute:
    """The type that a value is computed in: f32 for bf16."""
    type_ = _stored_type(type_)
    if type_ == COPIED:
        return VectorType(i16, [8])
    return with_element(type_, f32) if element_type(type_) == bf16 else type_


def _expand(kernel: FuncOp, library: FunctionLibrary) -> None:
    # rewrites decide by the types as they were: first all ops, then all types
    accesses: list[tuple[Operation, Attribute]] = []
    rounded: list[Operation] = []
    rewritten: list[tuple[Operation, Callable[[Operation, Emitter], Value]]] = []
    ops = list(kernel.walk())
    for op in ops:
        if op.name in _LOADS or op.name in _STORES:
            buffer = op.operands[0 if op.name in _LOADS else 1]
            element = buffer_type(buffer).element_type
            value = op.results[0] if op.name in _LOADS else op.operands[0]
            if element in _STORED_AS and value.type != COPIED:
                accesses.append((op, element))
        elif (rewrite := _rewrite(op)) is not None:
            rewritten.append((op, rewrite))
        elif op.name.startswith(("arith.", "math.", "vector.")) and _computes_bf16(op):
            rounded.append(op)
    for op in ops:
        if isinstance(op, arith.ConstantOp):
            _retype_constant(op)
        _retype(op.results)
        for region in op.regions:
            for block in region.blocks:
                _retype(block.args)
    arguments = kernel.body.block.arg_types
    kernel.function_type = FunctionType.from_lists(arguments, kernel.function_type.outputs.data)
    for op, element in accesses:
        if op.name in _LOADS:
            _expand_load(op, element)
        else:
            _expand_store(op, element)
    for op, rewrite in rewritten:
        replace_op(op, rewrite(op, Emitter.before_op(op, function=library.get)))
    for op in rounded:
        _round_result(op, library)


def _retype(values: list[SSAValue] | tuple[SSAValue, ...] | object) -> None:
    for value in cast("tuple[SSAValue, ...]", values):
        new = _value_type(value.type)
        if new != value.type:
            value._type = new  # pyright: ignore[reportPrivateUsage]


def _retype_constant(op: arith.ConstantOp) -> None:
    if element_type(op.result.type) != bf16:
        return
    if isinstance(op.value, FloatAttr):
        op.properties["value"] = constant_op(op.value.value.data, f32).value
        return
    assert isinstance(op.value, DenseIntOrFPElementsAttr), "the reader knows no other constant"
    numbers = cast("tuple[float, ...]", op.value.get_values())
    type_ = VectorType(f32, cast("VectorType[Attribute]", op.result.type).shape)
    op.properties["value"] = DenseIntOrFPElementsAttr.from_list(type_, numbers)


def _computes_bf16(op: Operation) -> bool:
    if op.name in _EXACT or (op.name.startswith("vector.") and op.name != "vector.reduction"):
        return op.name == "vector.fma" and _first_result_is_bf16(op)
    return _first_result_is_bf16(op)


def _first_result_is_bf16(op: Operation) -> bool:
    return bool(op.results) and element_type(op.results[0].type) == bf16


def _rewrite(op: Operation) -> Callable[[Operation, Emitter], Value] | None:
    """How to rewrite a conversion between bf16 and another type; None for other ops."""
    if op.name == "vector.broadcast" and op.results[0].type == COPIED:
        return _copied_zero
    if op.name not in ("arith.extf", "arith.truncf", "arith.bitcast"):
        return None
    source, target = (element_type(v.type) for v in (op.operands[0], op.results[0]))
    if bf16 not in (source, target) or source == target:
        return None
    if op.name == "arith.bitcast":
        return _from_bits if target == bf16 else _to_bits
    if target == bf16:
        return _round_float
    assert isinstance(target, AnyFloat)
    return lambda op, e: e.value(op.operands[0]).convert(target)


def _copied_zero(op: Operation, e: Emitter) -> Value:
    if constant_number(op.operands[0]) != 0:
        raise refuse(op, "a vector of eight equal bf16 other than zero")
    return e.const(0, VectorType(i16, [8]))


def _round_float(op: Operation, e: Emitter) -> Value:
    return e.call(ROUND_TO_BF16, e.value(op.operands[0]).convert(f32))


def _from_bits(op: Operation, e: Emitter) -> Value:
    return _widen(e.value(op.operands[0]))


def _to_bits(op: Operation, e: Emitter) -> Value:
    return _narrow(e.value(op.operands[0]))


def _widen(bits: Value) -> Value:
    """bf16 given as 16 bits, as an f32."""
    return (bits.resize(32, signed=False) << 16).as_float()


def _narrow(x: Value) -> Value:
    """The 16 bits of a bf16 number given as an f32; those that it was made from, if it was."""
    widened = x.ssa.owner
    if isinstance(widened, arith.BitcastOp):
        shifted = widened.operands[0].owner
        if isinstance(shifted, arith.ShLIOp) and isinstance(shifted.lhs.owner, arith.ExtUIOp):
            bits = shifted.lhs.owner.operands[0]
            if element_type(bits.type) == i16 and constant_int(shifted.rhs) == 16:
                return x.emitter.value(bits)
    return x.bits().shift_right_logical(16).resize(16)


def _expand_load(op: Operation, element: Attribute) -> None:
    stored = _STORED_AS[element]
    e = Emitter.before_op(op)
    raw = op.clone()
    raw.results[0]._type = with_element(op.results[0].type, stored)  # pyright: ignore[reportPrivateUsage]
    raw.results[0].name_hint = None
    value = e.op(raw)
    if element == i1:
        result = value.ne(0)
    elif element == bf16:
        result = _widen(value)
    else:
        result = e.op(arith.IndexCastOp(value.ssa, IndexType()))
    replace_op(op, result)


def _expand_store(op: Operation, element: Attribute) -> None:
    stored = _STORED_AS[element]
    e = Emitter.before_op(op)
    value = e.value(op.operands[0])
    if element == i1:
        result = value.select(e.const(1, with_element(value.type, stored)), 0)
    elif element == bf16:
        result = _narrow(value)
    else:
        result = e.op(arith.IndexCastOp(value.ssa, stored))
    op.operands[0] = result.ssa


def _round_result(op: Operation, library: FunctionLibrary) -> None:
    """Round what the op computes in f32 to bf16."""
    following = op.next_op
    assert following is not None
    e = Emitter.before_op(following, function=library.get)
    e.location = op.location
    result = op.results[0]
    uses = list(result.uses)
    rounded = e.call(ROUND_TO_BF16, e.value(result)).ssa
    rounded.name_hint = result.name_hint
    for use in uses:
        use.operation.operands[use.index] = rounded
