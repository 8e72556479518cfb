"""xDSL's `vector` dialect with `from_elements`, `splat` and a right `reduction`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects import vector
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import VectorType
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

CombiningKind = CombiningKindFlag


@irdl_op_definition
class FromElementsOp(IRDLOperation):
    """Builds a vector from one scalar for each element, in row-major order."""

    name = "vector.from_elements"

    elements = var_operand_def()
    result = result_def(VectorType)

    traits = traits_def(Pure())

    def __init__(self, elements: Sequence[SSAValue | Operation], result_type: VectorType):
        super().__init__(operands=[elements], result_types=[result_type])

    def verify_(self) -> None:
        type_ = self.result.type
        assert isinstance(type_, VectorType)
        count = 1
        for size in type_.get_shape():
            count *= size
        if len(self.elements) != count:
            raise VerifyException(f"expected {count} elements, got {len(self.elements)}")
        if any(e.type != type_.element_type for e in self.elements):
            raise VerifyException("the elements must have the element type of the vector")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.elements, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> FromElementsOp:
        elements = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        if not isinstance(type_, VectorType):
            parser.raise_error("expected a vector type")
        vector_type = cast("VectorType[Attribute]", type_)
        element = vector_type.element_type
        op = cls([parser.resolve_operand(e, element) for e in elements or ()], vector_type)
        op.attributes |= attributes
        return op


@irdl_op_definition
class SplatOp(IRDLOperation):
    """Builds a vector whose elements all are one scalar."""

    name = "vector.splat"

    _T: ClassVar = VarConstraint("T", AnyAttr())

    input = operand_def(_T)
    aggregate = result_def(VectorType.constr(_T))

    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($aggregate)"

    def __init__(self, value: SSAValue | Operation, result_type: VectorType):
        super().__init__(operands=[value], result_types=[result_type])


@irdl_op_definition
class ReductionOp(IRDLOperation):
    """Combines the elements of a vector, and an accumulator, into one scalar."""

    name = "vector.reduction"

    _T: ClassVar = VarConstraint("T", AnyAttr())

    vector = operand_def(VectorType.constr(_T))
    acc = opt_operand_def(_T)
    dest = result_def(_T)
    kind = prop_def(CombiningKindAttr)
    fastmath = prop_def(FastMathFlagsAttr, default_value=FastMathFlagsAttr("none"))

    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "$kind `,` $vector (`,` $acc^)? (`fastmath` `` $fastmath^)? attr-dict"
        " `:` type($vector) `into` type($dest)"
    )

    def __init__(
        self,
        value: SSAValue | Operation,
        kind: CombiningKind,
        acc: SSAValue | Operation | None = None,
        fastmath: FastMathFlagsAttr | None = None,
    ):
        value = SSAValue.get(value, type=VectorType)
        super().__init__(
            operands=[value, acc],
            result_types=[value.type.element_type],
            properties={"kind": CombiningKindAttr(kind), "fastmath": fastmath},
        )


_OPERATIONS: Sequence[type[Operation]] = (FromElementsOp, ReductionOp, SplatOp)
_NAMES = {op.name for op in _OPERATIONS}

Vector = Dialect(
    "vector",
    [op for op in vector.Vector.operations if op.name not in _NAMES] + list(_OPERATIONS),
    list(vector.Vector.attributes),
)
"""xDSL's dialect with the classes of this module in place of xDSL's."""
