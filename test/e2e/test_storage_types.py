"""Types that are only stored: i4 two to a byte, unsigned integers, and what is refused."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from support.harness import DEVICES, bundle_for, run

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.targets.bundle.model import DType

both_devices = pytest.mark.parametrize("device_name", DEVICES)

QUANTIZED = """
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#s = affine_map<(m, n, k) -> (n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @main(%x: tensor<5x64xf32>, %w: tensor<7x64xi4>, %scale: tensor<7xf32>)
    -> tensor<5x7xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x7xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #s, #c],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w, %scale : tensor<5x64xf32>, tensor<7x64xi4>, tensor<7xf32>)
      outs(%i : tensor<5x7xf32>) {
  ^bb0(%v: f32, %q: i4, %t: f32, %acc: f32):
    %u = arith.extui %q : i4 to i32
    %eight = arith.constant 8 : i32
    %n = arith.subi %u, %eight : i32
    %f = arith.sitofp %n : i32 to f32
    %g = arith.mulf %f, %t : f32
    %p = arith.mulf %v, %g : f32
    %sum = arith.addf %acc, %p : f32
    linalg.yield %sum : f32
  } -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}
"""


@both_devices
def test_packed_weights_are_unpacked_in_the_kernel(device_name: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((5, 64)).astype(np.float32)
    w = rng.integers(-8, 8, (7, 64)).astype(np.int8)
    scale = rng.random(7).astype(np.float32)
    (got,) = run(QUANTIZED, device_name, [x, w.astype(ml_dtypes.int4), scale])
    unsigned = (w & 15).astype(np.float64)
    exact = x.astype(np.float64) @ ((unsigned - 8) * scale[:, None]).T
    np.testing.assert_allclose(got, exact, rtol=1e-5, atol=1e-4)


def test_the_bundle_says_i4() -> None:
    (function,) = bundle_for(QUANTIZED, "host").functions
    assert function.arguments[1].dtype is DType.I4
    assert function.arguments[1].shape == (7, 64)
    assert function.arguments[1].byte_size == 7 * 32


ARITHMETIC = """
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<3x5xi4>, %y: tensor<3x5xi4>)
    -> (tensor<3x5xi4>, tensor<3x5xi32>, tensor<3x5xi4>, tensor<3x5xf32>, tensor<3xi4>) {
  %e = tensor.empty() : tensor<3x5xi4>
  %e32 = tensor.empty() : tensor<3x5xi32>
  %ef = tensor.empty() : tensor<3x5xf32>
  %table = arith.constant dense<[7, -8, 3]> : tensor<3xi4>
  %all:4 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<3x5xi4>, tensor<3x5xi4>)
      outs(%e, %e32, %e, %ef : tensor<3x5xi4>, tensor<3x5xi32>, tensor<3x5xi4>, tensor<3x5xf32>) {
  ^bb0(%a: i4, %b: i4, %o0: i4, %o1: i32, %o2: i4, %o3: f32):
    %s = arith.addi %a, %b : i4
    %w = arith.extsi %a : i4 to i32
    %wb = arith.extsi %b : i4 to i32
    %p = arith.muli %w, %wb : i32
    %t = arith.trunci %p : i32 to i4
    %f = arith.uitofp %b : i4 to f32
    linalg.yield %s, %p, %t, %f : i4, i32, i4, f32
  } -> (tensor<3x5xi4>, tensor<3x5xi32>, tensor<3x5xi4>, tensor<3x5xf32>)
  return %all#0, %all#1, %all#2, %all#3, %table : tensor<3x5xi4>, tensor<3x5xi32>,
    tensor<3x5xi4>, tensor<3x5xf32>, tensor<3xi4>
}
"""


@both_devices
def test_i4_wraps_and_keeps_its_sign(device_name: str) -> None:
    rng = np.random.default_rng(1)
    x, y = (rng.integers(-8, 8, (3, 5)).astype(np.int8) for _ in range(2))
    got = run(ARITHMETIC, device_name, [x.astype(ml_dtypes.int4), y.astype(ml_dtypes.int4)])

    def wrapped(values: np.ndarray) -> np.ndarray:
        return ((values + 8) & 15) - 8

    assert got[0].dtype == ml_dtypes.int4
    np.testing.assert_array_equal(got[0].astype(np.int8), wrapped(x + y))
    product = x.astype(np.int32) * y
    np.testing.assert_array_equal(got[1], product)
    np.testing.assert_array_equal(got[2].astype(np.int32), wrapped(product))
    np.testing.assert_array_equal(got[3], (y & 15).astype(np.float32))
    assert got[4].astype(int).tolist() == [7, -8, 3]


@both_devices
@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_unsigned_signatures(device_name: str, width: int) -> None:
    text = f"""
      func.func @main(%x: tensor<4xui{width}>) -> tensor<4xui{width}> {{
        %a = tensor.bitcast %x : tensor<4xui{width}> to tensor<4xi{width}>
        %e = tensor.empty() : tensor<4xi{width}>
        %q = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
            iterator_types = ["parallel"]}}
            ins(%a : tensor<4xi{width}>) outs(%e : tensor<4xi{width}>) {{
        ^bb0(%v: i{width}, %o: i{width}):
          %three = arith.constant 3 : i{width}
          %r = arith.divui %v, %three : i{width}
          linalg.yield %r : i{width}
        }} -> tensor<4xi{width}>
        %b = tensor.bitcast %q : tensor<4xi{width}> to tensor<4xui{width}>
        return %b : tensor<4xui{width}>
      }}"""
    top = (1 << width) - 1
    x = np.array([top, 7, 0, top - 5], f"uint{width}")
    (got,) = run(text, device_name, [x])
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(got, x // 3)


def unary(op: str, type_: str) -> str:
    return f"""
      func.func @main(%x: tensor<4x{type_}>) -> tensor<4x{type_}> {{
        %e = tensor.empty() : tensor<4x{type_}>
        %r = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
            iterator_types = ["parallel"]}}
            ins(%x : tensor<4x{type_}>) outs(%e : tensor<4x{type_}>) {{
        ^bb0(%v: {type_}, %o: {type_}):
          %y = {op} : {type_}
          linalg.yield %y : {type_}
        }} -> tensor<4x{type_}>
        return %r : tensor<4x{type_}>
      }}"""


@pytest.mark.parametrize(
    ("op", "type_", "message"),
    [
        ("arith.divsi %v, %v", "i4", "arith.divsi on i4 is not supported"),
        ("arith.negf %v", "f64", "argument 0 is f64, which no target has"),
        ("arith.negf %v", "f80", "elements of type f80 are not supported"),
        ("arith.addi %v, %v", "i24", "elements of type i24 are not supported"),
        ("arith.addi %v, %v", "i128", "elements of type i128 are not supported"),
        ("arith.negf %v", "f8E4M3FN", "elements of type f8E4M3FN are not supported"),
    ],
)
def test_what_no_device_has_is_refused(op: str, type_: str, message: str) -> None:
    with pytest.raises(Refusal, match=message):
        bundle_for(unary(op, type_), "host")


@both_devices
def test_tensors_of_index(device_name: str) -> None:
    text = """
      func.func @main(%x: tensor<5xindex>) -> (tensor<5xindex>, tensor<5xindex>) {
        %e = tensor.empty() : tensor<5xindex>
        %table = arith.constant dense<[5, 4, 3, 2, 1]> : tensor<5xindex>
        %r:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>,
            affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
            ins(%x : tensor<5xindex>) outs(%e, %e : tensor<5xindex>, tensor<5xindex>) {
        ^bb0(%v: index, %o: index, %p: index):
          %i = linalg.index 0 : index
          %t = tensor.extract %table[%i] : tensor<5xindex>
          %s = arith.muli %v, %t : index
          %q = arith.floordivsi %v, %i : index
          linalg.yield %s, %q : index, index
        } -> (tensor<5xindex>, tensor<5xindex>)
        return %r#0, %r#1 : tensor<5xindex>, tensor<5xindex>
      }"""
    x = np.array([1 << 40, -7, -7, 7, 1 << 62], np.int64)
    products, quotients = run(text, device_name, [x])
    np.testing.assert_array_equal(products, x * np.array([5, 4, 3, 2, 1]))
    assert quotients.tolist() == [-1, -7, -4, 2, 1 << 60]
