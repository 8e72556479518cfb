"""The ops of our own that L1 keeps because linalg cannot say them: the scan."""

from __future__ import annotations

from typing import Self, cast

from xdsl.dialects.builtin import I64, IntegerAttr, TensorType, UnitAttr, i64
from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.dialects.linalg.core import parse_operand_list, print_operand_list


@irdl_op_definition
class YieldOp(AbstractYieldOperation[Attribute]):
    """The combined value of an `ingot.scan`."""

    name = "ingot.yield"

    traits = lazy_traits_def(lambda: (IsTerminator(), Pure(), HasParent(ScanOp)))


@irdl_op_definition
class ScanOp(IRDLOperation):
    """Running combination along one dimension.

    With acc starting at `init` (the shape of `input` without `dimension`) and x_i the slices of
    `input` in order, acc becomes body(acc, x_i); element i of the first result is acc after that
    step when `inclusive`, before it otherwise. The second result is the last acc. `output` gives
    the first result its place; its contents are not read. The body takes the accumulator, then the
    element.

    ```mlir
    %scanned, %last = ingot.scan inclusive dimension = 1 ins(%x : tensor<4x8xf32>)
        outs(%empty, %init : tensor<4x8xf32>, tensor<4xf32>) {
    ^bb0(%acc: f32, %element: f32):
      %sum = arith.addf %acc, %element : f32
      ingot.yield %sum : f32
    }
    ```
    """

    name = "ingot.scan"

    input = operand_def(TensorType)
    output = operand_def(TensorType)
    init = operand_def(TensorType)

    dimension = prop_def(IntegerAttr[I64])
    inclusive = opt_prop_def(UnitAttr)

    scanned = result_def(TensorType)
    last = result_def(TensorType)

    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        input: SSAValue | Operation,
        output: SSAValue | Operation,
        init: SSAValue | Operation,
        dimension: int | IntegerAttr[I64],
        inclusive: bool,
        body: Region,
    ):
        if isinstance(dimension, int):
            dimension = IntegerAttr(dimension, i64)
        super().__init__(
            operands=[input, output, init],
            result_types=[SSAValue.get(output).type, SSAValue.get(init).type],
            properties={"dimension": dimension, "inclusive": UnitAttr() if inclusive else None},
            regions=[body],
        )

    def verify_(self) -> None:
        types = [
            cast("TensorType[Attribute]", value.type)
            for value in (self.input, self.output, self.init)
        ]
        shape, output_shape, init_shape = (list(type.get_shape()) for type in types)
        dimension = self.dimension.value.data
        if not 0 <= dimension < len(shape):
            raise VerifyException(f"dimension {dimension} is out of range for {types[0]}")
        if output_shape != shape:
            raise VerifyException("the output must have the shape of the input")
        if init_shape != shape[:dimension] + shape[dimension + 1 :]:
            raise VerifyException(
                "the initial accumulator must have the input's shape without the dimension"
            )
        accumulator = types[2].element_type
        if types[1].element_type != accumulator:
            raise VerifyException("output and accumulator must have one element type")
        if [result.type for result in self.results] != [types[1], types[2]]:
            raise VerifyException(
                "the results must have the types of the output and the accumulator"
            )
        if [arg.type for arg in self.body.block.args] != [accumulator, types[0].element_type]:
            raise VerifyException(
                "the body must take the accumulator, then an element of the input"
            )
        terminator = self.body.block.last_op
        if not isinstance(terminator, YieldOp) or [v.type for v in terminator.operands] != [
            accumulator
        ]:
            raise VerifyException("the body must yield the accumulator")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        inclusive = parser.parse_optional_keyword("inclusive") is not None
        parser.parse_keyword("dimension")
        parser.parse_punctuation("=")
        dimension = parser.parse_integer()
        inputs = parse_operand_list(parser, "ins")
        outputs = parse_operand_list(parser, "outs")
        if len(inputs) != 1 or len(outputs) != 2:
            parser.raise_error("expected one input, and the output and the accumulator as outputs")
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(inputs[0], outputs[0], outputs[1], dimension, inclusive, parser.parse_region())
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        if self.inclusive is not None:
            printer.print_string(" inclusive")
        printer.print_string(f" dimension = {self.dimension.value.data}")
        print_operand_list(printer, "ins", [self.input])
        print_operand_list(printer, "outs", [self.output, self.init])
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)


Ingot = Dialect("ingot", [ScanOp, YieldOp], [])
