"""Shardy, as far as JAX mentions it in programs for one device.

sdy.mesh @empty_mesh = <[]>
%0 = sdy.sharding_constraint %arg0 <@empty_mesh, [{}]> : tensor<2xui32>
"""

from __future__ import annotations

from typing import Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, SymbolOpInterface


@irdl_op_definition
class MeshOp(IRDLOperation):
    """How devices are arranged: the axes by name, and how many devices each has."""

    name = "sdy.mesh"
    sym_name = prop_def(SymbolNameConstraint())
    axes = prop_def(ArrayAttr[StringAttr])
    sizes = prop_def(DenseArrayBase.constr(i64))
    traits = traits_def(SymbolOpInterface())

    def __init__(self, name: StringAttr, axes: dict[str, int]) -> None:
        super().__init__(
            properties={
                "sym_name": name,
                "axes": ArrayAttr([StringAttr(axis) for axis in axes]),
                "sizes": DenseArrayBase.from_list(i64, list(axes.values())),
            }
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name()
        parser.parse_punctuation("=")
        with parser.in_angle_brackets():
            pairs = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: _parse_axis(parser)
            )
        op = cls(name, dict(pairs))
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        pairs = zip(self.axes, self.sizes.get_values(), strict=True)
        axes = ", ".join(f'"{axis.data}"={size}' for axis, size in pairs)
        printer.print_string(f" = <[{axes}]>")
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class ShardingConstraintOp(IRDLOperation):
    """The same value, with its dimensions divided among the axes of a mesh."""

    name = "sdy.sharding_constraint"
    input = operand_def()
    mesh = prop_def(SymbolRefAttr)
    dimensions = prop_def(ArrayAttr[ArrayAttr[StringAttr]])
    result = result_def()
    traits = traits_def(Pure())

    def __init__(
        self, input: SSAValue, mesh: SymbolRefAttr, dimensions: ArrayAttr[ArrayAttr[StringAttr]]
    ) -> None:
        super().__init__(
            operands=[input],
            result_types=[input.type],
            properties={"mesh": mesh, "dimensions": dimensions},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        with parser.in_angle_brackets():
            mesh = SymbolRefAttr(parser.parse_symbol_name())
            parser.parse_punctuation(",")
            dimensions = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: _parse_axes(parser)
            )
        parser.parse_punctuation(":")
        type_: Attribute = parser.parse_type()
        return cls(parser.resolve_operand(operand, type_), mesh, ArrayAttr(dimensions))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.input)
        dimensions = ", ".join(
            "{" + ", ".join(f'"{axis.data}"' for axis in axes) + "}" for axes in self.dimensions
        )
        printer.print_string(f" <@{self.mesh.string_value()}, [{dimensions}]> : ")
        printer.print_attribute(self.result.type)


def _parse_axis(parser: Parser) -> tuple[str, int]:
    name = parser.parse_str_literal()
    parser.parse_punctuation("=")
    return name, parser.parse_integer(allow_boolean=False, allow_negative=False)


def _parse_axes(parser: Parser) -> ArrayAttr[StringAttr]:
    """The axes of one dimension; `?`, which leaves it open, says nothing to one device."""

    def axis() -> StringAttr | None:
        if parser.parse_optional_punctuation("?") is not None:
            return None
        return StringAttr(parser.parse_str_literal())

    axes = parser.parse_comma_separated_list(parser.Delimiter.BRACES, axis)
    return ArrayAttr([known for known in axes if known is not None])


Sdy = Dialect("sdy", [MeshOp, ShardingConstraintOp])
