"""TOSA on both devices: exported programs, a quantized network, and one case of every op."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from support import (
    tosa_layers,  # noqa: F401  registers its cases
)
from support import (
    tosa_spec as spec,
)
from support.harness import DEVICES, SHARED, Array, assert_close, bundle_for, device, rt, run
from support.tosa_cases import CASES, Source

from ingot.targets.bundle.model import DType, TensorType
from ingot.targets.bundle.writer import write_bundle

IN_SHORT = (
    "argmax-ignore",
    "avg_pool2d-i8",
    "cast-f32-i32",
    "conv2d-i8",
    "reduce_max-ignore",
    "rescale-i32-i8-double",
    "rescale-u8-u8",
    "resize-bilinear-i8",
    "scatter",
    "table-i16",
    "transpose_conv2d-f32",
)
"""Cases that run every time; the others are slow."""


def programs() -> list[Path]:
    return sorted((SHARED / "programs" / "tosa_torch").glob("*.mlir"))


def arrays(data: dict[str, Array], prefix: str, types: tuple[TensorType, ...]) -> list[Array]:
    """`in0`, `in1`, ... with bf16 restored from its bits."""
    found = [data[f"{prefix}{index}"] for index in range(len(types))]
    return [
        array.view(ml_dtypes.bfloat16) if type_.dtype is DType.BF16 else array
        for array, type_ in zip(found, types, strict=True)
    ]


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("path", programs(), ids=lambda p: p.stem)
def test_exported_programs(path: Path, device_name: str) -> None:
    opened = device(device_name)
    bundle = bundle_for(path.read_text(), device_name, path.name)
    with np.load(SHARED / "programs" / "data" / f"{path.stem}.npz") as file:
        data = dict(file)
    (function,) = bundle.functions
    inputs = arrays(data, "in", function.arguments)
    expected = arrays(data, "out", function.results)
    result = rt.loads(write_bundle(bundle)).bind(opened).call(function.name, *inputs)
    results = list(result) if isinstance(result, tuple) else [result]
    for index, (got, want) in enumerate(zip(results, expected, strict=True)):
        assert_close(got, want.reshape(got.shape), f"result {index}")


def check_case(name: str, device_name: str) -> None:
    rng = np.random.default_rng(7)
    case = CASES[name](Source(lambda low, high: int(rng.integers(low, high, endpoint=True)), rng))
    results = run(case.text, device_name, case.inputs)
    for got, expected in zip(results, case.expected, strict=True):
        assert_close(got, expected, case.text)


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("name", IN_SHORT)
def test_ops(name: str, device_name: str) -> None:
    check_case(name, device_name)


@pytest.mark.slow
@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("name", [name for name in CASES if name not in IN_SHORT])
def test_every_op(name: str, device_name: str) -> None:
    check_case(name, device_name)


LLVM_19 = """
func.func @main(%x: tensor<1x8x8x3xi8>, %w: tensor<4x3x3x3xi8>, %b: tensor<4xi32>,
                %d: tensor<5x4xi8>, %e: tensor<5xi32>) -> tensor<1x5xi8> {
  %0 = tosa.conv2d %x, %w, %b {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>,
      quantization_info = #tosa.conv_quant<input_zp = -7, weight_zp = 0>,
      stride = array<i64: 1, 1>}
      : (tensor<1x8x8x3xi8>, tensor<4x3x3x3xi8>, tensor<4xi32>) -> tensor<1x8x8x4xi32>
  %1 = tosa.rescale %0 {double_round = true, input_zp = 0 : i32,
      multiplier = array<i32: 1180000001, 1290000001, 1400000001, 2000000001>,
      output_zp = -3 : i32, per_channel = true, scale32 = true, shift = array<i8: 38, 39, 38, 40>}
      : (tensor<1x8x8x4xi32>) -> tensor<1x8x8x4xi8>
  %2 = tosa.clamp %1 {max_fp = 0.0 : f32, max_int = 100 : i64, min_fp = 0.0 : f32,
      min_int = -3 : i64} : (tensor<1x8x8x4xi8>) -> tensor<1x8x8x4xi8>
  %3 = tosa.avg_pool2d %2 {acc_type = i32, kernel = array<i64: 8, 8>,
      pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>,
      quantization_info = #tosa.unary_quant<input_zp = -3, output_zp = -3>}
      : (tensor<1x8x8x4xi8>) -> tensor<1x1x1x4xi8>
  %4 = tosa.reshape %3 {new_shape = array<i64: 1, 4>} : (tensor<1x1x1x4xi8>) -> tensor<1x4xi8>
  %5 = tosa.fully_connected %4, %d, %e
      {quantization_info = #tosa.conv_quant<input_zp = -3, weight_zp = 0>}
      : (tensor<1x4xi8>, tensor<5x4xi8>, tensor<5xi32>) -> tensor<1x5xi32>
  %6 = tosa.rescale %5 {double_round = true, input_zp = 0 : i32,
      multiplier = array<i32: 1500000001>, output_zp = 11 : i32, per_channel = false,
      scale32 = true, shift = array<i8: 37>} : (tensor<1x5xi32>) -> tensor<1x5xi8>
  return %6 : tensor<1x5xi8>
}
"""

LLVM_22 = """
func.func @main(%x: tensor<1x8x8x3xi8>, %w: tensor<4x3x3x3xi8>, %b: tensor<4xi32>,
                %d: tensor<5x4xi8>, %e: tensor<5xi32>) -> tensor<1x5xi8> {
  %z7 = "tosa.const"() <{values = dense<-7> : tensor<1xi8>}> : () -> tensor<1xi8>
  %z3 = "tosa.const"() <{values = dense<-3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %z11 = "tosa.const"() <{values = dense<11> : tensor<1xi8>}> : () -> tensor<1xi8>
  %z0 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %i0 = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %m = "tosa.const"() <{values = dense<[1180000001, 1290000001, 1400000001, 2000000001]>
      : tensor<4xi32>}> : () -> tensor<4xi32>
  %s = "tosa.const"() <{values = dense<[38, 39, 38, 40]> : tensor<4xi8>}> : () -> tensor<4xi8>
  %n = "tosa.const"() <{values = dense<1500000001> : tensor<1xi32>}> : () -> tensor<1xi32>
  %t = "tosa.const"() <{values = dense<37> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.conv2d %x, %w, %b, %z7, %z0 {acc_type = i32, dilation = array<i64: 1, 1>,
      pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x8x8x3xi8>,
      tensor<4x3x3x3xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x8x8x4xi32>
  %1 = tosa.rescale %0, %m, %s, %i0, %z3 {input_unsigned = false, output_unsigned = false,
      per_channel = true, rounding_mode = DOUBLE_ROUND, scale32 = true} : (tensor<1x8x8x4xi32>,
      tensor<4xi32>, tensor<4xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x8x8x4xi8>
  %2 = tosa.clamp %1 {max_val = 100 : i8, min_val = -3 : i8}
      : (tensor<1x8x8x4xi8>) -> tensor<1x8x8x4xi8>
  %3 = tosa.avg_pool2d %2, %z3, %z3 {acc_type = i32, kernel = array<i64: 8, 8>,
      pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x8x8x4xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x4xi8>
  %one = tosa.const_shape {values = dense<[1, 1, 1, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %4 = tosa.reshape %3, %one : (tensor<1x1x1x4xi8>, !tosa.shape<4>) -> tensor<1x1x1x4xi8>
  %k = tosa.const_shape {values = dense<[5, 1, 1, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %f = tosa.reshape %d, %k : (tensor<5x4xi8>, !tosa.shape<4>) -> tensor<5x1x1x4xi8>
  %5 = tosa.conv2d %4, %f, %e, %z3, %z0 {acc_type = i32, dilation = array<i64: 1, 1>,
      pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x4xi8>,
      tensor<5x1x1x4xi8>, tensor<5xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x5xi32>
  %6 = tosa.rescale %5, %n, %t, %i0, %z11 {input_unsigned = false, output_unsigned = false,
      per_channel = false, rounding_mode = DOUBLE_ROUND, scale32 = true} : (tensor<1x1x1x5xi32>,
      tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x1x1x5xi8>
  %l = tosa.const_shape {values = dense<[1, 5]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %7 = tosa.reshape %6, %l : (tensor<1x1x1x5xi8>, !tosa.shape<2>) -> tensor<1x5xi8>
  return %7 : tensor<1x5xi8>
}
"""


def quantized_network(x: Array, w: Array, b: Array, d: Array, e: Array) -> Array:
    """What both texts compute, by the specification."""
    total = spec.convolution(x, w, b, (-7, 0), [1] * 4, [1, 1], [1, 1], np.int32)
    multipliers, shifts = [1180000001, 1290000001, 1400000001, 2000000001], [38, 39, 38, 40]
    y = spec.rescale(
        total, multipliers, shifts, 0, -3, np.int8, double_round=True, per_channel=True
    )
    y = spec.avg_pool(np.clip(y, -3, 100), [8, 8], [1, 1], [0] * 4, (-3, -3)).reshape(1, 4)
    last = ((y.astype(np.int64) + 3) @ d.T.astype(np.int64) + e).astype(np.int32)
    return spec.rescale(last, [1500000001], [37], 0, 11, np.int8, double_round=True)


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("text", [LLVM_19, LLVM_22], ids=["llvm19", "llvm22"])
def test_a_quantized_network_is_exact(text: str, device_name: str) -> None:
    source = Source(lambda low, high: high, np.random.default_rng(3))
    inputs = [
        source.values((1, 8, 8, 3), np.int8),
        source.values((4, 3, 3, 3), np.int8),
        source.values((4,), np.int32) // 100000,
        source.values((5, 4), np.int8),
        source.values((5,), np.int32) // 100000,
    ]
    (result,) = run(text, device_name, inputs)
    expected = quantized_network(*inputs)
    assert len(np.unique(expected)) > 2
    np.testing.assert_array_equal(result, expected)


I48 = """
func.func @main(%x: tensor<1x4x4x2xi16>, %w: tensor<3x1x1x2xi8>) -> tensor<1x4x4x3xi16> {
  %b = "tosa.const"() <{values = dense<[1, -2, 3]> : tensor<3xi48>}> : () -> tensor<3xi48>
  %0 = tosa.conv2d %x, %w, %b {acc_type = i48, dilation = array<i64: 1, 1>,
      pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x4x2xi16>, tensor<3x1x1x2xi8>, tensor<3xi48>) -> tensor<1x4x4x3xi48>
  %1 = tosa.rescale %0 {double_round = false, input_zp = 0 : i32, multiplier = array<i32: 20000>,
      output_zp = 0 : i32, per_channel = false, scale32 = false, shift = array<i8: 21>}
      : (tensor<1x4x4x3xi48>) -> tensor<1x4x4x3xi16>
  return %1 : tensor<1x4x4x3xi16>
}
"""


@pytest.mark.parametrize("device_name", DEVICES)
def test_accumulators_of_48_bits(device_name: str) -> None:
    source = Source(lambda low, high: high, np.random.default_rng(4))
    x, w = source.values((1, 4, 4, 2), np.int16), source.values((3, 1, 1, 2), np.int8)
    bias = np.array([1, -2, 3], np.int64)
    total = spec.convolution(x, w, bias, (0, 0), [0] * 4, [1, 1], [1, 1], np.int64)
    expected = spec.rescale(total, [20000], [21], 0, 0, np.int16)
    (result,) = run(I48, device_name, [x, w])
    np.testing.assert_array_equal(result, expected)


UNSIGNED = """
func.func @main(%x: tensor<2x3xui8>) -> (tensor<3x2xi8>, tensor<2x3xui8>) {
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<30> : tensor<1xi8>}> : () -> tensor<1xi8>
  %a = "tosa.const"() <{values = dense<128> : tensor<1xui8>}> : () -> tensor<1xui8>
  %b = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %t = tosa.transpose %x {perms = array<i32: 1, 0>} : (tensor<2x3xui8>) -> tensor<3x2xui8>
  %0 = tosa.rescale %t, %m, %s, %a, %b {rounding_mode = SINGLE_ROUND, scale32 = true,
      per_channel = false, input_unsigned = true, output_unsigned = false} : (tensor<3x2xui8>,
      tensor<1xi32>, tensor<1xi8>, tensor<1xui8>, tensor<1xi8>) -> tensor<3x2xi8>
  %u = tosa.transpose %0 {perms = array<i32: 1, 0>} : (tensor<3x2xi8>) -> tensor<2x3xi8>
  %1 = tosa.rescale %u, %m, %s, %b, %a {rounding_mode = SINGLE_ROUND, scale32 = true,
      per_channel = false, input_unsigned = false, output_unsigned = true} : (tensor<2x3xi8>,
      tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xui8>) -> tensor<2x3xui8>
  return %0, %1 : tensor<3x2xi8>, tensor<2x3xui8>
}
"""


@pytest.mark.parametrize("device_name", DEVICES)
def test_unsigned_inputs_and_results(device_name: str) -> None:
    x = np.array([[0, 1, 127], [128, 200, 255]], np.uint8)
    inner, outer = run(UNSIGNED, device_name, [x])
    np.testing.assert_array_equal(inner, (x.T.astype(np.int32) - 128).astype(np.int8))
    np.testing.assert_array_equal(outer, x)
    assert (inner.dtype, outer.dtype) == (np.int8, np.uint8)


INT4 = """
func.func @main(%x: tensor<1x4x4x2xi8>) -> tensor<1x4x4x3xi32> {
  %w = "tosa.const"() {values = dense<[[[[1, -2]]], [[[3, -4]]], [[[7, -8]]]]>
      : tensor<3x1x1x2xi4>} : () -> tensor<3x1x1x2xi4>
  %b = "tosa.const"() {values = dense<[12, 23, 55]> : tensor<3xi32>} : () -> tensor<3xi32>
  %i = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %z = "tosa.const"() {values = dense<0> : tensor<1xi4>} : () -> tensor<1xi4>
  %0 = tosa.conv2d %x, %w, %b, %i, %z {acc_type = i32, dilation = array<i64: 1, 1>,
      pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xi8>,
      tensor<3x1x1x2xi4>, tensor<3xi32>, tensor<1xi8>, tensor<1xi4>) -> tensor<1x4x4x3xi32>
  return %0 : tensor<1x4x4x3xi32>
}
"""


@pytest.mark.parametrize("device_name", DEVICES)
def test_weights_of_four_bits(device_name: str) -> None:
    x = np.random.default_rng(0).integers(-128, 127, (1, 4, 4, 2)).astype(np.int8)
    w = np.array([1, -2, 3, -4, 7, -8], np.int8).reshape(3, 1, 1, 2)
    bias = np.array([12, 23, 55], np.int32)
    expected = spec.convolution(x, w, bias, (0, 0), [0] * 4, [1, 1], [1, 1], np.int32)
    (result,) = run(INT4, device_name, [x])
    np.testing.assert_array_equal(result, expected)


CONTROL = """
func.func @main(%x: tensor<4xf32>, %c: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = tosa.cond_if %c (%a = %x) : tensor<i1> (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %1 = tosa.floor %a : (tensor<4xf32>) -> tensor<4xf32>
    tosa.yield %1 : tensor<4xf32>
  } else {
  ^bb0(%a: tensor<4xf32>):
    %1 = tosa.ceil %a : (tensor<4xf32>) -> tensor<4xf32>
    tosa.yield %1 : tensor<4xf32>
  }
  %n = "tosa.const"() <{values = dense<3> : tensor<i32>}> : () -> tensor<i32>
  %one = "tosa.const"() <{values = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %z = "tosa.const"() <{values = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %2:2 = tosa.while_loop (%i = %z, %v = %x)
      : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
    %3 = tosa.greater %n, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %3 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
    %4 = tosa.add %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %5 = tosa.add %v, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tosa.yield %4, %5 : tensor<i32>, tensor<4xf32>
  }
  return %0, %2#1 : tensor<4xf32>, tensor<4xf32>
}
"""


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("condition", [True, False])
def test_control_flow(condition: bool, device_name: str) -> None:
    x = np.array([0.5, -1.5, 2.25, 7.0], np.float32)
    chosen, repeated = run(CONTROL, device_name, [x, np.array(condition)])
    np.testing.assert_array_equal(chosen, np.floor(x) if condition else np.ceil(x))
    np.testing.assert_array_equal(repeated, x * 8)


DYNAMIC = """
func.func @main(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>)
    -> (tensor<?x1xf32>, tensor<8x?xf32>, tensor<?xi32>) {
  %0 = tosa.add %x, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = tosa.reduce_max %0 {axis = 1 : i32} : (tensor<?x8xf32>) -> tensor<?x1xf32>
  %2 = tosa.transpose %0 {perms = array<i32: 1, 0>} : (tensor<?x8xf32>) -> tensor<8x?xf32>
  %3 = tosa.argmax %0 {axis = 1 : i32} : (tensor<?x8xf32>) -> tensor<?xi32>
  return %1, %2, %3 : tensor<?x1xf32>, tensor<8x?xf32>, tensor<?xi32>
}
"""


@pytest.mark.parametrize("device_name", DEVICES)
def test_sizes_that_a_call_decides(device_name: str) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((19, 8)).astype(np.float32) for _ in range(2))
    greatest, transposed, positions = run(DYNAMIC, device_name, [x, y])
    np.testing.assert_array_equal(greatest, (x + y).max(axis=1, keepdims=True))
    np.testing.assert_array_equal(transposed, (x + y).T)
    np.testing.assert_array_equal(positions, (x + y).argmax(axis=1))
    with pytest.raises(rt.ArgumentError, match="must be dimension 0 of argument 0"):
        run(DYNAMIC, device_name, [x, y[:1]])


MASKED = """
func.func @main(%x: tensor<5x32xf32>) -> tensor<5x32xf32> {
  %inf = "tosa.const"() <{values = dense<0xFF800000> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.equal %x, %inf : (tensor<5x32xf32>, tensor<1x1xf32>) -> tensor<5x32xi1>
  %1 = tosa.reduce_all %0 {axis = 1 : i32} : (tensor<5x32xi1>) -> tensor<5x1xi1>
  %2 = tosa.exp %x : (tensor<5x32xf32>) -> tensor<5x32xf32>
  %3 = tosa.reduce_sum %2 {axis = 1 : i32} : (tensor<5x32xf32>) -> tensor<5x1xf32>
  %4 = tosa.reciprocal %3 : (tensor<5x1xf32>) -> tensor<5x1xf32>
  %5 = tosa.mul %2, %4, %s : (tensor<5x32xf32>, tensor<5x1xf32>, tensor<1xi8>) -> tensor<5x32xf32>
  %6 = tosa.select %1, %zero, %5 : (tensor<5x1xi1>, tensor<1x1xf32>, tensor<5x32xf32>)
      -> tensor<5x32xf32>
  return %6 : tensor<5x32xf32>
}
"""


@pytest.mark.parametrize("device_name", DEVICES)
def test_a_softmax_with_rows_that_are_masked(device_name: str) -> None:
    """All lanes take part in the conjunction over a row, whatever they found themselves."""
    x = np.random.default_rng(0).standard_normal((5, 32)).astype(np.float32)
    x[0] = -np.inf
    x[1, 1:] = -np.inf
    x[2, :31] = -np.inf
    with np.errstate(all="ignore"):
        expected = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
    expected[0] = 0
    (result,) = run(MASKED, device_name, [x])
    assert_close(result, expected.astype(np.float32))
