"""Attention in one kernel: any length, head and type, and rows that are masked whole."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.harness import DEVICES, Array, bundle_for, run

TYPES: dict[str, Any] = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


def program(q: int, k: int, d: int, e: int, mask: str, type_: str = "f32") -> str:
    """Attention of q queries over k keys with heads of d, and values of e, in batches of 2 x 3."""
    scores, row = f"tensor<2x3x{q}x{k}x{type_}>", f"tensor<2x3x{q}x{type_}>"
    values = f"tensor<2x3x{k}x{e}x{type_}>"
    infinity = {"f32": "0xFF800000", "f16": "0xFC00", "bf16": "0xFF80"}[type_]
    return f"""
func.func @main(%q: tensor<2x3x{q}x{d}x{type_}>, %k: tensor<2x3x{k}x{d}x{type_}>, %v: {values},
    %m: tensor<{q}x{k}xi1>) -> tensor<2x{q}x3x{e}x{type_}> {{
  %none = stablehlo.constant dense<{infinity}> : tensor<{type_}>
  %zero = stablehlo.constant dense<0.0> : tensor<{type_}>
  %nones = stablehlo.broadcast_in_dim %none, dims = [] : (tensor<{type_}>) -> {scores}
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<{type_}>) -> {scores}
  %true = stablehlo.constant dense<true> : tensor<i1>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1],
      contracting_dims = [3] x [3]
      : (tensor<2x3x{q}x{d}x{type_}>, tensor<2x3x{k}x{d}x{type_}>) -> {scores}
  %i = stablehlo.iota dim = 2 : tensor<2x3x{q}x{k}xi32>
  %j = stablehlo.iota dim = 3 : tensor<2x3x{q}x{k}xi32>
  %causal = stablehlo.compare GE, %i, %j : (tensor<2x3x{q}x{k}xi32>, tensor<2x3x{q}x{k}xi32>)
      -> tensor<2x3x{q}x{k}xi1>
  %given = stablehlo.broadcast_in_dim %m, dims = [2, 3] : (tensor<{q}x{k}xi1>)
      -> tensor<2x3x{q}x{k}xi1>
  %x = stablehlo.select %{mask}, %s, %nones : tensor<2x3x{q}x{k}xi1>, {scores}
  %most = stablehlo.reduce(%x init: %none) applies stablehlo.maximum across dimensions = [3]
      : ({scores}, tensor<{type_}>) -> {row}
  %mosts = stablehlo.broadcast_in_dim %most, dims = [0, 1, 2] : ({row}) -> {scores}
  %y = stablehlo.subtract %x, %mosts : {scores}
  %e = stablehlo.exponential %y : {scores}
  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3]
      : ({scores}, tensor<{type_}>) -> {row}
  %ts = stablehlo.broadcast_in_dim %t, dims = [0, 1, 2] : ({row}) -> {scores}
  %w = stablehlo.divide %e, %ts : {scores}
  %hidden = stablehlo.compare EQ, %x, %nones : ({scores}, {scores}) -> tensor<2x3x{q}x{k}xi1>
  %all = stablehlo.reduce(%hidden init: %true) applies stablehlo.and across dimensions = [3]
      : (tensor<2x3x{q}x{k}xi1>, tensor<i1>) -> tensor<2x3x{q}xi1>
  %alls = stablehlo.broadcast_in_dim %all, dims = [0, 1, 2] : (tensor<2x3x{q}xi1>)
      -> tensor<2x3x{q}x{k}xi1>
  %safe = stablehlo.select %alls, %zeros, %w : tensor<2x3x{q}x{k}xi1>, {scores}
  %o = stablehlo.dot_general %WEIGHTS, %v, batching_dims = [0, 1] x [0, 1],
      contracting_dims = [3] x [2] : ({scores}, {values}) -> tensor<2x3x{q}x{e}x{type_}>
  %r = stablehlo.transpose %o, dims = [0, 2, 1, 3] : (tensor<2x3x{q}x{e}x{type_}>)
      -> tensor<2x{q}x3x{e}x{type_}>
  return %r : tensor<2x{q}x3x{e}x{type_}>
}}
"""


def expected(q: Array, k: Array, v: Array, mask: Array, *, safe: bool) -> Array:
    """The same in float64."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    with np.errstate(invalid="ignore"):
        x = np.where(mask, np.einsum("bhqd,bhkd->bhqk", q, k), -np.inf)
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if safe:
            w = np.where(np.all(x == -np.inf, axis=-1, keepdims=True), 0, w)
        return np.einsum("bhqk,bhke->bqhe", w, v)


def check(sizes: tuple[int, int, int, int], type_: str, mask: str, safe: bool, device: str) -> None:
    q, k, d, e = sizes
    rng = np.random.default_rng(sum(sizes))
    dtype = TYPES[type_]
    arrays = [
        (rng.standard_normal((2, 3, n, m)) / np.sqrt(m)).astype(dtype)
        for n, m in ((q, d), (k, d), (k, e))
    ]
    given = rng.random((q, k)) < 0.7
    given[q // 2] = False  # a row that is masked whole
    text = program(q, k, d, e, mask, type_).replace("WEIGHTS", "safe" if safe else "w")
    (function,) = bundle_for(text, device).variants[0].bodies
    assert len(function.commands) == 1, "attention is one dispatch"
    (result,) = run(text, device, [*arrays, given])
    shown = np.tril(np.ones((q, k), bool)) if mask == "causal" else given
    wanted = expected(*arrays, shown, safe=safe)
    got = np.asarray(result, dtype=np.float64)
    assert np.array_equal(np.isnan(got), np.isnan(wanted))
    tolerance = {"f32": 2e-6, "f16": 4e-3, "bf16": 3e-2}[type_]
    np.testing.assert_allclose(got, wanted, rtol=0, atol=tolerance)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "sizes",
    [(64, 64, 32, 32), (2, 200, 16, 16), (70, 33, 20, 7), (9, 131, 128, 64), (40, 3, 5, 128)],
    ids=str,
)
def test_any_length_and_head(sizes: tuple[int, int, int, int], device: str) -> None:
    check(sizes, "f32", "given", False, device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("mask", "safe"), [("causal", False), ("given", True)])
def test_masks(mask: str, safe: bool, device: str) -> None:
    check((24, 50, 16, 16), "f32", mask, safe, device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_sums_are_accumulated_in_f32(type_: str, device: str) -> None:
    check((16, 300, 16, 24), type_, "given", True, device)


PRODUCTS = """
func.func @main(%x: tensor<21x36xf32>, %w: tensor<36x50xf32>, %b: tensor<50xf32>,
                %u: tensor<50x10xf32>, %c: tensor<10xf32>) -> tensor<21x10xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<21x36xf32>, tensor<36x50xf32>) -> tensor<21x50xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<50xf32>) -> tensor<21x50xf32>
  %2 = stablehlo.add %0, %1 : tensor<21x50xf32>
  %3 = stablehlo.tanh %2 : tensor<21x50xf32>
  %4 = stablehlo.dot_general %3, %u, contracting_dims = [1] x [0]
      : (tensor<21x50xf32>, tensor<50x10xf32>) -> tensor<21x10xf32>
  %5 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<10xf32>) -> tensor<21x10xf32>
  %6 = stablehlo.add %4, %5 : tensor<21x10xf32>
  return %6 : tensor<21x10xf32>
}
"""


@pytest.mark.parametrize("device", DEVICES)
def test_two_small_products_are_one_dispatch(device: str) -> None:
    rng = np.random.default_rng(0)
    shapes = [(21, 36), (36, 50), (50,), (50, 10), (10,)]
    x, w, b, u, c = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    (function,) = bundle_for(PRODUCTS, device).variants[0].bodies
    assert len(function.commands) == 1
    (result,) = run(PRODUCTS, device, [x, w, b, u, c])
    np.testing.assert_allclose(result, np.tanh(x @ w + b) @ u + c, rtol=0, atol=2e-5)


KEYS_OF_ROWS = """
func.func @main(%q: tensor<18x8xf32>, %r: tensor<18x40x8xf32>, %v: tensor<40x12xf32>)
    -> (tensor<18x12xf32>, tensor<18x12xf32>) {
  %0 = stablehlo.dot_general %q, %r, batching_dims = [0] x [0], contracting_dims = [1] x [2]
      : (tensor<18x8xf32>, tensor<18x40x8xf32>) -> tensor<18x40xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %low) applies stablehlo.maximum across dimensions = [1]
      : (tensor<18x40xf32>, tensor<f32>) -> tensor<18xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<18xf32>) -> tensor<18x40xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<18x40xf32>
  %4 = stablehlo.exponential %3 : tensor<18x40xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<18x40xf32>, tensor<f32>) -> tensor<18xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<18xf32>) -> tensor<18x40xf32>
  %7 = stablehlo.divide %4, %6 : tensor<18x40xf32>
  %8 = stablehlo.dot_general %7, %v, contracting_dims = [1] x [0]
      : (tensor<18x40xf32>, tensor<40x12xf32>) -> tensor<18x12xf32>
  %9 = stablehlo.dot_general %q, %r, batching_dims = [0] x [0], contracting_dims = [1] x [2]
      : (tensor<18x8xf32>, tensor<18x40x8xf32>) -> tensor<18x40xf32>
  %10 = stablehlo.tanh %9 : tensor<18x40xf32>
  %11 = stablehlo.dot_general %10, %v, contracting_dims = [1] x [0]
      : (tensor<18x40xf32>, tensor<40x12xf32>) -> tensor<18x12xf32>
  return %8, %11 : tensor<18x12xf32>, tensor<18x12xf32>
}
"""
"""Every query has keys of its own, as with positions that are relative to it."""


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("result", [0, 1])
def test_keys_of_each_row(device: str, result: int) -> None:
    rng = np.random.default_rng(0)
    shapes = [(18, 8), (18, 40, 8), (40, 12)]
    q, r, v = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    kept = "%8" if result == 0 else "%11"
    text = KEYS_OF_ROWS.replace("(tensor<18x12xf32>, tensor<18x12xf32>) {", "tensor<18x12xf32> {")
    text = text.replace("%8, %11 : tensor<18x12xf32>,", f"{kept} :")
    scores = np.einsum("id,ijd->ij", q.astype(np.float64), r)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    (got,) = run(text, device, [q, r, v])
    expected = (weights if result == 0 else np.tanh(scores)) @ v
    np.testing.assert_allclose(got, expected, rtol=0, atol=2e-5)
