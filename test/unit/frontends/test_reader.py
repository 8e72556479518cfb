"""What the reader accepts, what it attaches, and what it says when it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ingot.compiler.analysis.constants import constant_array
from ingot.compiler.analysis.diagnostics import Refusal, file_line_col
from ingot.compiler.dialects.context import make_context
from ingot.compiler.frontends.reader import read_module


def read(text: str | bytes) -> ModuleOp:
    return read_module(text, "in.mlir", make_context())


def refusal(text: str | bytes) -> Refusal:
    with pytest.raises(Refusal) as caught:
        read(text)
    return caught.value


def constants(text: str) -> list[Any]:
    return [constant_array(op.value) for op in read(text).walk() if isinstance(op, ConstantOp)]


def test_ops_and_arguments_get_the_position_of_their_text() -> None:
    module = read(
        "func.func @f(%x: f32) -> f32 {\n  %y = arith.negf %x : f32\n  return %y : f32\n}"
    )
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    negation = function.body.block.first_op
    assert negation is not None
    assert file_line_col(negation.location) == ("in.mlir", 2, 8)
    assert file_line_col(function.body.block.args[0].location) == ("in.mlir", 1, 14)


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ('loc("a.py":3:4)', ("a.py", 3, 4)),
        ('loc("scope"("a.py":3:4))', ("a.py", 3, 4)),
        ('loc("a.py":3:4 to 5:6)', ("a.py", 3, 4)),
        ('loc("a.py":3:4 to :6)', ("a.py", 3, 4)),
        ('loc(callsite("a.py":3:4 at "b.py":1:1))', ("a.py", 3, 4)),
        ('loc(fused<"meta">[unknown, "a.py":3:4])', ("a.py", 3, 4)),
        ("loc(#later)", ("l.py", 7, 8)),
        ("loc(#nested)", ("l.py", 7, 8)),
        ("loc(unknown)", ("in.mlir", 1, 15)),
    ],
)
def test_locations_of_the_text_win(location: str, expected: tuple[str, int, int]) -> None:
    aliases = '#nested = loc("scope"(#later))\n#later = loc("l.py":7:8)'
    module = read(f"func.func @f() {{return {location}}}\n{aliases}".replace("{return", "{ return"))
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    terminator = function.body.block.last_op
    assert terminator is not None
    assert file_line_col(terminator.location) == (expected if expected[0] != "in.mlir" else
                                                  ("in.mlir", 1, 18))  # fmt: skip


def test_attributes_of_frameworks_are_kept() -> None:
    module = read(
        """module @jit attributes {mhlo.num_partitions = 1 : i32,
                                 foo.bar = #foo.baz<"x", [1], a = b>} {
          ml_program.global private mutable @seed(dense<0> : tensor<i64>) : tensor<i64>
          func.func public @main(%x: f32 {jax.arg_info = "x", tf.aliasing_output = 0 : i32})
              -> (f32 {jax.result_info = ""}) attributes {llvm.emit_c_interface} {
            %y = arith.addf %x, %x fastmath<reassoc,nnan> : f32
            return %y : f32
          }
        }"""
    )
    module.verify()
    assert "#foo.baz" in str(module.attributes["foo.bar"])


def test_hexadecimal_literals_are_the_bits_of_floats() -> None:
    values = constants("""
      %0 = arith.constant dense<0xFF800000> : tensor<2xf32>
      %1 = arith.constant dense<[0x7E00, 1.0, -2]> : tensor<3xf16>
      %2 = arith.constant dense<0x3F80> : tensor<bf16>
      %3 = arith.constant dense<0x7FF0000000000000> : tensor<1xf64>
      %4 = arith.constant 0x7F800000 : f32
    """)
    assert [value.tolist() for value in (values[0], values[3])] == [[-np.inf] * 2, [np.inf]]
    np.testing.assert_array_equal(values[1], np.array([np.nan, 1, -2], np.float16))
    assert values[2].astype(np.float32) == 1.0
    assert values[4] == np.inf


def test_integer_literals_take_both_readings_of_the_bits() -> None:
    values = constants("""
      %0 = arith.constant dense<[[0x1F, -1], [255, 3]]> : tensor<2x2xi8>
      %1 = arith.constant dense<[true, false]> : tensor<2xi1>
      %2 = arith.constant 4294967295 : i32
      %3 = arith.constant dense<-3> : tensor<2xindex>
      %4 = arith.constant true
      %5 = arith.constant dense<255> : tensor<1xui8>
    """)
    assert [value.tolist() for value in values] == [
        [[31, -1], [-1, 3]], [True, False], -1, [-3, -3], True, [255],
    ]  # fmt: skip


def test_strings_of_bytes_repeat_one_element_and_unpack_bits() -> None:
    values = constants("""
      %0 = arith.constant dense<"0x0000803F000080BF"> : tensor<2xf32>
      %1 = arith.constant dense<"0x0000803F"> : tensor<3xf32>
      %2 = arith.constant dense<"0x0502"> : tensor<10xi1>
      %3 = arith.constant dense<"0xFF"> : tensor<20xi1>
    """)
    assert values[0].tolist() == [1.0, -1.0]
    assert values[1].tolist() == [1.0] * 3
    assert np.flatnonzero(values[2]).tolist() == [0, 2, 9]
    assert values[3].all()


def test_complex_and_empty_literals() -> None:
    values = constants("""
      %0 = arith.constant dense<[(1.0, 2.0), (0x7FC00000, -1.0)]> : tensor<2xcomplex<f32>>
      %1 = arith.constant dense<(1.0, -2.0)> : tensor<2xcomplex<f32>>
      %2 = arith.constant dense<> : tensor<0x3xf32>
    """)
    np.testing.assert_array_equal(values[0], np.array([1 + 2j, complex(np.nan, -1)], np.complex64))
    assert values[1].tolist() == [1 - 2j, 1 - 2j]
    assert values[2].shape == (0, 3)


@pytest.mark.parametrize(("dtype", "held"), [("f32", np.float32), ("i32", np.int32)])
def test_large_decimal_literals_go_through_numpy(dtype: str, held: type[Any]) -> None:
    numbers = np.arange(600).reshape(2, 300) - 300
    rows = ", ".join("[" + ", ".join(str(n) for n in row) + "]" for row in numbers)
    (value,) = constants(f"%0 = arith.constant dense<[{rows}]> : tensor<2x300x{dtype}>")
    np.testing.assert_array_equal(value, numbers.astype(held))
    # One hexadecimal number sends the literal down the slow road, to the same values.
    (slow,) = constants(
        f"%0 = arith.constant dense<[{rows}]> : tensor<2x300x{dtype}>".replace("299]", "0x12B]")
        if dtype == "i32"
        else f"%0 = arith.constant dense<[{rows}]> : tensor<2x300x{dtype}>".replace(
            "299]", "0x43958000]"
        )
    )
    np.testing.assert_array_equal(slow, value)


RESOURCES = """
%0 = arith.constant dense_resource<{key}> : tensor<2xf32>
{{-#
  dialect_resources: {{
    builtin: {{
      torch_tensor_2_torch.float32: "0x04000000{data}"
    }}
  }},
  external_resources: {{ mlir_reproducer: {{ pipeline: "x", verify_each: true }} }}
#-}}
"""


def test_resources_belong_to_the_module() -> None:
    for data, expected in (("0000803F00000040", [1.0, 2.0]), ("0000404000008040", [3.0, 4.0])):
        text = RESOURCES.format(key="torch_tensor_2_torch.float32", data=data)
        (value,) = constants(text)
        assert value.tolist() == expected


def test_missing_and_misshapen_resources_are_refused() -> None:
    gone = refusal(RESOURCES.format(key="__elided__", data="00000000"))
    assert gone.message == "the data of the resource '__elided__' is not in the file"
    assert gone.hint == "export again without eliding large constants"
    short = refusal(RESOURCES.format(key="torch_tensor_2_torch.float32", data="000080"))
    assert short.message.endswith("expected 2 elements of f32, but found 3 bytes")


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("5 : i2", "integer value 5 is out of range for type i2"),
        ("affine_map<(d0) -> (d0 * d0)>", "multiplication with non-constant"),
    ],
)
def test_attributes_that_xdsl_cannot_hold_are_pointed_at(attribute: str, message: str) -> None:
    caught = refusal(f"\n#a = {attribute}\n")
    assert caught.message.startswith(message)
    place = file_line_col(caught.location)
    assert place is not None
    assert place[1] in (2, 3)


@pytest.mark.parametrize(
    ("literal", "message"),
    [
        ("dense<[1, 2]> : tensor<3xi32>", "the literal does not have the shape 3 of its type"),
        ("dense<[[1], [2, 3]]> : tensor<2x2xi32>", "the literal does not have the shape 2x2"),
        ("dense<300> : tensor<2xi8>", "300 is out of range for i8"),
        ("dense<-1> : tensor<2xui8>", "-1 is out of range for ui8"),
        ("dense<0x1FFFFFFFF> : tensor<2xf32>", "'0x1FFFFFFFF' has more bits than f32"),
        ("dense<1.5> : tensor<2xi32>", "'1.5' is not an integer"),
        ("dense<1..5> : tensor<2xf32>", "'1..5' is not a number"),
        ('dense<"0x00"> : tensor<2xf32>', "expected 2 elements of f32, but found 1 bytes"),
        ('dense<"0x0"> : tensor<2xf32>', "the hexadecimal string is malformed"),
        ("dense<[]> : tensor<2xf32>", "the literal does not have the shape 2"),
        ("dense<[, 2]> : tensor<2xi32>", "'' is not an integer"),
        ("dense<[1 2]> : tensor<1xi32>", "'1 2' is not an integer"),
        ("dense<[1_0]> : tensor<1xf32>", "'1_0' is not a number"),
        ("dense<[[1]2, [3]]> : tensor<2x1xi32>", "the literal does not have the shape 2x1"),
        ("dense<1.0", "the literal has no end"),
    ],
)
def test_bad_literals_are_refused_where_they_stand(literal: str, message: str) -> None:
    caught = refusal(f"\n  %0 = arith.constant {literal}\n")
    assert caught.message.startswith(message)
    assert file_line_col(caught.location) is not None
    assert file_line_col(caught.location)[1] == 2  # pyright: ignore[reportOptionalSubscript]


@pytest.mark.parametrize(
    ("text", "place", "message", "hint"),
    [
        ("func.func @f() {\n  retrun\n}", (2, 3), "unknown op 'retrun'", None),
        ("%0 = arith.addd", (1, 6), "'arith.addd' is not an op that Ingot knows in the dialect "
         "'arith'", "did you mean 'arith.addi'?"),
        ("  foo.bar", (1, 3), "'foo.bar' is an op of the unknown dialect 'foo'",
         "the input is StableHLO, TOSA, or func, linalg, tensor, arith, math and scf"),
        ('%0 = "onnx.Add"() : () -> ()', (1, 6), "'onnx.Add': ONNX is not read yet",
         "lower the program to linalg on tensors before compiling it"),
        ("func.func @f(%x: f32) {\n  %y = arith.negf %x f32\n}", (2, 22), "expected ':'", None),
        ("func.func @f(%x: f32 -> f32", (1, 22), "expected ')'", None),
        ("C[i,k] := A[i,j] * B[j,k]", (1, 1), "unknown op 'C'", None),
        ("%0 = tensor.empty() : tensor<4xf32, #foo.sparse>", (1, 48),
         "tensors with an encoding are not supported: tensor<4xf32, #foo.sparse>", None),
        ("func.func @f() {\n  return loc(#gone)\n}", (2, 19), "undefined alias '#gone'", None),
        ("", (1, 1), "in.mlir is empty", None),
    ],
)  # fmt: skip
def test_refusals_point_at_the_place(
    text: str, place: tuple[int, int], message: str, hint: str | None
) -> None:
    caught = refusal(text)
    assert caught.message == message
    assert file_line_col(caught.location) == ("in.mlir", *place)
    assert caught.hint == hint


def test_bytecode_and_binary_files_are_refused() -> None:
    assert "bytecode" in refusal(b"ML\xefR\x00").message
    assert refusal(b"\xff\xfe\x00").message == "in.mlir is not UTF-8 text"
