"""How reductions combine two values: the kinds of `gpu.all_reduce` and `vector.reduction`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Attribute, Operation

from ingot.compiler.dialects import arith
from ingot.passes.lowering.emitter import Value

Combine: TypeAlias = Callable[[Value, Value], Value]

_FLOAT: dict[str, type[Operation]] = {
    "add": arith.AddfOp,
    "mul": arith.MulfOp,
    "minnumf": arith.MinnumfOp,
    "maxnumf": arith.MaxnumfOp,
    "minimumf": arith.MinimumfOp,
    "maximumf": arith.MaximumfOp,
}
_INTEGER: dict[str, type[Operation]] = {
    "add": arith.AddiOp,
    "mul": arith.MuliOp,
    "minsi": arith.MinSIOp,
    "maxsi": arith.MaxSIOp,
    "minui": arith.MinUIOp,
    "maxui": arith.MaxUIOp,
    "and": arith.AndIOp,
    "or": arith.OrIOp,
    "xor": arith.XOrIOp,
}
_PROPERTIES: dict[str, dict[str, Attribute]] = {
    **{op.name: {"fastmath": arith.FastMathFlagsAttr("none")} for op in _FLOAT.values()},
    **{
        op.name: {"overflowFlags": arith.IntegerOverflowAttr("none")}
        for op in (arith.AddiOp, arith.MuliOp)
    },
}


def combining(kind: str, type_: Attribute) -> Combine | None:
    """The combination of two scalars of a type, by the kind's name; None where there is none."""
    if isinstance(type_, AnyFloat):
        op_type = _FLOAT.get(kind)
    else:
        op_type = _INTEGER.get(kind) if isinstance(type_, IntegerType) else None
    if op_type is None:
        return None
    properties = _PROPERTIES.get(op_type.name, {})

    def combine(a: Value, b: Value) -> Value:
        op = op_type.create(
            operands=[a.ssa, b.ssa], result_types=[a.type], properties=dict(properties)
        )
        return a.emitter.op(op)

    return combine
