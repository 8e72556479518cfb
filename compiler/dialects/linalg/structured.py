"""Structured ops with a syntax of their own: transpose, broadcast, reduce, map and others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    I64,
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    ShapedType,
    TensorType,
    i64,
)
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    IRDLOperation,
    SameVariadicOperandSize,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.analysis.types import element_type
from ingot.compiler.dialects.linalg.attrs import ElementwiseKindAttr
from ingot.compiler.dialects.linalg.bodies import Emit
from ingot.compiler.dialects.linalg.core import (
    IteratorTypeAttr,
    StructuredOpEffects,
    YieldOp,
    parse_operand_list,
    parse_result_types,
    print_operand_list,
    print_result_types,
)
from ingot.compiler.dialects.linalg.named import NamedOp, rank_of, tensor_types
from ingot.compiler.dialects.linalg.table import BINARY, NAMED_OPS, UNARY, NamedOpSpec
from ingot.compiler.dialects.packing import PackLike, UnpackLike


def copy_body(input: SSAValue, init: SSAValue) -> Region:
    """A body that yields its first argument."""
    block = Block(arg_types=[element_type(input.type), element_type(init.type)])
    block.add_op(YieldOp(block.args[0]))
    return Region(block)


def projection(rank: int, dims: Sequence[int]) -> AffineMapAttr:
    """`(d0, ..., d{rank-1}) -> (d{dims[0]}, ...)`."""
    return AffineMapAttr(AffineMap(rank, 0, tuple(AffineExpr.dimension(dim) for dim in dims)))


def parse_dimensions(parser: Parser, keyword: str) -> DenseArrayBase:
    """Parse `keyword = [0, 2]`."""
    parser.parse_keyword(keyword)
    parser.parse_punctuation("=")
    dims = parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, parser.parse_integer)
    return DenseArrayBase.from_list(i64, dims)


def print_dimensions(printer: Printer, keyword: str, dims: DenseArrayBase[I64]) -> None:
    """Print ` keyword = [0, 2]`."""
    printer.print_string(f" {keyword} = [{', '.join(str(dim) for dim in dims.get_values())}]")


class _PermutedCopy(LinalgStructuredOperation):
    """One input copied to one output under a map given by a list of dimensions."""

    irdl_options = (SameVariadicOperandSize(),)

    traits = traits_def(StructuredOpEffects())

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        return ArrayAttr([IteratorTypeAttr.parallel()] * rank_of(self.outputs[0].type))


@irdl_op_definition
class TransposeOp(_PermutedCopy):
    """Dimension `i` of the result is dimension `permutation[i]` of the input."""

    name = "linalg.transpose"

    permutation = prop_def(DenseArrayBase.constr(i64))

    def __init__(
        self, input: SSAValue, init: SSAValue, permutation: Sequence[int] | DenseArrayBase
    ):
        if not isinstance(permutation, DenseArrayBase):
            permutation = DenseArrayBase.from_list(i64, permutation)
        super().__init__(
            operands=[[input], [init]],
            result_types=[tensor_types([init])],
            properties={"permutation": permutation},
            regions=[copy_body(input, init)],
        )

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        permutation: Sequence[int] = self.permutation.get_values()
        rank = len(permutation)
        inverse = sorted(range(rank), key=lambda dim: permutation[dim])
        return ArrayAttr([projection(rank, inverse), projection(rank, range(rank))])

    def verify_(self) -> None:
        rank = rank_of(self.inputs[0].type)
        if sorted(self.permutation.get_values()) != list(range(rank)):
            raise VerifyException(
                f"permutation must hold each of the input's {rank} dimensions once"
            )
        super().verify_()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        (input,) = parse_operand_list(parser, "ins")
        (init,) = parse_operand_list(parser, "outs")
        op = cls(input, init, parse_dimensions(parser, "permutation"))
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        print_operand_list(printer, "ins", self.inputs)
        print_operand_list(printer, "outs", self.outputs)
        print_dimensions(printer, "permutation", self.permutation)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class BroadcastOp(_PermutedCopy):
    """The input repeated along the dimensions of the result that `dimensions` lists."""

    name = "linalg.broadcast"

    dimensions = prop_def(DenseArrayBase.constr(i64))

    def __init__(self, input: SSAValue, init: SSAValue, dimensions: Sequence[int] | DenseArrayBase):
        if not isinstance(dimensions, DenseArrayBase):
            dimensions = DenseArrayBase.from_list(i64, dimensions)
        super().__init__(
            operands=[[input], [init]],
            result_types=[tensor_types([init])],
            properties={"dimensions": dimensions},
            regions=[copy_body(input, init)],
        )

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        rank = rank_of(self.outputs[0].type)
        added: Sequence[int] = self.dimensions.get_values()
        kept = [dim for dim in range(rank) if dim not in added]
        return ArrayAttr([projection(rank, kept), projection(rank, range(rank))])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        (input,) = parse_operand_list(parser, "ins")
        (init,) = parse_operand_list(parser, "outs")
        op = cls(input, init, parse_dimensions(parser, "dimensions"))
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        print_operand_list(printer, "ins", self.inputs)
        print_operand_list(printer, "outs", self.outputs)
        print_dimensions(printer, "dimensions", self.dimensions)
        printer.print_op_attributes(self.attributes)


def parse_payload(parser: Parser) -> tuple[str, dict[str, Attribute]] | None:
    """Parse the short form of a body, `{ arith.addf {attributes} }`, if present."""
    if parser.parse_optional_punctuation("{") is None:
        return None
    name = parser.parse_identifier()
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation("}")
    return name, attributes


def payload_body(
    parser: Parser,
    payload: tuple[str, dict[str, Attribute]],
    args: Sequence[Attribute],
    order: Sequence[int],
) -> Region:
    """The region that the short form stands for: one op on the arguments in `order`, yielded."""
    name, attributes = payload
    block = Block(arg_types=args)
    operands = [block.args[i] for i in order]
    op_type = parser.ctx.get_optional_op(name)
    if op_type is None:
        parser.raise_error(f"unknown op '{name}' in the short form of a linalg body")
    properties: dict[str, Attribute] = {}
    if issubclass(op_type, IRDLOperation):
        for prop in op_type.get_irdl_definition().properties:
            if prop in attributes:
                properties[prop] = attributes.pop(prop)
    inner = op_type.create(
        operands=operands, result_types=[args[-1]], properties=properties, attributes=attributes
    )
    block.add_op(inner)
    block.add_op(YieldOp(inner.results[0]))
    return Region(block)


def print_body(printer: Printer, body: Region) -> None:
    """Print `(%in: f32, %init: f32) { ... }`."""
    printer.print_string(" ")
    with printer.in_parens():
        printer.print_list(body.block.args, printer.print_block_argument)
    printer.print_string(" ")
    printer.print_region(body, print_entry_block_args=False)


@irdl_op_definition
class ReduceOp(LinalgStructuredOperation):
    """Several inputs of one shape reduced together over `dimensions` by the body."""

    name = "linalg.reduce"

    dimensions = prop_def(DenseArrayBase.constr(i64))

    irdl_options = (SameVariadicOperandSize(),)

    traits = traits_def(StructuredOpEffects())

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        inits: Sequence[SSAValue],
        dimensions: Sequence[int] | DenseArrayBase,
        body: Region,
    ):
        if not isinstance(dimensions, DenseArrayBase):
            dimensions = DenseArrayBase.from_list(i64, dimensions)
        super().__init__(
            operands=[inputs, inits],
            result_types=[tensor_types(inits)],
            properties={"dimensions": dimensions},
            regions=[body],
        )

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        rank = rank_of(self.inputs[0].type)
        reduced: Sequence[int] = self.dimensions.get_values()
        input_map = projection(rank, range(rank))
        output_map = projection(rank, [dim for dim in range(rank) if dim not in reduced])
        return ArrayAttr([input_map] * len(self.inputs) + [output_map] * len(self.outputs))

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        reduced: Sequence[int] = self.dimensions.get_values()
        return ArrayAttr(
            IteratorTypeAttr.reduction() if dim in reduced else IteratorTypeAttr.parallel()
            for dim in range(rank_of(self.inputs[0].type))
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        payload = parse_payload(parser)
        inputs = parse_operand_list(parser, "ins")
        inits = parse_operand_list(parser, "outs")
        dimensions = parse_dimensions(parser, "dimensions")
        attributes = parser.parse_optional_attr_dict()
        if payload is not None:
            args = [element_type(value.type) for value in (*inputs, *inits)]
            # The short form puts the accumulator first.
            order = (*range(len(inputs), len(args)), *range(len(inputs)))
            body = payload_body(parser, payload, args, order)
        else:
            args = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_argument)
            body = parser.parse_region(args)
        op = cls(inputs, inits, dimensions, body)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        print_operand_list(printer, "ins", self.inputs)
        print_operand_list(printer, "outs", self.outputs)
        print_dimensions(printer, "dimensions", self.dimensions)
        printer.print_op_attributes(self.attributes)
        print_body(printer, self.body)


@irdl_op_definition
class MapOp(IRDLOperation):
    """An elementwise op with a body; since LLVM 22 the body may also take the output's element."""

    name = "linalg.map"

    inputs = var_operand_def(ShapedType)
    init = operand_def(ShapedType)
    res = var_result_def(TensorType)
    body = region_def("single_block")

    traits = traits_def(StructuredOpEffects())

    def __init__(self, inputs: Sequence[SSAValue], init: SSAValue, body: Region):
        super().__init__(
            operands=[inputs, init], result_types=[tensor_types([init])], regions=[body]
        )

    @property
    def outputs(self) -> Sequence[SSAValue]:
        """The output, as the other structured ops call it."""
        return (self.init,)

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        rank = rank_of(self.init.type)
        return ArrayAttr([projection(rank, range(rank))] * len(self.operands))

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        return ArrayAttr([IteratorTypeAttr.parallel()] * rank_of(self.init.type))

    def verify_(self) -> None:
        shape = cast("ShapedType", self.init.type).get_shape()
        if any(cast("ShapedType", value.type).get_shape() != shape for value in self.inputs):
            raise VerifyException("all inputs must have the shape of the output")
        if len(self.body.block.args) not in (len(self.inputs), len(self.inputs) + 1):
            raise VerifyException("the body must take one element of each input")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        payload = parse_payload(parser)
        inputs = parse_operand_list(parser, "ins")
        (init,) = parse_operand_list(parser, "outs")
        attributes = parser.parse_optional_attr_dict()
        if payload is not None:
            args = [element_type(value.type) for value in inputs]
            body = payload_body(parser, payload, args, range(len(args)))
        else:
            args = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_argument)
            body = parser.parse_region(args)
            # LLVM 19 has no argument for the output: drop it where it is not read.
            extra = body.block.args[len(inputs) :]
            if extra and extra[0].first_use is None:
                body.block.erase_arg(extra[0])
        op = cls(inputs, init, body)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        print_operand_list(printer, "ins", self.inputs)
        print_operand_list(printer, "outs", self.outputs)
        printer.print_op_attributes(self.attributes)
        print_body(printer, self.body)


@irdl_op_definition
class ContractOp(NamedOp):
    """A contraction of two inputs under the maps that the op carries (LLVM 20 and later)."""

    name = "linalg.contract"
    SPEC: ClassVar[NamedOpSpec] = NamedOpSpec("linalg.contract", NAMED_OPS["linalg.matmul"].body, 2)

    def verify_(self) -> None:
        if self.indexing_maps is None:
            raise VerifyException("linalg.contract needs indexing_maps")
        super().verify_()


@irdl_op_definition
class ElementwiseOp(NamedOp):
    """An elementwise op whose function is an attribute (LLVM 20 and later)."""

    name = "linalg.elementwise"
    SPEC: ClassVar[NamedOpSpec] = NamedOpSpec(
        "linalg.elementwise", NAMED_OPS["linalg.copy"].body, 1
    )

    KEYWORDS: ClassVar[tuple[str, ...]] = ("kind", "indexing_maps")

    kind = prop_def(ElementwiseKindAttr)

    @classmethod
    def count_inputs(cls, properties: Mapping[str, Attribute | None]) -> int:
        function = cls._function(properties)
        return 1 if function in UNARY else 2 if function in BINARY else 3

    @staticmethod
    def _function(properties: Mapping[str, Attribute | None]) -> str:
        kind = properties.get("kind")
        if not isinstance(kind, ElementwiseKindAttr):
            raise VerifyException("linalg.elementwise needs a kind")
        return str(kind.data)

    @classmethod
    def build_body(
        cls,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        properties: Mapping[str, Attribute | None],
    ) -> Region:
        function = cls._function(properties)
        block = Block(arg_types=[element_type(value.type) for value in (*inputs, *outputs)])
        emit = Emit(block)
        if function in UNARY:
            emit.end(UNARY[function](emit, block.args[0]))
        elif function in BINARY:
            emit.end(BINARY[function](emit, block.args[0], block.args[1]))
        else:
            emit.end(emit.select(block.args[0], block.args[1], block.args[2]))
        return Region(block)


@irdl_op_definition
class SoftmaxOp(IRDLOperation):
    """exp(x - max) / sum(exp(x - max)) along one dimension."""

    name = "linalg.softmax"

    input = operand_def(ShapedType)
    output = operand_def(ShapedType)
    result = var_result_def(TensorType)
    dimension = prop_def(IntegerAttr[I64])

    traits = traits_def(Pure())

    def __init__(
        self,
        input: SSAValue | Operation,
        output: SSAValue | Operation,
        dimension: int | IntegerAttr[I64],
    ):
        if isinstance(dimension, int):
            dimension = IntegerAttr(dimension, i64)
        super().__init__(
            operands=[input, output],
            result_types=[tensor_types([SSAValue.get(output)])],
            properties={"dimension": dimension},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        parser.parse_keyword("dimension")
        with parser.in_parens():
            dimension = parser.parse_integer()
        (input,) = parse_operand_list(parser, "ins")
        (output,) = parse_operand_list(parser, "outs")
        parse_result_types(parser)
        op = cls(input, output, dimension)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(f" dimension({self.dimension.value.data})")
        print_operand_list(printer, "ins", [self.input])
        print_operand_list(printer, "outs", [self.output])
        print_result_types(printer, self.result.types)


@irdl_op_definition
class PackOp(PackLike):
    """`linalg.pack` (LLVM 20 and later; `tensor.pack` before)."""

    name = "linalg.pack"


@irdl_op_definition
class UnPackOp(UnpackLike):
    """`linalg.unpack` (LLVM 20 and later; `tensor.unpack` before)."""

    name = "linalg.unpack"
