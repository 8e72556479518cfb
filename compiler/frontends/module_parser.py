"""xDSL's parser with what it lacks for the text that LLVM 19 to 22, JAX, IREE and torch-mlir print.

Positions of ops and block arguments, aliases used before they are defined, `dense` literals with
hexadecimal floats and millions of numbers, resources that belong to the module, flags of later
versions, and messages that say what to do.
"""

from __future__ import annotations

import math
import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    AnyTensorType,
    AnyUnrankedTensorType,
    BytesAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    IndexType,
    IntAttr,
    IntegerType,
    LocationAttr,
    NameLoc,
    NoneAttr,
    RankedStructure,
    StringAttr,
    TensorType,
    UnknownLoc,
    VectorType,
)
from xdsl.ir import BlockArgument
from xdsl.parser import Parser
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ingot.compiler.analysis.locations import fused
from ingot.compiler.frontends.lexer import FastLexer
from ingot.compiler.frontends.literals import LiteralError, dense_bytes, hex_bytes, raw_bytes
from ingot.compiler.frontends.source import SourceText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context
    from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute

_RESOURCE = re.compile(r'(?:"((?:[^"\\]|\\.)*)"|([\w.$-]+))\s*:\s*"(?:0x)?([0-9A-Fa-f]*)"')
_RESOURCE_ALIGNMENT_BYTES = 4

_TENSOR_TYPE = re.compile(r"tensor<(?:[0-9?]+x)*(?:bf|[fi]|ui|si)[0-9]+>")

_PERMISSIONS = frozenset({"nneg", "exact", "overflow", "fastmath", "to_nearest_even"})
_ROUNDING_MODES = frozenset({"downward", "upward", "toward_zero", "to_nearest_away"})

_UNREAD_DIALECTS = {
    "vhlo": "versioned StableHLO",
    "mhlo": "MHLO",
    "torch": "torch-mlir's torch dialect",
    "onnx": "ONNX",
    "hal": "IREE's HAL dialect",
    "flow": "IREE's Flow dialect",
    "stream": "IREE's Stream dialect",
    "util": "IREE's Util dialect",
    "iree_linalg_ext": "IREE's LinalgExt dialect",
}


class ModuleParser(Parser):
    """xDSL's parser with positions, forward aliases, literals and resources done right."""

    def __init__(
        self, ctx: Context, source: SourceText, filename: str, *, keep_positions: bool = False
    ):
        """With `keep_positions`, ops that tell their location have that of the text as well."""
        super().__init__(ctx, "", filename)
        self._keeps_positions = keep_positions
        self._parser_state = ParserState(FastLexer(Input(source.text, filename)))
        self._source = source
        self._text = source.text
        self._filename = StringAttr(filename)
        self._ints: dict[int, IntAttr] = {}
        self._alias_positions: dict[str, int] | None = None
        self._forward_aliases: dict[str, Attribute] = {}
        self._resources: dict[str, tuple[str, int]] | None = None
        self._tensor_types: dict[str, TypeAttribute] = {}

    # Positions

    def position_of(self, offset: int) -> FileLineColLoc:
        """The file position of a character."""
        line, column = self._source.place(offset)
        return FileLineColLoc(self._filename, self._int(line), self._int(column))

    def _int(self, value: int) -> IntAttr:
        attr = self._ints.get(value)
        if attr is None:
            attr = self._ints[value] = IntAttr(value)
        return attr

    def parse_operation(self) -> Operation:
        start = self.pos
        results = self._parse_op_result_list()
        name_span = self._current_token.span
        if self._parse_optional_token(MLIRTokenKind.BARE_IDENT) is not None:
            op = self._parse_custom(name_span.text, name_span)
        else:
            name = self.expect(self.parse_optional_str_literal, "expected an op")
            op_type = self._op_class(name, name_span)
            self._parser_state.dialect_stack.append(op_type.dialect_name())
            op = self._parse_generic_operation(op_type)
            self._parser_state.dialect_stack.pop()
        here = self.position_of(name_span.start)
        if isinstance(op.location, UnknownLoc):
            op.location = here
        elif self._keeps_positions:
            op.location = fused(here, op.location)

        count = sum(size for _, size in results)
        if count and count != len(op.results):
            self.raise_error(
                f"'{op.name}' has {len(op.results)} results, but {count} names are given", start
            )
        first = 0
        for span, size in results:
            self._register_ssa_definition(span.text[1:], op.results[first : first + size], span)
            first += size
        return op

    def _parse_custom(self, name: str, span: Span) -> Operation:
        op_type = self._op_class(name, span)
        self._parser_state.dialect_stack.append(op_type.dialect_name())
        try:
            op = op_type.parse(self)
        except (VerifyException, ValueError, NotImplementedError) as error:
            # A constructor refused what it was given: say so at the op.
            first_line = str(error).strip().partition("\n")[0]
            self.raise_error(f"invalid '{op_type.name}': {first_line}", span)
        self._parser_state.dialect_stack.pop()
        location = self.parse_optional_location()
        if location is not None:
            op.location = location
        return op

    def _op_class(self, name: str, span: Span) -> type[Operation]:
        found = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        if found is None:
            self.raise_error(self._unknown_op(name), span)
        return found

    def _unknown_op(self, name: str) -> str:
        dialect, dot, _ = name.partition(".")
        if not dot:
            return f"unknown op '{name}'"
        if dialect in _UNREAD_DIALECTS:
            return (
                f"'{name}': {_UNREAD_DIALECTS[dialect]} is not read yet"
                "\nhelp: lower the program to linalg on tensors before compiling it"
            )
        if self.ctx.get_optional_dialect(dialect) is None:
            return (
                f"'{name}' is an op of the unknown dialect '{dialect}'"
                "\nhelp: the input is StableHLO, TOSA, or func, linalg, tensor, arith, math and scf"
            )
        if dialect == "tosa":
            from ingot.compiler.dialects.tosa.table import UNREAD

            if name in UNREAD:
                why, instead = UNREAD[name]
                return f"'{name}': {why}\nhelp: {instead}"
        names = [op.name for op in self.ctx.loaded_ops if op.name.startswith(f"{dialect}.")]
        close = get_close_matches(name, names, n=1)
        hint = f"\nhelp: did you mean '{close[0]}'?" if close else ""
        return f"'{name}' is not an op that Ingot knows in the dialect '{dialect}'{hint}"

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        super()._register_ssa_definition(name, values, span)
        value = values[0] if len(values) == 1 else None
        if isinstance(value, BlockArgument) and isinstance(value.location, UnknownLoc):
            value.location = self.position_of(span.start)

    # Aliases

    def _parse_extended_type_or_attribute(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, attr_or_dialect_name: str, is_type: bool
    ) -> Attribute:
        alias = ("!" if is_type else "#") + attr_or_dialect_name
        if (
            "." not in attr_or_dialect_name
            and alias not in self.attribute_aliases
            and self._current_token.kind != MLIRTokenKind.LESS
        ):
            return self._forward_alias(alias)
        return super()._parse_extended_type_or_attribute(attr_or_dialect_name, is_type)

    def _forward_alias(self, alias: str) -> Attribute:
        """The attribute of an alias that is defined further down, as JAX's locations are."""
        known = self._forward_aliases.get(alias)
        if known is not None:
            return known
        if self._alias_positions is None:
            definitions = re.finditer(r"^([#!][\w.$-]+)[ \t]*=[ \t]*", self._text, re.MULTILINE)
            self._alias_positions = {m.group(1): m.end() for m in definitions}
        # A definition is read once: an alias that needs itself finds nothing.
        position = self._alias_positions.pop(alias, None)
        if position is None:
            self.raise_error(f"undefined alias '{alias}'")
        resume = self.pos
        self._resume_from(position)
        attr = self.parse_attribute()
        self._resume_from(resume)
        self._forward_aliases[alias] = attr
        return attr

    # Locations

    def _parse_location(self) -> LocationAttr:
        if (filename := self.parse_optional_str_literal()) is not None:
            return self._parse_named_location(filename)
        if self.parse_optional_keyword("fused"):
            # The metadata between angle brackets has no place in xDSL's attribute.
            if self.parse_optional_punctuation("<"):
                self.parse_attribute()
                self.parse_punctuation(">")
            parts = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
            return next((part for part in parts if not isinstance(part, UnknownLoc)), UnknownLoc())
        if self.parse_optional_keyword("callsite"):
            with self.in_parens():
                callee = self._parse_location()
                self.parse_keyword("at")
                self._parse_location()
            return callee
        return super()._parse_location()

    def _parse_named_location(self, filename: str) -> LocationAttr:
        """After a string: `:line:col`, `:line:col to [line]:col`, or a location that it names."""
        name = StringAttr(filename)
        if self.parse_optional_punctuation(":"):
            line = self.parse_integer(allow_boolean=False, allow_negative=False)
            column = 0
            if self.parse_optional_punctuation(":"):
                column = self.parse_integer(allow_boolean=False, allow_negative=False)
            if self.parse_optional_keyword("to"):
                self.parse_optional_integer()
                self.parse_punctuation(":")
                self.parse_integer()
            return FileLineColLoc(name, self._int(line), self._int(column))
        if self._current_token.kind == MLIRTokenKind.L_PAREN:
            with self.in_parens():
                inner = self._parse_location()
            # The name is a scope of the framework; the position is what a message can show.
            return inner if isinstance(inner, FileLineColLoc) else NameLoc(name, inner)
        return NameLoc(name, NoneAttr())

    def parse_argument(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, *, expect_type: bool = True
    ) -> Parser.UnresolvedArgument | Parser.Argument:
        """Skip the location of an argument in an op's own syntax: it has no place in a region."""
        argument = super().parse_argument(expect_type=expect_type)
        self.parse_optional_location()
        return argument

    # Flags

    def parse_optional_attr_dict(self) -> dict[str, Attribute]:
        """Skip the flags before the dictionary that xDSL's ops do not know, then parse it.

        LLVM 20 and later print `nneg`, `exact`, `overflow<...>` and `fastmath<...>` on ops that had
        no such flag before. They permit more than no flag does: without them the op means the same.
        """
        while self._current_token.kind == MLIRTokenKind.BARE_IDENT:
            word = self._current_token.text
            if word in _ROUNDING_MODES:
                self.raise_error(f"the rounding mode '{word}' is not supported")
            if word not in _PERMISSIONS:
                break
            self._consume_token()
            if word in ("overflow", "fastmath"):
                self.parse_comma_separated_list(self.Delimiter.ANGLE, self.parse_identifier)
        return super().parse_optional_attr_dict()

    # Types

    def _parse_optional_builtin_parametrized_type(self) -> TypeAttribute | None:
        """Read the text of a tensor type once: a program repeats few types many times."""
        match = _TENSOR_TYPE.match(self._text, self.pos)
        if match is None:
            return super()._parse_optional_builtin_parametrized_type()
        known = self._tensor_types.get(match[0])
        if known is not None:
            self._resume_from(match.end())
            return known
        type = super()._parse_optional_builtin_parametrized_type()
        if type is not None:
            self._tensor_types[match[0]] = type
        return type

    def _parse_tensor_attrs(self) -> AnyTensorType | AnyUnrankedTensorType:
        type = super()._parse_tensor_attrs()
        if isinstance(type, TensorType) and not isinstance(type.encoding, NoneAttr):
            self.raise_error(f"tensors with an encoding are not supported: {type}")
        return type

    # Literals

    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyFloat | IntegerType | IndexType | ComplexType] | None
    ) -> DenseIntOrFPElementsAttr:
        start = self._current_token.span
        if self._current_token.kind != MLIRTokenKind.LESS:
            self.raise_error("expected '<' after 'dense'")
        body, offset = self._literal_body(start.end)
        if type is None:
            self.parse_punctuation(":", " in dense attribute")
            type = self._parse_dense_literal_type()
        return self._dense(type, body, offset, start)

    def _literal_body(self, start: int) -> tuple[str, int | None]:
        """The text up to the closing `>`, which is consumed, and the offset of a string's text."""
        text = self._text
        opening = re.compile(r"\s*").match(text, start)
        assert opening is not None
        begin = opening.end()
        is_string = text.startswith('"', begin)
        if is_string:
            close = text.find('"', begin + 1)
            end = text.find(">", close)
        else:
            close = end = text.find(">", begin)
        if end < 0 or close < 0:
            self.raise_error("the literal has no end", start)
        self._resume_from(end + 1)
        return (text[begin + 1 : close], begin + 1) if is_string else (text[begin:end], None)

    def _dense(
        self,
        type: RankedStructure[AnyFloat | IntegerType | IndexType | ComplexType],
        body: str,
        offset: int | None,
        span: Span,
    ) -> DenseIntOrFPElementsAttr:
        shape = type.get_shape()
        try:
            if offset is not None:
                blob = self._source.blobs.get(offset + 2)
                count = math.prod(shape)
                data = (
                    hex_bytes(body, type.element_type, count)
                    if blob is None
                    else raw_bytes(blob, type.element_type, count)
                )
            else:
                data = dense_bytes(body, type.element_type, shape)
        except LiteralError as error:
            self.raise_error(str(error), span)
        return DenseIntOrFPElementsAttr(type, BytesAttr(data))

    # Resources

    def _parse_builtin_dense_resource_attr(self) -> DenseIntOrFPElementsAttr:  # pyright: ignore[reportIncompatibleMethodOverride]
        """`dense_resource<key> : type` as the `dense` attribute with the blob's bytes."""
        self.parse_punctuation("<", " after 'dense_resource'")
        span = self._current_token.span
        key = self.parse_optional_identifier() or self.parse_str_literal()
        self.parse_punctuation(">")
        self.parse_punctuation(":")
        type = self.parse_type()
        if not isinstance(type, TensorType | VectorType) or DYNAMIC_INDEX in type.get_shape():
            self.raise_error(f"a resource needs a type of static shape, not {type}", span)
        shaped = cast("TensorType[AnyFloat]", type)
        blob = self._find_resource(key)
        if blob is None:
            self.raise_error(
                f"the data of the resource '{key}' is not in the file"
                "\nhelp: export again without eliding large constants",
                span,
            )
        try:
            data = raw_bytes(blob, shaped.element_type, math.prod(shaped.get_shape()))
        except LiteralError as error:
            self.raise_error(f"resource '{key}': {error}", span)
        return DenseIntOrFPElementsAttr(shaped, BytesAttr(data))

    def _find_resource(self, key: str) -> bytes | None:
        """The blob of a key, without the alignment that stands first, from the end of the file."""
        if self._resources is None:
            begin = max(self._text.rfind("{-#"), 0)
            self._resources = {
                match[1] or match[2]: (match[3], match.start(3))
                for match in _RESOURCE.finditer(self._text, begin)
            }
        digits, offset = self._resources.get(key, ("", 0))
        blob = self._source.blobs.get(offset)
        if blob is None:
            if not digits or len(digits) % 2:
                return None
            blob = bytes.fromhex(digits)
        return blob[_RESOURCE_ALIGNMENT_BYTES:]

    def _parse_file_metadata_dictionary(self) -> None:
        """Skip the metadata: its resources are read where they are used."""
        end = self._text.find("#-}", self.pos)
        if end < 0:
            self.raise_error("the file metadata has no end")
        self._resume_from(end + len("#-}"))
