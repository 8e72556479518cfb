"""Loops, calls, slices and scans."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.interpreter import EvaluationError


def test_loop_carries_tensors(run: Any) -> None:
    text = """
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
        %b = linalg.add ins(%a, %x : tensor<4xf32>, tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
        scf.yield %b : tensor<4xf32>
      }
      return %r : tensor<4xf32>
    }"""  # noqa: E501
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(run(text, x)[0], 4 * x)


def test_while_loop_in_a_body_ends_for_each_element(run: Any) -> None:
    text = """
    func.func @main(%x: tensor<5xi32>) -> tensor<5xi32> {
      %e = tensor.empty() : tensor<5xi32>
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      %r = linalg.map ins(%x : tensor<5xi32>) outs(%e : tensor<5xi32>) (%in: i32) {
        %n:2 = scf.while (%v = %in, %count = %zero) : (i32, i32) -> (i32, i32) {
          %more = arith.cmpi sgt, %v, %one : i32
          scf.condition(%more) %v, %count : i32, i32
        } do {
        ^bb0(%v: i32, %count: i32):
          %half = arith.divsi %v, %two : i32
          %next = arith.addi %count, %one : i32
          scf.yield %half, %next : i32, i32
        }
        linalg.yield %n#1 : i32
      }
      return %r : tensor<5xi32>
    }"""
    x = np.array([1, 2, 9, 1000, -5], np.int32)
    np.testing.assert_array_equal(run(text, x)[0], [0, 1, 3, 9, 0])


def test_loop_in_a_body_with_bounds_of_each_element(run: Any) -> None:
    text = """
    func.func @main(%x: tensor<4xindex>) -> tensor<4xindex> {
      %e = tensor.empty() : tensor<4xindex>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r = linalg.map ins(%x : tensor<4xindex>) outs(%e : tensor<4xindex>) (%in: index) {
        %s = scf.for %i = %c0 to %in step %c1 iter_args(%a = %c0) -> (index) {
          %b = arith.addi %a, %i : index
          scf.yield %b : index
        }
        linalg.yield %s : index
      }
      return %r : tensor<4xindex>
    }"""
    np.testing.assert_array_equal(run(text, np.array([0, 1, 4, 10]))[0], [0, 0, 6, 45])


def test_forall_inserts_the_slices(run: Any) -> None:
    text = """
    func.func @main(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
      %e = tensor.empty() : tensor<6x4xf32>
      %r = scf.forall (%i) = (0) to (6) step (2) shared_outs(%o = %e) -> (tensor<6x4xf32>) {
        %s = tensor.extract_slice %x[%i, 0] [2, 4] [1, 1] : tensor<6x4xf32> to tensor<2x4xf32>
        %d = tensor.extract_slice %o[%i, 0] [2, 4] [1, 1] : tensor<6x4xf32> to tensor<2x4xf32>
        %t = linalg.exp ins(%s : tensor<2x4xf32>) outs(%d : tensor<2x4xf32>) -> tensor<2x4xf32>
        scf.forall.in_parallel {
          tensor.parallel_insert_slice %t into %o[%i, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<6x4xf32>
        }
      }
      return %r : tensor<6x4xf32>
    }"""  # noqa: E501
    x = np.linspace(-1, 1, 24, dtype=np.float32).reshape(6, 4)
    np.testing.assert_allclose(run(text, x)[0], np.exp(x), rtol=1e-6)


def test_slices_pads_and_insertions(run: Any) -> None:
    text = """
    func.func @main(%x: tensor<4x6xf32>, %k: index) -> (tensor<3xf32>, tensor<6x6xf32>, tensor<4x6xf32>) {
      %zero = arith.constant 0.0 : f32
      %a = tensor.extract_slice %x[%k, 1] [1, 3] [1, 2] : tensor<4x6xf32> to tensor<3xf32>
      %b = tensor.pad %x low[2, -1] high[0, 1] {
      ^bb0(%i: index, %j: index):
        tensor.yield %zero : f32
      } : tensor<4x6xf32> to tensor<6x6xf32>
      %c = tensor.insert_slice %a into %x[0, 2] [1, 3] [1, 1] : tensor<3xf32> into tensor<4x6xf32>
      return %a, %b, %c : tensor<3xf32>, tensor<6x6xf32>, tensor<4x6xf32>
    }"""  # noqa: E501
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    a, b, c = run(text, x, np.array(2))
    np.testing.assert_array_equal(a, x[2, 1:6:2])
    np.testing.assert_array_equal(b, np.pad(x[:, 1:], ((2, 0), (0, 1))))
    expected = x.copy()
    expected[0, 2:5] = a
    np.testing.assert_array_equal(c, expected)
    with pytest.raises(EvaluationError, match="reaches"):
        run(text, x, np.array(4))


@pytest.mark.parametrize("inclusive", [True, False])
def test_scan(run: Any, inclusive: bool) -> None:
    flag = "inclusive " if inclusive else ""
    text = f"""
    func.func @main(%x: tensor<3x5xf32>, %i: tensor<3xf32>) -> (tensor<3x5xf32>, tensor<3xf32>) {{
      %e = tensor.empty() : tensor<3x5xf32>
      %s, %l = ingot.scan {flag}dimension = 1 ins(%x : tensor<3x5xf32>)
          outs(%e, %i : tensor<3x5xf32>, tensor<3xf32>) {{
      ^bb0(%acc: f32, %v: f32):
        %n = arith.addf %acc, %v : f32
        ingot.yield %n : f32
      }}
      return %s, %l : tensor<3x5xf32>, tensor<3xf32>
    }}"""
    x = np.arange(15, dtype=np.float32).reshape(3, 5)
    init = np.array([1, 2, 3], np.float32)
    sums = np.cumsum(np.concatenate([init[:, None], x], axis=1), axis=1)
    scanned, last = run(text, x, init)
    np.testing.assert_array_equal(scanned, sums[:, 1:] if inclusive else sums[:, :-1])
    np.testing.assert_array_equal(last, sums[:, -1])


def test_calls_and_branches_between_blocks(run: Any) -> None:
    text = """
    func.func @main(%n: i32) -> i32 {
      %zero = arith.constant 0 : i32
      %r = func.call @count(%n, %zero) : (i32, i32) -> i32
      return %r : i32
    }
    func.func private @count(%n: i32, %start: i32) -> i32 {
      %one = arith.constant 1 : i32
      cf.br ^head(%n, %start : i32, i32)
    ^head(%k: i32, %sum: i32):
      %zero = arith.constant 0 : i32
      %more = arith.cmpi sgt, %k, %zero : i32
      cf.cond_br %more, ^body, ^end
    ^body:
      %s = arith.addi %sum, %k : i32
      %k1 = arith.subi %k, %one : i32
      cf.br ^head(%k1, %s : i32, i32)
    ^end:
      return %sum : i32
    }"""
    assert run(text, np.array(10, np.int32))[0] == 55


def test_failed_assert_is_an_error(run: Any) -> None:
    text = """
    func.func @main(%ok: i1) {
      cf.assert %ok, "sizes must agree"
      return
    }"""
    assert run(text, np.array(True)) == []
    with pytest.raises(EvaluationError, match="sizes must agree"):
        run(text, np.array(False))


def test_wrong_inputs_are_refused(run: Any) -> None:
    text = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }"
    with pytest.raises(EvaluationError, match="takes 1 inputs, but 0 are given"):
        run(text)
    with pytest.raises(EvaluationError, match=r"input 0 is float32 of shape \(4,\)"):
        run(text, np.zeros(4, np.float32))
    with pytest.raises(EvaluationError, match="input 0 is int32"):
        run(text, np.zeros(3, np.int32))


def test_unknown_op_is_refused_at_its_place(run: Any) -> None:
    text = """func.func @main(%x: memref<3xf32>) {
      %i = arith.constant 0 : index
      %v = memref.load %x[%i] : memref<3xf32>
      return
    }"""
    from ingot.compiler.dialects.context import make_context
    from ingot.compiler.frontends.reader import read_module
    from ingot.compiler.interpreter.frame import call
    from ingot.compiler.interpreter.values import Types

    module = read_module(text, "test.mlir", make_context())
    with pytest.raises(Refusal, match=r"does not know 'memref\.load'") as caught:
        call(module, "main", [np.zeros(3, np.float32)], Types("program"))
    assert "3:12" in str(caught.value.location)
