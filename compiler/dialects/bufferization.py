"""xDSL's `bufferization`, with the forms that MLIR 19 prints and reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects import bufferization
from xdsl.dialects.builtin import MemRefType, TensorType, UnitAttr
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    opt_result_def,
    result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa


@irdl_op_definition
class ToTensorOp(IRDLOperation):
    """The contents of a buffer as a tensor; `restrict` says that nothing else aliases the buffer.

    MLIR 19 prints the buffer's type alone, later versions `to` and the tensor's type: both parse.
    """

    name = "bufferization.to_tensor"

    memref = operand_def(MemRefType)
    tensor = result_def(TensorType)
    restrict = opt_prop_def(UnitAttr)
    writable = opt_prop_def(UnitAttr)

    def __init__(
        self, memref: SSAValue | Operation, restrict: bool = False, writable: bool = False
    ):
        memref = SSAValue.get(memref)
        super().__init__(
            operands=[memref],
            result_types=[_tensor_type(memref.type)],
            properties={
                "restrict": UnitAttr() if restrict else None,
                "writable": UnitAttr() if writable else None,
            },
        )

    def verify_(self) -> None:
        if self.tensor.type != _tensor_type(self.memref.type):
            raise VerifyException("the tensor must have the shape and element type of the buffer")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.memref)
        if self.restrict is not None:
            printer.print_string(" restrict")
        if self.writable is not None:
            printer.print_string(" writable")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.memref.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        memref = parser.parse_unresolved_operand()
        restrict = parser.parse_optional_keyword("restrict") is not None
        writable = parser.parse_optional_keyword("writable") is not None
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        if parser.parse_optional_keyword("to"):
            parser.parse_type()
        if not isa(type_, MemRefType[Attribute]):
            parser.raise_error("expected a memref type")
        op = cls(parser.resolve_operand(memref, type_), restrict, writable)
        op.attributes |= attributes
        return op


@irdl_op_definition
class MaterializeInDestinationOp(IRDLOperation):
    """Writes a tensor to a buffer of the same shape and element type, whatever its layout."""

    name = "bufferization.materialize_in_destination"

    source = operand_def(TensorType)
    dest = operand_def(TensorType | MemRefType)
    result = opt_result_def(TensorType)
    restrict = opt_prop_def(UnitAttr)
    writable = opt_prop_def(UnitAttr)

    assembly_format = (
        "$source `in` (`restrict` $restrict^)? (`writable` $writable^)? $dest attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(self, source: SSAValue | Operation, dest: SSAValue | Operation):
        """Write to a buffer that nothing else aliases."""
        super().__init__(
            operands=[source, dest],
            result_types=[[]],
            properties={"restrict": UnitAttr(), "writable": UnitAttr()},
        )

    def verify_(self) -> None:
        if self.source.type != _tensor_type(self.dest.type):
            raise VerifyException("source and destination must agree in shape and element type")


def _tensor_type(type_: Attribute) -> Attribute:
    if isa(type_, MemRefType[Attribute]):
        return TensorType(type_.get_element_type(), type_.get_shape())
    return type_


_OPERATIONS: Sequence[type[Operation]] = (ToTensorOp, MaterializeInDestinationOp)
_NAMES = {op.name for op in _OPERATIONS}

Bufferization = Dialect(
    "bufferization",
    [op for op in bufferization.Bufferization.operations if op.name not in _NAMES]
    + list(_OPERATIONS),
    list(bufferization.Bufferization.attributes),
)
"""xDSL's dialect with the classes of this module in place of xDSL's."""
