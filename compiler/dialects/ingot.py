"""The ops of our own that L1 has because linalg cannot say them: scan, sort and scatter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialects.builtin import (
    I64,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    TensorType,
    UnitAttr,
    i1,
    i64,
)
from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    SameVariadicOperandSize,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.dialects.linalg.core import parse_operand_list, print_operand_list


@irdl_op_definition
class YieldOp(AbstractYieldOperation[Attribute]):
    """What a body computes: the combined value of a scan or a scatter, the order of a sort."""

    name = "ingot.yield"

    traits = lazy_traits_def(lambda: (IsTerminator(), Pure(), HasParent(ScanOp, SortOp, ScatterOp)))


def _verify_yields(body: Region, types: Sequence[Attribute], what: str) -> None:
    terminator = body.block.last_op
    if not isinstance(terminator, YieldOp) or [v.type for v in terminator.operands] != list(types):
        raise VerifyException(f"the body must yield {what}")


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
        _verify_yields(self.body, [accumulator], "the accumulator")

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


@irdl_op_definition
class SortOp(IRDLOperation):
    """Sort lines along one dimension, several tensors of one shape together; the sort is stable.

    The body takes for each tensor two elements, (a0, b0, a1, b1, ...), and says whether a comes
    before b: a strict weak ordering. Elements of which neither comes before the other keep their
    order. With any other body the results are the same elements in some order, which is the same
    in every tensor.

    ```mlir
    %keys, %ids = ingot.sort dimension = 1 ins(%x, %i : tensor<4x8xf32>, tensor<4x8xi32>) {
    ^bb0(%a: f32, %b: f32, %ia: i32, %ib: i32):
      %before = arith.cmpf olt, %a, %b : f32
      ingot.yield %before : i1
    }
    ```
    """

    name = "ingot.sort"

    inputs = var_operand_def(TensorType)

    dimension = prop_def(IntegerAttr[I64])

    sorted = var_result_def(TensorType)

    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(self, inputs: Sequence[SSAValue], dimension: int | IntegerAttr[I64], body: Region):
        if isinstance(dimension, int):
            dimension = IntegerAttr(dimension, i64)
        super().__init__(
            operands=[inputs],
            result_types=[[value.type for value in inputs]],
            properties={"dimension": dimension},
            regions=[body],
        )

    def verify_(self) -> None:
        types = [cast("TensorType[Attribute]", value.type) for value in self.inputs]
        if not types:
            raise VerifyException("a sort needs an operand")
        if any(type.get_shape() != types[0].get_shape() for type in types):
            raise VerifyException("the operands must have one shape")
        if not 0 <= (dimension := self.dimension.value.data) < types[0].get_num_dims():
            raise VerifyException(f"dimension {dimension} is out of range for {types[0]}")
        if [result.type for result in self.results] != types:
            raise VerifyException("the results must have the types of the operands")
        pairs = [type.element_type for type in types for _ in range(2)]
        if [arg.type for arg in self.body.block.args] != pairs:
            raise VerifyException("the body must take two elements of each operand")
        _verify_yields(self.body, [i1], "an i1")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_keyword("dimension")
        parser.parse_punctuation("=")
        dimension = parser.parse_integer()
        inputs = parse_operand_list(parser, "ins")
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(inputs, dimension, parser.parse_region())
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" dimension = {self.dimension.value.data}")
        print_operand_list(printer, "ins", self.inputs)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)


@irdl_op_definition
class ScatterOp(IRDLOperation):
    """Combine updates into tensors at the places that a list of indices gives.

    `indices` is a tensor of B... x K integers: its last dimension holds the coordinates in the K
    `dimensions` of the outputs. Each update is a tensor of B... x W..., with W the other dimensions
    of the outputs, in order. For each entry of B..., in row-major order, out[index, w] becomes
    body(out[index, w], update[b, w]); an entry whose index lies outside of the output (negative
    ones too) changes nothing. `unique` says that no two entries have one index. Several outputs of
    one shape are combined together: the body takes the elements of all outputs, then those of all
    updates, and yields the new elements.

    ```mlir
    %sum = ingot.scatter dimensions = [0] ins(%indices, %updates : tensor<9x1xi32>, tensor<9x4xf32>)
        outs(%table : tensor<100x4xf32>) {
    ^bb0(%old: f32, %update: f32):
      %new = arith.addf %old, %update : f32
      ingot.yield %new : f32
    }
    ```
    """

    name = "ingot.scatter"

    indices = operand_def(TensorType)
    updates = var_operand_def(TensorType)
    outputs = var_operand_def(TensorType)

    dimensions = prop_def(DenseArrayBase[I64])
    unique = opt_prop_def(UnitAttr)

    res = var_result_def(TensorType)

    body = region_def("single_block")

    irdl_options = (SameVariadicOperandSize(),)

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        indices: SSAValue | Operation,
        updates: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        dimensions: Sequence[int],
        body: Region,
        unique: bool = False,
    ):
        super().__init__(
            operands=[indices, updates, outputs],
            result_types=[[value.type for value in outputs]],
            properties={
                "dimensions": DenseArrayBase.from_list(i64, dimensions),
                "unique": UnitAttr() if unique else None,
            },
            regions=[body],
        )

    def verify_(self) -> None:
        index_type = cast("TensorType[Attribute]", self.indices.type)
        updates = [cast("TensorType[Attribute]", value.type) for value in self.updates]
        outputs = [cast("TensorType[Attribute]", value.type) for value in self.outputs]
        if not isinstance(index_type.element_type, IntegerType):
            raise VerifyException(f"the indices must be integers, not {index_type.element_type}")
        if not outputs:
            raise VerifyException("a scatter needs an output")
        shape = outputs[0].get_shape()
        if any(type.get_shape() != shape for type in outputs):
            raise VerifyException("the outputs must have one shape")
        dimensions: Sequence[int] = self.dimensions.get_values()
        if len(set(dimensions)) != len(dimensions) or not all(
            0 <= dim < len(shape) for dim in dimensions
        ):
            raise VerifyException(f"the dimensions must be distinct dimensions of {outputs[0]}")
        *batch, coordinates = index_type.get_shape() or (-1,)
        if coordinates != len(dimensions):
            raise VerifyException(
                f"the last dimension of the indices must have {len(dimensions)} elements"
            )
        window = [size for dim, size in enumerate(shape) if dim not in dimensions]
        if any(list(type.get_shape()) != [*batch, *window] for type in updates):
            raise VerifyException(
                "an update must have the shape of the indices without their last dimension, "
                "then the other dimensions of the output"
            )
        if [result.type for result in self.results] != outputs:
            raise VerifyException("the results must have the types of the outputs")
        elements = [type.element_type for type in outputs]
        if [arg.type for arg in self.body.block.args] != [
            *elements,
            *(type.element_type for type in updates),
        ]:
            raise VerifyException(
                "the body must take an element of each output, then of each update"
            )
        _verify_yields(self.body, elements, "an element of each output")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        unique = parser.parse_optional_keyword("unique") is not None
        parser.parse_keyword("dimensions")
        parser.parse_punctuation("=")
        dimensions = parser.parse_comma_separated_list(
            Parser.Delimiter.SQUARE, parser.parse_integer
        )
        inputs = parse_operand_list(parser, "ins")
        outputs = parse_operand_list(parser, "outs")
        if len(inputs) != len(outputs) + 1:
            parser.raise_error("expected the indices and one update for each output as inputs")
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(inputs[0], inputs[1:], outputs, dimensions, parser.parse_region(), unique)
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        if self.unique is not None:
            printer.print_string(" unique")
        dimensions: Sequence[int] = self.dimensions.get_values()
        printer.print_string(f" dimensions = {list(dimensions)}")
        print_operand_list(printer, "ins", [self.indices, *self.updates])
        print_operand_list(printer, "outs", self.outputs)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)


Ingot = Dialect("ingot", [ScanOp, SortOp, ScatterOp, YieldOp], [])
