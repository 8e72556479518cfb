"""Builds scalar and vector arithmetic with Python's operators: formulas read as formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Self, TypeAlias, cast

from xdsl.dialects import func, math, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ingot.compiler.dialects import arith

Scalar: TypeAlias = "Value | int | float"


def element_type(type_: Attribute) -> Attribute:
    """The element type of a vector, or the type itself."""
    if isinstance(type_, VectorType):
        return cast("VectorType[Attribute]", type_).element_type
    return type_


def with_element(type_: Attribute, element: Attribute) -> Attribute:
    """`element`, or the vector of it with the shape of `type_`."""
    return VectorType(element, type_.shape) if isinstance(type_, VectorType) else element


def bitwidth(type_: Attribute) -> int:
    """Bits of an element of an integer or float type (or vector of it)."""
    element = element_type(type_)
    assert isinstance(element, IntegerType | AnyFloat), element
    return element.bitwidth


@dataclass
class Emitter:
    """Inserts ops before an op (or at the end of a block), with one source location.

    `functions` builds, once for each type, a private function that a call goes to.
    """

    block: Block
    before: Operation | None
    location: LocationAttr
    function: Callable[[str, Attribute], func.FuncOp] | None = None
    """The function that computes a math op, by the op's name and operand type."""
    _constants: dict[tuple[float, bool, Attribute], SSAValue] = field(
        default_factory=dict[tuple[float, bool, Attribute], SSAValue]
    )

    @classmethod
    def before_op(
        cls,
        op: Operation,
        *,
        function: Callable[[str, Attribute], func.FuncOp] | None = None,
    ) -> Self:
        """An emitter that inserts before `op` and takes over its location."""
        block = op.parent
        assert block is not None
        return cls(block, op, op.location, function)

    def insert(self, op: Operation) -> Operation:
        """Insert an op, at the location of the code being expanded."""
        op.location = self.location
        if self.before is None:
            self.block.add_op(op)
        else:
            self.block.insert_op_before(op, self.before)
        return op

    def value(self, ssa: SSAValue) -> Value:
        """The value as an operand of Python's operators."""
        return Value(ssa, self)

    def op(self, op: Operation) -> Value:
        """Insert an op of one result and return the result."""
        return Value(self.insert(op).results[0], self)

    def math(self, op_type: type[Operation], *operands: Value) -> Value:
        """Insert an op whose result has the type of its first operand."""
        op = op_type.create(operands=[o.ssa for o in operands], result_types=[operands[0].type])
        if (fastmath := _DEFAULT_FASTMATH.get(op_type)) is not None:
            op.properties["fastmath"] = fastmath
        elif (overflow := _DEFAULT_OVERFLOW.get(op_type)) is not None:
            op.properties["overflowFlags"] = overflow
        return self.op(op)

    def const(self, number: float | int, type_: Attribute) -> Value:
        """A constant of a scalar type, or a vector with all elements equal."""
        key = (number, str(number)[0] == "-", type_)
        if (known := self._constants.get(key)) is None:
            known = self._constants[key] = self.op(constant_op(number, type_)).ssa
        return Value(known, self)

    def branch(self) -> Emitter:
        """An emitter for a new block of its own."""
        return Emitter(Block(), None, self.location, self.function)

    def if_else(
        self,
        condition: Value,
        types: Sequence[Attribute],
        then: Emitter,
        otherwise: Emitter | None = None,
    ) -> Sequence[SSAValue]:
        """`scf.if` of blocks that branches filled, terminators included; returns its results."""
        false_region = Region() if otherwise is None else Region(otherwise.block)
        op = scf.IfOp(condition.ssa, types, Region(then.block), false_region)
        return self.insert(op).results

    def call(self, name: str, *operands: Value) -> Value:
        """Call the function that computes the math op of this name."""
        assert self.function is not None, "calls need a module to put the function into"
        type_ = operands[0].type
        callee = self.function(name, type_)
        return self.op(func.CallOp(callee.sym_name.data, [o.ssa for o in operands], [type_]))


@cache
def _scalar_attribute(
    number: float | int, text: str, element: Attribute
) -> FloatAttr | IntegerAttr:
    """The attribute of a number; by its `text` -0.0 is another than 0.0."""
    if isinstance(element, AnyFloat):
        return FloatAttr(float(number), element)
    assert isinstance(element, IntegerType | IndexType)
    return IntegerAttr(int(number), cast(IntegerType, element), truncate_bits=True)


def constant_op(number: float | int, type_: Attribute) -> arith.ConstantOp:
    """`arith.constant` of a number in a scalar type or, in each element, a vector type."""
    attr = _scalar_attribute(number, repr(number), element_type(type_))
    value: Attribute = attr
    if isinstance(type_, VectorType):
        vector_type = cast("VectorType[Any]", type_)
        value = DenseIntOrFPElementsAttr.from_list(vector_type, [attr.value.data])
    return arith.ConstantOp.create(
        result_types=[cast(Attribute, type_)], properties={"value": value}
    )


@dataclass(frozen=True, eq=False)
class Value:
    """An SSA value with operators: float arithmetic on floats, modular integer arithmetic else.

    Comparisons are methods: `lt` and its kin are ordered on floats and signed on integers.
    """

    ssa: SSAValue
    emitter: Emitter

    @property
    def type(self) -> Attribute:
        """Scalar or vector type of the value."""
        return self.ssa.type

    @property
    def element(self) -> Attribute:
        """The scalar type of the elements."""
        return element_type(self.ssa.type)

    @property
    def is_float(self) -> bool:
        """Whether the elements are floating-point numbers."""
        return isinstance(self.element, AnyFloat)

    @property
    def width(self) -> int:
        """Bits of an element."""
        return bitwidth(self.type)

    def like(self, other: Scalar) -> Value:
        """A number as a constant of this value's type; a value as it is."""
        return other if isinstance(other, Value) else self.emitter.const(other, self.type)

    def _binary(
        self, float_op: type[Operation] | None, int_op: type[Operation] | None, other: Scalar
    ) -> Value:
        op = float_op if self.is_float else int_op
        assert op is not None, f"no such operation on {self.type}"
        return self.emitter.math(op, self, self.like(other))

    def __add__(self, other: Scalar) -> Value:
        return self._binary(arith.AddfOp, arith.AddiOp, other)

    def __radd__(self, other: Scalar) -> Value:
        return self.like(other) + self

    def __sub__(self, other: Scalar) -> Value:
        return self._binary(arith.SubfOp, arith.SubiOp, other)

    def __rsub__(self, other: Scalar) -> Value:
        return self.like(other) - self

    def __mul__(self, other: Scalar) -> Value:
        return self._binary(arith.MulfOp, arith.MuliOp, other)

    def __rmul__(self, other: Scalar) -> Value:
        return self.like(other) * self

    def __truediv__(self, other: Scalar) -> Value:
        return self._binary(arith.DivfOp, None, other)

    def __rtruediv__(self, other: Scalar) -> Value:
        return self.like(other) / self

    def __neg__(self) -> Value:
        return self.emitter.math(arith.NegfOp, self) if self.is_float else self.like(0) - self

    def __and__(self, other: Scalar) -> Value:
        return self._binary(None, arith.AndIOp, other)

    def __or__(self, other: Scalar) -> Value:
        return self._binary(None, arith.OrIOp, other)

    def __xor__(self, other: Scalar) -> Value:
        return self._binary(None, arith.XOrIOp, other)

    def __invert__(self) -> Value:
        return self ^ (1 if self.element == i1 else -1)

    def __lshift__(self, other: Scalar) -> Value:
        return self._binary(None, arith.ShLIOp, other)

    def __rshift__(self, other: Scalar) -> Value:
        """Arithmetic shift."""
        return self._binary(None, arith.ShRSIOp, other)

    def shift_right_logical(self, other: Scalar) -> Value:
        return self._binary(None, arith.ShRUIOp, other)

    def divide(self, other: Scalar, *, signed: bool) -> Value:
        """Integer quotient rounded towards zero; the divisor must not be zero."""
        return self._binary(None, arith.DivSIOp if signed else arith.DivUIOp, other)

    def remainder(self, other: Scalar, *, signed: bool) -> Value:
        """Integer remainder with the dividend's sign; the divisor must not be zero."""
        return self._binary(None, arith.RemSIOp if signed else arith.RemUIOp, other)

    def _compare(self, float_predicate: str, int_predicate: str, other: Scalar) -> Value:
        other = self.like(other)
        if self.is_float:
            return self.emitter.op(arith.CmpfOp(self.ssa, other.ssa, float_predicate))
        return self.emitter.op(arith.CmpiOp(self.ssa, other.ssa, int_predicate))

    def eq(self, other: Scalar) -> Value:
        return self._compare("oeq", "eq", other)

    def ne(self, other: Scalar) -> Value:
        """True as well when a float is NaN."""
        return self._compare("une", "ne", other)

    def lt(self, other: Scalar) -> Value:
        return self._compare("olt", "slt", other)

    def le(self, other: Scalar) -> Value:
        return self._compare("ole", "sle", other)

    def gt(self, other: Scalar) -> Value:
        return self._compare("ogt", "sgt", other)

    def ge(self, other: Scalar) -> Value:
        return self._compare("oge", "sge", other)

    def ult(self, other: Scalar) -> Value:
        return self._compare("ult", "ult", other)

    def is_nan(self) -> Value:
        return self._compare("uno", "", self)

    def select(self, true: Value, false: Scalar) -> Value:
        """`true` where this condition holds, `false` elsewhere."""
        return self.emitter.op(arith.SelectOp(self.ssa, true.ssa, true.like(false).ssa))

    def abs(self) -> Value:
        return self.emitter.math(math.AbsFOp, self)

    def sqrt(self) -> Value:
        return self.emitter.math(math.SqrtOp, self)

    def round_even(self) -> Value:
        return self.emitter.math(math.RoundEvenOp, self)

    def trunc(self) -> Value:
        return self.emitter.math(math.TruncOp, self)

    def _cast(self, op: type[Operation], target: Attribute) -> Value:
        return self.emitter.op(op.create(operands=[self.ssa], result_types=[target]))

    def bits(self) -> Value:
        """The bits of a float as an integer of the same width."""
        target = with_element(self.type, IntegerType(self.width))
        return self.emitter.op(arith.BitcastOp(self.ssa, target))

    def as_float(self) -> Value:
        """An integer's bits as a float of the same width."""
        target = with_element(self.type, {16: Float16Type(), 32: Float32Type()}[self.width])
        return self.emitter.op(arith.BitcastOp(self.ssa, target))

    def to_int(self, width: int, *, signed: bool = True) -> Value:
        """A float's integer part; the value must fit into `width` bits."""
        target = with_element(self.type, IntegerType(width))
        return self._cast(arith.FPToSIOp if signed else arith.FPToUIOp, target)

    def to_float(self, element: Attribute, *, signed: bool = True) -> Value:
        """An integer as a float of type `element`."""
        op = arith.SIToFPOp if signed else arith.UIToFPOp
        return self._cast(op, with_element(self.type, element))

    def resize(self, width: int, *, signed: bool = True) -> Value:
        """An integer extended or truncated to `width` bits."""
        if width == self.width:
            return self
        target = with_element(self.type, IntegerType(width))
        if width < self.width:
            return self._cast(arith.TruncIOp, target)
        return self._cast(arith.ExtSIOp if signed else arith.ExtUIOp, target)

    def convert(self, element: Attribute) -> Value:
        """A float in another float type, rounded to nearest even."""
        assert isinstance(element, AnyFloat)
        if element == self.element:
            return self
        target = with_element(self.type, element)
        op = arith.ExtFOp if element.bitwidth > self.width else arith.TruncFOp
        return self.emitter.op(op(self.ssa, target))


def replace_op(op: Operation, values: Value | list[Value]) -> None:
    """Replace the results of `op`, keeping their names, and erase it."""
    values = values if isinstance(values, list) else [values]
    for old, new in zip(op.results, values, strict=True):
        if new.ssa.name_hint is None:
            new.ssa.name_hint = old.name_hint
        old.replace_all_uses_with(new.ssa)
    op.detach()
    op.erase()


_NO_FASTMATH = arith.FastMathFlagsAttr("none")
_DEFAULT_FASTMATH: dict[type[Operation], Attribute] = {
    op: _NO_FASTMATH
    for op in (
        arith.AddfOp,
        arith.SubfOp,
        arith.MulfOp,
        arith.DivfOp,
        arith.NegfOp,
        math.AbsFOp,
        math.SqrtOp,
        math.RoundEvenOp,
        math.TruncOp,
    )
}
_DEFAULT_OVERFLOW: dict[type[Operation], Attribute] = {
    op: arith.IntegerOverflowAttr("none")
    for op in (arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.ShLIOp)
}
