"""Programs of the kinds that other compilers test end to end, with values from NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.harness import DEVICES, assert_close, run

Array = NDArray[Any]
Reference = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """A program and what it computes from `inputs`."""

    text: str
    reference: Reference
    inputs: tuple[Array, ...] = ()


def f32(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def i32(*shape: int, low: int = -50, high: int = 50, seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(low, high, shape).astype(np.int32)


CASES: dict[str, Case] = {}


def case(name: str, text: str, reference: Reference, *inputs: Array) -> None:
    CASES[name] = Case(text, reference, inputs)


# tensor


case(
    "collapse of expand",
    """func.func @f(%x: tensor<2x12xf32>) -> tensor<4x6xf32> {
  %e = tensor.expand_shape %x [[0], [1, 2]] output_shape [2, 2, 6]
    : tensor<2x12xf32> into tensor<2x2x6xf32>
  %c = tensor.collapse_shape %e [[0, 1], [2]] : tensor<2x2x6xf32> into tensor<4x6xf32>
  return %c : tensor<4x6xf32>
}""",
    lambda x: x.reshape(4, 6),
    f32(2, 12),
)
case(
    "slice with strides",
    """func.func @f(%x: tensor<9x10xi32>) -> tensor<4x3xi32> {
  %s = tensor.extract_slice %x[1, 2] [4, 3] [2, 3] : tensor<9x10xi32> to tensor<4x3xi32>
  return %s : tensor<4x3xi32>
}""",
    lambda x: x[1:9:2, 2:11:3][:4, :3],
    i32(9, 10),
)
case(
    "slice at an offset from a tensor",
    """func.func @f(%x: tensor<10xf32>, %at: tensor<i32>) -> tensor<3xf32> {
  %e = tensor.extract %at[] : tensor<i32>
  %i = arith.index_cast %e : i32 to index
  %s = tensor.extract_slice %x[%i] [3] [1] : tensor<10xf32> to tensor<3xf32>
  return %s : tensor<3xf32>
}""",
    lambda x, at: x[int(at) : int(at) + 3],
    f32(10),
    np.array(5, np.int32),
)
case(
    "insert slice of lower rank",
    """func.func @f(%x: tensor<4xf32>, %y: tensor<3x5x4xf32>) -> tensor<3x5x4xf32> {
  %s = tensor.insert_slice %x into %y[1, 3, 0] [1, 1, 4] [1, 1, 1]
    : tensor<4xf32> into tensor<3x5x4xf32>
  return %s : tensor<3x5x4xf32>
}""",
    lambda x, y: np.concatenate([y.reshape(15, 4)[:8], x[None], y.reshape(15, 4)[9:]]).reshape(
        3, 5, 4
    ),
    f32(4),
    f32(3, 5, 4, seed=1),
)
case(
    "insert slice with strides",
    """func.func @f(%x: tensor<3xi32>, %y: tensor<8xi32>) -> tensor<8xi32> {
  %s = tensor.insert_slice %x into %y[1] [3] [2] : tensor<3xi32> into tensor<8xi32>
  return %s : tensor<8xi32>
}""",
    lambda x, y: np.array([y[0], x[0], y[2], x[1], y[4], x[2], y[6], y[7]], np.int32),
    i32(3),
    i32(8, seed=1),
)
case(
    "insert of a scalar",
    """func.func @f(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %c = arith.constant 9.5 : f32
  %i = arith.constant 1 : index
  %j = arith.constant 2 : index
  %r = tensor.insert %c into %x[%i, %j] : tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}""",
    lambda x: np.where(np.arange(12).reshape(3, 4) == 6, np.float32(9.5), x),
    f32(3, 4),
)
case(
    "concat of three",
    """func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x1xf32>, %c: tensor<2x5xf32>)
    -> tensor<2x9xf32> {
  %r = tensor.concat dim(1) %a, %b, %c
    : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x5xf32>) -> tensor<2x9xf32>
  return %r : tensor<2x9xf32>
}""",
    lambda a, b, c: np.concatenate([a, b, c], 1),
    f32(2, 3),
    f32(2, 1, seed=1),
    f32(2, 5, seed=2),
)
case(
    "pad on one side, then on the other",
    """func.func @f(%x: tensor<3x4xf32>) -> tensor<6x6xf32> {
  %z = arith.constant 1.5 : f32
  %p = tensor.pad %x low[2, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<3x4xf32> to tensor<5x4xf32>
  %q = tensor.pad %p low[0, 0] high[1, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<5x4xf32> to tensor<6x6xf32>
  return %q : tensor<6x6xf32>
}""",
    lambda x: np.pad(x, ((2, 1), (0, 2)), constant_values=1.5),
    f32(3, 4),
)
case(
    "generate from indices",
    """func.func @f() -> tensor<3x4xi64> {
  %g = tensor.generate {
  ^bb0(%i: index, %j: index):
    %ten = arith.constant 10 : index
    %a = arith.muli %i, %ten : index
    %b = arith.addi %a, %j : index
    %c = arith.index_cast %b : index to i64
    tensor.yield %c : i64
  } : tensor<3x4xi64>
  return %g : tensor<3x4xi64>
}""",
    lambda: (np.arange(3)[:, None] * 10 + np.arange(4)).astype(np.int64),
)
case(
    "splat and from_elements",
    """func.func @f(%x: tensor<3xf32>) -> (tensor<2x2xf32>, tensor<2xf32>) {
  %i = arith.constant 1 : index
  %j = arith.constant 2 : index
  %a = tensor.extract %x[%i] : tensor<3xf32>
  %b = tensor.extract %x[%j] : tensor<3xf32>
  %s = tensor.splat %a : tensor<2x2xf32>
  %e = tensor.from_elements %b, %a : tensor<2xf32>
  return %s, %e : tensor<2x2xf32>, tensor<2xf32>
}""",
    lambda x: (np.full((2, 2), x[1]), np.array([x[2], x[1]])),
    f32(3),
)

# linalg


def generic(maps: str, kinds: str, ins: str, outs: str, args: str, body: str) -> str:
    """The op of a program with one generic."""
    result = outs.partition(" : ")[2]
    return f"""linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
    ins({ins}) outs({outs}) {{
  ^bb0({args}):
{body}
  }} -> {result}"""


def function(arguments: str, result: str, setup: str, op: str) -> str:
    """A function that returns `op`, a generic, after some lines."""
    return (
        f"func.func @f({arguments}) -> {result} {{\n{setup}\n%r = {op}\nreturn %r : {result}\n}}\n"
    )


P, R = '"parallel"', '"reduction"'
ID2 = "affine_map<(i, j) -> (i, j)>"

case(
    "sum of a row and a column",
    function(
        "%x: tensor<5xf32>, %y: tensor<7xf32>",
        "tensor<5x7xf32>",
        "%e = tensor.empty() : tensor<5x7xf32>",
        generic(
            f"affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, {ID2}",
            f"{P}, {P}",
            "%x, %y : tensor<5xf32>, tensor<7xf32>",
            "%e : tensor<5x7xf32>",
            "%a: f32, %b: f32, %o: f32",
            "    %s = arith.addf %a, %b : f32\n    linalg.yield %s : f32",
        ),
    ),
    lambda x, y: x[:, None] + y,
    f32(5),
    f32(7, seed=1),
)
case(
    "trace",
    function(
        "%x: tensor<6x6xf32>, %z: tensor<f32>",
        "tensor<f32>",
        "",
        generic(
            "affine_map<(i) -> (i, i)>, affine_map<(i) -> ()>",
            R,
            "%x : tensor<6x6xf32>",
            "%z : tensor<f32>",
            "%a: f32, %o: f32",
            "    %s = arith.addf %a, %o : f32\n    linalg.yield %s : f32",
        ),
    ),
    lambda x, z: np.float32(np.trace(x.astype(np.float64)) + z),
    f32(6, 6),
    np.array(2.0, np.float32),
)
case(
    "fill of a reversed range by index",
    function(
        "%x: tensor<8xi32>",
        "tensor<8xi32>",
        "%e = tensor.empty() : tensor<8xi32>",
        generic(
            "affine_map<(i) -> (-i + 7)>, affine_map<(i) -> (i)>",
            P,
            "%x : tensor<8xi32>",
            "%e : tensor<8xi32>",
            "%a: i32, %o: i32",
            "    %i = linalg.index 0 : index\n    %c = arith.index_cast %i : index to i32\n"
            "    %s = arith.subi %a, %c : i32\n    linalg.yield %s : i32",
        ),
    ),
    lambda x: x[::-1] - np.arange(8, dtype=np.int32),
    i32(8),
)
case(
    "lower triangle",
    function(
        "%x: tensor<5x5xf32>",
        "tensor<5x5xf32>",
        "%e = tensor.empty() : tensor<5x5xf32>\n  %zero = arith.constant 0.0 : f32",
        generic(
            f"{ID2}, {ID2}",
            f"{P}, {P}",
            "%x : tensor<5x5xf32>",
            "%e : tensor<5x5xf32>",
            "%a: f32, %o: f32",
            "    %i = linalg.index 0 : index\n    %j = linalg.index 1 : index\n"
            "    %c = arith.cmpi sge, %i, %j : index\n"
            "    %s = arith.select %c, %a, %zero : f32\n    linalg.yield %s : f32",
        ),
    ),
    lambda x: np.tril(x),
    f32(5, 5),
)
case(
    "gather of rows",
    function(
        "%x: tensor<9x4xf32>, %at: tensor<5xi64>",
        "tensor<5x4xf32>",
        "%e = tensor.empty() : tensor<5x4xf32>",
        generic(
            f"affine_map<(i, j) -> (i)>, {ID2}",
            f"{P}, {P}",
            "%at : tensor<5xi64>",
            "%e : tensor<5x4xf32>",
            "%a: i64, %o: f32",
            "    %i = arith.index_cast %a : i64 to index\n    %j = linalg.index 1 : index\n"
            "    %s = tensor.extract %x[%i, %j] : tensor<9x4xf32>\n    linalg.yield %s : f32",
        ),
    ),
    lambda x, at: x[at],
    f32(9, 4),
    np.array([8, 0, 3, 3, 1]),
)
case(
    "maximum and its place",
    """func.func @f(%x: tensor<4x9xf32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %ef = tensor.empty() : tensor<4xf32>
  %ei = tensor.empty() : tensor<4xi32>
  %f = linalg.fill ins(%low : f32) outs(%ef : tensor<4xf32>) -> tensor<4xf32>
  %g = linalg.fill ins(%zero : i32) outs(%ei : tensor<4xi32>) -> tensor<4xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
      affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x9xf32>) outs(%f, %g : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%a: f32, %m: f32, %p: i32):
    %j = linalg.index 1 : index
    %c = arith.index_cast %j : index to i32
    %b = arith.cmpf ogt, %a, %m : f32
    %v = arith.select %b, %a, %m : f32
    %w = arith.select %b, %c, %p : i32
    linalg.yield %v, %w : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi32>
}""",
    lambda x: (x.max(1), x.argmax(1).astype(np.int32)),
    f32(4, 9),
)
MATMULS = {
    "matmul": ((5, 7), (7, 3), lambda a, b: a @ b),
    "batch_matmul": ((2, 5, 7), (2, 7, 3), lambda a, b: a @ b),
    "matvec": ((5, 7), (7,), lambda a, b: a @ b),
    "vecmat": ((7,), (7, 3), lambda a, b: a @ b),
    "dot": ((7,), (7,), lambda a, b: a @ b),
    "batch_matvec": ((2, 5, 7), (2, 7), lambda a, b: np.einsum("bij,bj->bi", a, b)),
    "matmul_transpose_a": ((7, 5), (7, 3), lambda a, b: a.T @ b),
    "matmul_transpose_b": ((5, 7), (3, 7), lambda a, b: a @ b.T),
    "batch_reduce_matmul": ((2, 5, 7), (2, 7, 3), lambda a, b: np.einsum("bik,bkj->ij", a, b)),
}


def spelled(shape: tuple[int, ...]) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}f32>"


for name, (left, right, multiply) in MATMULS.items():
    out = np.shape(multiply(np.zeros(left), np.zeros(right)))
    case(
        name,
        f"""func.func @f(%a: {spelled(left)}, %b: {spelled(right)}, %c: {spelled(out)})
    -> {spelled(out)} {{
  %r = linalg.{name} ins(%a, %b : {spelled(left)}, {spelled(right)}) outs(%c : {spelled(out)})
    -> {spelled(out)}
  return %r : {spelled(out)}
}}""",
        lambda a, b, c, multiply=multiply: (
            multiply(a.astype(np.float64), b.astype(np.float64)) + c
        ).astype(np.float32),
        f32(*left),
        f32(*right, seed=1),
        f32(*out, seed=2),
    )

case(
    "convolution with strides and dilations",
    """func.func @f(%x: tensor<1x9x9x2xf32>, %w: tensor<3x3x2x4xf32>) -> tensor<1x3x3x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<2> : tensor<2xi64>,
      strides = dense<2> : tensor<2xi64>}
      ins(%x, %w : tensor<1x9x9x2xf32>, tensor<3x3x2x4xf32>)
      outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  return %r : tensor<1x3x3x4xf32>
}""",
    lambda x, w: np.array(
        [
            [
                np.einsum("hwc,hwcf->f", x[0, 2 * i : 2 * i + 5 : 2, 2 * j : 2 * j + 5 : 2], w)
                for j in range(3)
            ]
            for i in range(3)
        ],
        np.float32,
    )[None],
    f32(1, 9, 9, 2),
    f32(3, 3, 2, 4, seed=1),
)
case(
    "pooling of a maximum",
    """func.func @f(%x: tensor<1x6x6x3xf32>) -> tensor<1x3x3x3xf32> {
  %z = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x3x3x3xf32>
  %w = tensor.empty() : tensor<2x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
  %r = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>,
      dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x6x6x3xf32>, tensor<2x2xf32>)
      outs(%f : tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
  return %r : tensor<1x3x3x3xf32>
}""",
    lambda x: x.reshape(1, 3, 2, 3, 2, 3).max((2, 4)),
    f32(1, 6, 6, 3),
)
case(
    "transpose, broadcast, reduce, map",
    """func.func @f(%x: tensor<3x5xi32>) -> tensor<5xi32> {
  %a = tensor.empty() : tensor<5x3xi32>
  %t = linalg.transpose ins(%x : tensor<3x5xi32>) outs(%a : tensor<5x3xi32>) permutation = [1, 0]
  %b = tensor.empty() : tensor<5x2x3xi32>
  %u = linalg.broadcast ins(%t : tensor<5x3xi32>) outs(%b : tensor<5x2x3xi32>) dimensions = [1]
  %m = linalg.map { arith.muli } ins(%u, %u : tensor<5x2x3xi32>, tensor<5x2x3xi32>)
      outs(%b : tensor<5x2x3xi32>)
  %c = arith.constant dense<0> : tensor<5xi32>
  %r = linalg.reduce { arith.addi } ins(%m : tensor<5x2x3xi32>) outs(%c : tensor<5xi32>)
      dimensions = [1, 2]
  return %r : tensor<5xi32>
}""",
    lambda x: (2 * (x.T * x.T).sum(1)).astype(np.int32),
    i32(3, 5),
)
case(
    "softmax",
    """func.func @f(%x: tensor<4x6x5xf32>) -> tensor<4x6x5xf32> {
  %e = tensor.empty() : tensor<4x6x5xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<4x6x5xf32>) outs(%e : tensor<4x6x5xf32>)
      -> tensor<4x6x5xf32>
  return %r : tensor<4x6x5xf32>
}""",
    lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True),
    f32(4, 6, 5),
)
case(
    "pack",
    """func.func @f(%x: tensor<8x6xf32>) -> tensor<4x2x2x3xf32> {
  %e = tensor.empty() : tensor<4x2x2x3xf32>
  %r = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %e
      : tensor<8x6xf32> -> tensor<4x2x2x3xf32>
  return %r : tensor<4x2x2x3xf32>
}""",
    lambda x: x.reshape(4, 2, 2, 3).transpose(0, 2, 1, 3),
    f32(8, 6),
)

# arith and math on elements

INTEGER_OPS: dict[str, Callable[[Array, Array], Array]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "divsi": lambda a, b: (np.trunc(a / b)).astype(np.int32),
    "remsi": lambda a, b: np.fmod(a, b),
    "floordivsi": lambda a, b: a // b,
    "ceildivsi": lambda a, b: -(-a // b),
    "divui": lambda a, b: (a.view(np.uint32) // b.view(np.uint32)).view(np.int32),
    "maxui": lambda a, b: np.maximum(a.view(np.uint32), b.view(np.uint32)).view(np.int32),
    "xori": lambda a, b: a ^ b,
    "shrsi": lambda a, b: a >> (b & 7),
}
for name, compute in INTEGER_OPS.items():
    amount = "    %seven = arith.constant 7 : i32\n    %c = arith.andi %b, %seven : i32\n"
    other = "%c" if name == "shrsi" else "%b"
    case(
        f"arith.{name}",
        f"""func.func @f(%x: tensor<40xi32>, %y: tensor<40xi32>) -> tensor<40xi32> {{
  %e = tensor.empty() : tensor<40xi32>
  %r = linalg.map ins(%x, %y : tensor<40xi32>, tensor<40xi32>) outs(%e : tensor<40xi32>)
  (%a: i32, %b: i32) {{
{amount if name == "shrsi" else ""}    %s = arith.{name} %a, {other} : i32
    linalg.yield %s : i32
  }}
  return %r : tensor<40xi32>
}}""",
        compute,
        i32(40),
        np.where(i32(40, seed=1) == 0, 3, i32(40, seed=1)).astype(np.int32),
    )


# Loops, folds and ordered places.


def doubled(start: Array, bound: Array) -> Array:
    number = int(start)
    while number < int(bound):
        number *= 2
    return np.asarray(number, np.int32)


case(
    "loop of blocks around StableHLO",
    """func.func @f(%start: tensor<i32>, %bound: tensor<i32>) -> tensor<i32> {
  cf.br ^check(%start : tensor<i32>)
^check(%n: tensor<i32>):
  %less = stablehlo.compare LT, %n, %bound : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %p = tensor.extract %less[] : tensor<i1>
  cf.cond_br %p, ^more(%n : tensor<i32>), ^end(%n : tensor<i32>)
^more(%m: tensor<i32>):
  %twice = stablehlo.add %m, %m : tensor<i32>
  cf.br ^check(%twice : tensor<i32>)
^end(%r: tensor<i32>):
  return %r : tensor<i32>
}""",
    doubled,
    np.asarray(3, np.int32),
    np.asarray(100, np.int32),
)
case(
    "reduction by a difference",
    """func.func @f(%x: tensor<3x700xf32>, %i: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.reduce ins(%x : tensor<3x700xf32>) outs(%i : tensor<3xf32>) dimensions = [1]
    (%a: f32, %o: f32) {
      %s = arith.subf %o, %a : f32
      linalg.yield %s : f32
    }
  return %r : tensor<3xf32>
}""",
    lambda x, i: (i - x.astype(np.float64).sum(1)).astype(np.float32),
    f32(3, 700),
    f32(3, seed=1),
)
case(
    "running sum, exclusive",
    """func.func @f(%x: tensor<4x9xi32>, %i: tensor<4xi32>) -> tensor<4x9xi32> {
  %e = tensor.empty() : tensor<4x9xi32>
  %r:2 = iree_linalg_ext.scan dimension(1) inclusive(false) ins(%x : tensor<4x9xi32>)
      outs(%e, %i : tensor<4x9xi32>, tensor<4xi32>) {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    iree_linalg_ext.yield %s : i32
  } -> tensor<4x9xi32>, tensor<4xi32>
  return %r#0 : tensor<4x9xi32>
}""",
    lambda x, i: np.cumsum(np.concatenate([i[:, None], x[:, :-1]], 1), 1).astype(np.int32),
    i32(4, 9),
    i32(4, seed=1),
)
case(
    "scatter that adds where rows repeat",
    """func.func @f(%o: tensor<5x3xi32>, %u: tensor<4x3xi32>) -> tensor<5x3xi32> {
  %i = arith.constant dense<[[2], [0], [2], [4]]> : tensor<4x1xi32>
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false)
      ins(%u, %i : tensor<4x3xi32>, tensor<4x1xi32>) outs(%o : tensor<5x3xi32>) {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    iree_linalg_ext.yield %s : i32
  } -> tensor<5x3xi32>
  return %r : tensor<5x3xi32>
}""",
    lambda o, u: o + np.stack([u[1], 0 * u[0], u[0] + u[2], 0 * u[0], u[3]]),
    i32(5, 3),
    i32(4, 3, seed=1),
)
case(
    "unpack of incomplete tiles",
    """func.func @f(%x: tensor<2x3x4x2xf32>) -> tensor<7x5xf32> {
  %e = tensor.empty() : tensor<7x5xf32>
  %r = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %e
    : tensor<2x3x4x2xf32> -> tensor<7x5xf32>
  return %r : tensor<7x5xf32>
}""",
    lambda x: x.transpose(0, 2, 1, 3).reshape(8, 6)[:7, :5],
    f32(2, 3, 4, 2),
)


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, device_name: str) -> None:
    this = CASES[name]
    expected = this.reference(*this.inputs)
    results = run(this.text, device_name, this.inputs)
    wanted = list(expected) if isinstance(expected, tuple) else [expected]
    for index, (got, want) in enumerate(zip(results, wanted, strict=True)):
        assert_close(got, np.asarray(want), f"{name}, result {index}")
