"""`pack` and `unpack`, which LLVM 19 has in `tensor` and later versions in `linalg`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, TensorType, i64
from xdsl.dialects.utils import (
    get_dynamic_index_list,
    parse_dynamic_index_list_without_types,
    print_dynamic_index_list,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException


class _Tiled(IRDLOperation):
    """What the two ops share: the properties that say how dimensions are tiled."""

    outer_dims_perm = opt_prop_def(DenseArrayBase.constr(i64))
    inner_dims_pos = prop_def(DenseArrayBase.constr(i64))
    static_inner_tiles = prop_def(DenseArrayBase.constr(i64))

    traits = traits_def(Pure())

    def verify_(self) -> None:
        if len(self.inner_dims_pos) != len(self.static_inner_tiles):
            raise VerifyException("expected one inner tile for each of inner_dims_pos")

    def mix(self, tiles: Sequence[SSAValue]) -> list[SSAValue | int]:
        """The tile size of each dimension in `inner_dims_pos`."""
        values: Sequence[int] = self.static_inner_tiles.get_values()
        return get_dynamic_index_list(values, tiles, DYNAMIC_INDEX)

    def print_tiling(self, printer: Printer, tiles: Sequence[SSAValue], dest: SSAValue) -> None:
        for name, dims in (
            ("outer_dims_perm", self.outer_dims_perm),
            ("inner_dims_pos", self.inner_dims_pos),
        ):
            if dims is not None and (len(dims) or name == "inner_dims_pos"):
                printer.print_string(f" {name} = [{', '.join(map(str, dims.get_values()))}]")
        printer.print_string(" inner_tiles = ")
        values: Sequence[int] = self.static_inner_tiles.get_values()
        print_dynamic_index_list(printer, DYNAMIC_INDEX, tiles, values)
        printer.print_string(" into ")
        printer.print_ssa_value(dest)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)
        printer.print_string(" -> ")
        printer.print_attribute(dest.type)


def _parse_tiling(parser: Parser) -> tuple[dict[str, Attribute], list[UnresolvedOperand]]:
    properties: dict[str, Attribute] = {}
    for name in ("outer_dims_perm", "inner_dims_pos"):
        if parser.parse_optional_keyword(name):
            parser.parse_punctuation("=")
            dims = parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, parser.parse_integer)
            properties[name] = DenseArrayBase.from_list(i64, dims)
    parser.parse_keyword("inner_tiles")
    parser.parse_punctuation("=")
    dynamic, static = parse_dynamic_index_list_without_types(parser, dynamic_index=DYNAMIC_INDEX)
    properties["static_inner_tiles"] = DenseArrayBase.from_list(i64, static)
    return properties, list(dynamic)


def _parse_types(
    parser: Parser, source: UnresolvedOperand
) -> tuple[SSAValue, SSAValue, dict[str, Attribute]]:
    """Parse `into %dest {attributes} : type -> type`; returns source, destination, attributes."""
    parser.parse_keyword("into")
    dest = parser.parse_unresolved_operand()
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    source_value = parser.resolve_operand(source, parser.parse_type())
    parser.parse_punctuation("->")
    return source_value, parser.resolve_operand(dest, parser.parse_type()), attributes


class PackLike(_Tiled):
    """`pack`: `source` cut into tiles that become the last dimensions of `dest`."""

    source = operand_def(TensorType)
    dest = operand_def(TensorType)
    padding_value = opt_operand_def()
    inner_tiles = var_operand_def(IndexType)
    result = result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def mixed_tiles(self) -> list[SSAValue | int]:
        """The tile size of each dimension in `inner_dims_pos`."""
        return self.mix(self.inner_tiles)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        padding: list[SSAValue] = []
        if parser.parse_optional_keyword("padding_value"):
            with parser.in_parens():
                value = parser.parse_unresolved_operand()
                parser.parse_punctuation(":")
                padding.append(parser.resolve_operand(value, parser.parse_type()))
        properties, tiles = _parse_tiling(parser)
        source_value, dest, attributes = _parse_types(parser, source)
        sizes = [parser.resolve_operand(tile, IndexType()) for tile in tiles]
        return cls.build(
            operands=[source_value, dest, padding, sizes],
            result_types=[dest.type],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        if self.padding_value is not None:
            printer.print_string(" padding_value(")
            printer.print_ssa_value(self.padding_value)
            printer.print_string(" : ")
            printer.print_attribute(self.padding_value.type)
            printer.print_string(")")
        self.print_tiling(printer, self.inner_tiles, self.dest)


class UnpackLike(_Tiled):
    """`unpack`: the inverse of `pack`."""

    source = operand_def(TensorType)
    dest = operand_def(TensorType)
    inner_tiles = var_operand_def(IndexType)
    result = result_def(TensorType)

    @property
    def mixed_tiles(self) -> list[SSAValue | int]:
        """The tile size of each dimension in `inner_dims_pos`."""
        return self.mix(self.inner_tiles)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        properties, tiles = _parse_tiling(parser)
        source_value, dest, attributes = _parse_types(parser, source)
        sizes = [parser.resolve_operand(tile, IndexType()) for tile in tiles]
        return cls.build(
            operands=[source_value, dest, sizes],
            result_types=[dest.type],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        self.print_tiling(printer, self.inner_tiles, self.dest)
