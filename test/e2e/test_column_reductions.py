"""Reductions whose results lie side by side: threads share them, and siblings read once."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest
from support.harness import DEVICES, Array, assert_close, device, rt, run
from support.kernels import reduction

from ingot.compiler.driver.compile import Compiled, compile_text
from ingot.compiler.driver.options import CompileOptions
from ingot.targets.bundle.writer import write_bundle

TARGETS = {"host": "metal:apple7", "vulkan": "vulkan:generic", "metal": "metal:apple7"}
ORDERS = 20


def compiled(text: str, target: str) -> Compiled:
    return compile_text(text, "columns.mlir", CompileOptions(targets=(target,)))


def column(element: str, rows: int, columns: int, op: str, init: str) -> str:
    """One reduction of the first dimension."""
    source, result = f"tensor<{rows}x{columns}x{element}>", f"tensor<{columns}x{element}>"
    return f"""func.func @main(%x: {source}) -> {result} {{
  %z = arith.constant {init} : {element}
  %e = tensor.empty() : {result}
  %f = linalg.fill ins(%z : {element}) outs(%e : {result}) -> {result}
  %r = linalg.generic {{
      indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>],
      iterator_types = ["parallel", "reduction"]}} ins(%x : {source}) outs(%f : {result}) {{
  ^bb0(%a: {element}, %acc: {element}):
    %s = {op} %acc, %a : {element}
    linalg.yield %s : {element}
  }} -> {result}
  return %r : {result}
}}
"""


# Rows that leave some for a few threads only, columns that no vector divides, edges of tiles.
SIZES = [(257, 64), (64, 1), (100, 3), (1000, 34), (40, 300)]
KINDS = [
    ("f32", "arith.addf", "1.5", np.add),
    ("f16", "arith.addf", "0.0", np.add),
    ("f32", "arith.maximumf", "0xFF800000", np.maximum),
    ("i32", "arith.minsi", "7", np.minimum),
    ("i8", "arith.addi", "3", np.add),
]
TYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "i8": np.int8}


def values(element: str, rows: int, columns: int) -> Array:
    rng = np.random.default_rng(rows)
    if element.startswith("i"):
        return rng.integers(-100, 100, (rows, columns)).astype(TYPES[element])
    return rng.standard_normal((rows, columns)).astype(TYPES[element])


def expected(x: Array, init: float, combine: np.ufunc) -> Array:
    wide = combine.reduce(x.astype(np.float64 if x.dtype.kind == "f" else np.int64), axis=0)
    return combine(wide, init).astype(x.dtype)


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_row_counts_once(size: tuple[int, int], device_name: str) -> None:
    for element, op, init, combine in KINDS:
        x = values(element, *size)
        start = -np.inf if init.startswith("0x") else float(init)
        (got,) = run(column(element, *size, op, init), device_name, [x])
        assert_close(got, expected(x, start, combine), f"{element} {op}")


def test_the_order_of_threads_changes_no_bit() -> None:
    text = column("f32", 1000, 34, "arith.addf", "0.0")
    x = values("f32", 1000, 34)
    bundle = compiled(text, "metal:apple7").bundle
    assert "threadgroup_barrier" in bundle.variants[0].kernels[0].msl
    loaded = rt.loads(write_bundle(bundle))
    sums = {np.asarray(loaded.bind(device("host")).call("main", x)).tobytes()}
    for order in range(ORDERS):
        with closing(rt.open_device(f"host:random:{order}")) as in_order:
            sums.add(np.asarray(loaded.bind(in_order).call("main", x)).tobytes())
    assert len(sums) == 1


@pytest.mark.parametrize("device_name", DEVICES)
def test_several_loops_and_results_of_more_dimensions(device_name: str) -> None:
    x = np.random.default_rng(3).standard_normal((5, 2, 70, 24)).astype(np.float32)
    (got,) = run(reduction(x.shape, (1, 3)), device_name, [x])
    assert_close(got, x.astype(np.float64).sum((0, 2)).astype(np.float32))


TWO = """
func.func @main(%x: tensor<96x40xf32>, %w: tensor<96xf32>) -> (tensor<40xf32>, tensor<40xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<40xf32>) -> tensor<40xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (i)>,
                                        affine_map<(j, i) -> (j)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<96x40xf32>, tensor<96xf32>) outs(%f : tensor<40xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %e0 = math.exp %a : f32
    %p = arith.mulf %e0, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<40xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<96x40xf32>) outs(%f : tensor<40xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.maximumf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<40xf32>
  return %r, %q : tensor<40xf32>, tensor<40xf32>
}
"""


@pytest.mark.parametrize("device_name", DEVICES)
def test_two_reductions_read_once(device_name: str) -> None:
    rng = np.random.default_rng(4)
    x, w = rng.standard_normal((96, 40), np.float32), rng.standard_normal(96, np.float32)
    sums, maxima = run(TWO, device_name, [x, w])
    assert_close(sums, (np.exp(x.astype(np.float64)) * w[:, None]).sum(0).astype(np.float32))
    assert_close(maxima, np.maximum(x.max(0), 0))


@pytest.mark.parametrize("target", ["metal:apple7", "vulkan:lavapipe"])
def test_two_reductions_are_one_loop(target: str, tmp_path) -> None:
    options = CompileOptions(targets=(target,), dump_dir=tmp_path)
    result = compile_text(TWO, "two.mlir", options)
    assert len(result.targets[0].kernels) == 1
    (buffers,) = tmp_path.glob("*/40-buffers.mlir")
    loop = buffers.read_text().partition("scf.for")[2].partition("scf.yield")[0]
    assert "math.exp" in loop and "arith.maximumf" in loop


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("columns", [6, 40])
def test_few_long_columns_take_two_steps(columns: int, device_name: str) -> None:
    rows = (1 << 22) // columns + 3
    text = column("f32", rows, columns, "arith.addf", "0.0")
    assert len(compiled(text, TARGETS[device_name]).targets[0].kernels) > 1
    x = values("f32", rows, columns)
    (got,) = run(text, device_name, [x])
    assert_close(got, expected(x, 0.0, np.add))
