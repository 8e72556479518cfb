"""What torch-mlir writes of MLIR's `shape` dialect around StableHLO of dynamic shape.

%n = shape.const_shape [128] : tensor<1xindex>
%s = shape.shape_of %x : tensor<?x128xf32> -> tensor<2xindex>
%b = shape.broadcast %s, %n : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import I64, DenseArrayBase, TensorType, i64
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure


@irdl_op_definition
class ConstShapeOp(IRDLOperation):
    """A shape that is known."""

    name = "shape.const_shape"

    shape = prop_def(DenseArrayBase[I64])
    result = result_def(TensorType)

    traits = traits_def(Pure())

    def __init__(self, sizes: Sequence[int], type_: Attribute):
        shape = DenseArrayBase.from_list(i64, list(sizes))
        super().__init__(result_types=[type_], properties={"shape": shape})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        sizes = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
        parser.parse_punctuation(":")
        return cls(sizes, parser.parse_type())

    def print(self, printer: Printer) -> None:
        sizes = ", ".join(map(str, self.shape.get_values()))
        printer.print_string(f" [{sizes}] : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class ShapeOfOp(IRDLOperation):
    """The sizes of a tensor."""

    name = "shape.shape_of"

    arg = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "$arg attr-dict `:` type($arg) `->` type($result)"


@irdl_op_definition
class BroadcastOp(IRDLOperation):
    """The shape that tensors of these shapes have when they are broadcast against each other."""

    name = "shape.broadcast"

    shapes = var_operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "$shapes attr-dict `:` type($shapes) `->` type($result)"


Shape = Dialect("shape", [ConstShapeOp, ShapeOfOp, BroadcastOp], [])
