"""Reductions and scans of long lines: split, in every position, against the evaluator."""

from __future__ import annotations

import numpy as np
import pytest
from support.batch import check_module
from support.harness import DEVICES

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
