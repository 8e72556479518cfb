"""Scalars that know their signedness, with operators: what the bodies of lowerings are written in.

StableHLO says signed or unsigned by the type, L1 by the op. A `Scalar` carries the one to choose
the other: `a / b` is `arith.divf`, `divsi` or `divui`, and `complex.div` of complex numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    f32,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ingot.compiler.analysis.generics import Emitter
from ingot.compiler.analysis.types import as_integer
from ingot.compiler.dialects import arith, math

_Binary = Callable[[SSAValue, SSAValue], Operation]
Number = int | float

_FLOAT_PREDICATES = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
_MATH: dict[str, type[Operation]] = {op.name: op for op in math.Math.operations}
_COMPLEX: dict[str, str] = {"math.powf": "complex.pow"}
"""Ops of the complex dialect whose names say something else than those of the math dialect."""


@dataclass(frozen=True, eq=False)
class Scalar:
    """A scalar value, where to put the ops that use it, and whether its integer is unsigned."""

    emit: Emitter
    ssa: SSAValue
    unsigned: bool = False

    @property
    def type(self) -> Attribute:
        """The type in L1, signless."""
        return self.ssa.type

    @property
    def is_float(self) -> bool:
        """Whether it is a float."""
        return isinstance(self.type, AnyFloat)

    @property
    def is_complex(self) -> bool:
        """Whether it is a complex number."""
        return isinstance(self.type, ComplexType)

    @property
    def is_bool(self) -> bool:
        """Whether it is an i1."""
        return self.type == i1

    @property
    def width(self) -> int:
        """Bits of the type."""
        if (integer := as_integer(self.type)) is not None:
            return integer.bitwidth
        assert isinstance(self.type, AnyFloat)
        return self.type.bitwidth

    def of(self, op: Operation) -> Scalar:
        """The result of a new op."""
        return Scalar(self.emit, self.emit.add(op).results[0], self.unsigned)

    def as_signed(self) -> Scalar:
        """The same bits read as signed."""
        return replace(self, unsigned=False)

    def as_unsigned(self) -> Scalar:
        """The same bits read as unsigned."""
        return replace(self, unsigned=True)

    def like(self, number: Number) -> Scalar:
        """A constant of the same type; integers wrap."""
        return literal(self.emit, number, self.type, self.unsigned)

    def _other(self, other: Scalar | Number) -> SSAValue:
        return (other if isinstance(other, Scalar) else self.like(other)).ssa

    def _arith(
        self,
        other: Scalar | Number,
        on_floats: _Binary,
        on_signed: _Binary,
        on_unsigned: _Binary | None = None,
    ) -> Scalar:
        if self.is_complex:
            name = on_floats.__name__.removesuffix("fOp").lower()
            return self.of(_complex(f"complex.{name}")(self.ssa, self._other(other)))
        if self.is_float:
            make = on_floats
        else:
            make = on_unsigned if self.unsigned and on_unsigned is not None else on_signed
        return self.of(make(self.ssa, self._other(other)))

    def __add__(self, other: Scalar | Number) -> Scalar:
        return self._arith(other, arith.AddfOp, arith.AddiOp)

    def __sub__(self, other: Scalar | Number) -> Scalar:
        return self._arith(other, arith.SubfOp, arith.SubiOp)

    def __mul__(self, other: Scalar | Number) -> Scalar:
        return self._arith(other, arith.MulfOp, arith.MuliOp)

    def __truediv__(self, other: Scalar | Number) -> Scalar:
        return self._arith(other, arith.DivfOp, arith.DivSIOp, arith.DivUIOp)

    def __mod__(self, other: Scalar | Number) -> Scalar:
        """The remainder, with the sign of the dividend."""
        return self._arith(other, arith.RemFOp, arith.RemSIOp, arith.RemUIOp)

    def __rsub__(self, other: Number) -> Scalar:
        return self.like(other) - self

    def __neg__(self) -> Scalar:
        if self.is_complex:
            return self.call("math.neg")
        return self.of(arith.NegfOp(self.ssa)) if self.is_float else 0 - self

    def __and__(self, other: Scalar | Number) -> Scalar:
        return self.of(arith.AndIOp(self.ssa, self._other(other)))

    def __or__(self, other: Scalar | Number) -> Scalar:
        return self.of(arith.OrIOp(self.ssa, self._other(other)))

    def __xor__(self, other: Scalar | Number) -> Scalar:
        return self.of(arith.XOrIOp(self.ssa, self._other(other)))

    def __invert__(self) -> Scalar:
        return self ^ (1 if self.is_bool else -1)

    def shift_left(self, other: Scalar | Number) -> Scalar:
        """0 for a shift by the width or more."""
        return self.of(arith.ShLIOp(self.ssa, self._other(other)))

    def shift_right(self, other: Scalar | Number, arithmetic: bool) -> Scalar:
        """0 or the sign for a shift by the width or more."""
        make = arith.ShRSIOp if arithmetic else arith.ShRUIOp
        return self.of(make(self.ssa, self._other(other)))

    def maximum(self, other: Scalar | Number) -> Scalar:
        """The larger; NaN if either is."""
        return self._arith(other, arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp)

    def minimum(self, other: Scalar | Number) -> Scalar:
        """The smaller; NaN if either is."""
        return self._arith(other, arith.MinimumfOp, arith.MinSIOp, arith.MinUIOp)

    def abs(self) -> Scalar:
        """The magnitude; of the smallest integer itself."""
        if self.is_complex:
            return self.of(_complex("complex.abs")(self.ssa))
        if self.is_float:
            return self.call("math.absf")
        return self if self.unsigned or self.is_bool else self.call("math.absi")

    def compare(self, relation: str, other: Scalar | Number) -> Scalar:
        """`eq`, `ne`, `lt`, `le`, `gt` or `ge` as i1: IEEE on floats, so that only `ne` holds of
        NaN."""
        right = self._other(other)
        if self.is_complex:
            op: Operation = _complex({"eq": "complex.eq", "ne": "complex.neq"}[relation])(
                self.ssa, right
            )
        elif self.is_float:
            op = arith.CmpfOp(self.ssa, right, _FLOAT_PREDICATES[relation])
        elif relation in ("eq", "ne"):
            op = arith.CmpiOp(self.ssa, right, relation)
        else:
            sign = "u" if self.unsigned or self.is_bool else "s"
            op = arith.CmpiOp(self.ssa, right, f"{sign}{relation}")
        return Scalar(self.emit, self.emit.add(op).results[0])

    def lt(self, other: Scalar | Number) -> Scalar:
        """Less than."""
        return self.compare("lt", other)

    def gt(self, other: Scalar | Number) -> Scalar:
        """Greater than."""
        return self.compare("gt", other)

    def eq(self, other: Scalar | Number) -> Scalar:
        """Equal."""
        return self.compare("eq", other)

    def ne(self, other: Scalar | Number) -> Scalar:
        """Not equal; true of NaN."""
        return self.compare("ne", other)

    def is_nan(self) -> Scalar:
        """Whether a float is NaN."""
        return self.ne(self)

    def select(self, then: Scalar, otherwise: Scalar | Number) -> Scalar:
        """`then` where this i1 is true."""
        other = otherwise if isinstance(otherwise, Scalar) else then.like(otherwise)
        return then.of(arith.SelectOp(self.ssa, then.ssa, other.ssa))

    def call(self, name: str, *others: Scalar) -> Scalar:
        """The result of a `math` op on this value and others."""
        if self.is_complex:
            name = _COMPLEX.get(name, name.replace("math.", "complex."))
            return self.of(_complex(name)(self.ssa, *(other.ssa for other in others)))
        op = _MATH[name].create(
            operands=[self.ssa, *(other.ssa for other in others)],
            result_types=[self.type],
            properties=_fastmath(name),
        )
        return self.of(op)

    def bitcast(self, type_: Attribute, unsigned: bool = False) -> Scalar:
        """The same bits as another type of the same width."""
        if self.type == type_:
            return replace(self, unsigned=unsigned)
        if self.is_float and isinstance(type_, AnyFloat):
            # Where bf16 is emulated, only its bits are known to be 16.
            return self.bits().bitcast(type_)
        op = arith.BitcastOp.create(operands=[self.ssa], result_types=[type_])
        return Scalar(self.emit, self.emit.add(op).results[0], unsigned)

    def bits(self) -> Scalar:
        """The bits of a float as a signed integer."""
        return self.bitcast(IntegerType(self.width))

    def to(self, type_: Attribute, unsigned: bool = False) -> Scalar:
        """Converted to another type; see `convert`."""
        return convert(self, type_, unsigned)

    def in_single(self, compute: Callable[[Scalar], Scalar]) -> Scalar:
        """A formula of this float computed in f32 at least, and rounded once."""
        if not isinstance(self.type, Float16Type | BFloat16Type):
            return compute(self)
        return compute(self.to(f32)).to(self.type)

    @property
    def real(self) -> Scalar:
        """The real part; of a real number itself."""
        return self.of(_complex("complex.re")(self.ssa)) if self.is_complex else self

    @property
    def imaginary(self) -> Scalar:
        """The imaginary part; of a real number 0."""
        return self.of(_complex("complex.im")(self.ssa)) if self.is_complex else self.like(0.0)

    def with_imaginary(self, imaginary: Scalar) -> Scalar:
        """The complex number whose real part is this."""
        type_ = ComplexType(cast("AnyFloat", self.type))
        return self.of(_complex("complex.create")(self.ssa, imaginary.ssa, type_))

    def conjugate(self) -> Scalar:
        """The complex conjugate; of a real number itself."""
        return self.call("math.conj") if self.is_complex else self

    def polynomial(self, coefficients: Sequence[float]) -> Scalar:
        """Horner's rule, the coefficient of the highest power first."""
        result = self.like(coefficients[0])
        for coefficient in coefficients[1:]:
            result = result * self + coefficient
        return result


def _fastmath(name: str) -> dict[str, Attribute]:
    defined = _MATH[name].get_irdl_definition().properties  # pyright: ignore
    return {"fastmath": arith.FastMathFlagsAttr("none")} if "fastmath" in defined else {}


def _complex(name: str) -> Callable[..., Operation]:
    """What builds an op of the complex dialect, which few programs need."""
    from xdsl.dialects import complex as cx

    (found,) = (op for op in cx.Complex.operations if op.name == name)
    return found


def literal(emit: Emitter, number: Number, type_: Attribute, unsigned: bool = False) -> Scalar:
    """A constant; integers wrap."""
    if isinstance(type_, ComplexType):
        parts = [FloatAttr(float(part), f32) for part in (number, 0)]
        op = _complex("complex.constant")(ArrayAttr(parts), type_)
    else:
        op = arith.ConstantOp(constant(number, type_))
    return Scalar(emit, emit.add(op).results[0], unsigned)


def constant(number: Number, type_: Attribute) -> IntegerAttr | FloatAttr:
    """The attribute of a number; integers wrap to the type."""
    if isinstance(type_, AnyFloat):
        return FloatAttr(float(number), type_)
    if isinstance(type_, IndexType):
        return IntegerAttr(int(number), type_)
    integer = cast("IntegerType", type_)
    return IntegerAttr(int(number), integer, truncate_bits=True)


def convert(value: Scalar, type_: Attribute, unsigned: bool) -> Scalar:
    """A number as another type.

    To i1: whether it is not 0. Floats become integers towards zero; what does not fit saturates,
    NaN becomes 0. Integers wrap. Integers become floats, and floats narrower ones, to nearest even.
    """
    source = value.type
    if source == type_:
        return replace(value, unsigned=unsigned)
    if type_ == i1:
        return value.ne(0)
    if value.is_complex:
        return value.real.to(type_, unsigned)
    if isinstance(type_, ComplexType):
        real = value.to(f32)
        return real.with_imaginary(real.like(0.0))
    if isinstance(type_, AnyFloat):
        op = _to_float(value, type_)
        if op is None:  # bf16 and f16 have one width and no common form but f32
            return value.to(f32).to(type_)
    elif value.is_float:
        op = (arith.FPToUIOp if unsigned else arith.FPToSIOp)(value.ssa, cast("IntegerType", type_))
    else:
        op = _to_integer(value, type_)
    return Scalar(value.emit, value.emit.add(op).results[0], unsigned)


def _to_float(value: Scalar, type_: AnyFloat) -> Operation | None:
    if not value.is_float:
        unsigned = value.unsigned or value.is_bool
        return (arith.UIToFPOp if unsigned else arith.SIToFPOp)(value.ssa, type_)
    if value.width == type_.bitwidth:
        return None
    return (arith.ExtFOp if value.width < type_.bitwidth else arith.TruncFOp)(value.ssa, type_)


def _to_integer(value: Scalar, type_: Attribute) -> Operation:
    unsigned = value.unsigned or value.is_bool
    if isinstance(type_, IndexType) or isinstance(value.type, IndexType):
        return (arith.IndexCastUIOp if unsigned else arith.IndexCastOp)(value.ssa, type_)
    integer = cast("IntegerType", type_)
    if integer.bitwidth < value.width:
        return arith.TruncIOp(value.ssa, integer)
    return (arith.ExtUIOp if unsigned else arith.ExtSIOp)(value.ssa, integer)


def is_single(type_: Attribute) -> bool:
    """Whether a float is f32."""
    return isinstance(type_, Float32Type)
