"""StableHLO's attributes: words such as `#stablehlo<precision HIGH>`, and dimension numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import (
    Attribute,
    OpaqueSyntaxAttribute,
    ParametrizedAttribute,
    TypeAttribute,
)
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


class WordAttr(ParametrizedAttribute, OpaqueSyntaxAttribute):
    """One of a few words: `#stablehlo<precision HIGHEST>`."""

    WORDS: ClassVar[tuple[str, ...]]

    word: StringAttr

    @classmethod
    def of(cls, word: str) -> Self:
        """The attribute of a word."""
        return cls(StringAttr(word))

    @classmethod
    def read(cls, parser: AttrParser) -> Self:
        """Parse the word alone, as the custom forms of ops print it."""
        position = parser.pos
        word = parser.parse_identifier()
        if word not in cls.WORDS:
            parser.raise_error(f"expected one of {', '.join(cls.WORDS)}", position)
        return cls.of(word)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return (cls.read(parser).word,)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f" {self.word.data}")


@irdl_attr_definition
class PrecisionAttr(WordAttr):
    """How exactly to multiply; every precision is computed as HIGHEST."""

    name = "stablehlo.precision"
    WORDS: ClassVar[tuple[str, ...]] = ("DEFAULT", "HIGH", "HIGHEST")


@irdl_attr_definition
class ComparisonDirectionAttr(WordAttr):
    """The relation of a comparison."""

    name = "stablehlo.comparison_direction"
    WORDS: ClassVar[tuple[str, ...]] = ("EQ", "NE", "GE", "GT", "LE", "LT")


@irdl_attr_definition
class ComparisonTypeAttr(WordAttr):
    """How a comparison reads its operands."""

    name = "stablehlo.comparison_type"
    WORDS: ClassVar[tuple[str, ...]] = ("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")


@irdl_attr_definition
class TransposeAttr(WordAttr):
    """Whether a triangular solve transposes its matrix."""

    name = "stablehlo.transpose"
    WORDS: ClassVar[tuple[str, ...]] = ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")


@irdl_attr_definition
class FftTypeAttr(WordAttr):
    """The kind of a Fourier transform."""

    name = "stablehlo.fft_type"
    WORDS: ClassVar[tuple[str, ...]] = ("FFT", "IFFT", "RFFT", "IRFFT")


@irdl_attr_definition
class RngAlgorithmAttr(WordAttr):
    """The algorithm of a random bit generator."""

    name = "stablehlo.rng_algorithm"
    WORDS: ClassVar[tuple[str, ...]] = ("DEFAULT", "THREE_FRY", "PHILOX")


@irdl_attr_definition
class RngDistributionAttr(WordAttr):
    """The distribution of random numbers."""

    name = "stablehlo.rng_distribution"
    WORDS: ClassVar[tuple[str, ...]] = ("UNIFORM", "NORMAL")


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """The order of side effects; only programs for several devices or with infeed have it."""

    name = "stablehlo.token"


Dims = ArrayAttr[IntAttr]
"""A list of dimensions."""


def dims(values: Sequence[int]) -> Dims:
    """A list of dimensions."""
    return ArrayAttr([IntAttr(value) for value in values])


def parse_ints(parser: AttrParser) -> list[int]:
    """Parse `[0, -1]`."""
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)


class DimensionNumbersAttr(ParametrizedAttribute):
    """Lists of dimensions by name, in `LISTS`, and single ones, in `SINGLES`.

    What is left out is empty or 0, as in upstream's text.
    """

    LISTS: ClassVar[tuple[str, ...]]
    SINGLES: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        lists: dict[str, Dims] = {}
        singles: dict[str, IntAttr] = {}

        with parser.in_angle_brackets():
            # A comma may also follow the last one.
            while (name := parser.parse_optional_identifier()) is not None:
                parser.parse_punctuation("=")
                if name in cls.LISTS:
                    lists[name] = dims(parse_ints(parser))
                elif name in cls.SINGLES:
                    singles[name] = IntAttr(parser.parse_integer())
                else:
                    parser.raise_error(f"'{name}' is not a field of #{cls.name}")
                if parser.parse_optional_punctuation(",") is None:
                    break
        return (
            *(lists.get(name, dims(())) for name in cls.LISTS),
            *(singles.get(name, IntAttr(0)) for name in cls.SINGLES),
        )

    def print_parameters(self, printer: Printer) -> None:
        parts: list[str] = []
        for name in self.LISTS:
            if values := self.list_of(name):
                parts.append(f"{name} = [{', '.join(map(str, values))}]")
        for name in self.SINGLES:
            if value := self.single(name):
                parts.append(f"{name} = {value}")
        printer.print_string(f"<{', '.join(parts)}>")

    def list_of(self, name: str) -> tuple[int, ...]:
        """The dimensions of a list."""
        value = self.parameters[self.LISTS.index(name)]
        return tuple(item.data for item in cast("Dims", value))

    def single(self, name: str) -> int:
        """A single dimension."""
        value = self.parameters[len(self.LISTS) + self.SINGLES.index(name)]
        return cast("IntAttr", value).data


@irdl_attr_definition
class GatherAttr(DimensionNumbersAttr):
    """The dimension numbers of a gather."""

    name = "stablehlo.gather"
    LISTS: ClassVar[tuple[str, ...]] = (
        "offset_dims",
        "collapsed_slice_dims",
        "operand_batching_dims",
        "start_indices_batching_dims",
        "start_index_map",
    )
    SINGLES: ClassVar[tuple[str, ...]] = ("index_vector_dim",)

    offset_dims: Dims
    collapsed_slice_dims: Dims
    operand_batching_dims: Dims
    start_indices_batching_dims: Dims
    start_index_map: Dims
    index_vector_dim: IntAttr


@irdl_attr_definition
class ScatterAttr(DimensionNumbersAttr):
    """The dimension numbers of a scatter."""

    name = "stablehlo.scatter"
    LISTS: ClassVar[tuple[str, ...]] = (
        "update_window_dims",
        "inserted_window_dims",
        "input_batching_dims",
        "scatter_indices_batching_dims",
        "scatter_dims_to_operand_dims",
    )
    SINGLES: ClassVar[tuple[str, ...]] = ("index_vector_dim",)

    update_window_dims: Dims
    inserted_window_dims: Dims
    input_batching_dims: Dims
    scatter_indices_batching_dims: Dims
    scatter_dims_to_operand_dims: Dims
    index_vector_dim: IntAttr


@irdl_attr_definition
class DotAttr(DimensionNumbersAttr):
    """The dimension numbers of a `dot_general`."""

    name = "stablehlo.dot"
    LISTS: ClassVar[tuple[str, ...]] = (
        "lhs_batching_dimensions",
        "rhs_batching_dimensions",
        "lhs_contracting_dimensions",
        "rhs_contracting_dimensions",
    )

    lhs_batching_dimensions: Dims
    rhs_batching_dimensions: Dims
    lhs_contracting_dimensions: Dims
    rhs_contracting_dimensions: Dims

    @classmethod
    def of(cls, batching: Sequence[Sequence[int]], contracting: Sequence[Sequence[int]]) -> DotAttr:
        """From the pairs of the left and the right operand."""
        return cls(*(dims(values) for values in (*batching, *contracting)))


@irdl_attr_definition
class ConvAttr(ParametrizedAttribute):
    """The dimension numbers of a convolution: `#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>`."""

    name = "stablehlo.conv"

    input: ArrayAttr[StringAttr]
    kernel: ArrayAttr[StringAttr]
    output: ArrayAttr[StringAttr]

    @classmethod
    def read(cls, parser: AttrParser) -> ConvAttr:
        """Parse what stands between the angle brackets."""
        if parser.parse_optional_keyword("raw"):
            return cls._read_raw(parser)

        def side() -> ArrayAttr[StringAttr]:
            return ArrayAttr(
                parser.parse_comma_separated_list(
                    parser.Delimiter.SQUARE,
                    lambda: StringAttr(
                        parser.parse_optional_identifier() or str(parser.parse_integer())
                    ),
                )
            )

        source = side()
        parser.parse_keyword("x")
        kernel = side()
        parser.parse_punctuation("->")
        return cls(source, kernel, side())

    @classmethod
    def _read_raw(cls, parser: AttrParser) -> ConvAttr:
        """`input_batch_dimension = 0, ..., output_spatial_dimensions = [1, 2]`."""
        numbers: dict[str, list[int]] = {}

        def field() -> None:
            name = parser.parse_identifier()
            parser.parse_punctuation("=")
            listed = parser.parse_optional_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_integer
            )
            numbers[name] = [parser.parse_integer()] if listed is None else listed

        parser.parse_comma_separated_list(parser.Delimiter.NONE, field)

        def side(name: str, letters: dict[str, str]) -> ArrayAttr[StringAttr]:
            places = {
                place: letter
                for kind, letter in letters.items()
                for place in numbers.get(f"{name}_{kind}_dimension", ())
            }
            spatial = numbers.get(f"{name}_spatial_dimensions", [])
            places |= {place: str(i) for i, place in enumerate(spatial)}
            if sorted(places) != list(range(len(spatial) + 2)):
                parser.raise_error(f"the dimensions of the {name} are not those of its rank")
            return ArrayAttr(StringAttr(places[place]) for place in sorted(places))

        features = {"input_feature": "i", "output_feature": "o"}
        ends = {"batch": "b", "feature": "f"}
        return cls(side("input", ends), side("kernel", features), side("output", ends))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return cls.read(parser).parameters

    def text(self) -> str:
        """`[b, 0, f]x[0, i, o]->[b, 0, f]`."""
        sides = [", ".join(s.data for s in side) for side in (self.input, self.kernel, self.output)]
        return f"[{sides[0]}]x[{sides[1]}]->[{sides[2]}]"

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.text()}>")


ATTRIBUTES: list[type[Attribute]] = [
    PrecisionAttr,
    ComparisonDirectionAttr,
    ComparisonTypeAttr,
    TransposeAttr,
    FftTypeAttr,
    RngAlgorithmAttr,
    RngDistributionAttr,
    TokenType,
    GatherAttr,
    ScatterAttr,
    DotAttr,
    ConvAttr,
]
