"""Programs that once went wrong, made small: each on both devices against the evaluator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.harness import DEVICES, assert_close, bundle_for, device, rt

from ingot.compiler.dialects.context import make_context
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate
from ingot.runtime.dtypes import numpy_dtype
from ingot.targets.bundle.model import DType, TensorType
from ingot.targets.bundle.writer import write_bundle

PROGRAMS: dict[str, str] = {
    # Tiling reads the first input in the body, so the transposed one is the first of the others.
    "a transposed input after one that is read by a remainder": """
func.func @main(%x: tensor<40x36xf32>, %y: tensor<40x36xf32>) -> tensor<36x40xf32> {
  %e = tensor.empty() : tensor<36x40xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1 mod 20, d0)>,
      affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<40x36xf32>, tensor<40x36xf32>) outs(%e : tensor<36x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.subf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<36x40xf32>
  return %r : tensor<36x40xf32>
}
""",
    # The loops of the tile are those of one result, and the input lies across the other.
    "results that lie differently beside a transposed input": """
func.func @main(%x: tensor<64x33x34xf32>) -> (tensor<33x34x64xf32>, tensor<34x64x33xf32>) {
  %e = tensor.empty() : tensor<33x34x64xf32>
  %f = tensor.empty() : tensor<34x64x33xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2, d1)>,
      affine_map<(d0, d1, d2) -> (d2, d1, d0)>, affine_map<(d0, d1, d2) -> (d1, d0, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<64x33x34xf32>) outs(%e, %f : tensor<33x34x64xf32>, tensor<34x64x33xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %m = arith.addf %a, %a : f32
    %n = arith.mulf %a, %a : f32
    linalg.yield %m, %n : f32, f32
  } -> (tensor<33x34x64xf32>, tensor<34x64x33xf32>)
  return %r#0, %r#1 : tensor<33x34x64xf32>, tensor<34x64x33xf32>
}
""",
    # A sum of products with features and no windows is no convolution.
    "a sum of products over one row": """
func.func @main(%x: tensor<65x8xf32>, %y: tensor<2x33xf32>) -> tensor<33xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<33xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<33xf32>) -> tensor<33xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (64, d1 + 6)>,
      affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<65x8xf32>, tensor<2x33xf32>) outs(%f : tensor<33xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<33xf32>
  return %r : tensor<33xf32>
}
""",
    # Two results of one kernel that read one tensor across each other.
    "sums of rows and of columns": """
func.func @main(%x: tensor<7x6x3xi32>) -> (tensor<3x3xi32>, tensor<3x3xi32>) {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3x3xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<3x3xi32>) -> tensor<3x3xi32>
  %most = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d1 * 2, d0)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<7x6x3xi32>) outs(%f : tensor<3x3xi32>) {
  ^bb0(%a: i32, %b: i32):
    %m = arith.maxsi %a, %b : i32
    linalg.yield %m : i32
  } -> tensor<3x3xi32>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0 * 2, d1)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<7x6x3xi32>) outs(%f : tensor<3x3xi32>) {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    linalg.yield %s : i32
  } -> tensor<3x3xi32>
  return %most, %sum : tensor<3x3xi32>, tensor<3x3xi32>
}
""",
    # What is folded into a constant shares no loops with the kernel that it is in.
    "constant among the results of rows": """
func.func @main(%x: tensor<4x1x2x2xf32>) -> (tensor<4x2x2xi32>, tensor<4x1x2xf32>) {
  %inf = arith.constant 0x7F800000 : f32
  %zero = arith.constant 0 : i32
  %s = tensor.empty() : tensor<4x1x2x2xf32>
  %c = linalg.ceil ins(%x : tensor<4x1x2x2xf32>) outs(%s : tensor<4x1x2x2xf32>)
      -> tensor<4x1x2x2xf32>
  %e0 = tensor.empty() : tensor<4x2x2xf32>
  %f0 = linalg.fill ins(%inf : f32) outs(%e0 : tensor<4x2x2xf32>) -> tensor<4x2x2xf32>
  %e1 = tensor.empty() : tensor<4x2x2xi32>
  %f1 = linalg.fill ins(%zero : i32) outs(%e1 : tensor<4x2x2xi32>) -> tensor<4x2x2xi32>
  %least:2 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>,
                       affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>,
                       affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>],
      iterator_types = ["parallel", "reduction", "parallel", "parallel"]}
      ins(%c : tensor<4x1x2x2xf32>) outs(%f0, %f1 : tensor<4x2x2xf32>, tensor<4x2x2xi32>) {
  ^bb0(%i: f32, %o: f32, %p: i32):
    %d1 = linalg.index 1 : index
    %at = arith.index_cast %d1 : index to i32
    %less = arith.cmpf olt, %i, %o : f32
    %v = arith.select %less, %i, %o : f32
    %n = arith.select %less, %at, %p : i32
    linalg.yield %v, %n : f32, i32
  } -> (tensor<4x2x2xf32>, tensor<4x2x2xi32>)
  %e2 = tensor.empty() : tensor<4x1x2xf32>
  %f2 = linalg.fill ins(%inf : f32) outs(%e2 : tensor<4x1x2xf32>) -> tensor<4x1x2xf32>
  %m = linalg.reduce { arith.minimumf } ins(%c : tensor<4x1x2x2xf32>)
      outs(%f2 : tensor<4x1x2xf32>) dimensions = [3]
  return %least#1, %m : tensor<4x2x2xi32>, tensor<4x1x2xf32>
}
""",
    "constant among the results of one row": """
func.func @main(%x: tensor<65xf32>) -> (tensor<119xi64>, tensor<i64>) {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  %least = arith.constant -9223372036854775808 : i64
  %e0 = tensor.empty() : tensor<f32>
  %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %e1 = tensor.empty() : tensor<i64>
  %f1 = linalg.fill ins(%zero : i64) outs(%e1 : tensor<i64>) -> tensor<i64>
  %most:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>,
      affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<65xf32>) outs(%f0, %f1 : tensor<f32>, tensor<i64>) {
  ^bb0(%i: f32, %o: f32, %p: i64):
    %d0 = linalg.index 0 : index
    %at = arith.index_cast %d0 : index to i64
    %more = arith.cmpf ogt, %i, %o : f32
    %v = arith.select %more, %i, %o : f32
    %n = arith.select %more, %at, %p : i64
    linalg.yield %v, %n : f32, i64
  } -> (tensor<f32>, tensor<i64>)
  %one = tensor.expand_shape %most#1 [] output_shape [1] : tensor<i64> into tensor<1xi64>
  %f2 = linalg.fill ins(%least : i64) outs(%e1 : tensor<i64>) -> tensor<i64>
  %only:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>,
      affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%one : tensor<1xi64>) outs(%f2, %f1 : tensor<i64>, tensor<i64>) {
  ^bb0(%i: i64, %o: i64, %p: i64):
    %d0 = linalg.index 0 : index
    %at = arith.index_cast %d0 : index to i64
    %more = arith.cmpi sgt, %i, %o : i64
    %v = arith.select %more, %i, %o : i64
    %n = arith.select %more, %at, %p : i64
    linalg.yield %v, %n : i64, i64
  } -> (tensor<i64>, tensor<i64>)
  %index = tensor.extract %only#1[] : tensor<i64>
  %line = tensor.splat %index : tensor<119xi64>
  return %line, %most#1 : tensor<119xi64>, tensor<i64>
}
""",
    # Lanes of a vector do not step by one through a remainder.
    "remainder in a map": """
func.func @main(%x: tensor<2xi32>, %y: tensor<36xi32>, %z: tensor<36xi32>)
    -> (tensor<36xi32>, tensor<36xi32>) {
  %e = tensor.empty() : tensor<36xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 mod 2)>, affine_map<(d0) -> (d0)>,
                                        affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<2xi32>, tensor<36xi32>) outs(%e : tensor<36xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %m = arith.muli %a, %b : i32
    linalg.yield %m : i32
  } -> tensor<36xi32>
  %q = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 floordiv 3)>,
                                        affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%y, %z : tensor<36xi32>, tensor<36xi32>) outs(%e : tensor<36xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %m = arith.addi %a, %b : i32
    linalg.yield %m : i32
  } -> tensor<36xi32>
  return %r, %q : tensor<36xi32>, tensor<36xi32>
}
""",
    # A factor in a map that is computed in lanes is a vector as well.
    "factor in lanes": """
func.func @main(%x: tensor<3x2x33xf32>, %y: tensor<9x33x8xf16>) -> tensor<9x33x8xf16> {
  %e = tensor.empty() : tensor<9x33x8xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2 mod 3, d0 mod 2, -d1 + 32)>,
      affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %y : tensor<3x2x33xf32>, tensor<9x33x8xf16>) outs(%e : tensor<9x33x8xf16>) {
  ^bb0(%i: f32, %j: f16, %o: f16):
    %a = arith.truncf %i : f32 to f16
    %b = arith.addf %a, %j : f16
    linalg.yield %b : f16
  } -> tensor<9x33x8xf16>
  return %r : tensor<9x33x8xf16>
}
""",
    # The same where an index is computed from another operand's remainder.
    "remainder of a reshaped operand": """
func.func @main(%x: tensor<9x1x4x2x33x1xf16>) -> tensor<9x33x8xf16> {
  %e = tensor.empty() : tensor<9x33x8xf16>
  %r = linalg.generic {indexing_maps = [
      affine_map<(d0, d1, d2) -> (d0, 0, d2 mod 3, d0 mod 1, -d1 + 32, d1 mod 1)>,
      affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<9x1x4x2x33x1xf16>) outs(%e : tensor<9x33x8xf16>) {
  ^bb0(%i: f16, %o: f16):
    %b = arith.addf %i, %i : f16
    linalg.yield %b : f16
  } -> tensor<9x33x8xf16>
  return %r : tensor<9x33x8xf16>
}
""",
    # Each lane's index is limited to 32 bits, not all lanes together.
    "indices beyond 32 bits in lanes": """
func.func @main(%i: tensor<33x4xi64>, %x: tensor<7x100xf32>) -> tensor<33x4xf32> {
  %e = tensor.empty() : tensor<33x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
      affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<33x4xi64>) outs(%e : tensor<33x4xf32>) {
  ^bb0(%i0: i64, %o0: f32):
    %scale = arith.constant 1000000000000 : i64
    %large = arith.muli %i0, %scale : i64
    %a = arith.index_cast %large : i64 to index
    %z = arith.constant 0 : index
    %s = arith.constant 6 : index
    %b = arith.maxsi %a, %z : index
    %c = arith.minsi %b, %s : index
    %h = arith.constant 99 : index
    %d = arith.minsi %b, %h : index
    %v = tensor.extract %x[%c, %d] : tensor<7x100xf32>
    linalg.yield %v : f32
  } -> tensor<33x4xf32>
  return %r : tensor<33x4xf32>
}
""",
    # A generic that divides, and whose result nobody uses, makes no kernel without results.
    "unused division": """
func.func @main(%x: tensor<29xi16>) -> tensor<29xi16> {
  %e = tensor.empty() : tensor<29xi16>
  %unused = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%x : tensor<29xi16>) outs(%e : tensor<29xi16>) {
  ^bb0(%a: i16, %o: i16):
    %r = arith.remui %a, %a : i16
    linalg.yield %r : i16
  } -> tensor<29xi16>
  %r = linalg.mul ins(%x, %x : tensor<29xi16>, tensor<29xi16>) outs(%e : tensor<29xi16>)
      -> tensor<29xi16>
  return %r : tensor<29xi16>
}
""",
    # A row kernel of two results that no loop connects.
    "unconnected results": """
func.func @main(%x: tensor<33xi16>, %y: tensor<33x33xi16>) -> (tensor<33x33xi64>, tensor<i64>) {
  %e = tensor.empty() : tensor<33x33xi64>
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>,
      affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<33xi16>, tensor<33x33xi16>) outs(%e : tensor<33x33xi64>) {
  ^bb0(%a: i16, %b: i16, %o: i64):
    %l = arith.extui %a : i16 to i64
    %r = arith.extui %b : i16 to i64
    %m = arith.muli %l, %r : i64
    linalg.yield %m : i64
  } -> tensor<33x33xi64>
  %flat = tensor.collapse_shape %p [[0, 1]] : tensor<33x33xi64> into tensor<1089xi64>
  %least = arith.constant -9223372036854775808 : i64
  %s = tensor.empty() : tensor<i64>
  %f = linalg.fill ins(%least : i64) outs(%s : tensor<i64>) -> tensor<i64>
  %max = linalg.reduce { arith.maxsi } ins(%flat : tensor<1089xi64>) outs(%f : tensor<i64>)
      dimensions = [0]
  return %p, %max : tensor<33x33xi64>, tensor<i64>
}
""",
    # Merged into one loop the packing is a copy, and a kernel without a computation is none.
    "tiles that lie in order": """
func.func @main(%x: tensor<16xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %r = linalg.pack %x inner_dims_pos = [0] inner_tiles = [4] into %e
    : tensor<16xf32> -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
""",
    # An i4 that an op computes has no sign for the next one either.
    "unsigned readings of computed i4": """
func.func @main(%x: tensor<64xi4>) -> (tensor<64xf32>, tensor<64xi32>) {
  %f = tensor.empty() : tensor<64xf32>
  %i = tensor.empty() : tensor<64xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>,
                                          affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<64xi4>) outs(%f, %i : tensor<64xf32>, tensor<64xi32>) {
  ^bb0(%a: i4, %o0: f32, %o1: i32):
    %s = arith.addi %a, %a : i4
    %u = arith.uitofp %s : i4 to f32
    %least = arith.constant -8 : i4
    %x8 = arith.xori %s, %least : i4
    %order = arith.cmpi sgt, %a, %x8 : i4
    %odd = arith.trunci %x8 : i4 to i1
    %more = arith.xori %order, %odd : i1
    %minus = arith.extsi %more : i1 to i4
    %t = arith.addi %x8, %minus : i4
    %w = arith.extui %t : i4 to i32
    linalg.yield %u, %w : f32, i32
  } -> (tensor<64xf32>, tensor<64xi32>)
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xi32>
}
""",
}


def some_input(type_: TensorType, rng: np.random.Generator) -> Any:
    """Small numbers of a type, on a grid that floats add exactly."""
    values = rng.integers(-16, 17, type_.shape)
    if type_.dtype is DType.I1:
        return values > 0
    floats = type_.dtype in (DType.F32, DType.F16, DType.BF16)
    return np.asarray(values / 4 if floats else values).astype(numpy_dtype(type_.dtype))


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_once_wrong(name: str, device_name: str) -> None:
    text, opened = PROGRAMS[name], device(device_name)
    bundle = bundle_for(text, device_name)
    (function,) = bundle.functions
    rng = np.random.default_rng(0)
    inputs = [some_input(type_, rng) for type_ in function.arguments]
    result = rt.loads(write_bundle(bundle)).bind(opened).call(function.name, *inputs)
    results = list(result) if isinstance(result, tuple) else [result]
    module = read_module(text, "test.mlir", make_context())
    expected = evaluate(module, function.name, inputs)
    for index, (got, want) in enumerate(zip(results, expected, strict=True)):
        assert_close(got, want, f"result {index}")
