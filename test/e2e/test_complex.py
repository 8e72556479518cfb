"""complex<f32>: every op of the dialect, and tensors of complex numbers through the whole road."""

from __future__ import annotations

import numpy as np
import pytest
from support.harness import DEVICES, Array, bundle_for, run
from support.scalar_ops import elementwise
from xdsl.dialects.complex import Complex

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.dialects.context import make_context
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate
from ingot.targets.bundle.model import DType

both_devices = pytest.mark.parametrize("device_name", DEVICES)
C = "complex<f32>"

TO_FLOAT = ("abs", "angle", "re", "im")
UNARY = ("conj", "cos", "exp", "expm1", "log", "log1p", "neg", "rsqrt", "sign", "sin", "sqrt",
         "tan", "tanh")  # fmt: skip
BINARY = ("add", "sub", "mul", "div", "pow")
TO_BOOL = ("eq", "neq")
WITHOUT_A_TEST_HERE = {"create", "constant"}
REFUSED = {"atan2", "bitcast"}


def test_no_op_of_the_dialect_is_forgotten() -> None:
    names = {op.name.removeprefix("complex.") for op in Complex.operations}
    assert names == {*TO_FLOAT, *UNARY, *BINARY, *TO_BOOL, *WITHOUT_A_TEST_HERE, *REFUSED}


def numbers() -> tuple[Array, Array]:
    rng = np.random.default_rng(3)
    size = 2.0 ** rng.uniform(-6, 3, 400)
    a = size * np.exp(1j * rng.uniform(-np.pi, np.pi, 400))
    special = [1, -1, 1j, -1j, 0.5, -2, 1 + 1e-4j, 1e-3 + 1j, 3 - 4j, -0.1 - 0.2j]
    a[: len(special)] = special
    return a.astype(np.complex64), np.roll(a, 7).astype(np.complex64)


@both_devices
@pytest.mark.parametrize("names", [(*TO_FLOAT, *UNARY[:5]), (*UNARY[5:], *BINARY, *TO_BOOL)])
def test_every_op(names: tuple[str, ...], device_name: str) -> None:
    lines: list[str] = []
    results: list[tuple[str, str]] = []
    for name in names:
        operands = "%a, %b" if name in (*BINARY, *TO_BOOL) else "%a"
        lines.append(f"%{name} = complex.{name} {operands} : {C}")
        type_ = "f32" if name in TO_FLOAT else "i1" if name in TO_BOOL else C
        results.append((f"%{name}", type_))
    a, b = numbers()
    text = elementwise("\n".join(lines), {"a": C, "b": C}, results, a.size)
    module = read_module(text, "test.mlir", make_context())
    wide = [a.astype(np.complex128), b.astype(np.complex128)]
    expected = evaluate(module, "main", wide, "float64")
    for name, got, exact in zip(names, run(text, device_name, [a, b]), expected, strict=True):
        if name in TO_BOOL:
            np.testing.assert_array_equal(got, exact)
            continue
        assert got.dtype == (np.float32 if name in TO_FLOAT else np.complex64)
        # the error of both parts together, as a part may cancel
        with np.errstate(invalid="ignore"):
            error = np.abs(got - exact) / np.maximum(np.abs(exact), 1e-30)
        error = np.where(got == exact, 0.0, error)
        assert error.max() < (4e-6 if name == "pow" else 1e-6), name


@both_devices
def test_magnitudes_do_not_overflow_on_the_way(device_name: str) -> None:
    a = np.array(
        [3e38 + 0j, 2e38 + 2e38j, 1e-38 + 1e-38j, 0j, complex(np.inf, np.nan)], np.complex64
    )
    text = elementwise("%r = complex.abs %a : complex<f32>", {"a": C}, [("%r", "f32")], a.size)
    (got,) = run(text, device_name, [a])
    np.testing.assert_allclose(got[:3], [3e38, 2.828427e38, 1.414214e-38], rtol=1e-6)
    assert got[3] == 0
    assert got[4] == np.inf


PROGRAM = """
#row = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<4x6xcomplex<f32>>, %y: tensor<6x3xcomplex<f32>>)
    -> (tensor<4x3xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<3x4xcomplex<f32>>,
        tensor<2xcomplex<f32>>) {
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %table = arith.constant dense<[(1.0, 2.0), (3.0, -4.0)]> : tensor<2xcomplex<f32>>
  %e = tensor.empty() : tensor<4x3xcomplex<f32>>
  %z = linalg.fill ins(%zero : complex<f32>) outs(%e : tensor<4x3xcomplex<f32>>)
    -> tensor<4x3xcomplex<f32>>
  %p = linalg.matmul ins(%x, %y : tensor<4x6xcomplex<f32>>, tensor<6x3xcomplex<f32>>)
    outs(%z : tensor<4x3xcomplex<f32>>) -> tensor<4x3xcomplex<f32>>
  %e1 = tensor.empty() : tensor<4xcomplex<f32>>
  %z1 = linalg.fill ins(%zero : complex<f32>) outs(%e1 : tensor<4xcomplex<f32>>)
    -> tensor<4xcomplex<f32>>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x6xcomplex<f32>>) outs(%z1 : tensor<4xcomplex<f32>>) {
  ^bb0(%v: complex<f32>, %acc: complex<f32>):
    %t = complex.add %acc, %v : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<4xcomplex<f32>>
  %w = tensor.extract_slice %x[0, 1] [4, 3] [1, 2] : tensor<4x6xcomplex<f32>>
    to tensor<4x3xcomplex<f32>>
  %e2 = tensor.empty() : tensor<3x4xcomplex<f32>>
  %q = linalg.transpose ins(%w : tensor<4x3xcomplex<f32>>) outs(%e2 : tensor<3x4xcomplex<f32>>)
    permutation = [1, 0]
  return %p, %s, %q, %table : tensor<4x3xcomplex<f32>>, tensor<4xcomplex<f32>>,
    tensor<3x4xcomplex<f32>>, tensor<2xcomplex<f32>>
}
"""


@both_devices
def test_tensors_of_complex_numbers(device_name: str) -> None:
    rng = np.random.default_rng(0)
    x, y = (
        (rng.standard_normal(s) + 1j * rng.standard_normal(s)).astype(np.complex64)
        for s in ((4, 6), (6, 3))
    )
    product, sums, turned, table = run(PROGRAM, device_name, [x, y])
    np.testing.assert_allclose(product, x @ y, rtol=1e-5)
    np.testing.assert_allclose(sums, x.sum(axis=1), rtol=1e-5)
    np.testing.assert_array_equal(turned, x[:, 1::2].T)
    np.testing.assert_array_equal(table, np.array([1 + 2j, 3 - 4j], np.complex64))


def test_the_bundle_says_complex() -> None:
    (function,) = bundle_for(PROGRAM, "host").functions
    assert [t.dtype for t in function.arguments] == [DType.C64, DType.C64]
    assert function.arguments[0].shape == (4, 6)


@pytest.mark.parametrize(
    ("body", "type_", "message"),
    [
        ("%r = complex.atan2 %a, %a : complex<f32>", C, "complex.atan2 on complex numbers"),
        ("%r = complex.neg %a : complex<f64>", "complex<f64>", "complex<f64> is not supported"),
    ],
)
def test_what_is_refused(body: str, type_: str, message: str) -> None:
    with pytest.raises(Refusal, match=message):
        bundle_for(elementwise(body, {"a": type_}, [("%r", type_)], 4), "host")
