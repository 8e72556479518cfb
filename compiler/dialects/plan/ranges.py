"""Numbers and byte ranges, as attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast, get_args

from xdsl.dialects.builtin import (
    IntAttr,
    StringAttr,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import (
    irdl_attr_definition,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

Storage = Literal["argument", "result", "constant", "transient"]
"""Which storage a range points into."""


@irdl_attr_definition
class RegisterAttr(ParametrizedAttribute):
    """A number that the host computes before the call: `#plan.register<3>`."""

    name = "plan.register"

    index: IntAttr

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.index.data}>")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (IntAttr(parser.parse_integer(allow_negative=False)),)


Number = IntAttr | RegisterAttr
"""A number that is known, or one that a call decides."""


def number(value: int | RegisterAttr) -> Number:
    """`value` as an attribute."""
    return IntAttr(value) if isinstance(value, int) else value


def _parse_number(parser: AttrParser) -> Number:
    if parser.parse_optional_keyword("r") is not None:
        return RegisterAttr(IntAttr(parser.parse_integer(allow_negative=False)))
    return IntAttr(parser.parse_integer(allow_negative=False))


def _spell(value: Number) -> str:
    return str(value.data) if isinstance(value, IntAttr) else f"r {value.index.data}"


@irdl_attr_definition
class RangeAttr(ParametrizedAttribute):
    """A byte range: `#plan.range<argument 0, 256 : 1024>` is bytes 256 to 1279 of argument 0.

    `r 3` in place of a number is what register 3 holds.
    """

    name = "plan.range"

    storage: StringAttr
    index: IntAttr
    offset: Number
    length: Number

    @classmethod
    def of(
        cls,
        storage: Storage,
        index: int,
        offset: int | RegisterAttr,
        length: int | RegisterAttr,
    ) -> RangeAttr:
        """A range of `length` bytes that starts `offset` bytes into the storage."""
        return cls(StringAttr(storage), IntAttr(index), number(offset), number(length))

    @property
    def is_empty(self) -> bool:
        """Whether the range is known to have no bytes."""
        return self.length == IntAttr(0)

    @property
    def place(self) -> tuple[Storage, int]:
        """Kind and index of the storage."""
        return cast(Storage, self.storage.data), self.index.data

    def overlaps(self, other: RangeAttr) -> bool:
        """Whether the two ranges share a byte.

        A plan gives different registers for offsets of parts that do not overlap, and none of
        these overlaps a part at a known offset.
        """
        if self.place != other.place:
            return False
        match self.offset, self.length, other.offset, other.length:
            case IntAttr(), IntAttr(), IntAttr(), IntAttr():
                return (
                    self.offset.data < other.offset.data + other.length.data
                    and other.offset.data < self.offset.data + self.length.data
                )
            case _:
                return self.offset == other.offset

    def verify(self) -> None:
        if self.storage.data not in get_args(Storage):
            raise VerifyException(f"plan.range has no storage named {self.storage.data}")
        known = [n.data for n in (self.offset, self.length) if isinstance(n, IntAttr)]
        if min([self.index.data, *known]) < 0:
            raise VerifyException("plan.range must not be negative")

    def print_parameters(self, printer: Printer) -> None:
        extent = f"{_spell(self.offset)} : {_spell(self.length)}"
        printer.print_string(f"<{self.storage.data} {self.index.data}, {extent}>")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            storage = parser.parse_identifier()
            index = parser.parse_integer(allow_negative=False)
            parser.parse_punctuation(",")
            offset = _parse_number(parser)
            parser.parse_punctuation(":")
            length = _parse_number(parser)
        return (StringAttr(storage), IntAttr(index), offset, length)
