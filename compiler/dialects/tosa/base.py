"""What every TOSA op is made of, and the one syntax that they share.

%r = tosa.NAME %a, %b {attributes} : (operand types) -> result types
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ingot.compiler.dialects.tosa.attributes import WORDS, WordAttr


@dataclass(frozen=True)
class OpSpec:
    """A row of the table of ops.

    `operands` are names in order, those that a version leaves out marked `?`, a list `*`;
    `properties` likewise, with those of every version.
    """

    name: str
    operands: str
    properties: str = ""
    results: int | None = 1
    """None for any number."""

    def operand_range(self) -> tuple[int, int | None]:
        """The fewest and the most operands; None for no limit."""
        names = self.operands.split()
        fewest = sum(not name.endswith(("?", "*")) for name in names)
        return fewest, None if any(n.endswith("*") for n in names) else len(names)

    def property_names(self) -> list[str]:
        """All properties, whether needed or not."""
        return [name.rstrip("?") for name in self.properties.split()]


class TosaOp(IRDLOperation):
    """An op of TOSA; the table says how many operands it has and which properties it needs."""

    ins = var_operand_def()
    outs = var_result_def()

    SPEC: ClassVar[OpSpec]

    traits = traits_def(Pure())

    def __init__(
        self,
        operands: Sequence[SSAValue | Operation],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute | None] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            operands=[list(operands)],
            result_types=[list(result_types)],
            properties=dict(properties or {}),
            attributes=dict(attributes or {}),
        )

    # Reading properties

    def ints(self, name: str) -> tuple[int, ...]:
        """A list of integers, from `array<i64: ...>` or `dense<...>`; empty when left out."""
        match self.properties.get(name):
            case DenseArrayBase() as array:
                numbers = cast("DenseArrayBase[IntegerType]", array).get_values()
                return tuple(int(number) for number in numbers)
            case DenseIntOrFPElementsAttr() as dense:
                return tuple(int(cast("int", value)) for value in dense.get_values())
            case _:
                return ()

    def int(self, name: str, default: int = 0) -> int:
        """An integer or boolean."""
        value = self.properties.get(name)
        if not isinstance(value, IntegerAttr):
            return default
        number: int = value.value.data
        return number

    def flag(self, name: str) -> bool:
        """A boolean; False when it is left out."""
        return self.int(name) != 0

    def word(self, name: str, default: str = "") -> str:
        """A word, however the version at hand prints it."""
        match self.properties.get(name):
            case WordAttr() as attr:
                return attr.word.data
            case StringAttr() as text:
                return text.data
            case _:
                return default

    # Checks

    def verify_(self) -> None:
        fewest, most = self.SPEC.operand_range()
        count = len(self.ins)
        if count < fewest or (most is not None and count > most):
            expected = str(fewest) if fewest == most else f"{fewest} to {most}"
            if most is None:
                expected = f"at least {fewest}"
            raise VerifyException(f"takes {expected} operands, but has {count}")
        results = self.SPEC.results
        if results is not None and len(self.outs) != results:
            raise VerifyException(f"has {results} results, but {len(self.outs)} types")
        for name in self.SPEC.properties.split():
            if not name.endswith("?") and name not in self.properties:
                raise VerifyException(f"needs the attribute '{name}'")
        for name, words in WORDS.items():
            word = self.word(name)
            if word and word not in words.WORDS:
                raise VerifyException(f"{name} must be one of {', '.join(words.WORDS)}")

    # Syntax

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        attributes = _parse_attributes(parser)
        position = parser.pos
        parser.parse_punctuation(":")
        type_ = parser.parse_function_type()
        resolved = parser.resolve_operands(operands or (), type_.inputs.data, position)
        known = cls.get_irdl_definition().properties
        properties = {name: attributes.pop(name) for name in list(attributes) if name in known}
        return cls(resolved, type_.outputs.data, properties, attributes)

    def print(self, printer: Printer) -> None:
        if self.ins:
            printer.print_string(" ")
            printer.print_list(self.ins, printer.print_ssa_value)
        shown = dict(sorted((self.properties | self.attributes).items()))
        if shown:
            printer.print_string(" {")
            printer.print_list(shown.items(), lambda item: _print_entry(printer, *item))
            printer.print_string("}")
        printer.print_string(" : ")
        printer.print_operation_type(self)


def _parse_attributes(parser: Parser) -> dict[str, Attribute]:
    """An attribute dictionary in which words may stand bare: `{nan_mode = IGNORE}`."""
    attributes: dict[str, Attribute] = {}

    def entry() -> None:
        key = parser.parse_optional_str_literal() or parser.parse_identifier()
        parser.parse_punctuation("=")
        words = WORDS.get(key)
        if words is not None and (word := parser.parse_optional_identifier()) is not None:
            attributes[key] = words.of(word)
        else:
            attributes[key] = parser.parse_attribute()

    parser.parse_optional_comma_separated_list(parser.Delimiter.BRACES, entry)
    return attributes


def _print_entry(printer: Printer, key: str, value: Attribute) -> None:
    printer.print_string(f"{key} = ")
    if key in WORDS and isinstance(value, WordAttr):
        printer.print_string(value.word.data)
    else:
        printer.print_attribute(value)


def define(spec: OpSpec) -> type[TosaOp]:
    """The class of an op of the table."""
    stem = spec.name.partition(".")[2]
    members: dict[str, object] = {
        "name": spec.name,
        "SPEC": spec,
        "__annotations__": {"SPEC": ClassVar[OpSpec]},
    }
    for name in spec.property_names():
        members[name] = opt_prop_def(Attribute, prop_name=name)
    class_name = "".join(part.capitalize() for part in stem.split("_")) + "Op"
    return irdl_op_definition(type(class_name, (TosaOp,), members))
