"""linalg ops against NumPy written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ingot.compiler.interpreter import EvaluationError

RNG = np.random.default_rng(0)


def floats(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def test_argmax_with_two_results(run: Any) -> None:
    text = """
    #map = affine_map<(d0, d1) -> (d0, d1)>
    #map1 = affine_map<(d0, d1) -> (d0)>
    func.func @main(%x: tensor<3x17xf32>) -> (tensor<3xf32>, tensor<3xi32>) {
      %c0 = arith.constant 0 : i32
      %cst = arith.constant 0xFF800000 : f32
      %e0 = tensor.empty() : tensor<3xf32>
      %e1 = tensor.empty() : tensor<3xi32>
      %f0 = linalg.fill ins(%cst : f32) outs(%e0 : tensor<3xf32>) -> tensor<3xf32>
      %f1 = linalg.fill ins(%c0 : i32) outs(%e1 : tensor<3xi32>) -> tensor<3xi32>
      %r:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<3x17xf32>) outs(%f0, %f1 : tensor<3xf32>, tensor<3xi32>) {
      ^bb0(%in: f32, %best: f32, %at: i32):
        %i = linalg.index 1 : index
        %i32 = arith.index_cast %i : index to i32
        %more = arith.cmpf ogt, %in, %best : f32
        %v = arith.select %more, %in, %best : f32
        %k = arith.select %more, %i32, %at : i32
        linalg.yield %v, %k : f32, i32
      } -> (tensor<3xf32>, tensor<3xi32>)
      return %r#0, %r#1 : tensor<3xf32>, tensor<3xi32>
    }"""  # noqa: E501
    x = floats(3, 17)
    values, indices = run(text, x)
    np.testing.assert_array_equal(values, x.max(axis=1))
    np.testing.assert_array_equal(indices, x.argmax(axis=1))


def test_convolution_with_strides_and_dilations(run: Any) -> None:
    text = """
    func.func @main(%x: tensor<2x9x11x3xf32>, %k: tensor<3x2x3x4xf32>, %o: tensor<2x3x10x4xf32>)
        -> tensor<2x3x10x4xf32> {
      %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<[2, 1]> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>}
          ins(%x, %k : tensor<2x9x11x3xf32>, tensor<3x2x3x4xf32>)
          outs(%o : tensor<2x3x10x4xf32>) -> tensor<2x3x10x4xf32>
      return %r : tensor<2x3x10x4xf32>
    }"""  # noqa: E501
    x, k, o = floats(2, 9, 11, 3), floats(3, 2, 3, 4), floats(2, 3, 10, 4)
    expected = o.astype(np.float64)
    for kh in range(3):
        for kw in range(2):
            window = x[:, 2 * kh : 2 * kh + 5 : 2, kw : kw + 10]
            expected += np.einsum("nhwc,cf->nhwf", window, k[kh, kw])
    np.testing.assert_allclose(run(text, x, k, o)[0], expected, rtol=1e-5, atol=1e-5)


def test_maps_with_division_and_remainder(run: Any) -> None:
    text = """
    func.func @main(%x: tensor<3x4xf32>, %o: tensor<12xf32>) -> tensor<12xf32> {
      %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
          ins(%x : tensor<3x4xf32>) outs(%o : tensor<12xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<12xf32>
      return %r : tensor<12xf32>
    }"""  # noqa: E501
    x = floats(3, 4)
    np.testing.assert_array_equal(run(text, x, floats(12))[0], x.reshape(12))


def test_output_map_that_permutes(run: Any) -> None:
    text = """
    func.func @main(%x: tensor<3x5xf32>, %o: tensor<5x3xf32>) -> tensor<5x3xf32> {
      %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<3x5xf32>) outs(%o : tensor<5x3xf32>) {
      ^bb0(%in: f32, %out: f32):
        %s = arith.addf %in, %out : f32
        linalg.yield %s : f32
      } -> tensor<5x3xf32>
      return %r : tensor<5x3xf32>
    }"""  # noqa: E501
    x, o = floats(3, 5), floats(5, 3)
    np.testing.assert_array_equal(run(text, x, o)[0], x.T + o)


@pytest.mark.parametrize(
    ("combine", "reduce"),
    [("addi", np.add.reduce), ("muli", np.multiply.reduce), ("maxsi", np.maximum.reduce),
     ("andi", np.bitwise_and.reduce), ("xori", np.bitwise_xor.reduce)],
)  # fmt: skip
def test_integer_reductions_wrap(run: Any, combine: str, reduce: Any) -> None:
    text = f"""
    func.func @main(%x: tensor<4x9xi8>, %o: tensor<4xi8>) -> tensor<4xi8> {{
      %r = linalg.reduce {{ arith.{combine} }} ins(%x : tensor<4x9xi8>) outs(%o : tensor<4xi8>) dimensions = [1]
      return %r : tensor<4xi8>
    }}"""  # noqa: E501
    x = RNG.integers(-128, 127, (4, 9)).astype(np.int8)
    o = RNG.integers(-128, 127, 4).astype(np.int8)
    expected = reduce(np.concatenate([o[:, None], x], axis=1), axis=1, dtype=np.int8)
    np.testing.assert_array_equal(run(text, x, o)[0], expected)


def test_contraction_of_booleans_is_modulo_two(run: Any) -> None:
    text = """
    func.func @main(%a: tensor<2x3xi1>, %b: tensor<3x2xi1>, %c: tensor<2x2xi1>) -> tensor<2x2xi1> {
      %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<2x3xi1>, tensor<3x2xi1>) outs(%c : tensor<2x2xi1>) {
      ^bb0(%x: i1, %y: i1, %acc: i1):
        %p = arith.muli %x, %y : i1
        %s = arith.addi %acc, %p : i1
        linalg.yield %s : i1
      } -> tensor<2x2xi1>
      return %r : tensor<2x2xi1>
    }"""  # noqa: E501
    a = np.array([[True, True, True], [False, True, True]])
    c = np.array([[False, True], [True, False]])
    expected = (a.astype(int) @ a.T.astype(int) + c) % 2 == 1
    np.testing.assert_array_equal(run(text, a, a.T.copy(), c)[0], expected)


def test_reduction_over_booleans(run: Any) -> None:
    text = """
    func.func @main(%x: tensor<2x3xi1>, %o: tensor<2xi1>) -> tensor<2xi1> {
      %r = linalg.reduce { arith.ori } ins(%x : tensor<2x3xi1>) outs(%o : tensor<2xi1>) dimensions = [1]
      return %r : tensor<2xi1>
    }"""  # noqa: E501
    x = np.array([[False, True, False], [False, False, False]])
    np.testing.assert_array_equal(run(text, x, np.array([False, False]))[0], [True, False])


def test_zero_sized_reduction_leaves_the_initial_value(run: Any) -> None:
    text = """
    func.func @main(%x: tensor<3x0xf32>, %o: tensor<3xf32>) -> tensor<3xf32> {
      %r = linalg.reduce { arith.addf } ins(%x : tensor<3x0xf32>) outs(%o : tensor<3xf32>) dimensions = [1]
      return %r : tensor<3xf32>
    }"""  # noqa: E501
    o = floats(3)
    np.testing.assert_array_equal(run(text, floats(3, 0), o)[0], o)


def test_rank_zero(run: Any) -> None:
    text = """
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %e = tensor.empty() : tensor<f32>
      %r = linalg.map { math.exp } ins(%x : tensor<f32>) outs(%e : tensor<f32>)
      return %r : tensor<f32>
    }"""
    np.testing.assert_allclose(run(text, floats())[0].shape, ())


def test_body_that_is_not_a_fold_runs_in_order(run: Any) -> None:
    text = """
    func.func @main(%x: tensor<5xf32>, %o: tensor<f32>) -> tensor<f32> {
      %r = linalg.reduce ins(%x : tensor<5xf32>) outs(%o : tensor<f32>) dimensions = [0]
        (%in: f32, %acc: f32) {
          %half = arith.mulf %acc, %acc : f32
          %s = arith.subf %in, %half : f32
          linalg.yield %s : f32
        }
      return %r : tensor<f32>
    }"""
    x = floats(5)
    expected = np.float32(0)
    for value in x:
        expected = value - expected * expected
    np.testing.assert_allclose(run(text, x, np.zeros((), np.float32))[0], expected, rtol=1e-6)


def test_gather_in_a_body(run: Any) -> None:
    text = """
    func.func @main(%table: tensor<7x4xf32>, %ids: tensor<5xi32>) -> tensor<5x4xf32> {
      %e = tensor.empty() : tensor<5x4xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
          ins(%ids : tensor<5xi32>) outs(%e : tensor<5x4xf32>) {
      ^bb0(%id: i32, %out: f32):
        %i = arith.index_cast %id : i32 to index
        %j = linalg.index 1 : index
        %v = tensor.extract %table[%i, %j] : tensor<7x4xf32>
        linalg.yield %v : f32
      } -> tensor<5x4xf32>
      return %r : tensor<5x4xf32>
    }"""  # noqa: E501
    table, ids = floats(7, 4), np.array([6, 0, 3, 3, 1], np.int32)
    np.testing.assert_array_equal(run(text, table, ids)[0], table[ids])
    with pytest.raises(EvaluationError, match="outside"):
        run(text, table, np.array([7, 0, 0, 0, 0], np.int32))


def test_branches_read_only_where_they_are_taken(run: Any) -> None:
    text = """
    #trait = {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    func.func @main(%x: tensor<4xf32>) -> tensor<6xf32> {
      %e = tensor.empty() : tensor<6xf32>
      %c4 = arith.constant 4 : index
      %zero = arith.constant 0.0 : f32
      %r = linalg.generic #trait outs(%e : tensor<6xf32>) {
      ^bb0(%out: f32):
        %i = linalg.index 0 : index
        %inside = arith.cmpi slt, %i, %c4 : index
        %v = scf.if %inside -> (f32) {
          %y = tensor.extract %x[%i] : tensor<4xf32>
          scf.yield %y : f32
        } else {
          scf.yield %zero : f32
        }
        linalg.yield %v : f32
      } -> tensor<6xf32>
      return %r : tensor<6xf32>
    }"""
    x = floats(4)
    np.testing.assert_array_equal(run(text, x)[0], [*x, 0, 0])


def test_blocks_of_a_large_op_agree_with_the_whole(run: Any, monkeypatch: Any) -> None:
    from ingot.compiler.interpreter import structured

    text = """
    func.func @main(%x: tensor<40x30xf32>, %b: tensor<30xf32>, %s: tensor<40xf32>)
        -> (tensor<40x30xindex>, tensor<40xf32>) {
      %e = tensor.empty() : tensor<40x30xindex>
      %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
          outs(%e : tensor<40x30xindex>) {
      ^bb0(%out: index):
        %i = linalg.index 0 : index
        %j = linalg.index 1 : index
        %k = arith.muli %i, %j : index
        linalg.yield %k : index
      } -> tensor<40x30xindex>
      %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
          ins(%x, %b : tensor<40x30xf32>, tensor<30xf32>) outs(%s : tensor<40xf32>) {
      ^bb0(%a: f32, %c: f32, %acc: f32):
        %d = arith.subf %a, %c : f32
        %n = arith.addf %acc, %d : f32
        linalg.yield %n : f32
      } -> tensor<40xf32>
      return %r, %t : tensor<40x30xindex>, tensor<40xf32>
    }"""  # noqa: E501
    monkeypatch.setattr(structured, "_BLOCK_ELEMENTS", 64)
    x, b, s = floats(40, 30), floats(30), floats(40)
    products, sums = run(text, x, b, s)
    np.testing.assert_array_equal(products, np.outer(np.arange(40), np.arange(30)))
    expected = (x - b).astype(np.float64).sum(axis=1) + s
    np.testing.assert_allclose(sums, expected, rtol=1e-5, atol=1e-6)


def test_operand_read_outside_is_an_error(run: Any) -> None:
    text = """
    func.func @main(%x: tensor<?xf32>, %o: tensor<3xf32>) -> tensor<3xf32> {
      %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 + 1)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
          ins(%x : tensor<?xf32>) outs(%o : tensor<3xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<3xf32>
      return %r : tensor<3xf32>
    }"""  # noqa: E501
    x = floats(4)
    np.testing.assert_array_equal(run(text, x, floats(3))[0], x[1:])
    with pytest.raises(EvaluationError, match="is read from 1 to 3"):
        run(text, floats(3), floats(3))


def test_insertion_into_a_scalar_tensor(run: Any) -> None:
    text = """func.func @main(%x: tensor<f32>, %y: tensor<2xf32>) -> tensor<f32> {
  %z = tensor.extract_slice %y[1] [1] [1] : tensor<2xf32> to tensor<f32>
  %s = tensor.extract_slice %x[] [] [] : tensor<f32> to tensor<f32>
  %r = tensor.insert_slice %z into %s[] [] [] : tensor<f32> into tensor<f32>
  return %r : tensor<f32>
}"""
    (result,) = run(text, np.array(1, np.float32), np.array([2, 3], np.float32))
    assert result == np.float32(3)
