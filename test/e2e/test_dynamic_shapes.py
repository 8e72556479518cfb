"""Programs with open sizes: one bundle for every size, on both devices, against the evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from support.harness import DEVICES, Array, assert_close, bundle_for, device, rt

from ingot.compiler.driver.verify_values import reference_results
from ingot.targets.bundle import model as m
from ingot.targets.bundle.writer import write_bundle

ELEMENTWISE = """func.func @f(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %a = linalg.add ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)
      -> tensor<?x?xf32>
  %r = linalg.tanh ins(%a : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
"""

BROADCAST = """func.func @f(%x: tensor<?xf16>, %y: tensor<4x?xf16>) -> tensor<4x?xf16> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %y, %c1 : tensor<4x?xf16>
  %e = tensor.empty(%n) : tensor<4x?xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<?xf16>, tensor<4x?xf16>) outs(%e : tensor<4x?xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %s = arith.mulf %a, %b : f16
    linalg.yield %s : f16
  } -> tensor<4x?xf16>
  return %r : tensor<4x?xf16>
}
"""

MATMUL = """func.func @f(%a: tensor<?x?x{t}>, %b: tensor<?x?x{t}>) -> tensor<?x?x{t}> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant {zero} : {t}
  %m = tensor.dim %a, %c0 : tensor<?x?x{t}>
  %n = tensor.dim %b, %c1 : tensor<?x?x{t}>
  %e = tensor.empty(%m, %n) : tensor<?x?x{t}>
  %f = linalg.fill ins(%zero : {t}) outs(%e : tensor<?x?x{t}>) -> tensor<?x?x{t}>
  %r = linalg.matmul ins(%a, %b : tensor<?x?x{t}>, tensor<?x?x{t}>) outs(%f : tensor<?x?x{t}>)
      -> tensor<?x?x{t}>
  return %r : tensor<?x?x{t}>
}}
"""

# The maximum and the sum are read by all of a row: kernels of their own. The mean needs the size.
SOFTMAX = """func.func @f(%x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %ni = arith.index_cast %n : index to i32
  %nf = arith.sitofp %ni : i32 to f32
  %er = tensor.empty(%m) : tensor<?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %l = linalg.fill ins(%low : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<?x?xf32>) outs(%l : tensor<?xf32>)
      dimensions = [1]
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    %p = math.exp %s : f32
    linalg.yield %p : f32
  } -> tensor<?x?xf32>
  %sum = linalg.reduce { arith.addf } ins(%d : tensor<?x?xf32>) outs(%z : tensor<?xf32>)
      dimensions = [1]
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%d, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %mean = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%sum : tensor<?xf32>) outs(%er : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.divf %a, %nf : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r, %mean : tensor<?x?xf32>, tensor<?xf32>
}
"""

REDUCE_ALL = """func.func @f(%x: tensor<?x3xi32>) -> (tensor<i32>, tensor<3xi32>) {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<i32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %s = linalg.reduce { arith.addi } ins(%x : tensor<?x3xi32>) outs(%z : tensor<i32>)
      dimensions = [0, 1]
  %init = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %t = linalg.reduce { arith.maxsi } ins(%x : tensor<?x3xi32>) outs(%init : tensor<3xi32>)
      dimensions = [0]
  return %s, %t : tensor<i32>, tensor<3xi32>
}
"""

# Views: the sizes of what is collapsed and expanded are products and quotients.
RESHAPES = """func.func @f(%x: tensor<?x6xf32>)
    -> (tensor<?x2x3xf32>, tensor<?xf32>, tensor<?x6xf32>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x6xf32>
  %one = arith.constant 1.0 : f32
  %v = tensor.expand_shape %x [[0], [1, 2]] output_shape [%n, 2, 3]
      : tensor<?x6xf32> into tensor<?x2x3xf32>
  %e = tensor.empty(%n) : tensor<?x2x3xf32>
  %r = linalg.exp ins(%v : tensor<?x2x3xf32>) outs(%e : tensor<?x2x3xf32>) -> tensor<?x2x3xf32>
  %w = tensor.collapse_shape %r [[0, 1, 2]] : tensor<?x2x3xf32> into tensor<?xf32>
  %c = tensor.dim %w, %c0 : tensor<?xf32>
  %ew = tensor.empty(%c) : tensor<?xf32>
  %s = linalg.negf ins(%w : tensor<?xf32>) outs(%ew : tensor<?xf32>) -> tensor<?xf32>
  %en = tensor.empty(%n) : tensor<?x6xf32>
  %f = linalg.fill ins(%one : f32) outs(%en : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %r, %s, %x, %f : tensor<?x2x3xf32>, tensor<?xf32>, tensor<?x6xf32>, tensor<?x6xf32>
}
"""

GATHER = """func.func @f(%t: tensor<?x4xf32>, %i: tensor<?xi64>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %i, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<?xi64>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%a: i64, %o: f32):
    %k = arith.index_cast %a : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%k, %j] : tensor<?x4xf32>
    linalg.yield %v : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
"""

# A static product beside one of open size, which reads it transposed and a window of the input.
MIXED = """func.func @f(%x: tensor<?xf32>, %w: tensor<3x3xf32>)
    -> (tensor<?x3xf32>, tensor<3x3xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %e3 = tensor.empty() : tensor<3x3xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<3x3xf32>) -> tensor<3x3xf32>
  %ww = linalg.matmul ins(%w, %w : tensor<3x3xf32>, tensor<3x3xf32>) outs(%z3 : tensor<3x3xf32>)
      -> tensor<3x3xf32>
  %wt = linalg.transpose ins(%ww : tensor<3x3xf32>) outs(%e3 : tensor<3x3xf32>) permutation = [1, 0]
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.subi %n, %c2 : index
  %e = tensor.empty(%m) : tensor<?x3xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i + k)>,
      affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %wt : tensor<?xf32>, tensor<3x3xf32>) outs(%z : tensor<?x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x3xf32>
  return %r, %ww : tensor<?x3xf32>, tensor<3x3xf32>
}
"""


# Slices whose sizes, offsets or results are open; the size itself is a result, too.
SLICES = """func.func @f(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>)
    -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xf32>, tensor<?x?xf32>, tensor<2xi64>,
        tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %pad = arith.constant -1.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %n = tensor.dim %y, %c0 : tensor<?x4xf32>
  %half = arith.divui %m, %c2 : index
  %rest = arith.subi %m, %half : index
  %a = tensor.extract_slice %x[%half, 0] [%rest, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  %b = tensor.concat dim(0) %a, %y, %a : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>)
      -> tensor<?x4xf32>
  %last = arith.subi %m, %c1 : index
  %c = tensor.extract_slice %x[%last, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
  %d = tensor.pad %y low[%half, 1] high[%c1, %c2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %pad : f32
  } : tensor<?x4xf32> to tensor<?x?xf32>
  %mi = arith.index_cast %m : index to i64
  %ni = arith.index_cast %n : index to i64
  %e = tensor.from_elements %mi, %ni : tensor<2xi64>
  %g = tensor.insert_slice %a into %x[0, 0] [%rest, 4] [1, 1] : tensor<?x4xf32> into tensor<?x4xf32>
  return %a, %b, %c, %d, %e, %g : tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xf32>, tensor<?x?xf32>,
      tensor<2xi64>, tensor<?x4xf32>
}
"""


def real(*shape: int, dtype: str = "float32") -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32).astype(dtype)


def whole(*shape: int, dtype: str = "int32") -> Array:
    return np.random.default_rng(sum(shape)).integers(-9, 9, shape).astype(dtype)


CALLS: dict[str, tuple[str, Sequence[Sequence[Array]]]] = {
    "elementwise": (ELEMENTWISE, [[real(*s), real(*s)] for s in ((3, 5), (1, 1), (0, 4), (65, 7))]),
    "broadcast": (
        BROADCAST,
        [[real(n, dtype="float16"), real(4, n, dtype="float16")] for n in (5, 1, 100)],
    ),
    "matmul": (
        MATMUL.format(t="f32", zero="0.0"),
        [[real(m, k), real(k, n)] for m, k, n in ((3, 5, 2), (1, 1, 1), (17, 0, 4), (33, 70, 9))],
    ),
    "matmul in f16": (
        MATMUL.format(t="f16", zero="0.0"),
        [[real(m, 300, dtype="float16"), real(300, 3, dtype="float16")] for m in (2, 5)],
    ),
    "matmul in i32": (MATMUL.format(t="i32", zero="0"), [[whole(3, 4), whole(4, 5)]]),
    "softmax": (SOFTMAX, [[real(*s)] for s in ((4, 9), (1, 1), (130, 3))]),
    "reduce all": (REDUCE_ALL, [[whole(n, 3)] for n in (0, 1, 50)]),
    "reshapes": (RESHAPES, [[real(n, 6)] for n in (0, 1, 20)]),
    "gather": (
        GATHER,
        [[real(n, 4), np.arange(k, dtype=np.int64) % n] for n, k in ((3, 7), (9, 1))],
    ),
    "slices": (SLICES, [[real(m, 4), real(n, 4)] for m, n in ((5, 2), (1, 1), (8, 3))]),
    "mixed": (MIXED, [[real(n), real(3, 3)] for n in (3, 10, 2)]),
}


@cache
def program_for(text: str, device_name: str) -> rt.Program:
    return rt.loads(write_bundle(bundle_for(text, device_name))).bind(device(device_name))


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("name", CALLS)
def test_one_bundle_is_right_for_every_size(name: str, device_name: str) -> None:
    text, calls = CALLS[name]
    program = program_for(text, device_name)
    for inputs in (*calls, calls[0]):
        result = program.call("f", *inputs)
        results = list(result) if isinstance(result, tuple) else [result]
        expected = reference_results(text, "test.mlir", "f", list(inputs))
        for index, (got, want) in enumerate(zip(results, expected, strict=True)):
            want = np.asarray(want)
            assert_close(got, want.astype(got.dtype), f"{[i.shape for i in inputs]}: {index}")


@pytest.mark.parametrize(
    ("name", "inputs", "message"),
    [
        ("elementwise", [real(2, 3), real(2, 4)], "dimension 1 of argument 1 must be dimension 1"),
        ("matmul", [real(2, 3), real(4, 5)], "dimension 0 of argument 1 must be dimension 1 of"),
        ("broadcast", [real(3, dtype="float16"), real(3, 3, dtype="float16")], "expected 4x"),
        ("mixed", [real(1), real(3, 3)], "negative size"),
        ("elementwise", [real(2), real(2, 4)], r"expected \?x\?xf32 \(float32\), got shape 2"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(name: str, inputs: list[Array], message: str) -> None:
    with pytest.raises(rt.ArgumentError, match=message):
        program_for(CALLS[name][0], "host").call("f", *inputs)


def test_an_assert_about_sizes_is_checked() -> None:
    text = ELEMENTWISE.replace(
        "  %e =",
        """  %equal = arith.cmpi eq, %m, %n : index
  cf.assert %equal, "only squares"
  %e =""",
    )
    program = program_for(text, "host")
    assert program.call("f", real(3, 3), real(3, 3)).shape == (3, 3)
    with pytest.raises(rt.ArgumentError, match="only squares"):
        program.call("f", real(3, 4), real(3, 4))


def test_one_epilogue_is_one_kernel() -> None:
    """A chain of elementwise ops behind a product is computed where it is stored."""
    text = MATMUL.format(t="f32", zero="0.0").replace(
        "  return %r",
        """  %t = linalg.tanh ins(%r : tensor<?x?xf32>) outs(%g : tensor<?x?xf32>)
      -> tensor<?x?xf32>
  return %t""",
    )
    # A size that is asked of the product does not make a buffer of it.
    size = (
        "  %q = tensor.dim %r, %c0 : tensor<?x?xf32>\n  %g = tensor.empty(%q, %n) : tensor<?x?xf32>"
    )
    text = text.replace("  %t =", f"{size}\n  %t =")
    (variant,) = bundle_for(text, "host").variants
    assert len(variant.kernels) == 1
    assert sum(isinstance(c, m.Dispatch) for c in variant.bodies[0].commands) == 1
