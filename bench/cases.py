"""The programs of the benchmark: text, inputs, expected values, and the work that they must do.

Each function makes one `Case` for given sizes. Expected values are computed by NumPy in a type wide
enough to serve as a reference; flops and bytes are what any implementation has to do and move, not
what one of them does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

NUMPY_TYPES = {"f16": np.float16, "f32": np.float32}


@dataclass(frozen=True)
class Case:
    """One program with what is known about it."""

    name: str
    family: str
    """What it computes, whatever the sizes (`matmul`, `softmax`): for peers without MLIR."""
    text: str
    """MLIR; the function is called `main`."""
    inputs: Callable[[], list[Array]]
    expected: Callable[[Sequence[Array]], list[Array]]
    flops: float
    """Arithmetic that it takes: a multiply-add is two, a function such as exp one."""
    bytes: float
    """Memory traffic that it takes: every input read once, every result written once."""
    element: str = "f32"
    """Type of the factors of products."""
    tolerance: float = 1e-4
    """Allowed difference relative to the largest magnitude of the expected array."""


def _random(*shapes: tuple[int, ...], dtype: str = "f32") -> Callable[[], list[Array]]:
    def make() -> list[Array]:
        source = np.random.default_rng(0)
        return [source.standard_normal(s, np.float32).astype(NUMPY_TYPES[dtype]) for s in shapes]

    return make


def _tensor(shape: Sequence[int], dtype: str = "f32") -> str:
    return f"tensor<{'x'.join(map(str, [*shape, dtype]))}>"


def _traffic(*tensors: tuple[Sequence[int], str]) -> float:
    """Bytes of tensors given by shape and type."""
    return float(sum(math.prod(s) * np.dtype(NUMPY_TYPES[t]).itemsize for s, t in tensors))


def _filled(result: str, value: str = "0.0") -> str:
    """Lines that define %init, a tensor of type `result` full of `value`."""
    return f"""
  %value = arith.constant {value} : {result.rstrip(">").rsplit("x", 1)[-1].rsplit("<", 1)[-1]}
  %empty = tensor.empty() : {result}
  %init = linalg.fill ins(%value : {result.rstrip(">").rsplit("x", 1)[-1].rsplit("<", 1)[-1]})
      outs(%empty : {result}) -> {result}"""


def _named(op: str, operands: Sequence[str], result: str, attributes: str = "") -> str:
    """A function of one named op that accumulates into zeros."""
    names = [f"%a{i}" for i in range(len(operands))]
    parameters = ", ".join(f"{n}: {t}" for n, t in zip(names, operands, strict=True))
    return f"""func.func @main({parameters}) -> {result} {{{_filled(result)}
  %r = linalg.{op} {attributes} ins({", ".join(names)} : {", ".join(operands)})
      outs(%init : {result}) -> {result}
  return %r : {result}
}}
"""


def matmul(m: int, n: int, k: int, dtype: str = "f32") -> Case:
    """C = A B; the result has the type of the factors, whatever the products are added up in."""
    a, b, c = (m, k), (k, n), (m, n)
    return Case(
        name=f"matmul_{dtype}_{m}" if m == n == k else f"matmul_{dtype}_{m}x{n}x{k}",
        family="matmul",
        text=_named("matmul", [_tensor(a, dtype), _tensor(b, dtype)], _tensor(c, dtype)),
        inputs=_random(a, b, dtype=dtype),
        expected=lambda x: [x[0].astype(np.float32) @ x[1].astype(np.float32)],
        flops=2.0 * m * n * k,
        bytes=_traffic((a, dtype), (b, dtype), (c, dtype)),
        element=dtype,
        tolerance=1e-4 if dtype == "f32" else 2e-2,
    )


def batch_matmul(batch: int, m: int, n: int, k: int) -> Case:
    """C[i] = A[i] B[i] in f32."""
    a, b, c = (batch, m, k), (batch, k, n), (batch, m, n)
    return Case(
        name=f"batch_matmul_{batch}x{m}x{n}x{k}",
        family="matmul",
        text=_named("batch_matmul", [_tensor(a), _tensor(b)], _tensor(c)),
        inputs=_random(a, b),
        expected=lambda x: [x[0] @ x[1]],
        flops=2.0 * batch * m * n * k,
        bytes=_traffic((a, "f32"), (b, "f32"), (c, "f32")),
    )


def matvec(m: int, k: int) -> Case:
    """y = A x in f32."""
    return Case(
        name=f"matvec_{m}" if m == k else f"matvec_{m}x{k}",
        family="matmul",
        text=_named("matvec", [_tensor((m, k)), _tensor((k,))], _tensor((m,))),
        inputs=_random((m, k), (k,)),
        expected=lambda x: [x[0] @ x[1]],
        flops=2.0 * m * k,
        bytes=_traffic(((m, k), "f32"), ((k,), "f32"), ((m,), "f32")),
    )


_STRIDES = "{dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}"


def _windows(x: Array, size: int) -> Array:
    """(n, h, w, c, kh, kw) windows of an (n, h, w, c) array."""
    return np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(1, 2))


def convolution(n: int, side: int, channels: int, features: int, kernel: int = 3) -> Case:
    """A convolution without padding whose result has `side` x `side` positions."""
    x = (n, side + kernel - 1, side + kernel - 1, channels)
    w, y = (kernel, kernel, channels, features), (n, side, side, features)
    return Case(
        name=f"conv_{kernel}x{kernel}_{n}x{side}x{side}x{channels}x{features}",
        family="conv",
        text=_named("conv_2d_nhwc_hwcf", [_tensor(x), _tensor(w)], _tensor(y), _STRIDES),
        inputs=_random(x, w),
        expected=lambda v: [np.einsum("nhwcab,abcf->nhwf", _windows(v[0], kernel), v[1])],
        flops=2.0 * math.prod(y) * kernel * kernel * channels,
        bytes=_traffic((x, "f32"), (w, "f32"), (y, "f32")),
    )


def depthwise(n: int, side: int, channels: int, kernel: int = 3) -> Case:
    """A depthwise convolution without padding."""
    x, w = (n, side + kernel - 1, side + kernel - 1, channels), (kernel, kernel, channels)
    y = (n, side, side, channels)
    op = "depthwise_conv_2d_nhwc_hwc"
    return Case(
        name=f"depthwise_{kernel}x{kernel}_{n}x{side}x{side}x{channels}",
        family="depthwise",
        text=_named(op, [_tensor(x), _tensor(w)], _tensor(y), _STRIDES),
        inputs=_random(x, w),
        expected=lambda v: [np.einsum("nhwcab,abc->nhwc", _windows(v[0], kernel), v[1])],
        flops=2.0 * math.prod(y) * kernel * kernel,
        bytes=_traffic((x, "f32"), (w, "f32"), (y, "f32")),
    )


def _softmax(x: Array) -> Array:
    wide = x.astype(np.float64)
    e = np.exp(wide - wide.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True)).astype(x.dtype)


def softmax(rows: int, columns: int) -> Case:
    """Softmax over the last dimension."""
    matrix, column = _tensor((rows, columns)), _tensor((rows,))
    text = f"""#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%x: {matrix}) -> {matrix} {{
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %column = tensor.empty() : {column}
  %matrix = tensor.empty() : {matrix}
  %lows = linalg.fill ins(%low : f32) outs(%column : {column}) -> {column}
  %zeros = linalg.fill ins(%zero : f32) outs(%column : {column}) -> {column}
  %max = linalg.generic {{indexing_maps = [#full, #row],
      iterator_types = ["parallel", "reduction"]}}
      ins(%x : {matrix}) outs(%lows : {column}) {{
  ^bb0(%in: f32, %acc: f32):
    %m = arith.maximumf %in, %acc : f32
    linalg.yield %m : f32
  }} -> {column}
  %exp = linalg.generic {{indexing_maps = [#full, #row, #full],
      iterator_types = ["parallel", "parallel"]}}
      ins(%x, %max : {matrix}, {column}) outs(%matrix : {matrix}) {{
  ^bb0(%in: f32, %m: f32, %out: f32):
    %d = arith.subf %in, %m : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  }} -> {matrix}
  %sum = linalg.generic {{indexing_maps = [#full, #row],
      iterator_types = ["parallel", "reduction"]}}
      ins(%exp : {matrix}) outs(%zeros : {column}) {{
  ^bb0(%in: f32, %acc: f32):
    %s = arith.addf %in, %acc : f32
    linalg.yield %s : f32
  }} -> {column}
  %r = linalg.generic {{indexing_maps = [#full, #row, #full],
      iterator_types = ["parallel", "parallel"]}}
      ins(%exp, %sum : {matrix}, {column}) outs(%matrix : {matrix}) {{
  ^bb0(%e: f32, %s: f32, %out: f32):
    %q = arith.divf %e, %s : f32
    linalg.yield %q : f32
  }} -> {matrix}
  return %r : {matrix}
}}
"""
    return Case(
        name=f"softmax_{rows}x{columns}",
        family="softmax",
        text=text,
        inputs=_random((rows, columns)),
        expected=lambda x: [_softmax(x[0])],
        flops=5.0 * rows * columns,
        bytes=_traffic(*[((rows, columns), "f32")] * 2),
    )


def layer_norm(rows: int, columns: int) -> Case:
    """(x - mean) / sqrt(variance + 1e-5) * scale + shift over the last dimension."""
    matrix, column, row = _tensor((rows, columns)), _tensor((rows,)), _tensor((columns,))
    text = f"""#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
func.func @main(%x: {matrix}, %scale: {row}, %shift: {row}) -> {matrix} {{
  %zero = arith.constant 0.0 : f32
  %length = arith.constant {columns}.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %column = tensor.empty() : {column}
  %matrix = tensor.empty() : {matrix}
  %zeros = linalg.fill ins(%zero : f32) outs(%column : {column}) -> {column}
  %sum = linalg.generic {{indexing_maps = [#full, #row],
      iterator_types = ["parallel", "reduction"]}}
      ins(%x : {matrix}) outs(%zeros : {column}) {{
  ^bb0(%in: f32, %acc: f32):
    %s = arith.addf %in, %acc : f32
    linalg.yield %s : f32
  }} -> {column}
  %squares = linalg.generic {{indexing_maps = [#full, #row, #row],
      iterator_types = ["parallel", "reduction"]}}
      ins(%x, %sum : {matrix}, {column}) outs(%zeros : {column}) {{
  ^bb0(%in: f32, %total: f32, %acc: f32):
    %mean = arith.divf %total, %length : f32
    %d = arith.subf %in, %mean : f32
    %d2 = arith.mulf %d, %d : f32
    %s = arith.addf %d2, %acc : f32
    linalg.yield %s : f32
  }} -> {column}
  %r = linalg.generic {{indexing_maps = [#full, #row, #row, #column, #column, #full],
      iterator_types = ["parallel", "parallel"]}}
      ins(%x, %sum, %squares, %scale, %shift : {matrix}, {column}, {column}, {row}, {row})
      outs(%matrix : {matrix}) {{
  ^bb0(%in: f32, %total: f32, %sq: f32, %g: f32, %b: f32, %out: f32):
    %mean = arith.divf %total, %length : f32
    %d = arith.subf %in, %mean : f32
    %variance = arith.divf %sq, %length : f32
    %stable = arith.addf %variance, %epsilon : f32
    %factor = math.rsqrt %stable : f32
    %normal = arith.mulf %d, %factor : f32
    %scaled = arith.mulf %normal, %g : f32
    %y = arith.addf %scaled, %b : f32
    linalg.yield %y : f32
  }} -> {matrix}
  return %r : {matrix}
}}
"""

    def expected(v: Sequence[Array]) -> list[Array]:
        x = v[0].astype(np.float64)
        d = x - x.mean(-1, keepdims=True)
        y = d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5) * v[1] + v[2]
        return [y.astype(np.float32)]

    return Case(
        name=f"layer_norm_{rows}x{columns}",
        family="layer_norm",
        text=text,
        inputs=_random((rows, columns), (columns,), (columns,)),
        expected=expected,
        flops=8.0 * rows * columns,
        bytes=_traffic(*[((rows, columns), "f32")] * 2),
    )


def gelu(size: int) -> Case:
    """x / 2 (1 + erf(x / sqrt(2))), the exact form."""
    vector = _tensor((size,))
    text = f"""#id = affine_map<(i) -> (i)>
func.func @main(%x: {vector}) -> {vector} {{
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.707106769 : f32
  %empty = tensor.empty() : {vector}
  %r = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel"]}}
      ins(%x : {vector}) outs(%empty : {vector}) {{
  ^bb0(%in: f32, %out: f32):
    %s = arith.mulf %in, %root : f32
    %e = math.erf %s : f32
    %p = arith.addf %e, %one : f32
    %h = arith.mulf %in, %half : f32
    %y = arith.mulf %h, %p : f32
    linalg.yield %y : f32
  }} -> {vector}
  return %r : {vector}
}}
"""

    def expected(v: Sequence[Array]) -> list[Array]:
        # A table of the exact values, interpolated: NumPy has no erf, math.erf takes one number.
        grid = np.linspace(-8, 8, 1 << 16)
        exact = np.array([x / 2 * (1 + math.erf(x / math.sqrt(2))) for x in grid])
        return [np.interp(v[0], grid, exact).astype(np.float32)]

    return Case(
        name=f"gelu_2^{size.bit_length() - 1}" if size & (size - 1) == 0 else f"gelu_{size}",
        family="gelu",
        text=text,
        inputs=_random((size,)),
        expected=expected,
        flops=5.0 * size,
        bytes=_traffic(*[((size,), "f32")] * 2),
    )


def sums(rows: int, columns: int, axis: int) -> Case:
    """Sums of each row (axis 1) or of each column (axis 0) of a matrix."""
    matrix, kept = _tensor((rows, columns)), (rows, columns)[1 - axis]
    result = _tensor((kept,))
    iterators = ["parallel", "reduction"] if axis == 1 else ["reduction", "parallel"]
    text = f"""func.func @main(%x: {matrix}) -> {result} {{{_filled(result)}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> ({"i" if axis == 1 else "j"})>],
      iterator_types = ["{iterators[0]}", "{iterators[1]}"]}}
      ins(%x : {matrix}) outs(%init : {result}) {{
  ^bb0(%in: f32, %acc: f32):
    %s = arith.addf %in, %acc : f32
    linalg.yield %s : f32
  }} -> {result}
  return %r : {result}
}}
"""
    return Case(
        name=f"{'row' if axis == 1 else 'column'}_sums_{rows}x{columns}",
        family=f"sum_{axis}",
        text=text,
        inputs=_random((rows, columns)),
        expected=lambda x: [x[0].sum(axis, dtype=np.float64).astype(np.float32)],
        flops=float(rows * columns),
        bytes=_traffic(((rows, columns), "f32"), ((kept,), "f32")),
    )


def transpose(rows: int, columns: int) -> Case:
    """The transposed matrix."""
    before, after = _tensor((rows, columns)), _tensor((columns, rows))
    text = f"""func.func @main(%x: {before}) -> {after} {{
  %empty = tensor.empty() : {after}
  %r = linalg.transpose ins(%x : {before}) outs(%empty : {after}) permutation = [1, 0]
  return %r : {after}
}}
"""
    return Case(
        name=f"transpose_{rows}x{columns}",
        family="transpose",
        text=text,
        inputs=_random((rows, columns)),
        expected=lambda x: [np.ascontiguousarray(x[0].T)],
        flops=0.0,
        bytes=_traffic(*[((rows, columns), "f32")] * 2),
        tolerance=0.0,
    )


def scale(size: int) -> Case:
    """2 x: what moving memory costs at least, in a kernel."""
    vector = _tensor((size,))
    text = f"""#id = affine_map<(i) -> (i)>
func.func @main(%x: {vector}) -> {vector} {{
  %two = arith.constant 2.0 : f32
  %empty = tensor.empty() : {vector}
  %r = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel"]}}
      ins(%x : {vector}) outs(%empty : {vector}) {{
  ^bb0(%in: f32, %out: f32):
    %y = arith.mulf %in, %two : f32
    linalg.yield %y : f32
  }} -> {vector}
  return %r : {vector}
}}
"""
    return Case(
        name=f"scale_2^{size.bit_length() - 1}" if size & (size - 1) == 0 else f"scale_{size}",
        family="scale",
        text=text,
        inputs=_random((size,)),
        expected=lambda x: [2 * x[0]],
        flops=float(size),
        bytes=_traffic(*[((size,), "f32")] * 2),
    )


def attention(heads: int, length: int, width: int) -> Case:
    """softmax(Q K^T / sqrt(width)) V for each head."""
    operand, scores = _tensor((heads, length, width)), _tensor((heads, length, length))
    rows = _tensor((heads, length))
    text = f"""#full = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#q = affine_map<(b, i, j, k) -> (b, i, k)>
#k = affine_map<(b, i, j, k) -> (b, j, k)>
#v = affine_map<(b, i, j, k) -> (b, k, j)>
#o = affine_map<(b, i, j, k) -> (b, i, j)>
func.func @main(%q: {operand}, %k: {operand}, %v: {operand}) -> {operand} {{
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant {1 / math.sqrt(width):.9e} : f32
  %rows = tensor.empty() : {rows}
  %empty = tensor.empty() : {scores}
  %out = tensor.empty() : {operand}
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : {scores}) -> {scores}
  %lows = linalg.fill ins(%low : f32) outs(%rows : {rows}) -> {rows}
  %nothing = linalg.fill ins(%zero : f32) outs(%rows : {rows}) -> {rows}
  %init = linalg.fill ins(%zero : f32) outs(%out : {operand}) -> {operand}
  %s = linalg.generic {{indexing_maps = [#q, #k, #o],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%q, %k : {operand}, {operand}) outs(%zeros : {scores}) {{
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %acc, %p : f32
    linalg.yield %t : f32
  }} -> {scores}
  %scaled = linalg.generic {{indexing_maps = [#full, #full],
      iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%s : {scores}) outs(%empty : {scores}) {{
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %scale : f32
    linalg.yield %p : f32
  }} -> {scores}
  %max = linalg.generic {{indexing_maps = [#full, #row],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%scaled : {scores}) outs(%lows : {rows}) {{
  ^bb0(%a: f32, %acc: f32):
    %m = arith.maximumf %a, %acc : f32
    linalg.yield %m : f32
  }} -> {rows}
  %exp = linalg.generic {{indexing_maps = [#full, #row, #full],
      iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%scaled, %max : {scores}, {rows}) outs(%empty : {scores}) {{
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  }} -> {scores}
  %sum = linalg.generic {{indexing_maps = [#full, #row],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%exp : {scores}) outs(%nothing : {rows}) {{
  ^bb0(%a: f32, %acc: f32):
    %t = arith.addf %a, %acc : f32
    linalg.yield %t : f32
  }} -> {rows}
  %p = linalg.generic {{indexing_maps = [#full, #row, #full],
      iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%exp, %sum : {scores}, {rows}) outs(%empty : {scores}) {{
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.divf %a, %m : f32
    linalg.yield %d : f32
  }} -> {scores}
  %r = linalg.generic {{indexing_maps = [#q, #v, #o],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%p, %v : {scores}, {operand}) outs(%init : {operand}) {{
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %x = arith.mulf %a, %b : f32
    %t = arith.addf %acc, %x : f32
    linalg.yield %t : f32
  }} -> {operand}
  return %r : {operand}
}}
"""

    def expected(x: Sequence[Array]) -> list[Array]:
        q, k, v = (a.astype(np.float64) for a in x)
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(width)
        return [(_softmax(scores) @ v).astype(np.float32)]

    shape = (heads, length, width)
    return Case(
        name=f"attention_{heads}x{length}x{width}",
        family="attention",
        text=text,
        inputs=_random(shape, shape, shape),
        expected=expected,
        flops=heads * length * length * (4.0 * width + 5),
        bytes=_traffic(*[(shape, "f32")] * 4),
    )


def program(path: Path, data: Path) -> Case:
    """A program from a file, with inputs `in0`, ... and results `out0`, ... in an `.npz` file.

    What arithmetic it takes is not known here; its bytes are those of its inputs and results.
    """
    with np.load(data) as arrays:
        inputs = [arrays[f"in{i}"] for i in range(sum(n.startswith("in") for n in arrays))]
        outputs = [arrays[f"out{i}"] for i in range(sum(n.startswith("out") for n in arrays))]
    return Case(
        name=path.stem,
        family="program",
        text=path.read_text(),
        inputs=lambda: inputs,
        expected=lambda _: outputs,
        flops=0.0,
        bytes=float(sum(a.nbytes for a in (*inputs, *outputs))),
    )
