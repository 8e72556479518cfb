"""Formulas of derivative rules as ops."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import cast

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType, i1
from xdsl.ir import Attribute, Operation, SSAValue

from ingot.compiler.analysis.derivative_rules import CONSTANTS
from ingot.compiler.analysis.generics import Emitter
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.math import Math

Value = SSAValue | float
"""A number of a formula takes the type of what it is combined with."""

_MakeOp = Callable[[SSAValue, SSAValue], Operation]

_FLOAT_OPS: dict[type[ast.operator], tuple[_MakeOp, Callable[[float, float], float]]] = {
    ast.Add: (arith.AddfOp, lambda a, b: a + b),
    ast.Sub: (arith.SubfOp, lambda a, b: a - b),
    ast.Mult: (arith.MulfOp, lambda a, b: a * b),
    ast.Div: (arith.DivfOp, lambda a, b: a / b),
}

_INT_OPS: dict[type[ast.operator], _MakeOp] = {
    ast.Add: arith.AddiOp,
    ast.Sub: arith.SubiOp,
    ast.Mult: arith.MuliOp,
}

_PREDICATES: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Gt: ("ogt", "sgt"),
    ast.GtE: ("oge", "sge"),
    ast.Lt: ("olt", "slt"),
    ast.LtE: ("ole", "sle"),
    ast.Eq: ("oeq", "eq"),
}
"""Comparisons of floats, and of integers."""


@cache
def _parsed(formula: str) -> ast.expr:
    return ast.parse(formula, mode="eval").body


@cache
def _functions() -> dict[str, Callable[..., Operation]]:
    """Constructors of the ops of the math dialect, by the names of functions."""
    made = {op.name.removeprefix("math."): op for op in Math.operations}
    return cast("dict[str, Callable[..., Operation]]", made)


def constant(emit: Emitter, value: float, type_: Attribute) -> SSAValue:
    """A scalar constant of a float or integer type."""
    if isinstance(type_, IntegerType | IndexType):
        integer = IntegerAttr(int(value), cast("IntegerType | IndexType", type_))
        return emit.add(arith.ConstantOp(integer)).result
    return emit.add(arith.ConstantOp(FloatAttr(value, cast("AnyFloat", type_)))).result


def convert(emit: Emitter, value: SSAValue, type_: Attribute) -> SSAValue:
    """A float as another type of float."""
    if value.type == type_:
        return value
    source, target = cast("AnyFloat", value.type), cast("AnyFloat", type_)
    if source.bitwidth < target.bitwidth:
        return emit.add(arith.ExtFOp(value, target)).result
    if source.bitwidth == target.bitwidth:  # bf16 and f16
        from xdsl.dialects.builtin import f32

        value = emit.add(arith.ExtFOp(value, f32)).result
    return emit.add(arith.TruncFOp(value, target)).result


@dataclass(frozen=True)
class FormulaEmitter:
    """Emits formulas over named values; `type` is that of the operand that a formula is for."""

    emit: Emitter
    names: Mapping[str, SSAValue]
    type: Attribute

    def value(self, formula: str) -> SSAValue:
        """The ops of a formula; their result has the type of the operand."""
        return self._typed(self._eval(_parsed(formula)), self.type)

    def chosen(self, formula: str) -> tuple[SSAValue, SSAValue | None]:
        """The ops of a formula, and the condition under which it is `g`, if it is 0 otherwise."""
        match _parsed(formula):
            case ast.Call(func=ast.Name(id="where"), args=[test, ast.Name(id="g"), ast.Constant()]):
                condition = self._condition(test)
                choice = (condition, self.names["g"], constant(self.emit, 0.0, self.type))
            case ast.Call(func=ast.Name(id="where"), args=[test, ast.Constant(), ast.Name(id="g")]):
                test_value = self._condition(test)
                true = self.emit.add(arith.ConstantOp(IntegerAttr(-1, i1))).result
                condition = self.emit.add(arith.XOrIOp(test_value, true)).result
                choice = (test_value, constant(self.emit, 0.0, self.type), self.names["g"])
            case _:
                return self.value(formula), None
        return self.emit.add(arith.SelectOp(*choice)).result, condition

    def _typed(self, value: Value, type_: Attribute) -> SSAValue:
        return value if isinstance(value, SSAValue) else constant(self.emit, value, type_)

    def _pair(self, left: Value, right: Value) -> tuple[SSAValue, SSAValue]:
        """Both with the type of the one that is no number."""
        known = left if isinstance(left, SSAValue) else right
        type_ = known.type if isinstance(known, SSAValue) else self.type
        return self._typed(left, type_), self._typed(right, type_)

    def _eval(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=int() | float() as number):
                return float(number)
            case ast.Name(id=name):
                return CONSTANTS[name] if name in CONSTANTS else self.names[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self._eval(operand)
                if not isinstance(value, SSAValue):
                    return -value
                return self.emit.add(arith.NegfOp(value)).result
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(op, self._eval(left), self._eval(right))
            case ast.Call(func=ast.Name(id=name), args=args):
                return self._call(name, args)
            case _:
                raise ValueError(f"no formula: {ast.unparse(node)}")

    def _binary(self, op: ast.operator, left: Value, right: Value) -> Value:
        float_op, compute = _FLOAT_OPS[type(op)]
        if not isinstance(left, SSAValue) and not isinstance(right, SSAValue):
            return compute(left, right)
        a, b = self._pair(left, right)
        made = _INT_OPS[type(op)] if isinstance(a.type, IntegerType | IndexType) else float_op
        return self.emit.add(made(a, b)).results[0]

    def _call(self, name: str, args: list[ast.expr]) -> Value:
        if name == "where":
            condition = self._condition(args[0])
            values = self._pair(self._eval(args[1]), self._eval(args[2]))
            return self.emit.add(arith.SelectOp(condition, *values)).result
        values = [self._typed(self._eval(arg), self.type) for arg in args]
        if name == "cast":
            return convert(self.emit, values[0], self.type)
        if name == "number":
            return self.emit.add(arith.SIToFPOp(values[0], cast("AnyFloat", self.type))).result
        return self.emit.add(_functions()[name](*values)).results[0]

    def _condition(self, node: ast.expr) -> SSAValue:
        if not isinstance(node, ast.Compare):
            value = self._eval(node)
            assert isinstance(value, SSAValue)
            return value
        a, b = self._pair(self._eval(node.left), self._eval(node.comparators[0]))
        of_floats, of_integers = _PREDICATES[type(node.ops[0])]
        if isinstance(a.type, IntegerType | IndexType):
            return self.emit.add(arith.CmpiOp(a, b, of_integers)).result
        return self.emit.add(arith.CmpfOp(a, b, of_floats)).result
