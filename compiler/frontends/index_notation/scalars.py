"""Scalar expressions: their types, and the ops that compute one in the body of a generic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import IndexType, f32, i1, i32, i64
from xdsl.ir import Attribute, SSAValue

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.analysis.generics import Emitter
from ingot.compiler.dialects.arith import (
    CmpfOp,
    CmpiOp,
    ExtSIOp,
    ExtUIOp,
    FPToSIOp,
    IndexCastOp,
    SelectOp,
    SIToFPOp,
    TruncIOp,
    UIToFPOp,
)
from ingot.compiler.dialects.linalg import IndexOp
from ingot.compiler.frontends.index_notation.affine import affine
from ingot.compiler.frontends.index_notation.functions import (
    BIT_COUNTS,
    COMPARISONS,
    CONSTANTS,
    FLOAT_ARITHMETIC,
    FLOAT_BINARY,
    FLOAT_UNARY,
    INTEGER_ARITHMETIC,
    PREDICATES,
    ROUNDING,
)
from ingot.compiler.frontends.index_notation.ranges import Ranges
from ingot.compiler.frontends.index_notation.syntax import (
    Access,
    Blank,
    Call,
    Expression,
    Name,
    Number,
    Place,
)
from ingot.compiler.frontends.index_notation.types import (
    Scalar,
    Weak,
    as_float,
    as_integer,
    bits,
    concrete,
    constant,
    is_float,
    meet,
    number_of,
)

index = IndexType()

WRAPPERS = ("mod", "clamp", "pad")
"""What an index may be wrapped in where it may leave its array."""

_MOST_PRODUCTS = 16
"""Whole powers up to this one are products."""


@dataclass(frozen=True)
class Array:
    """An array: its value, and what the first element of each dimension is called."""

    value: SSAValue
    element: Attribute
    shape: tuple[int, ...]
    firsts: tuple[int, ...]


@dataclass(frozen=True)
class Scope:
    """What the names of an expression mean."""

    arrays: Mapping[str, Array]
    ranges: Ranges = field(default_factory=dict[str, tuple[int, int]])
    blank: Scalar | None = None
    """The type of `_`, where there is one."""

    def is_index(self, name: str) -> bool:
        """Whether the name is an index, and not an array without dimensions or a constant."""
        return name not in self.arrays and (name not in CONSTANTS or name in self.ranges)

    def type_of(self, expression: Expression) -> Scalar:
        """The type of an expression; raises `Refusal` for what has none."""
        match expression:
            case Number(value=value):
                return Weak.INTEGER if isinstance(value, int) else Weak.FLOAT
            case Name(name=name) if name in self.arrays:
                return self.arrays[name].element
            case Name(name=name):
                return Weak.INTEGER if self.is_index(name) else Weak.FLOAT
            case Blank(place):
                if self.blank is None:
                    raise Refusal("`_` stands for nothing here", place.location)
                return self.blank
            case Access(array=array):
                return self.arrays[array].element
            case Call():
                return self._type_of_call(expression)

    def _type_of_call(self, call: Call) -> Scalar:
        types = [self.type_of(operand) for operand in call.operands]
        name = call.function
        self._check_count(call)
        if name in COMPARISONS or name in PREDICATES or name in ("&&", "||", "!"):
            return i1
        if name in ("?:", "ifelse"):
            if types[0] != i1:
                raise Refusal(
                    "a condition is a comparison", call.operands[0].place.location, "write `!= 0`"
                )
            return meet(types[1], types[2])
        numbers = [number_of(type_) for type_ in types]
        if name in ("&", "|"):
            met = meet(types[0], types[1])
            if is_float(met):
                raise Refusal(f"`{name}` combines booleans or integers", call.place.location)
            return met
        if name == "^":
            return self._type_of_power(call, numbers)
        if name in FLOAT_UNARY or name in FLOAT_BINARY or name == "/":
            met = numbers[0] if len(numbers) == 1 else meet(numbers[0], numbers[1])
            return met if is_float(met) else meet(met, Weak.FLOAT)
        if name in BIT_COUNTS and is_float(numbers[0]):
            raise Refusal(f"{name} takes an integer", call.place.location)
        met = numbers[0]
        for other in numbers[1:]:
            met = meet(met, other)
        return met

    def _type_of_power(self, call: Call, types: list[Scalar]) -> Scalar:
        base, exponent = types
        if is_float(base):
            return meet(base, exponent)
        written = call.operands[1]
        if isinstance(written, Number) and exponent is Weak.INTEGER:
            return base if written.value >= 0 else meet(base, Weak.FLOAT)
        if not is_float(exponent):
            raise Refusal(
                "the exponent of an integer is a number that is written, or a float",
                call.place.location,
                "multiply the base by 1.0",
            )
        return meet(meet(base, Weak.FLOAT), exponent)

    def _check_count(self, call: Call) -> None:
        name, place = call.function, call.place
        if name == "pad":
            raise Refusal("pad stands around an index of an array", place.location)
        count = _OPERANDS.get(name)
        if count is None:
            if name in self.arrays:
                raise Refusal(f"{name} is an array", place.location, f"write {name}[...]")
            raise Refusal(
                f"unknown function {name}", place.location, f"there are {', '.join(_FUNCTIONS)}"
            )
        if len(call.operands) != count:
            wanted = "one operand" if count == 1 else f"{count} operands"
            raise Refusal(f"{name} takes {wanted}, not {len(call.operands)}", place.location)


_OPERANDS: dict[str, int] = {
    **dict.fromkeys((*FLOAT_UNARY, *ROUNDING, *PREDICATES, *BIT_COUNTS, "abs", "sign"), 1),
    **dict.fromkeys(("neg", "!"), 1),
    **dict.fromkeys((*FLOAT_ARITHMETIC, *INTEGER_ARITHMETIC, *COMPARISONS, *FLOAT_BINARY), 2),
    **dict.fromkeys(("^", "&&", "||", "mod"), 2),
    **dict.fromkeys(("?:", "ifelse", "clamp"), 3),
}
_FUNCTIONS = sorted(name for name in _OPERANDS if name.isidentifier() and name != "neg")


@dataclass(frozen=True)
class Body:
    """Emits expressions into a body, where indices, accesses and `_` have values."""

    scope: Scope
    emit: Emitter
    loops: Sequence[str]
    """The indices of the loops around the body, which count from 0."""
    loaded: Mapping[Access, SSAValue]
    """The accesses that the maps of the generic read."""
    blank: SSAValue | None = None
    _counts: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])

    def value(self, expression: Expression, want: Attribute) -> SSAValue:
        """The expression as a scalar of type `want`."""
        at = replace(self, emit=Emitter(self.emit.builder, expression.place.location))
        return at._value(expression, want)

    def _value(self, expression: Expression, want: Attribute) -> SSAValue:
        match expression:
            case Number(place, number):
                _check_fits(number, want, place)
                return self._constant(number, want)
            case Name(name=name) if name in self.scope.arrays:
                return self._load(Access(expression.place, name, ()), want)
            case Name(name=name) if self.scope.is_index(name):
                return self._whole(expression, want)
            case Name(name=name):
                return self._constant(CONSTANTS[name], want)
            case Blank():
                assert self.blank is not None
                return self.convert(self.blank, want)
            case Access():
                return self._load(expression, want)
            case Call():
                return self._call(expression, want)

    def _constant(self, number: float, want: Attribute) -> SSAValue:
        return self.emit.add(arith.ConstantOp(constant(number, want))).result

    def _whole(self, expression: Expression, want: Attribute) -> SSAValue:
        """An integer expression of indices, computed as such and then converted."""
        value = self._index_arithmetic(expression)
        if not is_float(want):
            return self.convert(value, want)
        known = affine(expression, self.scope.is_index)
        low, high = known.bounds(self.scope.ranges) if known else (-(2**62), 2**62)
        small = low >= -(2**31) and high < 2**31
        narrow = self.emit.add(IndexCastOp(value, i32 if small else i64)).result
        return self.emit.add(SIToFPOp(narrow, as_float(want))).result

    def _index_arithmetic(self, expression: Expression) -> SSAValue:
        if isinstance(expression, Name):
            value = self._count(expression.name)
            first = self.scope.ranges[expression.name][0]
            if first == 0:
                return value
            return self.emit.add(arith.AddiOp(value, self._constant(first, index))).result
        assert isinstance(expression, Call)
        return self._arithmetic(expression, index)

    def _count(self, name: str) -> SSAValue:
        """The loop of an index, asked for where it is first needed."""
        if name not in self._counts:
            self._counts[name] = self.emit.add(IndexOp(self.loops.index(name))).result
        return self._counts[name]

    def _load(self, access: Access, want: Attribute) -> SSAValue:
        if (value := self.loaded.get(access)) is not None:
            return self.convert(value, want)
        array = self.scope.arrays[access.array]
        positions: list[SSAValue] = []
        inside: list[SSAValue] = []
        for dimension, written in enumerate(access.indices):
            position = self._position(written, array, dimension, inside)
            positions.append(position)
        value = self.emit.add(tensor.ExtractOp(array.value, positions, array.element)).result
        for condition in inside:
            zero = self._constant(0, array.element)
            value = self.emit.add(SelectOp(condition, value, zero)).result
        return self.convert(value, want)

    def _position(
        self, written: Expression, array: Array, dimension: int, inside: list[SSAValue]
    ) -> SSAValue:
        """Where an index points, from 0; a padded one adds the condition that it is inside."""
        first, size = array.firsts[dimension], array.shape[dimension]
        wrapper = wrapper_of(written)
        inner = written.operands[0] if wrapper and isinstance(written, Call) else written
        value = self.position_of(inner, first)
        if wrapper == "mod":
            return self._modulo(value, self._constant(size, index), index)
        if wrapper is None:
            return value
        zero, last = self._constant(0, index), self._constant(size - 1, index)
        near = self.emit.add(arith.MaxSIOp(value, zero)).result
        near = self.emit.add(arith.MinSIOp(near, last)).result
        if wrapper == "pad":
            inside.append(self.emit.add(CmpiOp(near, value, "eq")).result)
        return near

    def position_of(self, written: Expression, first: int) -> SSAValue:
        """The position that an index means in a dimension whose first element is `first`."""
        known = affine(written, self.scope.is_index)
        if known is not None and known.plain and self.scope.ranges[known.plain][0] == first:
            return self._count(known.plain)
        value = self.value(written, index)
        if first:
            value = self.emit.add(arith.SubiOp(value, self._constant(first, index))).result
        return value

    # Calls

    def _call(self, call: Call, want: Attribute) -> SSAValue:
        type_ = self.scope.type_of(call)
        if type_ is Weak.INTEGER and want != index:
            return self._whole(call, want)
        if type_ is Weak.FLOAT:
            # Numbers alone: computed where they are wanted, in f32 where integers are.
            type_ = want if is_float(want) else concrete(type_)
        if type_ is Weak.INTEGER:
            type_ = index
        assert not isinstance(type_, Weak)
        return self.convert(self._arithmetic(call, type_), want)

    def _arithmetic(self, call: Call, type_: Attribute) -> SSAValue:
        """The call in its type; operands of other types are converted."""
        name, operands = call.function, call.operands
        add = self.emit.add
        if name in COMPARISONS:
            return self._compare(call)
        if name in ("&&", "||"):
            left, right = (self._condition(operand) for operand in operands)
            return add((arith.AndIOp if name == "&&" else arith.OrIOp)(left, right)).result
        if name == "!":
            true = self._constant(-1, i1)
            return add(arith.XOrIOp(self._condition(operands[0]), true)).result
        if name in PREDICATES:
            inner = meet(number_of(self.scope.type_of(operands[0])), Weak.FLOAT)
            operand = self.value(operands[0], concrete(inner))
            return add(PREDICATES[name].build(operands=[operand], result_types=[i1])).result
        if name in ("?:", "ifelse"):
            condition = self._condition(operands[0])
            chosen = [self.value(operand, type_) for operand in operands[1:]]
            return add(SelectOp(condition, *chosen)).result
        if name == "^":
            return self._power(call, type_)
        values = [self.value(operand, type_) for operand in operands]
        if name == "clamp":
            low = self._binary("max", values[0], values[1], type_)
            return self._binary("min", low, values[2], type_)
        if name == "mod":
            return self._modulo(values[0], values[1], type_)
        if len(values) == 2:
            return self._binary(name, values[0], values[1], type_)
        return self._unary(name, values[0], type_)

    def _binary(self, name: str, left: SSAValue, right: SSAValue, type_: Attribute) -> SSAValue:
        if name in FLOAT_BINARY:
            return self.emit.add(FLOAT_BINARY[name](left, right)).results[0]
        if not is_float(type_):
            return self.emit.add(INTEGER_ARITHMETIC[name](left, right)).results[0]
        if name == "÷":
            quotient = self.emit.add(arith.DivfOp(left, right)).result
            return self.emit.add(math.TruncOp(quotient)).result
        if name == "%":
            quotient = self.emit.add(arith.DivfOp(left, right)).result
            whole = self.emit.add(math.TruncOp(quotient)).result
            product = self.emit.add(arith.MulfOp(whole, right)).result
            return self.emit.add(arith.SubfOp(left, product)).result
        return self.emit.add(FLOAT_ARITHMETIC[name](left, right)).results[0]

    def _unary(self, name: str, value: SSAValue, type_: Attribute) -> SSAValue:
        add = self.emit.add
        if name in FLOAT_UNARY:
            return add(FLOAT_UNARY[name](value)).results[0]
        if name in BIT_COUNTS:
            return add(BIT_COUNTS[name](value)).results[0]
        if name in ROUNDING:
            return add(ROUNDING[name](value)).results[0] if is_float(type_) else value
        if name == "neg":
            if is_float(type_):
                return add(arith.NegfOp(value)).result
            return add(arith.SubiOp(self._constant(0, type_), value)).result
        if name == "abs":
            if type_ == index:
                return add(arith.MaxSIOp(value, self._unary("neg", value, type_))).result
            return add((math.AbsFOp if is_float(type_) else math.AbsIOp)(value)).results[0]
        assert name == "sign"
        zero, one, minus = (self._constant(number, type_) for number in (0, 1, -1))
        # A value that is neither above nor below zero is its own sign: 0.0, -0.0 and NaN.
        below = SelectOp(self._compared("<", value, zero, type_), minus, value)
        return add(SelectOp(self._compared(">", value, zero, type_), one, add(below).result)).result

    def _modulo(self, value: SSAValue, by: SSAValue, type_: Attribute) -> SSAValue:
        """The remainder of division to minus infinity, which has the sign of the divisor."""
        zero = self._constant(0, type_)
        remainder = self._binary("%", value, by, type_)
        below, negative = (self._compared("<", v, zero, type_) for v in (remainder, by))
        differ = self.emit.add(CmpiOp(below, negative, "ne")).result
        nonzero = self._compared("!=", remainder, zero, type_)
        wrong = self.emit.add(arith.AndIOp(differ, nonzero)).result
        moved = self._binary("+", remainder, by, type_)
        return self.emit.add(SelectOp(wrong, moved, remainder)).result

    def _compare(self, call: Call) -> SSAValue:
        left, right = call.operands
        types = [self.scope.type_of(operand) for operand in call.operands]
        met = types[0] if types == [i1, i1] else meet(*map(number_of, types))
        type_ = index if met is Weak.INTEGER else concrete(met)
        return self._compared(
            call.function, self.value(left, type_), self.value(right, type_), type_
        )

    def _compared(self, name: str, left: SSAValue, right: SSAValue, type_: Attribute) -> SSAValue:
        whole, real = COMPARISONS[name]
        if is_float(type_):
            return self.emit.add(CmpfOp(left, right, real)).result
        return self.emit.add(CmpiOp(left, right, whole)).result

    def _condition(self, expression: Expression) -> SSAValue:
        if self.scope.type_of(expression) != i1:
            raise Refusal("a condition is a comparison", expression.place.location, "write `!= 0`")
        return self.value(expression, i1)

    def _power(self, call: Call, type_: Attribute) -> SSAValue:
        base, exponent = call.operands
        if isinstance(exponent, Number) and isinstance(exponent.value, int):
            number = exponent.value
            if not is_float(type_) or abs(number) <= _MOST_PRODUCTS:
                return self._product(self.value(base, type_), number, type_)
        powers = [self.value(operand, type_) for operand in call.operands]
        return self.emit.add(math.PowFOp(powers[0], powers[1])).results[0]

    def _product(self, base: SSAValue, number: int, type_: Attribute) -> SSAValue:
        """A whole power by squaring."""
        result: SSAValue | None = None
        square, left = base, abs(number)
        while left:
            if left & 1:
                result = square if result is None else self._binary("*", result, square, type_)
            left >>= 1
            if left:
                square = self._binary("*", square, square, type_)
        if result is None:
            return self._constant(1, type_)
        if number < 0:
            return self.emit.add(arith.DivfOp(self._constant(1, type_), result)).result
        return result

    def convert(self, value: SSAValue, want: Attribute) -> SSAValue:
        """`value` in the type `want`; floats become integers only where somebody rounds them."""
        have = value.type
        if have == want:
            return value
        add = self.emit.add
        if is_float(have) and is_float(want):
            narrow, wide = bits(have), bits(want)
            if narrow == wide:  # f16 and bf16 meet in f32
                return self.convert(add(arith.ExtFOp(value, f32)).result, want)
            op = arith.ExtFOp if narrow < wide else arith.TruncFOp
            return add(op(value, as_float(want))).result
        if is_float(have):
            whole = i64 if want == index else as_integer(want)
            return self.convert(add(FPToSIOp(value, whole)).result, want)
        if is_float(want):
            if have == index:
                value = add(IndexCastOp(value, i64)).result
            return add((UIToFPOp if have == i1 else SIToFPOp)(value, as_float(want))).result
        if index in (have, want):
            if have == i1:
                value = add(ExtUIOp(value, i32)).result
            return add(IndexCastOp(value, want)).result
        if bits(have) > bits(want):
            return add(TruncIOp(value, as_integer(want))).result
        return add((ExtUIOp if have == i1 else ExtSIOp)(value, as_integer(want))).result


def _check_fits(number: float, want: Attribute, place: Place) -> None:
    """Refuse a number that its integer type does not have."""
    if is_float(want):
        return
    half = 1 << ((64 if want == index else bits(want)) - 1)
    if not -half <= number < half:
        raise Refusal(
            f"{number} does not fit {want}", place.location, "write it as a float, as in 1e10"
        )


def wrapper_of(written: Expression) -> str | None:
    """`mod`, `clamp` or `pad` where an index is wrapped in one: `mod(i+1)`, not `mod(i, 3)`."""
    if not isinstance(written, Call) or written.function not in WRAPPERS:
        return None
    counts = {"mod": (1,), "clamp": (1,), "pad": (1, 2, 3)}[written.function]
    return written.function if len(written.operands) in counts else None
