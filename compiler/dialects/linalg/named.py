"""The classes of the named ops, made from the table, and their indexing maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    ShapedType,
)
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    opt_prop_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.analysis.types import as_tensor, element_type
from ingot.compiler.dialects.linalg.attrs import TypeFn, TypeFnAttr
from ingot.compiler.dialects.linalg.bodies import Emit
from ingot.compiler.dialects.linalg.core import (
    IteratorTypeAttr,
    StructuredOpEffects,
    parse_operand_list,
    parse_result_types,
    print_operand_list,
    print_result_types,
)
from ingot.compiler.dialects.linalg.table import NAMED_OPS, NamedOpSpec

_HIDDEN = ("operandSegmentSizes", "linalg.memoized_indexing_maps")


def tensor_types(values: Sequence[SSAValue]) -> list[Attribute]:
    """The types of those values that are tensors: the results of an op with these outputs."""
    types = (as_tensor(value.type) for value in values)
    return [type for type in types if type is not None]


def rank_of(type: Attribute) -> int:
    """The rank of a shaped type; 0 for a scalar."""
    return len(type.get_shape()) if isinstance(type, ShapedType) else 0


def parse_map(
    text: str, loops: Sequence[str], spatial: str, strides: Sequence[int], dilations: Sequence[int]
) -> AffineMap:
    """Build the affine map that a table entry such as `n, oh*sh+kh*dh, c` stands for."""

    def term(text: str) -> AffineExpr:
        loop, _, factor = text.partition("*")
        dim = AffineExpr.dimension(loops.index(loop))
        if not factor:
            return dim
        values = strides if factor[0] == "s" else dilations
        scale = values[spatial.index(factor[1])]
        return dim if scale == 1 else dim * scale

    def expression(text: str) -> AffineExpr:
        first, *rest = (term(part) for part in text.strip().split("+"))
        for other in rest:
            first = first + other
        return first

    return AffineMap(
        len(loops), 0, tuple(expression(part) for part in text.split(",")) if text else ()
    )


class NamedOp(LinalgStructuredOperation):
    """A named structured op: maps, iterators and body follow from `SPEC` and the operands."""

    SPEC: ClassVar[NamedOpSpec]

    strides = opt_prop_def(DenseIntOrFPElementsAttr)
    dilations = opt_prop_def(DenseIntOrFPElementsAttr)
    cast = opt_prop_def(TypeFnAttr)
    indexing_maps = opt_prop_def(ArrayAttr[AffineMapAttr])

    KEYWORDS: ClassVar[tuple[str, ...]] = ("indexing_maps",)
    """The properties printed as `name = value` before the dictionary."""

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(StructuredOpEffects())

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        res: Sequence[Attribute] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        properties: Mapping[str, Attribute | None] | None = None,
    ):
        """`res` defaults to the types of tensor outputs; `properties` are strides and so on."""
        self.check_counts(inputs, outputs, properties or {})
        if res is None:
            res = tensor_types(outputs)
        properties = dict(properties or {})
        super().__init__(
            operands=[inputs, outputs],
            result_types=[res],
            properties=properties,
            attributes=dict(attributes or {}),
            regions=[self.build_body(inputs, outputs, properties)],
        )

    @classmethod
    def count_inputs(cls, properties: Mapping[str, Attribute | None]) -> int:
        """How many inputs the op takes."""
        return cls.SPEC.num_inputs

    @classmethod
    def build_body(
        cls,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        properties: Mapping[str, Attribute | None],
    ) -> Region:
        """The region that the custom syntax leaves out."""
        block = Block(arg_types=[element_type(value.type) for value in (*inputs, *outputs)])
        cast_fn = properties.get("cast")
        unsigned = isinstance(cast_fn, TypeFnAttr) and cast_fn.data == TypeFn.CAST_UNSIGNED
        cls.SPEC.body(Emit(block), block.args, unsigned)
        return Region(block)

    def _window(self, values: DenseIntOrFPElementsAttr | None) -> Sequence[int]:
        if values is None:
            return (1,) * len(self.SPEC.spatial)
        return [int(cast("int", value)) for value in values.get_values()]

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        if self.indexing_maps is not None:
            return self.indexing_maps
        spec = self.SPEC
        if spec.elementwise:
            rank = rank_of(self.outputs[0].type)
            identity, scalar = AffineMap.identity(rank), AffineMap(rank, 0, ())
            # A scalar or rank-0 operand of an elementwise op is read by every element.
            return ArrayAttr(
                AffineMapAttr(identity if rank_of(operand.type) == rank else scalar)
                for operand in self.operands
            )
        strides, dilations = self._window(self.strides), self._window(self.dilations)
        return ArrayAttr(
            AffineMapAttr(parse_map(text, spec.loops, spec.spatial, strides, dilations))
            for text in spec.maps
        )

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        output_map = self.get_indexing_maps().data[-1].data
        used = output_map.used_dims()
        return ArrayAttr(
            IteratorTypeAttr.parallel() if dim in used else IteratorTypeAttr.reduction()
            for dim in range(output_map.num_dims)
        )

    @classmethod
    def check_counts(
        cls,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        properties: Mapping[str, Attribute | None],
    ) -> None:
        """Raise `VerifyException` for a wrong number of operands."""
        expected = cls.count_inputs(properties)
        if len(inputs) != expected or len(outputs) != 1:
            raise VerifyException(
                f"expected {expected} inputs and 1 output, "
                f"but found {len(inputs)} and {len(outputs)}"
            )

    def verify_(self) -> None:
        spec = self.SPEC
        self.check_counts(self.inputs, self.outputs, self.properties)
        for name, values in (("strides", self.strides), ("dilations", self.dilations)):
            if values is None:
                continue
            if not spec.strided:
                raise VerifyException(f"does not take {name}")
            if len(self._window(values)) != len(spec.spatial):
                raise VerifyException(f"expected {len(spec.spatial)} {name}")
        super().verify_()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {}
        attributes: dict[str, Attribute] = {}
        # LLVM 19 prints all in the dictionary, LLVM 20 and later `indexing_maps = [...]` first.
        for keyword in cls.KEYWORDS:
            if parser.parse_optional_keyword(keyword):
                parser.parse_punctuation("=")
                properties[keyword] = parser.parse_attribute()
        attributes |= parser.parse_optional_attr_dict()
        inputs = parse_operand_list(parser, "ins")
        outputs = parse_operand_list(parser, "outs")
        if parser.parse_optional_keyword("attrs"):
            parser.parse_punctuation("=")
            attributes |= parser.parse_optional_attr_dict()
        result_types = parse_result_types(parser)
        attributes.pop("operandSegmentSizes", None)
        for name in cls.get_irdl_definition().properties:
            if name in attributes:
                properties[name] = attributes.pop(name)
        return cls(inputs, outputs, result_types, attributes, properties)

    def print(self, printer: Printer) -> None:
        for keyword in self.KEYWORDS:
            if keyword in self.properties:
                printer.print_string(f" {keyword} = ")
                printer.print_attribute(self.properties[keyword])
        hidden = (*_HIDDEN, *self.KEYWORDS)
        shown = {
            name: attr
            for name, attr in {**self.attributes, **self.properties}.items()
            if name not in hidden
        }
        if shown:
            printer.print_op_attributes(dict(sorted(shown.items())))
        print_operand_list(printer, "ins", self.inputs)
        print_operand_list(printer, "outs", self.outputs)
        print_result_types(printer, self.res.types)


def _define(spec: NamedOpSpec) -> type[NamedOp]:
    class_name = (
        "".join(part.capitalize() for part in spec.name.removeprefix("linalg.").split("_")) + "Op"
    )
    fields = {"name": spec.name, "SPEC": spec, "__annotations__": {"SPEC": ClassVar[NamedOpSpec]}}
    return irdl_op_definition(type(class_name, (NamedOp,), fields))


@irdl_op_definition
class FillOp(NamedOp):
    """Every element of the output is the scalar input, cast to the output's element type."""

    name = "linalg.fill"
    SPEC: ClassVar[NamedOpSpec] = NAMED_OPS["linalg.fill"]


NAMED_OP_CLASSES: dict[str, type[NamedOp]] = {
    name: FillOp if name == FillOp.name else _define(spec) for name, spec in NAMED_OPS.items()
}
"""The class of every op in the table, by its full name."""

MatmulOp = NAMED_OP_CLASSES["linalg.matmul"]
BatchMatmulOp = NAMED_OP_CLASSES["linalg.batch_matmul"]
