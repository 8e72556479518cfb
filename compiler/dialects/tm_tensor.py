"""`tm_tensor`: what torch-mlir prints for the ops that linalg cannot say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    IntAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.ir import Attribute, Block, Dialect, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure, RecursiveMemoryEffect

from ingot.compiler.dialects.linalg.core import (
    parse_operand_list,
    parse_result_types,
    print_operand_list,
    print_result_types,
)


@irdl_op_definition
class YieldOp(AbstractYieldOperation[Attribute]):
    """The value that a body computes."""

    name = "tm_tensor.yield"

    traits = traits_def(IsTerminator(), Pure())


class TMTensorOp(IRDLOperation):
    """`name {attributes} word(value)... ins(...) outs(...) {body} -> types`.

    `WORDS` are the properties printed as `word(value)`, in the order of printing.
    """

    inputs = var_operand_def()
    outputs = var_operand_def(TensorType)
    res = var_result_def(TensorType)
    body = region_def()

    WORDS: ClassVar[tuple[str, ...]] = ()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        body: Region,
        properties: dict[str, Attribute] | None = None,
        attributes: dict[str, Attribute] | None = None,
    ):
        """Results have the types of the outputs."""
        super().__init__(
            operands=[inputs, outputs],
            result_types=[[value.type for value in outputs]],
            properties=dict(properties or {}),
            attributes=dict(attributes or {}),
            regions=[body],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        properties: dict[str, Attribute] = {}
        while (word := parser.parse_optional_identifier()) not in (None, "ins", "outs"):
            if word == "dimension_map" and parser.parse_optional_punctuation("=") is not None:
                dims = parser.parse_comma_separated_list(
                    Parser.Delimiter.SQUARE, parser.parse_integer
                )
                properties[word] = DenseArrayBase.from_list(i64, dims)
                continue
            if word not in cls.WORDS:
                parser.raise_error(f"unexpected '{word}' in {cls.name}")
            with parser.in_parens():
                if (flag := parser.parse_optional_boolean()) is not None:
                    properties[word] = BoolAttr.from_bool(flag)
                else:
                    properties[word] = IntegerAttr(parser.parse_integer(), i64)
        inputs: Sequence[SSAValue] = ()
        if word == "ins":
            inputs = _parse_list(parser)
            outputs = parse_operand_list(parser, "outs")
        else:
            outputs = _parse_list(parser)
        region = parser.parse_optional_region()
        parse_result_types(parser)
        for name in cls.get_irdl_definition().properties:
            if name in attributes:
                properties[name] = attributes.pop(name)
        return cls(
            inputs, outputs, Region(Block()) if region is None else region, properties, attributes
        )

    def print(self, printer: Printer) -> None:
        rest = {
            name: attr
            for name, attr in {**self.attributes, **self.properties}.items()
            if name not in (*self.WORDS, "operandSegmentSizes")
        }
        printer.print_op_attributes(rest)
        for word in self.WORDS:
            attr = self.properties.get(word)
            match attr:
                case IntegerAttr(type=IntegerType(width=IntAttr(data=1)), value=IntAttr(data=flag)):
                    printer.print_string(f" {word}({'true' if flag else 'false'})")
                case IntegerAttr(value=IntAttr(data=number)):
                    printer.print_string(f" {word}({number})")
                case _:
                    pass
        print_operand_list(printer, "ins", self.inputs)
        print_operand_list(printer, "outs", self.outputs)
        printer.print_string(" ")
        printer.print_region(self.body)
        print_result_types(printer, self.res.types)


def _parse_list(parser: Parser) -> Sequence[SSAValue]:
    """The rest of an operand list whose keyword has been read."""
    position = parser.pos
    with parser.in_parens():
        operands = parser.parse_comma_separated_list(
            Parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_type)
    return parser.resolve_operands(operands, types, position)


class ScanLike(TMTensorOp):
    """Running combination of `inputs[0]` along a dimension; the body takes accumulator and element.

    Inclusive: element 0 of the result is that of the input, whatever the accumulator holds.
    Exclusive: element 0 is the accumulator. The second result is the value of the last body run.
    """

    dimension = opt_prop_def(IntegerAttr)
    inclusive = opt_prop_def(BoolAttr)

    WORDS: ClassVar[tuple[str, ...]] = ("dimension", "inclusive")


@irdl_op_definition
class ScanOp(ScanLike):
    """See `ScanLike`."""

    name = "tm_tensor.scan"


class SortLike(TMTensorOp):
    """Sort the outputs together along a dimension by the body, which compares two of each."""

    dimension = opt_prop_def(IntegerAttr)

    WORDS: ClassVar[tuple[str, ...]] = ("dimension",)


@irdl_op_definition
class SortOp(SortLike):
    """See `SortLike`."""

    name = "tm_tensor.sort"


class TopkLike(TMTensorOp):
    """The first k values and indices along a dimension by the order that the body gives."""

    dimension = opt_prop_def(IntegerAttr)

    WORDS: ClassVar[tuple[str, ...]] = ("dimension",)


@irdl_op_definition
class TopkOp(TopkLike):
    """See `TopkLike`."""

    name = "tm_tensor.topk"


class ScatterLike(TMTensorOp):
    """Combine updates into the output at the coordinates that the indices give."""

    dimension_map = opt_prop_def(DenseArrayBase.constr(i64))
    unique_indices = opt_prop_def(BoolAttr)

    WORDS: ClassVar[tuple[str, ...]] = ("unique_indices",)


@irdl_op_definition
class ScatterOp(ScatterLike):
    """See `ScatterLike`."""

    name = "tm_tensor.scatter"


@irdl_op_definition
class AttentionOp(TMTensorOp):
    """softmax(q k^T / sqrt(d) + mask) v over a batch; the mask, the fourth input, may be left out.

    A mask of i1 says which keys a query sees.
    """

    name = "tm_tensor.attention"


TMTensor = Dialect("tm_tensor", [ScanOp, SortOp, TopkOp, ScatterOp, AttentionOp, YieldOp], [])
