"""What every linalg op shares, and `linalg.generic`, `linalg.yield` and `linalg.index`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DictionaryAttr,
    IndexType,
    IndexTypeConstr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    i64,
)
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, HasParent, MemoryEffect, MemoryEffectKind, Pure, get_effects
from xdsl.utils.exceptions import VerifyException

__all__ = [
    "GenericOp",
    "IndexOp",
    "IteratorType",
    "IteratorTypeAttr",
    "StructuredOpEffects",
    "YieldOp",
    "parse_operand_list",
    "parse_result_types",
    "print_operand_list",
    "print_result_types",
]


class StructuredOpEffects(MemoryEffect):
    """On tensors a structured op has the effects of its body; memrefs it reads and writes."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance] | None:
        effects: set[EffectInstance] = set()
        for operand in op.operands:
            if isinstance(operand.type, MemRefType):
                effects.add(EffectInstance(MemoryEffectKind.READ, operand))
                effects.add(EffectInstance(MemoryEffectKind.WRITE, operand))
        for region in op.regions:
            for inner in region.walk():
                if inner.regions:
                    continue
                inner_effects = get_effects(inner)
                if inner_effects is None:
                    if isinstance(inner, YieldOp):
                        continue
                    return None
                effects |= inner_effects
        return effects


def parse_operand_list(parser: Parser, keyword: str) -> Sequence[SSAValue]:
    """Parse `ins(%a, %b : t, t)` (or `outs(...)`); nothing when the keyword is absent."""
    position = parser.pos
    if parser.parse_optional_characters(keyword) is None:
        return ()
    parser.parse_punctuation("(")
    if parser.parse_optional_punctuation(")") is not None:
        return ()
    operands = parser.parse_comma_separated_list(
        Parser.Delimiter.NONE, parser.parse_unresolved_operand
    )
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_type)
    parser.parse_punctuation(")")
    return parser.resolve_operands(operands, types, position)


def print_operand_list(printer: Printer, keyword: str, operands: Sequence[SSAValue]) -> None:
    """Print ` ins(%a, %b : t, t)`, or nothing when there are no operands."""
    if not operands:
        return
    printer.print_string(f" {keyword}(")
    printer.print_list(operands, printer.print_ssa_value)
    printer.print_string(" : ")
    printer.print_list([operand.type for operand in operands], printer.print_attribute)
    printer.print_string(")")


def parse_result_types(parser: Parser) -> Sequence[Attribute]:
    """Parse `-> t`, `-> t, t` or `-> (t, t)`; nothing when there is no arrow."""
    if parser.parse_optional_punctuation("->") is None:
        return ()
    types = parser.parse_optional_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_type)
    if types is None:
        types = parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_type)
    return types


def print_result_types(printer: Printer, types: Sequence[Attribute]) -> None:
    """Print ` -> t` or ` -> (t, t)`, or nothing when there are no results."""
    if not types:
        return
    printer.print_string(" -> ")
    if len(types) == 1:
        printer.print_attribute(types[0])
    else:
        with printer.in_parens():
            printer.print_list(types, printer.print_attribute)


@irdl_op_definition
class GenericOp(LinalgStructuredOperation):
    """`linalg.generic`, also with several results and with its trait given as one attribute.

    xDSL's own parser takes the `-> (t, t)` of two results for a function type, and an op of xDSL
    cannot be subclassed, so this is a class of its own with the same constructor and accessors.
    """

    name = "linalg.generic"

    indexing_maps = prop_def(ArrayAttr[AffineMapAttr])
    iterator_types = prop_def(ArrayAttr[IteratorTypeAttr])
    doc = opt_prop_def(StringAttr)
    library_call = opt_prop_def(StringAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(StructuredOpEffects())

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        body: Region,
        indexing_maps: Sequence[AffineMapAttr] | ArrayAttr[AffineMapAttr],
        iterator_types: Sequence[IteratorTypeAttr] | ArrayAttr[IteratorTypeAttr],
        result_types: Sequence[Attribute] = (),
        doc: StringAttr | None = None,
        library_call: StringAttr | None = None,
    ) -> None:
        super().__init__(
            operands=[inputs, outputs],
            result_types=[result_types],
            properties={
                "indexing_maps": ArrayAttr(indexing_maps),
                "iterator_types": ArrayAttr(iterator_types),
                "doc": doc,
                "library_call": library_call,
            },
            regions=[body],
        )

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        return self.indexing_maps

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        return self.iterator_types

    def print(self, printer: Printer) -> None:
        printer.print_string(" {indexing_maps = ")
        printer.print_attribute(self.indexing_maps)
        printer.print_string(", iterator_types = [")
        names = [iterator_type.data.value for iterator_type in self.iterator_types]
        printer.print_string(", ".join(f'"{name}"' for name in names))
        printer.print_string("]")
        for name, text in (("doc", self.doc), ("library_call", self.library_call)):
            if text is not None:
                printer.print_string(f", {name} = ")
                printer.print_attribute(text)
        printer.print_string("}")
        print_operand_list(printer, "ins", self.inputs)
        print_operand_list(printer, "outs", self.outputs)
        if self.attributes:
            printer.print_string(" attrs =")
            printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_region(self.body)
        print_result_types(printer, self.res.types)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        # Hand-written text often names the trait: `linalg.generic #matmul_trait ins(...)`.
        trait = parser.parse_optional_attribute()
        if not isinstance(trait, DictionaryAttr):
            parser.raise_error(
                "expected the indexing maps and iterator types of linalg.generic", position
            )
        attributes = dict(trait.data)

        indexing_maps = attributes.pop("indexing_maps", None)
        if not isinstance(indexing_maps, ArrayAttr):
            parser.raise_error("expected indexing_maps in linalg.generic", position)
        iterators = attributes.pop("iterator_types", None)
        if not isinstance(iterators, ArrayAttr):
            parser.raise_error("expected iterator_types in linalg.generic", position)
        listed = cast("ArrayAttr[Attribute]", iterators)
        iterator_types = [cls._iterator_type(parser, attr, position) for attr in listed]

        inputs = parse_operand_list(parser, "ins")
        outputs = parse_operand_list(parser, "outs")
        if parser.parse_optional_keyword("attrs"):
            parser.parse_punctuation("=")
            attributes |= parser.parse_optional_attr_dict()
        body = parser.parse_region()
        result_types = parse_result_types(parser)

        op = cls(
            inputs,
            outputs,
            body,
            cast("ArrayAttr[AffineMapAttr]", indexing_maps),
            iterator_types,
            result_types,
            cast("StringAttr | None", attributes.pop("doc", None)),
            cast("StringAttr | None", attributes.pop("library_call", None)),
        )
        op.attributes |= attributes
        return op

    @staticmethod
    def _iterator_type(parser: Parser, attr: Attribute, position: int) -> IteratorTypeAttr:
        if isinstance(attr, IteratorTypeAttr):
            return attr
        if isinstance(attr, StringAttr):
            match attr.data:
                case "parallel":
                    return IteratorTypeAttr.parallel()
                case "reduction":
                    return IteratorTypeAttr.reduction()
                case "window":
                    return IteratorTypeAttr.window()
                case _:
                    pass
        parser.raise_error(f"unknown iterator type {attr}", position)


@irdl_op_definition
class IndexOp(IRDLOperation):
    """The position in loop `dim` of the enclosing structured op, whichever op that is."""

    name = "linalg.index"

    dim = prop_def(IntegerAttr[i64])
    result = result_def(IndexTypeConstr)

    traits = traits_def(Pure(), HasParent(LinalgStructuredOperation))

    assembly_format = "$dim attr-dict `:` type($result)"

    def __init__(self, dim: int):
        super().__init__(properties={"dim": IntegerAttr(dim, i64)}, result_types=[IndexType()])

    def verify_(self) -> None:
        parent = self.parent_op()
        if not isinstance(parent, LinalgStructuredOperation):
            return
        loops = len(parent.get_iterator_types().data)
        if not 0 <= (dim := self.dim.value.data) < loops:
            raise VerifyException(f"names loop {dim}, but the loops around it are 0 to {loops - 1}")
