"""Traps that users of other systems fell into, for whole ops, each with the right value."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import pytest
from support.batch import check_module
from support.harness import DEVICES, Array, bundle_for, run

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.targets.bundle.model import Dispatch

ARGMAX = """
func.func @main(%x: tensor<{rows}x{length}xf32>) -> tensor<{rows}xi64> {{
  %c0 = arith.constant 0 : i64
  %low = arith.constant 0xFF800000 : f32
  %e0 = tensor.empty() : tensor<{rows}xf32>
  %e1 = tensor.empty() : tensor<{rows}xi64>
  %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<{rows}xf32>) -> tensor<{rows}xf32>
  %f1 = linalg.fill ins(%c0 : i64) outs(%e1 : tensor<{rows}xi64>) -> tensor<{rows}xi64>
  %r:2 = linalg.generic {{
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
                       affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<{rows}x{length}xf32>)
      outs(%f0, %f1 : tensor<{rows}xf32>, tensor<{rows}xi64>) {{
  ^bb0(%in: f32, %best: f32, %at: i64):
    %i = linalg.index 1 : index
    %here = arith.index_cast %i : index to i64
    %larger = arith.cmpf ogt, %in, %best : f32
    %is_nan = arith.cmpf uno, %in, %in : f32
    %best_is_number = arith.cmpf ord, %best, %best : f32
    %first_nan = arith.andi %is_nan, %best_is_number : i1
    %more = arith.ori %larger, %first_nan : i1
    %v = arith.select %more, %in, %best : f32
    %k = arith.select %more, %here, %at : i64
    linalg.yield %v, %k : f32, i64
  }} -> (tensor<{rows}xf32>, tensor<{rows}xi64>)
  return %r#1 : tensor<{rows}xi64>
}}
"""


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("length", [9, 1000, 70001])
def test_argmax_takes_the_first_of_ties_and_the_first_nan(length: int, device_name: str) -> None:
    x = np.random.default_rng(0).integers(0, 3, (4, length)).astype(np.float32)
    x[1, 5] = x[1, 7] = np.nan
    x[2] = -np.inf
    x[3, length - 2] = 5
    (got,) = run(ARGMAX.format(rows=4, length=length), device_name, [x])
    assert got.dtype == np.int64
    np.testing.assert_array_equal(got, np.argmax(x, axis=1))


@pytest.mark.parametrize("device_name", DEVICES)
def test_softmax_of_minus_infinities_is_nan_in_that_row_alone(device_name: str) -> None:
    text = """
    func.func @main(%x: tensor<3x40xf32>) -> tensor<3x40xf32> {
      %e = tensor.empty() : tensor<3x40xf32>
      %r = linalg.softmax dimension(1) ins(%x : tensor<3x40xf32>) outs(%e : tensor<3x40xf32>)
          -> tensor<3x40xf32>
      return %r : tensor<3x40xf32>
    }
    """
    x = np.random.default_rng(0).standard_normal((3, 40)).astype(np.float32)
    x[1] = -np.inf
    x[2, :39] = -np.inf
    (got,) = run(text, device_name, [x])
    assert np.isnan(got[1]).all()
    assert got[2].tolist() == [0.0] * 39 + [1.0]
    np.testing.assert_allclose(got[0].sum(), 1, rtol=1e-6)


@pytest.mark.parametrize("device_name", DEVICES)
def test_mean_of_many_equal_halves_neither_stalls_nor_overflows(device_name: str) -> None:
    text = """
    func.func @main(%x: tensor<70000xf16>) -> tensor<f16> {
      %zero = arith.constant 0.0 : f32
      %count = arith.constant 70000.0 : f32
      %e = tensor.empty() : tensor<f32>
      %i = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
      %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
          iterator_types = ["reduction"]} ins(%x : tensor<70000xf16>) outs(%i : tensor<f32>) {
      ^bb0(%in: f16, %acc: f32):
        %w = arith.extf %in : f16 to f32
        %n = arith.addf %acc, %w : f32
        linalg.yield %n : f32
      } -> tensor<f32>
      %o = tensor.empty() : tensor<f16>
      %m = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>],
          iterator_types = []} ins(%s : tensor<f32>) outs(%o : tensor<f16>) {
      ^bb0(%in: f32, %out: f16):
        %d = arith.divf %in, %count : f32
        %t = arith.truncf %d : f32 to f16
        linalg.yield %t : f16
      } -> tensor<f16>
      return %m : tensor<f16>
    }
    """
    (got,) = run(text, device_name, [np.full(70000, 1.5, np.float16)])
    assert got.item() == 1.5


def sum_in_halves(length: int) -> str:
    return f"""
    func.func @main(%x: tensor<{length}xf16>) -> tensor<f16> {{
      %zero = arith.constant 0.0 : f16
      %e = tensor.empty() : tensor<f16>
      %i = linalg.fill ins(%zero : f16) outs(%e : tensor<f16>) -> tensor<f16>
      %s = linalg.reduce {{ arith.addf }} ins(%x : tensor<{length}xf16>) outs(%i : tensor<f16>)
          dimensions = [0]
      return %s : tensor<f16>
    }}
    """


@pytest.mark.parametrize("device_name", DEVICES)
def test_a_sum_of_halves_is_not_lost_in_rounding(device_name: str) -> None:
    """In f16 alone the sum would stop at 2048."""
    (got,) = run(sum_in_halves(20000), device_name, [np.ones(20000, np.float16)])
    assert got.item() == 20000


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("k", [0, 1])
def test_matmul_over_nothing_and_over_one(k: int, device_name: str) -> None:
    check_module(
        f"""
        func.func @main(%a: tensor<5x{k}xf32>, %b: tensor<{k}x7xf32>, %c: tensor<5x7xf32>)
            -> tensor<5x7xf32> {{
          %r = linalg.matmul ins(%a, %b : tensor<5x{k}xf32>, tensor<{k}x7xf32>)
              outs(%c : tensor<5x7xf32>) -> tensor<5x7xf32>
          return %r : tensor<5x7xf32>
        }}
        """,
        device_name,
    )


@pytest.mark.parametrize("device_name", DEVICES)
def test_functions_without_computation(device_name: str) -> None:
    """Empty results, the identity, constants, and an argument that is returned twice."""
    check_module(
        """
        func.func @empty(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
          %r = arith.addf %x, %x : tensor<0x3xf32>
          return %r : tensor<0x3xf32>
        }
        func.func @sum_of_nothing(%x: tensor<4x0xf32>) -> tensor<4xf32> {
          %one = arith.constant dense<1.0> : tensor<4xf32>
          %r = linalg.reduce { arith.addf } ins(%x : tensor<4x0xf32>) outs(%one : tensor<4xf32>)
              dimensions = [1]
          return %r : tensor<4xf32>
        }
        func.func @identity(%x: tensor<3xi8>) -> tensor<3xi8> {
          return %x : tensor<3xi8>
        }
        func.func @constants() -> (tensor<2xi32>, tensor<3x3xf32>, tensor<i1>) {
          %a = arith.constant dense<[7, -1]> : tensor<2xi32>
          %b = arith.constant dense<0.1> : tensor<3x3xf32>
          %c = arith.constant dense<true> : tensor<i1>
          return %a, %b, %c : tensor<2xi32>, tensor<3x3xf32>, tensor<i1>
        }
        func.func @twice(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
          %y = arith.negf %x : tensor<3xf32>
          return %x, %y, %x : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
        }
        func.func @same_result_twice(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
          %y = arith.negf %x : tensor<3xf32>
          return %y, %y : tensor<3xf32>, tensor<3xf32>
        }
        """,
        device_name,
    )


@pytest.mark.parametrize("device_name", DEVICES)
def test_forty_inputs(device_name: str) -> None:
    """More than Metal's 31 buffers, and more than Vulkan promises."""
    arguments = ", ".join(f"%x{i}: tensor<37xf32>" for i in range(40))
    lines = ["%s0 = arith.addf %x0, %x1 : tensor<37xf32>"]
    for i in range(2, 40):
        lines.append(f"%s{i - 1} = arith.addf %s{i - 2}, %x{i} : tensor<37xf32>")
    body = "\n".join(lines)
    check_module(
        f"func.func @main({arguments}) -> tensor<37xf32> {{\n{body}\n"
        "return %s38 : tensor<37xf32>\n}",
        device_name,
    )


def test_grids_beyond_65535_threadgroups_are_folded() -> None:
    """Checked on the commands: running them would take a quarter of a gibibyte."""
    text = """
    func.func @main(%x: tensor<134217731xi8>) -> tensor<134217731xi8> {
      %r = arith.addi %x, %x : tensor<134217731xi8>
      return %r : tensor<134217731xi8>
    }
    """
    for device_name in DEVICES:
        (variant,) = bundle_for(text, device_name).variants
        (command,) = variant.bodies[0].commands
        assert isinstance(command, Dispatch)
        groups = [int(size) for size in command.groups]
        assert max(groups) <= 65535 < prod(groups)


@pytest.mark.parametrize("device_name", DEVICES)
def test_many_threadgroups(device_name: str) -> None:
    check_module(
        """
        func.func @main(%x: tensor<70001x33xf32>) -> tensor<70001xf32> {
          %z = arith.constant dense<0.0> : tensor<70001xf32>
          %r = linalg.reduce { arith.addf } ins(%x : tensor<70001x33xf32>)
              outs(%z : tensor<70001xf32>) dimensions = [1]
          return %r : tensor<70001xf32>
        }
        """,
        device_name,
    )


@pytest.mark.parametrize("device_name", DEVICES)
def test_two_reductions_of_different_types_in_one_kernel(device_name: str) -> None:
    check_module(
        """
        func.func @main(%x: tensor<5x300xf32>) -> (tensor<5x300xf32>, tensor<5xi64>) {
          %low = arith.constant dense<0xFF800000> : tensor<5xf32>
          %zero = arith.constant dense<0> : tensor<5xi64>
          %m = linalg.reduce { arith.maximumf } ins(%x : tensor<5x300xf32>)
              outs(%low : tensor<5xf32>) dimensions = [1]
          %c = linalg.generic {
              indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
                               affine_map<(d0, d1) -> (d0)>],
              iterator_types = ["parallel", "reduction"]}
              ins(%x, %m : tensor<5x300xf32>, tensor<5xf32>) outs(%zero : tensor<5xi64>) {
          ^bb0(%in: f32, %max: f32, %acc: i64):
            %half = arith.constant 0.5 : f32
            %h = arith.mulf %max, %half : f32
            %b = arith.cmpf ogt, %in, %h : f32
            %i = arith.extui %b : i1 to i64
            %n = arith.addi %acc, %i : i64
            linalg.yield %n : i64
          } -> tensor<5xi64>
          %e = tensor.empty() : tensor<5x300xf32>
          %r = linalg.generic {
              indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
                               affine_map<(d0, d1) -> (d0, d1)>],
              iterator_types = ["parallel", "parallel"]}
              ins(%x, %c : tensor<5x300xf32>, tensor<5xi64>) outs(%e : tensor<5x300xf32>) {
          ^bb0(%in: f32, %count: i64, %out: f32):
            %f = arith.sitofp %count : i64 to f32
            %n = arith.divf %in, %f : f32
            linalg.yield %n : f32
          } -> tensor<5x300xf32>
          return %r, %c : tensor<5x300xf32>, tensor<5xi64>
        }
        """,
        device_name,
    )


NAMES = (
    "main",
    "abs",
    "kernel",
    "float",
    "a.b",
    "__x",
    "матрица",
    "thread",
    "half4",
    "x__y",
    "1st",
)


@pytest.mark.parametrize("device_name", DEVICES)
def test_names_of_functions_and_values(device_name: str) -> None:
    """Words and characters that the languages in between have for themselves."""
    values = ("%float", "%kernel", "%abs", "%main", "%a.b", "%__x", "%thread", "%device", "%in")
    functions = [
        f"""
        func.func @"{name}"({value}: tensor<5xf32>) -> tensor<5xf32> {{
          %c = arith.constant dense<{index}.0> : tensor<5xf32>
          %half = arith.addf {value}, %c : tensor<5xf32>
          %as_type = math.exp %half : tensor<5xf32>
          return %as_type : tensor<5xf32>
        }}
        """
        for index, (name, value) in enumerate(zip(NAMES, (*values, "%out", "%x"), strict=True))
    ]
    check_module("".join(functions), device_name)


def test_more_elements_than_an_index_counts_are_refused() -> None:
    text = """
    func.func @main(%x: tensor<65536x32768xi8>) -> tensor<65536x32768xi8> {
      return %x : tensor<65536x32768xi8>
    }
    """
    with pytest.raises(Refusal, match="indices on the device are 32-bit: the most is 2147483647"):
        bundle_for(text, "vulkan")


REDUCERS: dict[str, tuple[str, str, Any]] = {
    "addf": ("f32", "0.0", np.add),
    "mulf": ("f32", "1.0", np.multiply),
    "maximumf": ("f32", "0xFF800000", np.maximum),
    "minimumf": ("f32", "0x7F800000", np.minimum),
    "addi": ("i32", "0", np.add),
    "muli": ("i32", "1", np.multiply),
    "maxsi": ("i32", "-2147483648", np.maximum),
    "minsi": ("i32", "2147483647", np.minimum),
    "andi": ("i32", "-1", np.bitwise_and),
    "ori": ("i32", "0", np.bitwise_or),
    "xori": ("i32", "0", np.bitwise_xor),
}


@pytest.mark.parametrize("device_name", DEVICES)
def test_reductions_of_every_kind_over_every_dimension(device_name: str) -> None:
    """Short and long lines, over the first, the last, the middle and all dimensions."""
    shape = (3, 257, 5)
    rng = np.random.default_rng(0)
    text, inputs = "", {}
    expected: dict[str, Sequence[Array]] = {}
    for kind, (element, start, reduce) in REDUCERS.items():
        for dims in ([0], [1], [2], [0, 2], [0, 1, 2]):
            name = f"{kind}_{''.join(map(str, dims))}"
            kept = "".join(f"{n}x" for d, n in enumerate(shape) if d not in dims)
            source, result = f"tensor<3x257x5x{element}>", f"tensor<{kept}{element}>"
            text += f"""
            func.func @{name}(%x: {source}) -> {result} {{
              %i = arith.constant dense<{start}> : {result}
              %r = linalg.reduce {{ arith.{kind} }} ins(%x : {source}) outs(%i : {result})
                  dimensions = {dims}
              return %r : {result}
            }}
            """
            x = (
                (1 + 0.001 * rng.standard_normal(shape)).astype(np.float32)
                if element == "f32"
                else rng.integers(-(2**31), 2**31, shape).astype(np.int32)
            )
            inputs[name] = [x]
            wide = x.astype(np.float64) if element == "f32" else x
            total = reduce.reduce(wide, axis=tuple(dims), dtype=wide.dtype)
            expected[name] = [np.asarray(total.astype(x.dtype))]
    check_module(text, device_name, inputs, expected)


def copied(name: str, source: str, result: str, maps: str, loops: int) -> str:
    """A function that copies what an indexing map reads."""
    dims = ", ".join(f"d{i}" for i in range(loops))
    parallel = ", ".join(['"parallel"'] * loops)
    return f"""
    func.func @{name}(%x: {source}) -> {result} {{
      %e = tensor.empty() : {result}
      %r = linalg.generic {{indexing_maps = [affine_map<({dims}) -> ({maps})>,
          affine_map<({dims}) -> ({dims})>], iterator_types = [{parallel}]}}
          ins(%x : {source}) outs(%e : {result}) {{
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      }} -> {result}
      return %r : {result}
    }}
    """


@pytest.mark.parametrize("device_name", DEVICES)
def test_views_backwards_by_strides_and_along_diagonals(device_name: str) -> None:
    matrix = "tensor<5x7xf32>"
    programs = (
        copied("backwards", matrix, matrix, "-d0 + 4, -d1 + 6", 2),
        copied("strided", "tensor<9x10xf32>", "tensor<4x3xf32>", "d0 * 2 + 1, d1 * 3", 2),
        copied("diagonal", "tensor<5x5x3xf32>", "tensor<3x5xf32>", "d1, d1, d0", 2),
        copied("row", matrix, "tensor<7xf32>", "2, d0", 1),
        copied("windows", "tensor<9xf32>", "tensor<7x3xf32>", "d0 + d1", 2),
        """
        func.func @sliced(%x: tensor<9xf32>) -> tensor<4xf32> {
          %r = tensor.extract_slice %x[8] [4] [-2] : tensor<9xf32> to tensor<4xf32>
          return %r : tensor<4xf32>
        }
        """,
    )
    check_module("".join(programs), device_name)
