"""Reductions and scans of long lines: split, in every position, against the evaluator."""

from __future__ import annotations

import numpy as np
import pytest
from support.batch import check_module
from support.harness import DEVICES, bundle_for, device, rt

from ingot.targets.bundle.writer import write_bundle

LINES = ((70001,), (3, 70001), (70001, 3), (2, 300, 350), (300, 2, 350), (2049, 40))


def reductions() -> str:
    text = ""
    for shape in LINES:
        sizes = list(shape)
        source = "x".join(map(str, sizes))
        for dim in range(len(sizes)):
            kept = [n for d, n in enumerate(sizes) if d == dim and n < 100]
            dims = [d for d, n in enumerate(sizes) if d != dim or n >= 100]
            result = "".join(f"{n}x" for n in kept)
            text += f"""
            func.func @r{source}_{dim}(%x: tensor<{source}xf32>, %i: tensor<{result}f32>)
                -> tensor<{result}f32> {{
              %r = linalg.reduce {{ arith.addf }} ins(%x : tensor<{source}xf32>)
                  outs(%i : tensor<{result}f32>) dimensions = {dims}
              return %r : tensor<{result}f32>
            }}
            """
    return text


def scans() -> str:
    text = ""
    for shape, dim in (((70001,), 0), ((3, 4000), 1), ((4000, 3), 0), ((5, 2100, 2), 1)):
        sizes = "x".join(map(str, shape))
        kept = "".join(f"{n}x" for d, n in enumerate(shape) if d != dim)
        for flag in ("inclusive ", ""):
            for kind in ("addi", "maxsi", "subi"):
                name = f"s{sizes}_{flag.strip()}_{kind}"
                types = f"tensor<{sizes}xi32>, tensor<{kept}i32>"
                text += f"""
                func.func @{name}(%x: tensor<{sizes}xi32>, %i: tensor<{kept}i32>) -> ({types}) {{
                  %e = tensor.empty() : tensor<{sizes}xi32>
                  %s, %l = ingot.scan {flag}dimension = {dim} ins(%x : tensor<{sizes}xi32>)
                      outs(%e, %i : {types}) {{
                  ^bb0(%acc: i32, %a: i32):
                    %n = arith.{kind} %acc, %a : i32
                    ingot.yield %n : i32
                  }}
                  return %s, %l : {types}
                }}
                """
    return text


@pytest.mark.parametrize("device_name", DEVICES)
def test_long_reductions(device_name: str) -> None:
    check_module(reductions(), device_name)


@pytest.mark.parametrize("device_name", DEVICES)
def test_long_scans(device_name: str) -> None:
    check_module(scans(), device_name)


@pytest.mark.parametrize("device_name", DEVICES)
def test_positions_and_broadcasts_in_a_split_reduction(device_name: str) -> None:
    x = np.random.default_rng(0).integers(-9, 9, (2, 70001)).astype(np.int32)
    text = """
    func.func @main(%x: tensor<2x70001xi32>, %s: tensor<2xi32>) -> tensor<2xi32> {
      %i = arith.constant dense<5> : tensor<2xi32>
      %r = linalg.generic {
          indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
                           affine_map<(d0, d1) -> (d0)>],
          iterator_types = ["parallel", "reduction"]}
          ins(%x, %s : tensor<2x70001xi32>, tensor<2xi32>) outs(%i : tensor<2xi32>) {
      ^bb0(%a: i32, %b: i32, %acc: i32):
        %p = linalg.index 1 : index
        %q = arith.index_cast %p : index to i32
        %m = arith.muli %a, %q : i32
        %k = arith.xori %m, %b : i32
        %n = arith.addi %acc, %k : i32
        linalg.yield %n : i32
      } -> tensor<2xi32>
      return %r : tensor<2xi32>
    }
    """
    check_module(text, device_name, {"main": [x, np.array([3, 4], np.int32)]})


DYNAMIC = """
func.func @row(%x: tensor<?x?xf32>, %init: tensor<?xf32>) -> tensor<?xf32> {
  %s = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf32>) outs(%init : tensor<?xf32>)
      dimensions = [1]
  return %s : tensor<?xf32>
}

func.func @matrix(%x: tensor<?x?xi32>, %init: tensor<i32>) -> tensor<i32> {
  %s = linalg.reduce { arith.maxsi } ins(%x : tensor<?x?xi32>) outs(%init : tensor<i32>)
      dimensions = [0, 1]
  return %s : tensor<i32>
}

func.func @product(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %init: tensor<?x?xf32>)
    -> tensor<?x?xf32> {
  %s = linalg.matmul ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%init : tensor<?x?xf32>)
      -> tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}
"""


@pytest.mark.parametrize("device_name", DEVICES)
def test_long_lines_of_dynamic_shape(device_name: str) -> None:
    """Longer than drivers let one loop be: shared by a threadgroup, or written out in parts."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3, 70001), np.float32)
    y = rng.standard_normal((70001, 2), np.float32)
    whole = rng.integers(-(2**31), 2**31, (300, 350), dtype=np.int32)
    check_module(
        DYNAMIC,
        device_name,
        {
            "row": [x, np.ones(3, np.float32)],
            "matrix": [whole, np.array(-5, np.int32)],
            "product": [x, y, np.ones((3, 2), np.float32)],
        },
    )


def test_a_loop_that_a_driver_would_end_is_refused() -> None:
    given = [np.zeros((1, 300000), np.float32), np.zeros((300000, 1), np.float32)]
    program = rt.loads(write_bundle(bundle_for(DYNAMIC, "vulkan"))).bind(device("vulkan"))
    with pytest.raises(rt.ArgumentError, match="a loop of a thread would have 65535 turns or more"):
        program.call("product", *given, np.zeros((1, 1), np.float32))


def product(name: str, m: int, k: int, n: int, element: str) -> str:
    a, b, c = (f"tensor<{p}x{q}x{element}>" for p, q in ((m, k), (k, n), (m, n)))
    return f"""
    func.func @{name}(%x: {a}, %y: {b}, %init: {c}) -> {c} {{
      %s = linalg.matmul ins(%x, %y : {a}, {b}) outs(%init : {c}) -> {c}
      return %s : {c}
    }}
    """


@pytest.mark.parametrize("device_name", DEVICES)
def test_long_products(device_name: str) -> None:
    """Sums of more terms than a driver lets one loop add, with and without register tiles."""
    sizes = {"narrow": (7, 70001, 40, np.float32), "short": (2, 70001, 40, np.float16)}
    sizes["tiled"] = (8, 270001, 8, np.float32)
    text, inputs, expected = "", {}, {}
    for name, (m, k, n, dtype) in sizes.items():
        text += product(name, m, k, n, "f16" if dtype is np.float16 else "f32")
        given = [np.full((m, k), 0.5, dtype), np.ones((k, n), dtype), np.ones((m, n), dtype)]
        inputs[name] = given
        expected[name] = [np.full((m, n), 0.5 * k + 1, dtype)]
    check_module(text, device_name, inputs, expected)
