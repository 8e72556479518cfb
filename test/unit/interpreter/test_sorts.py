"""Sorts and scatters of the evaluator against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ingot.compiler.interpreter import EvaluationError

Run = Callable[..., list[Any]]

SORT = """
func.func @main(%x: tensor<{shape}xf32>, %i: tensor<{shape}xi32>)
    -> (tensor<{shape}xf32>, tensor<{shape}xi32>) {{
  %s, %j = ingot.sort dimension = {dim} ins(%x, %i : tensor<{shape}xf32>, tensor<{shape}xi32>) {{
  ^bb0(%a: f32, %b: f32, %ia: i32, %ib: i32):
    %before = arith.cmpf {order}, %a, %b : f32
    ingot.yield %before : i1
  }}
  return %s, %j : tensor<{shape}xf32>, tensor<{shape}xi32>
}}
"""

SCATTER = """
func.func @main(%t: tensor<5x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3xf32>) -> tensor<5x3xf32> {
  %r = ingot.scatter dimensions = [0] ins(%i, %u : tensor<4x1xi32>, tensor<4x3xf32>)
      outs(%t : tensor<5x3xf32>) {
  ^bb0(%old: f32, %update: f32):
    %twice = arith.addf %old, %old : f32
    %new = arith.addf %twice, %update : f32
    ingot.yield %new : f32
  }
  return %r : tensor<5x3xf32>
}
"""


@pytest.mark.parametrize(("rows", "length", "dim"), [(3, 17, 1), (1, 64, 1), (33, 2, 0), (7, 1, 1)])
def test_a_sort_is_stable(run: Run, rows: int, length: int, dim: int) -> None:
    x = np.random.default_rng(0).integers(0, 5, (rows, length)).astype(np.float32)
    ids = np.indices(x.shape)[dim].astype(np.int32)
    keys, order = run(SORT.format(shape=f"{rows}x{length}", dim=dim, order="olt"), x, ids)
    expected = np.argsort(x, axis=dim, kind="stable")
    np.testing.assert_array_equal(order, expected)
    np.testing.assert_array_equal(keys, np.take_along_axis(x, expected, dim))


def test_a_body_that_orders_nothing_is_an_error(run: Run) -> None:
    x = np.array([[2, np.nan, 3, np.nan, 1, 0, np.nan, 1]], np.float32)
    ids = np.zeros(x.shape, np.int32)
    with pytest.raises(EvaluationError, match="strict weak ordering"):
        run(SORT.format(shape="1x8", dim=1, order="olt"), x, ids)


def test_updates_are_combined_in_order_and_those_outside_are_skipped(run: Run) -> None:
    table = np.ones((5, 3), np.float32)
    updates = np.arange(12, dtype=np.float32).reshape(4, 3)
    (result,) = run(SCATTER, table, np.array([[2], [-1], [2], [5]], np.int32), updates)
    expected = table.copy()
    for entry in (0, 2):
        expected[2] = 2 * expected[2] + updates[entry]
    np.testing.assert_array_equal(result, expected)
