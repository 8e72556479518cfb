"""Elementwise ops of TOSA: what each computes of one element of each operand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from xdsl.dialects import math
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, i1, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.tosa import TosaOp
from ingot.passes.tosa.builders import broadcast_elementwise, element, is_integer, not_defined
from ingot.passes.tosa.constants import known_ints, zero_point
from ingot.passes.tosa.scalars import (
    add,
    bits,
    cast_scalar,
    compare,
    constant,
    extend,
    is_float,
    maximum,
    minimum,
    mul,
    one,
    resize_integer,
    saturate,
    select,
    sub,
)

Compute = Callable[[TosaOp, Emitter, Sequence[SSAValue]], SSAValue]
"""The element of the result, by the elements of the operands."""


@dataclass(frozen=True)
class Row:
    """How an op computes floats, integers and booleans; None for what TOSA does not define."""

    floats: Compute | None = None
    integers: Compute | None = None
    booleans: Compute | None = None
    data: int | None = None
    """How many operands are data, the others being known numbers; None for all."""

    def compute(self, type_: Attribute) -> Compute | None:
        """The column of a type."""
        if is_float(type_):
            return self.floats
        return self.booleans if type_ == i1 else self.integers


def _by(build: Callable[..., Operation], *arguments: Any) -> Compute:
    """An op of the operands."""

    def compute(op: TosaOp, emit: Emitter, args: Sequence[SSAValue]) -> SSAValue:
        return one(emit, build(*args, *arguments))

    return compute


def _on(build: Callable[..., SSAValue]) -> Compute:
    """A function of the emitter and the operands."""

    def compute(op: TosaOp, emit: Emitter, args: Sequence[SSAValue]) -> SSAValue:
        return build(emit, *args)

    return compute


def _comparison(name: str) -> Row:
    floats = _by(arith.CmpfOp, f"o{name}")
    integers = _by(arith.CmpiOp, name if name == "eq" else f"s{name}")
    return Row(floats, integers, integers if name == "eq" else None)


def _sigmoid(emit: Emitter, x: SSAValue) -> SSAValue:
    unit = constant(emit, 1.0, x.type)
    exponential = one(emit, math.ExpOp(one(emit, arith.NegfOp(x))))
    return one(emit, arith.DivfOp(unit, add(emit, unit, exponential)))


def _reciprocal(emit: Emitter, x: SSAValue) -> SSAValue:
    return one(emit, arith.DivfOp(constant(emit, 1.0, x.type), x))


def _not(emit: Emitter, x: SSAValue) -> SSAValue:
    return one(emit, arith.XOrIOp(x, constant(emit, -1, x.type)))


def _bounded(
    build: Callable[..., SSAValue], op: TosaOp, emit: Emitter, args: Sequence[SSAValue]
) -> SSAValue:
    return build(emit, *args, op.word("nan_mode") == "IGNORE")


def _clamp(op: TosaOp, emit: Emitter, args: Sequence[SSAValue]) -> SSAValue:
    (x,) = args
    ignore = op.word("nan_mode") == "IGNORE"
    low, high = (_bound(op, name, emit, x.type) for name in ("min_val", "max_val"))
    return minimum(emit, maximum(emit, x, low, ignore), high, ignore)


def _bound(op: TosaOp, name: str, emit: Emitter, type_: Attribute) -> SSAValue:
    value = op.properties[name]
    if not isinstance(value, IntegerAttr | FloatAttr):
        raise refuse(op, f"tosa.clamp needs a number as '{name}', not {value}")
    return constant(emit, value.value.data, type_)


def _select(op: TosaOp, emit: Emitter, args: Sequence[SSAValue]) -> SSAValue:
    return select(emit, *args)


def _cast(op: TosaOp, emit: Emitter, args: Sequence[SSAValue]) -> SSAValue:
    return cast_scalar(emit, args[0], element(op.results[0]))


def _multiply_integers(op: TosaOp, emit: Emitter, args: Sequence[SSAValue]) -> SSAValue:
    """The product, shifted right and rounded when it is of i32."""
    shift = known_ints(op, op.ins[2], "the shift")[0]
    to = element(op.results[0])
    if not is_integer(to):
        raise not_defined(op)
    if shift == 0:
        return mul(emit, *(resize_integer(emit, value, to) for value in args))
    if args[0].type != i32 or not 0 < shift < 64:
        raise refuse(op, f"tosa.mul of {args[0].type} by a shift of {shift} is not defined")
    product = mul(emit, *(extend(emit, value, i64) for value in args))
    rounded = add(emit, product, constant(emit, 1 << (shift - 1), i64))
    shifted = one(emit, arith.ShRSIOp(rounded, constant(emit, shift, i64)))
    return resize_integer(emit, shifted, to)


def _negate_integer(op: TosaOp, emit: Emitter, args: Sequence[SSAValue]) -> SSAValue:
    """`output_zp - (x - input_zp)`, clipped; integers of 32 bits and more wrap."""
    (x,) = args
    zero_in = zero_point(op, op.ins[1], "the input zero point")
    zero_out = zero_point(op, op.ins[2], "the output zero point")
    wide = i32 if bits(x.type) < 32 else x.type
    total = constant(emit, zero_in + zero_out, wide)
    return saturate(emit, sub(emit, total, resize_integer(emit, x, wide)), x.type)


def _shift_right(op: TosaOp, emit: Emitter, args: Sequence[SSAValue]) -> SSAValue:
    """The arithmetic shift, plus the last bit shifted out under `round`."""
    value, amount = args
    shifted = one(emit, arith.ShRSIOp(value, amount))
    if not op.flag("round"):
        return shifted
    zero, unit = constant(emit, 0, value.type), constant(emit, 1, value.type)
    positive = compare(emit, "sgt", amount, zero)
    before = one(emit, arith.ShRSIOp(value, maximum(emit, sub(emit, amount, unit), zero)))
    last = one(emit, arith.AndIOp(before, unit))
    return add(emit, shifted, select(emit, positive, last, zero))


_MATH: dict[str, type[Operation]] = {
    "ceil": math.CeilOp,
    "cos": math.CosOp,
    "erf": math.ErfOp,
    "exp": math.ExpOp,
    "floor": math.FloorOp,
    "log": math.LogOp,
    "rsqrt": math.RsqrtOp,
    "sin": math.SinOp,
    "tanh": math.TanhOp,
}
_INTEGER: dict[str, type[Operation]] = {
    "clz": math.CountLeadingZerosOp,
    "intdiv": arith.DivSIOp,
    "logical_left_shift": arith.ShLIOp,
    "logical_right_shift": arith.ShRUIOp,
}
_BITS: dict[str, type[Operation]] = {
    "bitwise_and": arith.AndIOp,
    "bitwise_or": arith.OrIOp,
    "bitwise_xor": arith.XOrIOp,
}
"""Exporters use them of booleans too."""
_BOOLEAN: dict[str, type[Operation]] = {
    "logical_and": arith.AndIOp,
    "logical_or": arith.OrIOp,
    "logical_xor": arith.XOrIOp,
}

ROWS: dict[str, Row] = {
    **{f"tosa.{name}": Row(floats=_by(build)) for name, build in _MATH.items()},
    **{f"tosa.{name}": Row(integers=_by(build)) for name, build in _INTEGER.items()},
    **{f"tosa.{name}": Row(None, _by(build), _by(build)) for name, build in _BITS.items()},
    **{f"tosa.{name}": Row(booleans=_by(build)) for name, build in _BOOLEAN.items()},
    "tosa.abs": Row(_by(math.AbsFOp), _by(math.AbsIOp)),
    "tosa.add": Row(_on(add), _on(add)),
    "tosa.arithmetic_right_shift": Row(integers=_shift_right),
    "tosa.bitwise_not": Row(None, _on(_not), _on(_not)),
    "tosa.cast": Row(_cast, _cast, _cast),
    "tosa.clamp": Row(_clamp, _clamp),
    "tosa.equal": _comparison("eq"),
    "tosa.greater": _comparison("gt"),
    "tosa.greater_equal": _comparison("ge"),
    "tosa.logical_not": Row(booleans=_on(_not)),
    "tosa.maximum": Row(partial(_bounded, maximum), partial(_bounded, maximum)),
    "tosa.minimum": Row(partial(_bounded, minimum), partial(_bounded, minimum)),
    "tosa.mul": Row(_on(mul), _multiply_integers, data=2),
    "tosa.negate": Row(_by(arith.NegfOp), _negate_integer, data=1),
    "tosa.pow": Row(_by(math.PowFOp)),
    "tosa.reciprocal": Row(_on(_reciprocal)),
    "tosa.select": Row(_select, _select, _select),
    "tosa.sigmoid": Row(_on(_sigmoid)),
    "tosa.sub": Row(_on(sub), _on(sub)),
}
"""By the type of the last operand that is data."""


def lower_elementwise(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """One generic that computes each element of the result on its own."""
    row = ROWS[op.name]
    inputs = op.ins[: row.data] if row.data is not None else op.ins
    type_ = element(inputs[-1])
    compute = row.compute(type_)
    condition = [i1] if op.name == "tosa.select" else []
    types = [element(value) for value in inputs]
    if compute is None or types != [*condition, *[type_] * (len(types) - len(condition))]:
        raise not_defined(op)
    result = tensor_type(op.results[0])

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        value = compute(op, inner, args)
        if value.type != result.element_type:
            raise not_defined(op)
        return [value]

    return [broadcast_elementwise(op, emit, result, inputs, body)]
