"""StableHLO programs of JAX and PyTorch, compiled and run on both devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.conformance import judge, run_program
from support.harness import DEVICES, SHARED, bundle_for, device, rt, run

from ingot.targets.bundle.writer import write_bundle

# Where each folder is run every time; `make sweep` runs the other device too.
_USUAL = {"stablehlo": "host", "stablehlo_torch": "vulkan"}


def programs() -> list[Any]:
    """Every program on every device."""
    return [
        pytest.param(
            path,
            device_name,
            id=f"{path.stem}-{device_name}",
            marks=() if usual == device_name else pytest.mark.slow,
        )
        for folder, usual in _USUAL.items()
        for path in sorted((SHARED / "programs" / folder).glob("*.mlir"))
        for device_name in DEVICES
    ]


@pytest.mark.parametrize(("path", "device_name"), programs())
def test_programs_are_right(path: Path, device_name: str) -> None:
    outcome = run_program(path, SHARED / "programs" / "data" / f"{path.stem}.npz", device_name)
    assert outcome.verdict == "right", outcome


@pytest.mark.slow
@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize(
    "path", sorted((SHARED / "conformance" / "stablehlo").glob("*.mlir")), ids=lambda p: p.stem
)
def test_conformance(path: Path, device_name: str) -> None:
    outcome = judge((path, path.with_suffix(".npz"), device_name))
    assert outcome.verdict in ("right", "refused"), outcome


# As jax.export writes functions of (b, 3), with the sizes as tensors.
SIZED = """
  func.func @main(%x: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<3xf32>, tensor<?xf32>,
      tensor<?x5xf32>, tensor<?x3xf32>) {
    %three = stablehlo.constant dense<3> : tensor<1xi32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %pad = stablehlo.constant dense<7.0> : tensor<f32>
    %b = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %ok = stablehlo.compare GE, %b, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%ok, %b) {error_message = "Expected b >= 2. It is {0}",
      has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %b1 = stablehlo.reshape %b : (tensor<i32>) -> tensor<1xi32>
    %shape = stablehlo.concatenate %b1, %three, dim = 0
      : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    // The mean of each column, taken away.
    %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<?x3xf32>, tensor<f32>) -> tensor<3xf32>
    %n = stablehlo.convert %b : (tensor<i32>) -> tensor<f32>
    %count = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %mean = stablehlo.divide %sum, %count : tensor<3xf32>
    %wide = stablehlo.dynamic_broadcast_in_dim %mean, %shape, dims = [1]
      : (tensor<3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %centered = stablehlo.subtract %x, %wide : tensor<?x3xf32>
    // All elements in a row, with their positions.
    %all = stablehlo.multiply %b1, %three : tensor<1xi32>
    %line = stablehlo.dynamic_reshape %x, %all : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>
    %places = stablehlo.dynamic_iota %all, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
    %ramp = stablehlo.add %line, %places : tensor<?xf32>
    %padded = stablehlo.pad %x, %pad, low = [1, -1], high = [0, 3], interior = [1, 0]
      : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x5xf32>
    // Every second row from the last.
    %reversed = stablehlo.reverse %x, dims = [0] : tensor<?x3xf32>
    %from = stablehlo.constant dense<0> : tensor<2xi32>
    %by = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
    %rows = stablehlo.real_dynamic_slice %reversed, %from, %shape, %by
      : (tensor<?x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x3xf32>
    return %centered, %mean, %ramp, %padded, %rows : tensor<?x3xf32>, tensor<3xf32>, tensor<?xf32>,
      tensor<?x5xf32>, tensor<?x3xf32>
  }"""


@pytest.mark.parametrize("device_name", DEVICES)
def test_sizes_that_a_call_decides(device_name: str) -> None:
    loaded = rt.loads(write_bundle(bundle_for(SIZED, device_name))).bind(device(device_name))
    for rows in (2, 7):
        x = np.random.default_rng(rows).uniform(-1, 1, (rows, 3)).astype(np.float32)
        centered, mean, ramp, padded, chosen = loaded.call("main", x)
        assert np.allclose(mean, x.mean(0), atol=1e-6)
        assert np.allclose(centered, x - x.mean(0), atol=1e-6)
        assert np.array_equal(ramp, x.reshape(-1) + np.arange(3 * rows, dtype=np.float32))
        want = np.full((2 * rows, 5), 7, np.float32)
        want[1::2, :2] = x[:, 1:]
        assert np.array_equal(padded, want)
        assert np.array_equal(chosen, x[::-2])
    with pytest.raises(rt.IngotError, match="Expected b >= 2"):
        loaded.call("main", x[:1])


@pytest.mark.parametrize("device_name", DEVICES)
def test_a_call_decides_what_is_repeated(device_name: str) -> None:
    # As torch-mlir writes the broadcasting sum of tensors of unknown size.
    t, s = "tensor<?x3xf32>", "tensor<2xindex>"
    text = f"""
      func.func @main(%x: {t}, %y: {t}) -> {t} {{
        %a = shape.shape_of %x : {t} -> {s}
        %b = shape.shape_of %y : {t} -> {s}
        %c = shape.broadcast %a, %b : {s}, {s} -> {s}
        %u = stablehlo.dynamic_broadcast_in_dim %x, %c, dims = [0, 1] : ({t}, {s}) -> {t}
        %v = stablehlo.dynamic_broadcast_in_dim %y, %c, dims = [0, 1] : ({t}, {s}) -> {t}
        %r = stablehlo.add %u, %v : {t}
        return %r : {t}
      }}"""
    rng = np.random.default_rng(0)
    for left, right in ((4, 4), (1, 4), (4, 1)):
        x, y = (rng.uniform(-1, 1, (n, 3)).astype(np.float32) for n in (left, right))
        assert np.array_equal(run(text, device_name, [x, y])[0], x + y)


@pytest.mark.parametrize("device_name", DEVICES)
def test_unsigned_integers_keep_their_type(device_name: str) -> None:
    text = """
      func.func @main(%x: tensor<4xui8>, %y: tensor<4xui8>) -> (tensor<4xui8>, tensor<4xi1>) {
        %q = stablehlo.divide %x, %y : tensor<4xui8>
        %c = stablehlo.compare LT, %x, %y, UNSIGNED : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
        return %q, %c : tensor<4xui8>, tensor<4xi1>
      }"""
    x, y = np.array([200, 7, 255, 0], np.uint8), np.array([3, 130, 254, 1], np.uint8)
    quotient, less = run(text, device_name, [x, y])
    assert quotient.dtype == np.uint8 and np.array_equal(quotient, x // y)
    assert np.array_equal(less, x < y)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("transpose", ["NO_TRANSPOSE", "ADJOINT"])
def test_triangular_solve(left: bool, lower: bool, transpose: str) -> None:
    shape = "2x4x3" if left else "2x3x4"
    unit = lower and left
    m, t = "tensor<2x4x4xf32>", f"tensor<{shape}xf32>"
    text = f"""
      func.func @main(%a: {m}, %b: {t}) -> {t} {{
        %x = "stablehlo.triangular_solve"(%a, %b) <{{left_side = {str(left).lower()},
          lower = {str(lower).lower()}, transpose_a = #stablehlo<transpose {transpose}>,
          unit_diagonal = {str(unit).lower()}}}> : ({m}, {t}) -> {t}
        return %x : {t}
      }}"""
    rng = np.random.default_rng(0)
    a = (rng.uniform(-1, 1, (2, 4, 4)) + 3 * np.eye(4)).astype(np.float32)
    b = rng.uniform(-1, 1, [int(size) for size in shape.split("x")]).astype(np.float32)
    used = np.tril(a) if lower else np.triu(a)
    if unit:
        used = used - np.diagonal(used, axis1=1, axis2=2)[:, None] * np.eye(4) + np.eye(4)
    used = used if transpose == "NO_TRANSPOSE" else used.transpose(0, 2, 1)
    (x,) = run(text, "vulkan", [a, b])
    assert np.allclose(used @ x if left else x @ used, b, atol=1e-5)


@pytest.mark.parametrize("device_name", DEVICES)
def test_cholesky(device_name: str) -> None:
    text = """
      func.func @main(%a: tensor<2x5x5xf32>) -> (tensor<2x5x5xf32>, tensor<2x5x5xf32>) {
        %l = stablehlo.cholesky %a, lower = true : tensor<2x5x5xf32>
        %u = stablehlo.cholesky %a, lower = false : tensor<2x5x5xf32>
        return %l, %u : tensor<2x5x5xf32>, tensor<2x5x5xf32>
      }"""
    m = np.random.default_rng(0).uniform(-1, 1, (2, 5, 5))
    a = (m @ m.transpose(0, 2, 1) + 2 * np.eye(5)).astype(np.float32)
    lower, upper = run(text, device_name, [a])
    assert np.allclose(np.tril(lower), np.linalg.cholesky(a), atol=1e-5)
    assert np.allclose(np.triu(upper), np.linalg.cholesky(a).transpose(0, 2, 1), atol=1e-5)
    # The other triangle is not defined; it holds what XLA's CPU leaves there.
    assert np.array_equal(np.triu(lower, 1), np.triu(a, 1))
    assert np.array_equal(np.tril(upper, -1), np.tril(a, -1))


@pytest.mark.parametrize("device_name", DEVICES)
def test_batch_norm(device_name: str) -> None:
    t, f = "tensor<4x3x5xf32>", "tensor<3xf32>"
    text = f"""
      func.func @main(%x: {t}, %s: {f}, %o: {f}, %g: {t}) -> ({t}, {f}, {f}, {t}, {t}, {f}, {f}) {{
        %y, %m, %v = "stablehlo.batch_norm_training"(%x, %s, %o)
          <{{epsilon = 0.01 : f32, feature_index = 1 : i64}}> : ({t}, {f}, {f}) -> ({t}, {f}, {f})
        %i = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v)
          <{{epsilon = 0.01 : f32, feature_index = 1 : i64}}> : ({t}, {f}, {f}, {f}, {f}) -> {t}
        %dx, %ds, %do = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g)
          <{{epsilon = 0.01 : f32, feature_index = 1 : i64}}>
          : ({t}, {f}, {f}, {f}, {t}) -> ({t}, {f}, {f})
        return %y, %m, %v, %i, %dx, %ds, %do : {t}, {f}, {f}, {t}, {t}, {f}, {f}
      }}"""
    rng = np.random.default_rng(0)
    x, g = (rng.uniform(-1, 1, (4, 3, 5)).astype(np.float32) for _ in range(2))
    s, o = (rng.uniform(1, 2, 3).astype(np.float32) for _ in range(2))
    y, mean, variance, inferred, dx, ds, do = run(text, device_name, [x, s, o, g])
    scale, offset = s[:, None].astype(np.float64), o[:, None].astype(np.float64)
    center = x.mean((0, 2), keepdims=True, dtype=np.float64)
    spread = x.var((0, 2), keepdims=True, dtype=np.float64) + 0.01
    normal = (x - center) / np.sqrt(spread)
    count = 20
    inner = (
        g - g.mean((0, 2), keepdims=True) - normal * (g * normal).sum((0, 2), keepdims=True) / count
    )
    for got, want in (
        (y, normal * scale + offset),
        (inferred, normal * scale + offset),
        (mean, center.reshape(3)),
        (variance, spread.reshape(3) - 0.01),
        (dx, scale / np.sqrt(spread) * inner),
        (ds, (g * normal).sum((0, 2))),
        (do, g.sum((0, 2))),
    ):
        assert np.allclose(got, want, atol=1e-5)


@pytest.mark.parametrize("device_name", DEVICES)
def test_random_bits(device_name: str) -> None:
    # The numbers are those of jax.lax.rng_bit_generator.
    t, n = "tensor<2xui64>", "tensor<2xui32>"
    text = f"""
      func.func @main(%s: {t}) -> ({t}, {n}, {t}) {{
        %a, %x = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : ({t}) -> ({t}, {n})
        %b, %y = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : ({t}) -> ({t}, {t})
        return %b, %x, %y : {t}, {n}, {t}
      }}"""
    state, narrow, wide = run(text, device_name, [np.array([0, 0], np.uint64)])
    assert state.tolist() == [0, 2]
    # Known answer of Threefry 2x32 with 20 rounds for key and counter 0.
    assert narrow.tolist() == [0x6B200159, 0x99BA4EFE]
    assert wide[0] == 0x99BA4EFE6B200159


@pytest.mark.parametrize("device_name", DEVICES)
def test_random_bits_by_philox(device_name: str) -> None:
    t, n, w = "tensor<3xui64>", "tensor<1x5xui32>", "tensor<3xui64>"
    text = f"""
      func.func @main(%s: {t}) -> ({t}, {n}, {w}) {{
        %a, %x = stablehlo.rng_bit_generator %s, algorithm = PHILOX : ({t}) -> ({t}, {n})
        %b, %y = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : ({t}) -> ({t}, {w})
        return %a, %x, %y : {t}, {n}, {w}
      }}"""
    # The last counter before its low half overflows: the second element has the next high half.
    state, narrow, wide = run(text, device_name, [np.array([0, 2**64 - 1, 2**64 - 1], np.uint64)])
    assert state.tolist() == [0, 1, 0]
    # Philox 4x32 with 10 rounds for the key 0, and the counters of all bits set and of none.
    first, second = [0x3F9D0C45, 0x26F733A8, 0x4F9F3099, 0x22D2ED02], 0x6627E8D5
    assert narrow.tolist() == [[*first, second]]
    assert wide.tolist()[2] & 0xFFFFFFFF == second


@pytest.mark.parametrize("kind", ["FFT", "IFFT", "RFFT", "IRFFT"])
@pytest.mark.parametrize("lengths", [(8,), (3, 170)], ids=str)
def test_fourier_transforms(kind: str, lengths: tuple[int, ...]) -> None:
    half = (*lengths[:-1], lengths[-1] // 2 + 1)
    points = half if kind == "IRFFT" else lengths

    def type_(sizes: tuple[int, ...], real: bool) -> str:
        return f"tensor<2x{'x'.join(map(str, sizes))}x{'f32' if real else 'complex<f32>'}>"

    source = type_(points, kind == "RFFT")
    result = type_(half if kind == "RFFT" else lengths, kind == "IRFFT")
    text = f"""
      func.func @main(%x: {source}) -> {result} {{
        %0 = stablehlo.fft %x, type = {kind}, length = {list(lengths)} : ({source}) -> {result}
        return %0 : {result}
      }}"""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (2, *points)) + 1j * rng.uniform(-1, 1, (2, *points))
    x = x.real.astype(np.float32) if kind == "RFFT" else x.astype(np.complex64)
    (got,) = run(text, "vulkan", [x])
    axes = range(1, 1 + len(lengths))
    transform = getattr(np.fft, f"{kind.lower()}n")
    want = transform(x, lengths, axes) if kind == "IRFFT" else transform(x, axes=axes)
    assert np.allclose(got, want, atol=2e-5)


@pytest.mark.parametrize("device_name", DEVICES)
def test_complex_numbers(device_name: str) -> None:
    t, s = "tensor<5xcomplex<f32>>", "tensor<complex<f32>>"
    text = f"""
      func.func @main(%x: {t}, %y: {t}) -> ({t}, {t}, tensor<5xf32>, {t}, {s}) {{
        %0 = stablehlo.multiply %x, %y : {t}
        %1 = stablehlo.divide %x, %y : {t}
        %2 = stablehlo.abs %x : ({t}) -> tensor<5xf32>
        %3 = stablehlo.exponential %x : {t}
        %c = stablehlo.constant dense<(1.0, 2.0)> : {s}
        %4 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0]
          : ({t}, {s}) -> {s}
        return %0, %1, %2, %3, %4 : {t}, {t}, tensor<5xf32>, {t}, {s}
      }}"""
    rng = np.random.default_rng(0)
    x, y = (
        (rng.uniform(-2, 2, 5) + 1j * rng.uniform(-2, 2, 5)).astype(np.complex64) for _ in range(2)
    )
    results = run(text, device_name, [x, y])
    expected = (x * y, x / y, abs(x), np.exp(x), x.sum() + np.complex64(1 + 2j))
    for got, want in zip(results, expected, strict=True):
        assert got.dtype == want.dtype and np.allclose(got, want, rtol=1e-5)


def test_indices_of_scalars_and_of_torch() -> None:
    t, r = "tensor<2x4x3xf32>", "tensor<2x5x3xf32>"
    scatter = """"stablehlo.scatter"(%s, %{i}, %{u}) <{{scatter_dimension_numbers =
          #stablehlo.scatter<index_vector_dim = {dim}>}}> ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %m = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %m : tensor<f32>
        }}) : (tensor<f32>, {types}) -> tensor<f32>"""
    several = scatter.format(i="many", u="w", dim=1, types="tensor<3x0xi32>, tensor<3xf32>")
    one = scatter.format(i="none", u="n", dim=0, types="tensor<0xi32>, tensor<f32>")
    text = f"""
      func.func @main(%x: {t}, %i: tensor<2x5xi32>, %w: tensor<3xf32>, %n: tensor<f32>)
          -> ({r}, tensor<f32>, tensor<f32>) {{
        %y = "stablehlo.torch_index_select"(%x, %i) <{{dim = 1 : i64, batch_dims = 1 : i64}}>
          : ({t}, tensor<2x5xi32>) -> {r}
        %s = stablehlo.constant dense<1.0> : tensor<f32>
        %many = stablehlo.constant dense<> : tensor<3x0xi32>
        %none = stablehlo.constant dense<> : tensor<0xi32>
        %p = {several}
        %q = {one}
        return %y, %p, %q : {r}, tensor<f32>, tensor<f32>
      }}"""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (2, 4, 3)).astype(np.float32)
    i = rng.integers(0, 4, (2, 5)).astype(np.int32)
    w = np.array([1, 2, 4], np.float32)
    selected, added, once = run(text, "host", [x, i, w, np.float32(5)])
    assert np.array_equal(selected, np.take_along_axis(x, i[:, :, None], 1))
    assert added == 8 and once == 6


FUNCTIONS = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh")


@pytest.mark.parametrize("device_name", DEVICES)
def test_functions_of_complex_numbers(device_name: str) -> None:
    t = "tensor<40xcomplex<f32>>"
    lines = [f"%{name} = chlo.{name} %x : {t} -> {t}" for name in FUNCTIONS]
    text = f"""
      func.func @main(%x: {t}) -> ({", ".join([t] * len(FUNCTIONS))}) {{
        {" ".join(lines)}
        return {", ".join("%" + name for name in FUNCTIONS)} : {", ".join([t] * len(FUNCTIONS))}
      }}"""
    rng = np.random.default_rng(1)
    x = (rng.uniform(-2, 2, 40) + 1j * rng.uniform(-2, 2, 40)).astype(np.complex64)
    x[:4] = [0.5, -0.5j, 3 + 1e-4j, 1e-3 - 1e-3j]
    for name, got in zip(FUNCTIONS, run(text, device_name, [x]), strict=True):
        want = getattr(np, name.replace("a", "arc", 1))(x.astype(np.complex128))
        assert np.allclose(got, want, rtol=2e-6, atol=1e-7), name


@pytest.mark.parametrize("device_name", DEVICES)
def test_moves_of_complex_numbers(device_name: str) -> None:
    t, s, r = "tensor<6xcomplex<f32>>", "tensor<complex<f32>>", "tensor<3xcomplex<f32>>"
    text = f"""
      func.func @main(%x: {t}, %i: tensor<3x1xi32>) -> ({t}, {s}, {t}) {{
        %one = stablehlo.constant dense<(1.0, 0.0)> : {s}
        %p = stablehlo.reduce(%x init: %one) applies stablehlo.multiply across dimensions = [0]
          : ({t}, {s}) -> {s}
        %sorted = "stablehlo.sort"(%x) <{{dimension = 0 : i64, is_stable = true}}> ({{
        ^bb0(%a: {s}, %b: {s}):
          %u = stablehlo.imag %a : ({s}) -> tensor<f32>
          %v = stablehlo.imag %b : ({s}) -> tensor<f32>
          %c = stablehlo.compare LT, %u, %v : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        }}) : ({t}) -> {t}
        %u = stablehlo.slice %x [3:6] : ({t}) -> {r}
        %scattered = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers =
          #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
          index_vector_dim = 1>}}> ({{
        ^bb0(%a: {s}, %b: {s}):
          %m = stablehlo.multiply %a, %b : {s}
          stablehlo.return %m : {s}
        }}) : ({t}, tensor<3x1xi32>, {r}) -> {t}
        return %sorted, %p, %scattered : {t}, {s}, {t}
      }}"""
    rng = np.random.default_rng(2)
    x = (rng.uniform(-2, 2, 6) + 1j * rng.uniform(-2, 2, 6)).astype(np.complex64)
    sorted_, product, scattered = run(text, device_name, [x, np.array([[1], [4], [1]], np.int32)])
    assert np.array_equal(sorted_, x[np.argsort(x.imag)])
    assert np.allclose(product, x.prod(), rtol=1e-5)
    want = x.copy()
    want[1], want[4] = x[1] * x[3] * x[5], x[4] * x[4]
    assert np.allclose(scattered, want, rtol=1e-5)


def test_factorizations_of_lapack() -> None:
    t, n = "tensor<4x4xf32>", "tensor<i32>"
    call = "stablehlo.custom_call @lapack_{} {{mhlo.backend_config = {{{}}}}}"
    potrf = call.format("spotrf_ffi(%a)", "uplo = 76 : ui8")
    flags = "diag = 78 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8"
    trsm = call.format("strsm_ffi(%l#0, %b)", flags)
    text = f"""
      func.func @main(%a: {t}, %b: {t}) -> ({t}, {n}, {t}) {{
        %l:2 = {potrf} : ({t}) -> ({t}, {n})
        %x = {trsm} : ({t}, {t}) -> {t}
        return %l#0, %l#1, %x : {t}, {n}, {t}
      }}"""
    m, b = np.random.default_rng(0).uniform(-1, 1, (2, 4, 4)).astype(np.float32)
    a = m @ m.T + 2 * np.eye(4, dtype=np.float32)
    factor, info, x = run(text, "host", [a, b])
    lower = np.linalg.cholesky(a)
    assert np.allclose(np.tril(factor), lower, atol=1e-5) and info == 0
    assert np.array_equal(np.triu(factor, 1), np.triu(a, 1))
    assert np.allclose(lower.T @ x, b, atol=1e-5)
    assert run(text, "host", [a - 4 * np.eye(4, dtype=np.float32), b])[1] == 1
