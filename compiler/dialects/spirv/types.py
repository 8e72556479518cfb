"""SPIR-V's own types, with MLIR's syntax; scalars and vectors are the builtin ones.

An `i1` is SPIR-V's Boolean; signless integers are written with signedness 0, as MLIR does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    IntAttr,
    IntegerType,
    NoneAttr,
    StringAttr,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.dialects.spirv.enums import (
    CooperativeMatrixUse,
    CooperativeMatrixUseAttr,
    Decoration,
    DecorationAttr,
    Scope,
    ScopeAttr,
    StorageClass,
    StorageClassAttr,
    parse_enumerant,
)

AnyVector = VectorType[Attribute]


def as_vector(type: Attribute) -> AnyVector | None:
    """`type` where it is a vector of any kind."""
    return cast("AnyVector", type) if isinstance(type, VectorType) else None


def as_integer(type: Attribute) -> IntegerType | None:
    """`type` where it is an integer of any width, or a Boolean."""
    return cast("IntegerType", type) if isinstance(type, IntegerType) else None


def is_float(type: Attribute) -> bool:
    """Whether `type` is a float scalar that SPIR-V has."""
    return isinstance(type, Float16Type | Float32Type | Float64Type)


def is_integer(type: Attribute) -> bool:
    """Whether `type` is an integer scalar that SPIR-V has (`i1` is a Boolean, not an integer)."""
    integer = as_integer(type)
    return integer is not None and integer.width.data in (8, 16, 32, 64)


def is_boolean(type: Attribute) -> bool:
    return type == i1


def is_scalar(type: Attribute) -> bool:
    return is_float(type) or is_integer(type) or is_boolean(type)


def is_vector(type: Attribute) -> bool:
    """Whether `type` is a vector of 2, 3 or 4 scalars."""
    vector = as_vector(type)
    return (
        vector is not None
        and vector.get_shape() in ((2,), (3,), (4,))
        and is_scalar(vector.element_type)
    )


def scalar_of(type: Attribute) -> Attribute:
    """The element type of a vector, or the type itself."""
    vector = as_vector(type)
    return type if vector is None else vector.element_type


def with_element(type: Attribute, element: Attribute) -> Attribute:
    """`element`, or a vector of `element` where `type` is a vector: `(vector<4xf32>, i1)`
    gives `vector<4xi1>`."""
    vector = as_vector(type)
    return element if vector is None else VectorType(element, vector.get_shape())


def bit_width(type: Attribute) -> int:
    """Bits of a scalar, or of all elements of a vector."""
    if (vector := as_vector(type)) is not None:
        return bit_width(vector.element_type) * vector.get_shape()[0]
    if (integer := as_integer(type)) is not None:
        return integer.width.data
    if isinstance(type, Float16Type | Float32Type | Float64Type):
        return type.bitwidth
    raise VerifyException(f"{type} has no bit width in SPIR-V")


@irdl_attr_definition
class PointerType(ParametrizedAttribute, TypeAttribute):
    """`!spirv.ptr<f32, StorageBuffer>`"""

    name = "spirv.ptr"

    pointee: Attribute = param_def()
    storage: StorageClassAttr = param_def()

    def __init__(self, pointee: Attribute, storage: StorageClass | StorageClassAttr) -> None:
        if isinstance(storage, StorageClass):
            storage = StorageClassAttr(storage)
        super().__init__(pointee, storage)

    @property
    def storage_class(self) -> StorageClass:
        return self.storage.data

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            pointee = parser.parse_type()
            parser.parse_punctuation(",")
            storage = parse_enumerant(parser, StorageClass)
        return pointee, StorageClassAttr(StorageClass(storage))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.pointee)
            printer.print_string(f", {self.storage_class.name}")


def _parse_stride(parser: AttrParser) -> IntAttr | NoneAttr:
    if not parser.parse_optional_punctuation(","):
        return NoneAttr()
    parser.parse_keyword("stride")
    parser.parse_punctuation("=")
    return IntAttr(parser.parse_integer(allow_negative=False, allow_boolean=False))


def _print_stride(printer: Printer, stride: int | None) -> None:
    if stride is not None:
        printer.print_string(f", stride={stride}")


@irdl_attr_definition
class SpirvArrayType(ParametrizedAttribute, TypeAttribute):
    """`!spirv.array<4 x f32, stride=4>`: `stride` in bytes, None where no layout is laid down."""

    name = "spirv.array"

    element_type: Attribute = param_def()
    size: IntAttr = param_def()
    byte_stride: IntAttr | NoneAttr = param_def()

    def __init__(
        self, element_type: Attribute, count: int | IntAttr, stride: Attribute | int | None = None
    ) -> None:
        count = IntAttr(count) if isinstance(count, int) else count
        super().__init__(element_type, count, _stride_attr(stride))

    @property
    def count(self) -> int:
        return self.size.data

    @property
    def stride(self) -> int | None:
        return self.byte_stride.data if isinstance(self.byte_stride, IntAttr) else None

    def verify(self) -> None:
        if self.count < 1:
            raise VerifyException("an array needs at least one element")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            count = parser.parse_shape_dimension(allow_dynamic=False)
            parser.parse_shape_delimiter()
            element = parser.parse_type()
            stride = _parse_stride(parser)
        return element, IntAttr(count), stride

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.count} x ")
            printer.print_attribute(self.element_type)
            _print_stride(printer, self.stride)


def _stride_attr(stride: Attribute | int | None) -> Attribute:
    if isinstance(stride, Attribute):
        return stride
    return NoneAttr() if stride is None else IntAttr(stride)


@irdl_attr_definition
class RuntimeArrayType(ParametrizedAttribute, TypeAttribute):
    """`!spirv.rtarray<f32, stride=4>`: as many elements as the bound buffer holds."""

    name = "spirv.rtarray"

    element_type: Attribute = param_def()
    byte_stride: IntAttr | NoneAttr = param_def()

    def __init__(self, element_type: Attribute, stride: Attribute | int | None = None) -> None:
        super().__init__(element_type, _stride_attr(stride))

    @property
    def stride(self) -> int | None:
        return self.byte_stride.data if isinstance(self.byte_stride, IntAttr) else None

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            element = parser.parse_type()
            stride = _parse_stride(parser)
        return element, stride

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.element_type)
            _print_stride(printer, self.stride)


@irdl_attr_definition
class StructType(ParametrizedAttribute, TypeAttribute):
    """`!spirv.struct<name, (!spirv.rtarray<f32, stride=4> [0, NonWritable])>`

    `offsets` in bytes, one a member, or none at all; `decorations` one list a member.
    """

    name = "spirv.struct"

    identifier: StringAttr = param_def()
    member_types: ArrayAttr[Attribute] = param_def()
    member_offsets: ArrayAttr[IntAttr] = param_def()
    member_decorations: ArrayAttr[ArrayAttr[DecorationAttr]] = param_def()

    @classmethod
    def get(
        cls,
        members: Sequence[Attribute],
        offsets: Sequence[int] = (),
        decorations: Sequence[Sequence[Decoration]] | None = None,
        identifier: str = "",
    ) -> StructType:
        decorations = decorations or [()] * len(members)
        return cls(
            StringAttr(identifier),
            ArrayAttr(members),
            ArrayAttr([IntAttr(o) for o in offsets]),
            ArrayAttr([ArrayAttr([DecorationAttr(d) for d in ds]) for ds in decorations]),
        )

    @property
    def members(self) -> tuple[Attribute, ...]:
        return self.member_types.data

    @property
    def offsets(self) -> tuple[int, ...]:
        return tuple(o.data for o in self.member_offsets)

    @property
    def decorations(self) -> tuple[tuple[Decoration, ...], ...]:
        return tuple(tuple(d.data for d in ds) for ds in self.member_decorations)

    def verify(self) -> None:
        if len(self.member_offsets) not in (0, len(self.members)):
            raise VerifyException("a struct has an offset for each member, or none at all")
        if len(self.member_decorations) != len(self.members):
            raise VerifyException("a struct has a list of decorations for each member")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        offsets: list[IntAttr] = []
        decorations: list[ArrayAttr[DecorationAttr]] = []

        def member() -> Attribute:
            type = parser.parse_type()
            listed: list[DecorationAttr] = []
            if parser.parse_optional_punctuation("["):
                while True:
                    offset = parser.parse_optional_integer(allow_negative=False)
                    if offset is not None:
                        offsets.append(IntAttr(offset))
                    else:
                        listed.append(
                            DecorationAttr(Decoration(parse_enumerant(parser, Decoration)))
                        )
                    if not parser.parse_optional_punctuation(","):
                        break
                parser.parse_punctuation("]")
            decorations.append(ArrayAttr(listed))
            return type

        with parser.in_angle_brackets():
            identifier = parser.parse_optional_identifier() or ""
            if identifier:
                parser.parse_punctuation(",")
            members = parser.parse_comma_separated_list(parser.Delimiter.PAREN, member)
        return (
            StringAttr(identifier),
            ArrayAttr(members),
            ArrayAttr(offsets),
            ArrayAttr(decorations),
        )

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            if self.identifier.data:
                printer.print_string(f"{self.identifier.data}, ")
            with printer.in_parens():
                for i, (type, listed) in enumerate(
                    zip(self.members, self.decorations, strict=True)
                ):
                    printer.print_string(", " if i else "")
                    printer.print_attribute(type)
                    notes = [str(self.offsets[i])] if self.offsets else []
                    notes += [d.name for d in listed]
                    if notes:
                        printer.print_string(f" [{', '.join(notes)}]")


@irdl_attr_definition
class CooperativeMatrixType(ParametrizedAttribute, TypeAttribute):
    """`!spirv.coopmatrix<8x8xf32, Subgroup, MatrixA>`"""

    name = "spirv.coopmatrix"

    element_type: Attribute = param_def()
    row_count: IntAttr = param_def()
    column_count: IntAttr = param_def()
    execution_scope: ScopeAttr = param_def()
    matrix_use: CooperativeMatrixUseAttr = param_def()

    @classmethod
    def get(
        cls,
        rows: int,
        columns: int,
        element: Attribute,
        use: CooperativeMatrixUse,
        scope: Scope = Scope.Subgroup,
    ) -> CooperativeMatrixType:
        return cls(
            element,
            IntAttr(rows),
            IntAttr(columns),
            ScopeAttr(scope),
            CooperativeMatrixUseAttr(use),
        )

    @property
    def rows(self) -> int:
        return self.row_count.data

    @property
    def columns(self) -> int:
        return self.column_count.data

    @property
    def scope(self) -> Scope:
        return self.execution_scope.data

    @property
    def use(self) -> CooperativeMatrixUse:
        return self.matrix_use.data

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            position = parser.pos
            shape, element = parser.parse_ranked_shape()
            if len(shape) != 2 or -1 in shape:
                parser.raise_error("expected two static dimensions", position)
            parser.parse_punctuation(",")
            scope = parse_enumerant(parser, Scope)
            parser.parse_punctuation(",")
            use = parse_enumerant(parser, CooperativeMatrixUse)
        return (
            element,
            IntAttr(shape[0]),
            IntAttr(shape[1]),
            ScopeAttr(Scope(scope)),
            CooperativeMatrixUseAttr(CooperativeMatrixUse(use)),
        )

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.rows}x{self.columns}x")
            printer.print_attribute(self.element_type)
            printer.print_string(f", {self.scope.name}, {self.use.name}")


TYPES: list[type[Attribute]] = [
    PointerType,
    SpirvArrayType,
    RuntimeArrayType,
    StructType,
    CooperativeMatrixType,
]


def uniform_elements(type: Attribute) -> tuple[Attribute, int] | None:
    """Element type and count of a vector or an array; None for any other type."""
    if isinstance(type, SpirvArrayType):
        return type.element_type, type.count
    vector = as_vector(type)
    return None if vector is None else (vector.element_type, vector.get_shape()[0])


def element_at(type: Attribute, index: int | None) -> Attribute:
    """The type of a composite's element; `index` None for an index that is not constant.

    Raises VerifyException where the composite has no such element.
    """
    if (uniform := uniform_elements(type)) is not None:
        element, count = uniform
        if index is not None and not 0 <= index < count:
            raise VerifyException(f"{type} has no element {index}")
        return element
    match type:
        case StructType():
            if index is None:
                raise VerifyException("a struct's member must be chosen by a constant")
            if not 0 <= index < len(type.members):
                raise VerifyException(f"{type} has no member {index}")
            return type.members[index]
        case RuntimeArrayType() | CooperativeMatrixType():
            return type.element_type
        case _:
            raise VerifyException(f"{type} has no elements")
