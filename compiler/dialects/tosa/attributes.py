"""TOSA's attributes and types: words such as `IGNORE`, zero points of LLVM 19, `!tosa.shape<4>`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


class WordAttr(ParametrizedAttribute):
    """One of a few words: bare in the custom form of an op, `#tosa.nan_mode<IGNORE>` elsewhere."""

    WORDS: ClassVar[tuple[str, ...]]

    word: StringAttr

    @classmethod
    def of(cls, word: str) -> Self:
        """The attribute of a word."""
        return cls(StringAttr(word))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            position = parser.pos
            word = parser.parse_identifier()
            if word not in cls.WORDS:
                parser.raise_error(f"expected one of {', '.join(cls.WORDS)}", position)
        return (StringAttr(word),)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.word.data}>")


@irdl_attr_definition
class NanModeAttr(WordAttr):
    """Whether a maximum or minimum propagates NaN or ignores it."""

    name = "tosa.nan_mode"
    WORDS: ClassVar[tuple[str, ...]] = ("PROPAGATE", "IGNORE")


@irdl_attr_definition
class RoundingModeAttr(WordAttr):
    """How `tosa.rescale` rounds."""

    name = "tosa.rounding_mode"
    WORDS: ClassVar[tuple[str, ...]] = ("SINGLE_ROUND", "INEXACT_ROUND", "DOUBLE_ROUND")


@irdl_attr_definition
class ResizeModeAttr(WordAttr):
    """How `tosa.resize` interpolates."""

    name = "tosa.resize_mode"
    WORDS: ClassVar[tuple[str, ...]] = ("NEAREST_NEIGHBOR", "BILINEAR")


WORDS: dict[str, type[WordAttr]] = {
    "nan_mode": NanModeAttr,
    "rounding_mode": RoundingModeAttr,
    "mode": ResizeModeAttr,
}
"""The properties that hold a word. LLVM 19 to 21 print strings in their place."""


class QuantizationAttr(ParametrizedAttribute):
    """Zero points of LLVM 19's `quantization_info`: `#tosa.conv_quant<input_zp = 1, ...>`."""

    KEYS: ClassVar[tuple[str, ...]]

    first: IntAttr
    second: IntAttr
    """0 where there is only one."""

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        values = dict.fromkeys(cls.KEYS, 0)

        def entry() -> None:
            position = parser.pos
            key = parser.parse_identifier()
            if key not in values:
                parser.raise_error(f"expected one of {', '.join(cls.KEYS)}", position)
            parser.parse_punctuation("=")
            values[key] = parser.parse_integer()

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, entry)
        numbers = [IntAttr(value) for value in values.values()]
        return (*numbers, IntAttr(0))[:2]

    def print_parameters(self, printer: Printer) -> None:
        values = zip(self.KEYS, (self.first, self.second), strict=False)
        text = ", ".join(f"{key} = {value.data}" for key, value in values)
        printer.print_string(f"<{text}>")

    def zero_points(self) -> tuple[int, ...]:
        """The values, in the order of `KEYS`."""
        return (self.first.data, self.second.data)[: len(self.KEYS)]


@irdl_attr_definition
class ConvQuantAttr(QuantizationAttr):
    """Zero points of a convolution or fully connected layer."""

    name = "tosa.conv_quant"
    KEYS: ClassVar[tuple[str, ...]] = ("input_zp", "weight_zp")


@irdl_attr_definition
class MatmulQuantAttr(QuantizationAttr):
    """Zero points of a matrix product."""

    name = "tosa.matmul_quant"
    KEYS: ClassVar[tuple[str, ...]] = ("a_zp", "b_zp")


@irdl_attr_definition
class UnaryQuantAttr(QuantizationAttr):
    """Zero points of an average pooling or a negation."""

    name = "tosa.unary_quant"
    KEYS: ClassVar[tuple[str, ...]] = ("input_zp", "output_zp")


@irdl_attr_definition
class PadQuantAttr(QuantizationAttr):
    """The zero point that `tosa.pad` fills with."""

    name = "tosa.pad_quant"
    KEYS: ClassVar[tuple[str, ...]] = ("input_zp",)


@irdl_attr_definition
class ShapeType(ParametrizedAttribute, TypeAttribute):
    """A list of sizes known to the compiler: `!tosa.shape<4>` has four."""

    name = "tosa.shape"

    rank: IntAttr

    @classmethod
    def of(cls, rank: int) -> Self:
        """The type of a list of `rank` sizes."""
        return cls(IntAttr(rank))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False)),)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.rank.data}>")


ATTRIBUTES: list[type[Attribute]] = [
    NanModeAttr,
    RoundingModeAttr,
    ResizeModeAttr,
    ConvQuantAttr,
    MatmulQuantAttr,
    UnaryQuantAttr,
    PadQuantAttr,
    ShapeType,
]
"""Every attribute and type of the dialect."""
