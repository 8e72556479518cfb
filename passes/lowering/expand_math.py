"""The pass `expand-math`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, cast

from xdsl.context import Context
from xdsl.dialects import math
from xdsl.dialects import vector as xdsl_vector
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    ModuleOp,
    VectorType,
    f32,
)
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import device_functions
from ingot.compiler.dialects import vector
from ingot.compiler.dialects.math import SincosOp
from ingot.passes.lowering import (
    math_boolean,
    math_conversion,
    math_division,
    math_integer,
    math_minmax,
)
from ingot.passes.lowering.combining import combining
from ingot.passes.lowering.emitter import (
    Emitter,
    Value,
    element_type,
    replace_op,
    with_element,
)
from ingot.passes.lowering.math_functions import FORMULAS, FunctionLibrary, scalar_only

Expansion = Callable[[Operation, Emitter], "Value | list[Value] | None"]

_EXPANSIONS: dict[str, Expansion] = {
    **math_minmax.EXPANSIONS,
    **math_integer.EXPANSIONS,
    **math_conversion.EXPANSIONS,
}
_SMALL_FLOATS = (Float16Type(), BFloat16Type())
_FAST_NATIVE = frozenset(f"math.{name}" for name in ("exp", "exp2", "log", "log2", "sin", "cos"))
"""Functions that `math=fast` leaves to the target."""
_SINGLE = frozenset({"math.sqrt", "math.rsqrt", "arith.divf"})
"""Of f16, targets may be off by more than a unit in the last place."""


@dataclass(frozen=True)
class ExpandMathPass(ModulePass):
    """Writes out arithmetic that targets lack or get wrong, on L4 kernels and their helpers.

    Long formulas become calls of private functions of the module. `math=fast` leaves common
    functions to the target and does not care for NaN in minima and maxima; `strict` differs from
    `safe` only later, in `convert-to-spirv`.

    ```mlir
    %1 = math.tanh %0 : f32
    ```
    becomes
    ```mlir
    %1 = func.call @ingot_tanh_f32(%0) : (f32) -> f32
    ```
    """

    name = "expand-math"

    math: Literal["safe", "fast", "strict"] = "safe"
    scale_division: bool = False
    """Whether the target divides by numbers of up to 2**126 only, as Vulkan asks for."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        library = FunctionLibrary(op)
        for function in device_functions(op):
            for inner in list(function.walk()):
                if isinstance(inner, vector.ReductionOp | xdsl_vector.ReductionOp):
                    _write_out_reduction(inner)
                elif isinstance(inner, SincosOp):
                    _split_sincos(inner)
            for inner in list(function.walk()):
                if inner.name.startswith(("arith.", "math.")):
                    self._expand(inner, library)

    def _expand(self, op: Operation, library: FunctionLibrary) -> None:
        expansion = self._expansion(op)
        if expansion is None:
            return
        emitter = Emitter.before_op(op, function=library.get)
        result = expansion(op, emitter)
        if result is not None:
            replace_op(op, result)

    def _expansion(self, op: Operation) -> Expansion | None:
        """How to rewrite an op; None leaves it."""
        if (boolean := math_boolean.expansion(op)) is not None:
            return boolean
        fast = self.math == "fast"
        if fast and (op.name in _FAST_NATIVE):
            return None
        if fast and (chosen := math_minmax.FAST_EXPANSIONS.get(op.name)) is not None:
            return chosen
        if not fast and op.name in _SINGLE and element_type(op.operands[0].type) == Float16Type():
            return _in_single_precision(lambda op, e: None)
        if op.name == "arith.divf":
            if fast or not self.scale_division:
                return None
            divide = math_division.divide
            return _in_single_precision(divide) if _has_bf16(op) else divide
        expansion = _EXPANSIONS.get(op.name)
        if expansion is None:
            return _call if op.name in FORMULAS else None
        return _in_single_precision(expansion) if _has_bf16(op) else expansion


def _write_out_reduction(op: vector.ReductionOp | xdsl_vector.ReductionOp) -> None:
    """Combine the elements in order, then the accumulator with the result."""
    e = Emitter.before_op(op)
    element = op.dest.type
    kind = op.kind.data.value
    combine = combining(kind, element)
    if combine is None:
        raise refuse(op, f"`vector.reduction <{kind}>` on {element}")
    count = cast("VectorType[Attribute]", op.vector.type).get_shape()[0]
    lanes = [e.op(xdsl_vector.ExtractOp(op.vector, [lane], element)) for lane in range(count)]
    result = lanes[0]
    for lane in lanes[1:]:
        result = combine(result, lane)
    if op.acc is not None:
        result = combine(e.value(op.acc), result)
    replace_op(op, result)


def _split_sincos(op: SincosOp) -> None:
    e = Emitter.before_op(op)
    angle = e.value(op.operand)
    replace_op(op, [e.math(math.SinOp, angle), e.math(math.CosOp, angle)])


def _has_bf16(op: Operation) -> bool:
    return any(element_type(operand.type) == BFloat16Type() for operand in op.operands)


def _in_single_precision(expansion: Expansion) -> Expansion:
    """The expansion on operands extended to f32, with float results rounded back."""

    def expand(op: Operation, e: Emitter) -> Value | list[Value] | None:
        wide = op.clone()
        wide.operands = [_widened(e.value(operand)).ssa for operand in op.operands]
        types = [result.type for result in op.results]
        for old in wide.results:
            if element_type(old.type) in _SMALL_FLOATS:
                old._type = with_element(old.type, f32)  # pyright: ignore[reportPrivateUsage]
        e.insert(wide)
        inner = Emitter.before_op(wide, function=e.function)
        result = expansion(wide, inner)
        if result is None:
            values = [e.value(value) for value in wide.results]
        else:
            values = result if isinstance(result, list) else [result]
            wide.detach()
            wide.erase()
        return [
            Value(value.ssa, e).convert(element_type(type_))
            if element_type(type_) in _SMALL_FLOATS
            else value
            for value, type_ in zip(values, types, strict=True)
        ]

    return expand


def _widened(value: Value) -> Value:
    return value.convert(f32) if value.element in _SMALL_FLOATS else value


def _call(op: Operation, e: Emitter) -> Value:
    """Call the function for the op, in f32 for narrower floats."""
    operands = [_widened(e.value(operand)) for operand in op.operands]
    type_ = operands[0].type
    if isinstance(type_, VectorType) and scalar_only(op.name):
        result = _call_by_element(op.name, operands, cast("VectorType[Attribute]", type_), e)
    else:
        result = e.call(op.name, *operands)
    original: Attribute = element_type(op.results[0].type)
    return result.convert(original) if original in _SMALL_FLOATS else result


def _call_by_element(
    name: str, operands: list[Value], type_: VectorType[Attribute], e: Emitter
) -> Value:
    elements: list[Value] = []
    for index in range(type_.get_shape()[0]):
        scalars = [
            e.op(xdsl_vector.ExtractOp(operand.ssa, [index], type_.element_type))
            for operand in operands
        ]
        elements.append(e.call(name, *scalars))
    return e.op(vector.FromElementsOp([element.ssa for element in elements], type_))
