"""MLIR's `gpu` ops on matrices that a SIMD-group holds together, in MLIR 19's syntax.

Where an element lies is unknown: a matrix is loaded, multiplied and stored as a whole. xDSL has
none of these ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    BaseAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    param_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum


class MatrixOperand(StrEnum):
    """What a matrix is to a multiply-accumulate."""

    A = "AOp"
    B = "BOp"
    C = "COp"


@irdl_attr_definition
class MMAMatrixType(ParametrizedAttribute, TypeAttribute):
    """`!gpu.mma_matrix<16x16xf16, "AOp">`"""

    name = "gpu.mma_matrix"

    shape: ArrayAttr[IntAttr] = param_def()
    element_type: Attribute = param_def()
    operand: StringAttr = param_def()

    @classmethod
    def get(
        cls, rows: int, columns: int, element: Attribute, operand: MatrixOperand
    ) -> MMAMatrixType:
        """The type of a matrix."""
        return cls(ArrayAttr([IntAttr(rows), IntAttr(columns)]), element, StringAttr(operand.value))

    @property
    def rows(self) -> int:
        """Rows of the matrix."""
        return self.shape.data[0].data

    @property
    def columns(self) -> int:
        """Columns of the matrix."""
        return self.shape.data[1].data

    @property
    def role(self) -> MatrixOperand:
        """What the matrix is to a multiply-accumulate."""
        return MatrixOperand(self.operand.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            position = parser.pos
            shape, element = parser.parse_ranked_shape()
            if len(shape) != 2 or -1 in shape:
                parser.raise_error("expected two static dimensions", position)
            parser.parse_punctuation(",")
            operand = parser.parse_str_literal()
        return ArrayAttr([IntAttr(n) for n in shape]), element, StringAttr(operand)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.rows}x{self.columns}x")
            printer.print_attribute(self.element_type)
            printer.print_string(f', "{self.operand.data}"')

    def verify(self) -> None:
        if self.operand.data not in {o.value for o in MatrixOperand}:
            raise VerifyException('the operand must be "AOp", "BOp" or "COp"')


class _MatrixAccessOp(IRDLOperation):
    """The layout that loads and stores share."""

    lead_dimension: IntegerAttr[IndexType] = prop_def(
        IntegerAttr[IndexType], prop_name="leadDimension"
    )
    transpose = opt_prop_def(UnitAttr)


def _layout(lead_dimension: int, transpose: bool) -> dict[str, Attribute | None]:
    return {
        "leadDimension": IntegerAttr(lead_dimension, IndexType()),
        "transpose": UnitAttr() if transpose else None,
    }


@irdl_op_definition
class SubgroupMmaLoadMatrixOp(_MatrixAccessOp):
    """Loads a matrix whose rows (with `transpose`, columns) lie `leadDimension` elements apart."""

    name = "gpu.subgroup_mma_load_matrix"

    source = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    res = result_def(MMAMatrixType)

    traits = traits_def(MemoryReadEffect())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$source `[` $indices `]` attr-dict `:` type($source) `->` type($res)"

    def __init__(
        self,
        source: SSAValue,
        indices: Sequence[SSAValue],
        result_type: MMAMatrixType,
        lead_dimension: int,
        transpose: bool = False,
    ):
        super().__init__(
            operands=[source, indices],
            result_types=[result_type],
            properties=_layout(lead_dimension, transpose),
        )


@irdl_op_definition
class SubgroupMmaStoreMatrixOp(_MatrixAccessOp):
    """Stores a matrix with rows `leadDimension` elements apart."""

    name = "gpu.subgroup_mma_store_matrix"

    matrix = operand_def(MMAMatrixType)
    destination = operand_def(MemRefType)
    indices = var_operand_def(IndexType)

    traits = traits_def(MemoryWriteEffect())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "$matrix `,` $destination `[` $indices `]` attr-dict `:` type($matrix) `,` "
        "type($destination)"
    )

    def __init__(
        self,
        matrix: SSAValue,
        destination: SSAValue,
        indices: Sequence[SSAValue],
        lead_dimension: int,
    ):
        super().__init__(
            operands=[matrix, destination, indices],
            properties=_layout(lead_dimension, transpose=False),
        )


@irdl_op_definition
class SubgroupMmaComputeOp(IRDLOperation):
    """`a * b + c`, by the matrix units of a SIMD-group."""

    name = "gpu.subgroup_mma_compute"

    _T: ClassVar = VarConstraint("T", BaseAttr(MMAMatrixType))

    a = operand_def(MMAMatrixType)
    b = operand_def(MMAMatrixType)
    c = operand_def(_T)
    res = result_def(_T)

    traits = traits_def(Pure())
    assembly_format = "$a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `->` type($res)"

    def __init__(self, a: SSAValue, b: SSAValue, c: SSAValue):
        super().__init__(operands=[a, b, c], result_types=[c.type])

    @classmethod
    def _types(cls, *values: SSAValue) -> list[MMAMatrixType]:
        types: list[MMAMatrixType] = []
        for value in values:
            assert isinstance(value.type, MMAMatrixType)
            types.append(value.type)
        return types

    def verify_(self) -> None:
        a, b, c = self._types(self.a, self.b, self.c)
        if (a.role, b.role, c.role) != (MatrixOperand.A, MatrixOperand.B, MatrixOperand.C):
            raise VerifyException('the operands must be "AOp", "BOp" and "COp"')
        if (a.rows, a.columns, b.columns) != (c.rows, b.rows, c.columns):
            raise VerifyException("the shapes do not multiply")


@irdl_op_definition
class SubgroupMmaConstantMatrixOp(IRDLOperation):
    """A matrix of equal elements."""

    name = "gpu.subgroup_mma_constant_matrix"

    value = operand_def()
    res = result_def(MMAMatrixType)

    traits = traits_def(Pure())

    def __init__(self, value: SSAValue, result_type: MMAMatrixType):
        super().__init__(operands=[value], result_types=[result_type])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.res.type)

    @classmethod
    def parse(cls, parser: Parser) -> SubgroupMmaConstantMatrixOp:
        value = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        if not isinstance(type_, MMAMatrixType):
            parser.raise_error("expected a !gpu.mma_matrix")
        op = cls(parser.resolve_operand(value, type_.element_type), type_)
        op.attributes |= attributes
        return op

    def verify_(self) -> None:
        type_ = self.res.type
        if type_.element_type != self.value.type:
            raise VerifyException("the elements must have the type of the value")


OPERATIONS: Sequence[type[Operation]] = (
    SubgroupMmaComputeOp,
    SubgroupMmaConstantMatrixOp,
    SubgroupMmaLoadMatrixOp,
    SubgroupMmaStoreMatrixOp,
)
ATTRIBUTES: Sequence[type[Attribute]] = (MMAMatrixType,)
