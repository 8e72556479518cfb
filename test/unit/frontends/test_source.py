"""Large literals are taken out of the text, and every position still is that of the file."""

from __future__ import annotations

import struct
from hashlib import sha256

import pytest

from ingot.compiler.analysis.constants import constant_array
from ingot.compiler.analysis.diagnostics import Refusal, file_line_col
from ingot.compiler.dialects.context import make_context
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.frontends.source import SourceText

COUNT = 2048
DATA = struct.pack(f"<{COUNT}f", *range(COUNT))


def program(literal: str, rest: str = "", end: str = "") -> str:
    return (
        f"func.func @main() -> tensor<{COUNT}xf32> {{\n"
        f"  %0 = arith.constant {literal} : tensor<{COUNT}xf32>{rest}\n"
        f"  return %0 : tensor<{COUNT}xf32>\n}}\n{end}"
    )


def value(text: str) -> bytes:
    module = read_module(text, "in.mlir", make_context())
    constant = next(op for op in module.walk() if op.name == "arith.constant")
    return constant_array(constant.properties["value"]).tobytes()


def test_a_large_literal_is_taken_out_and_read() -> None:
    text = program(f'dense<"0x{DATA.hex().upper()}">')
    source = SourceText.of(text)
    assert len(source.text) < 200
    assert list(source.blobs.values()) == [DATA]
    assert source.digest == sha256(text.encode()).hexdigest()
    assert value(text) == DATA


def test_a_large_resource_is_read() -> None:
    end = f'{{-#\n  dialect_resources: {{\n    builtin: {{\n      w: "0x04000000{DATA.hex()}"\n'
    text = program("dense_resource<w>", end=end + "    }\n  }\n#-}\n")
    assert len(SourceText.of(text).text) < 400
    assert value(text) == DATA


def test_positions_count_the_digits_that_were_taken_out() -> None:
    text = program(f'dense<"0x{DATA.hex()}">', rest=" oops")
    with pytest.raises(Refusal) as refused:
        read_module(text, "in.mlir", make_context())
    column = text.split("\n")[1].index("oops") + 1
    assert file_line_col(refused.value.location) == ("in.mlir", 2, column)


@pytest.mark.parametrize("digits", [DATA.hex()[1:], "g" * 2 * len(DATA), DATA.hex() + "00"])
def test_a_malformed_literal_is_refused(digits: str) -> None:
    with pytest.raises(Refusal, match=r"malformed|expected 2048 elements"):
        read_module(program(f'dense<"0x{digits}">'), "in.mlir", make_context())


def test_other_strings_stay() -> None:
    text = f'"test.op"() {{opaque = "0x{DATA.hex()}"}} : () -> ()'
    assert SourceText.of(text).text == text
