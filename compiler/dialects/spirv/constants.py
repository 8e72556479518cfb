"""Constants, undefined values and specialization constants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    BoolAttr,
    DenseIntOrFPElementsAttr,
    FlatSymbolRefAttrConstr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
    VectorType,
    i32,
)
from xdsl.ir import Attribute, TypedAttribute
from xdsl.irdl import (
    irdl_op_definition,
    opt_attr_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    ConstantLike,
    Pure,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.dialects.spirv.base import (
    SpirvOp,
)
from ingot.compiler.dialects.spirv.types import (
    AnyVector,
    SpirvArrayType,
    as_integer,
    as_vector,
    element_at,
    is_boolean,
    is_float,
    is_scalar,
    is_vector,
)

ConstantValue = int | float | bool
AnyShaped = VectorType[Attribute] | TensorType[Attribute]


def number_of(attribute: Attribute) -> tuple[int | float, Attribute] | None:
    """Value and type of an integer, a Boolean or a float attribute; None for any other."""
    if isinstance(attribute, FloatAttr):
        number = cast("FloatAttr", attribute)
        return number.value.data, number.type
    if isinstance(attribute, IntegerAttr):
        number = cast("IntegerAttr", attribute)
        return number.value.data, number.type
    return None


def numbers_of(attribute: Attribute) -> tuple[Sequence[int | float], AnyShaped] | None:
    """Values and type of a `dense` attribute of numbers; None for any other."""
    if not isinstance(attribute, DenseIntOrFPElementsAttr):
        return None
    dense = cast("DenseIntOrFPElementsAttr", attribute)
    return cast("Sequence[int | float]", dense.get_values()), cast("AnyShaped", dense.type)


def constant_attribute(value: ConstantValue, type: Attribute) -> TypedAttribute:
    """The attribute of a scalar constant, or of a vector with `value` in each component.

    Integers wrap and floats round to the type. Raises VerifyException for a type that has no such
    constant.
    """
    if (vector := as_vector(type)) is not None:
        return vector_constant([value] * vector.get_shape()[0], vector)
    if is_boolean(type):
        return BoolAttr.from_bool(bool(value))
    if (integer := as_integer(type)) is not None:
        return IntegerAttr(int(value), integer, truncate_bits=True)
    if isinstance(type, Float16Type | Float32Type | Float64Type):
        return FloatAttr(_rounded(float(value), type), type)
    raise VerifyException(f"spirv.Constant cannot make a {type}")


def vector_constant(values: Sequence[ConstantValue], type: AnyVector) -> TypedAttribute:
    """The attribute of a vector constant with one of `values` for each component."""
    scalars = [constant_attribute(value, type.element_type) for value in values]
    numbers = [number[0] for number in map(number_of, scalars) if number is not None]
    if is_float(type.element_type):
        return DenseIntOrFPElementsAttr.from_list(cast("VectorType[AnyFloat]", type), numbers)
    integers = [int(number) for number in numbers]
    return DenseIntOrFPElementsAttr.from_list(cast("VectorType[IntegerType]", type), integers)


def _rounded(value: float, type: Float16Type | Float32Type | Float64Type) -> float:
    try:
        (rounded,) = type.unpack(type.pack([value]), 1)
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


@irdl_op_definition
class ConstantOp(SpirvOp):
    """`%c = spirv.Constant 4 : i32`, `spirv.Constant dense<1.0> : vector<4xf32>`,
    `spirv.Constant [1 : i32, 2 : i32] : !spirv.array<2 x i32>`"""

    name = "spirv.Constant"

    value: Attribute = prop_def()
    constant = result_def()
    traits = traits_def(Pure(), ConstantLike())

    def __init__(self, value: Attribute | ConstantValue, type: Attribute | None = None) -> None:
        """From an attribute, or from a number and its type (a vector type makes a splat)."""
        if not isinstance(value, Attribute):
            if type is None:
                raise VerifyException("spirv.Constant of a number needs a type")
            value = constant_attribute(value, type)
        if type is None:
            if not isinstance(value, TypedAttribute):
                raise VerifyException(f"spirv.Constant of {value} needs a type")
            type = value.get_type()
        super().__init__(result_types=[type], properties={"value": value})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parser.parse_attribute()
        attributes = parser.parse_optional_attr_dict()
        type = None
        if _is_array(value):
            parser.parse_punctuation(":")
            type = parser.parse_type()
        op = cls(value, type)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.value)
        printer.print_op_attributes(self.attributes)
        if isinstance(self.constant.type, SpirvArrayType):
            printer.print_string(" : ")
            printer.print_attribute(self.constant.type)

    def verify_(self) -> None:
        self._verify_value(self.value, self.constant.type)

    def _verify_value(self, value: Attribute, type: Attribute) -> None:
        message = f"{value} does not make a {type}"
        if isinstance(value, ArrayAttr):
            elements = cast("ArrayAttr[Attribute]", value).data
            self.expect(isinstance(type, SpirvArrayType) and len(elements) == type.count, message)
            for element in elements:
                self._verify_value(element, element_at(type, 0))
        elif (number := number_of(value)) is not None:
            self.expect(is_scalar(type) and number[1] == type, message)
        elif (dense := numbers_of(value)) is not None:
            shape, element = _array_shape(type)
            given = (dense[1].get_shape(), dense[1].element_type)
            self.expect(dense[1] == type or given == (shape, element), message)
        else:
            self.expect(False, f"{value} is not a constant of SPIR-V")


def _is_array(value: Attribute) -> bool:
    """Whether the attribute alone does not tell the type of its constant."""
    dense = numbers_of(value)
    return isinstance(value, ArrayAttr) or (dense is not None and not is_vector(dense[1]))


def _array_shape(type: Attribute) -> tuple[tuple[int, ...], Attribute]:
    """The dimensions and the innermost element type of nested arrays."""
    if not isinstance(type, SpirvArrayType):
        return (), type
    shape, element = _array_shape(type.element_type)
    return (type.count, *shape), element


@irdl_op_definition
class UndefOp(SpirvOp):
    """`%u = spirv.Undef : f32`"""

    name = "spirv.Undef"

    result = result_def()
    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type: Attribute) -> None:
        super().__init__(result_types=[type])


@irdl_op_definition
class SpecConstantOp(SpirvOp):
    """`spirv.SpecConstant @n spec_id(5) = 16 : i32`: a constant the runtime may set."""

    name = "spirv.SpecConstant"

    sym_name: StringAttr = prop_def(SymbolNameConstraint())
    default_value: Attribute = prop_def()
    spec_id: IntegerAttr | None = opt_attr_def(IntegerAttr)
    traits = traits_def(SymbolOpInterface())

    def __init__(self, name: str, default: Attribute, spec_id: int | None) -> None:
        super().__init__(
            properties={"sym_name": StringAttr(name), "default_value": default},
            attributes={} if spec_id is None else {"spec_id": IntegerAttr(spec_id, i32)},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name()
        spec_id = None
        if parser.parse_optional_keyword("spec_id"):
            with parser.in_parens():
                spec_id = parser.parse_integer(allow_negative=False)
        parser.parse_punctuation("=")
        position = parser.pos
        default = parser.parse_attribute()
        if number_of(default) is None:
            parser.raise_error("expected a number", position)
        return cls(name.data, default, spec_id)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        if self.spec_id is not None:
            printer.print_string(f" spec_id({self.spec_id.value.data})")
        printer.print_string(" = ")
        printer.print_attribute(self.default_value)

    def verify_(self) -> None:
        number = number_of(self.default_value)
        self.expect(
            number is not None and is_scalar(number[1]),
            f"default must be a scalar, got {self.default_value}",
        )


@irdl_op_definition
class ReferenceOfOp(SpirvOp):
    """`%n = spirv.mlir.referenceof @n : i32`: the value of a specialization constant."""

    name = "spirv.mlir.referenceof"

    spec_const: SymbolRefAttr = prop_def(FlatSymbolRefAttrConstr)
    reference = result_def()
    traits = traits_def(Pure())
    assembly_format = "$spec_const attr-dict `:` type($reference)"

    def __init__(self, name: str, type: Attribute) -> None:
        super().__init__(result_types=[type], properties={"spec_const": SymbolRefAttr(name)})
