"""Integer operations on i1: one bit of two's complement; true is -1 if signed, 1 if not."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, i1, i32
from xdsl.ir import Operation

from ingot.compiler.dialects import arith
from ingot.passes.lowering.emitter import Emitter, Value, element_type, with_element

Expansion = Callable[[Operation, Emitter], "Value | list[Value] | None"]


def _on_bits(formula: Callable[[Value, Value], Value | list[Value]]) -> Expansion:
    def expand(op: Operation, e: Emitter) -> Value | list[Value]:
        return formula(e.value(op.operands[0]), e.value(op.operands[1]))

    return expand


def _on_bit(formula: Callable[[Value], Value]) -> Expansion:
    def expand(op: Operation, e: Emitter) -> Value:
        return formula(e.value(op.operands[0]))

    return expand


_COMPARISONS: dict[str, Callable[[Value, Value], Value]] = {
    "slt": lambda a, b: a & ~b,
    "sle": lambda a, b: a | ~b,
    "sgt": lambda a, b: ~a & b,
    "sge": lambda a, b: ~a | b,
    "ult": lambda a, b: ~a & b,
    "ule": lambda a, b: ~a | b,
    "ugt": lambda a, b: a & ~b,
    "uge": lambda a, b: a | ~b,
}


def _cmpi(op: Operation, e: Emitter) -> Value | None:
    assert isinstance(op, arith.CmpiOp)
    predicate = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
    formula = _COMPARISONS.get(predicate)
    return formula and formula(e.value(op.lhs), e.value(op.rhs))


def _from_bit(true: float) -> Expansion:
    """`true` or zero in the type of the result."""

    def expand(op: Operation, e: Emitter) -> Value:
        result = op.results[0].type
        return e.value(op.operands[0]).select(e.const(true, result), 0)

    return expand


def _signed_to_float(op: Operation, e: Emitter) -> Value:
    """-1 or 0 by way of an integer: Mesa makes a selection of -1.0 or 0.0 give -0.0."""
    result = op.results[0].type
    bit = e.value(op.operands[0])
    number = bit.select(e.const(-1, with_element(result, i32)), 0)
    return number.to_float(element_type(result))


def _to_bit(op: Operation, e: Emitter) -> Value:
    return (e.value(op.operands[0]) & 1).ne(0)


def _float_to_bit(op: Operation, e: Emitter, *, signed: bool) -> Value:
    x = e.value(op.operands[0])
    return x.le(-1.0) if signed else x.ge(1.0)


FROM_BIT: dict[str, Expansion] = {
    "arith.addi": _on_bits(lambda a, b: a ^ b),
    "arith.subi": _on_bits(lambda a, b: a ^ b),
    "arith.muli": _on_bits(lambda a, b: a & b),
    "arith.minsi": _on_bits(lambda a, b: a | b),
    "arith.maxsi": _on_bits(lambda a, b: a & b),
    "arith.minui": _on_bits(lambda a, b: a & b),
    "arith.maxui": _on_bits(lambda a, b: a | b),
    "arith.shli": _on_bits(lambda a, b: a & ~b),
    "arith.shrui": _on_bits(lambda a, b: a & ~b),
    "arith.shrsi": _on_bits(lambda a, b: a),
    "arith.divsi": _on_bits(lambda a, b: a | ~b),
    "arith.divui": _on_bits(lambda a, b: a | ~b),
    "arith.floordivsi": _on_bits(lambda a, b: a | ~b),
    "arith.ceildivsi": _on_bits(lambda a, b: a | ~b),
    "arith.ceildivui": _on_bits(lambda a, b: a | ~b),
    "arith.remsi": _on_bits(lambda a, b: a & ~b),
    "arith.remui": _on_bits(lambda a, b: a & ~b),
    "arith.addui_extended": _on_bits(lambda a, b: [a ^ b, a & b]),
    "arith.mulsi_extended": _on_bits(lambda a, b: [a & b, a & ~a]),
    "arith.mului_extended": _on_bits(lambda a, b: [a & b, a & ~a]),
    "math.ipowi": _on_bits(lambda a, b: a | ~b),
    "math.absi": _on_bit(lambda a: a),
    "math.ctpop": _on_bit(lambda a: a),
    "math.ctlz": _on_bit(lambda a: ~a),
    "math.cttz": _on_bit(lambda a: ~a),
    "arith.cmpi": _cmpi,
    "arith.extui": _from_bit(1),
    "arith.extsi": _from_bit(-1),
    "arith.uitofp": _from_bit(1.0),
    "arith.sitofp": _signed_to_float,
    "arith.index_cast": _from_bit(-1),
    "arith.index_castui": _from_bit(1),
}
"""By op name, for a first operand of i1 (or a vector of it)."""

TO_BIT: dict[str, Expansion] = {
    "arith.trunci": _to_bit,
    "arith.index_cast": _to_bit,
    "arith.index_castui": _to_bit,
    "arith.fptosi": lambda op, e: _float_to_bit(op, e, signed=True),
    "arith.fptoui": lambda op, e: _float_to_bit(op, e, signed=False),
}
"""By op name, for a result of i1 from another type."""


def expansion(op: Operation) -> Expansion | None:
    """How to expand an op on i1; None for other ops, and for those that need no expansion."""
    if not op.operands or not op.results:
        return None
    if element_type(op.operands[0].type) == i1:
        return FROM_BIT.get(op.name)
    if element_type(op.results[0].type) == i1 and isinstance(
        element_type(op.operands[0].type), IntegerType | IndexType | AnyFloat
    ):
        return TO_BIT.get(op.name)
    return None
