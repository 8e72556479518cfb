"""`jax.grad` agrees on the smooth StableHLO programs; skipped where JAX is not installed."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from support.gradients import check_on_device, gradient_of
from support.harness import DEVICES, SHARED, Array

from ingot.compiler.dialects.context import make_context
from ingot.compiler.frontends.reader import read_module

jax = pytest.importorskip("jax")

SMOOTH = (
    "add",
    "attention_causal",
    "attention_sh",
    "avgpool",
    "batch_matmul",
    "conv1d",
    "conv_bn_relu",
    "conv_nchw",
    "conv_stride2_valid",
    "cumsum",
    "dynamic_slice",
    "embedding",
    "fft",
    "layernorm",
    "math_unary",
    "matmul_bias_gelu",
    "matmul_bias_gelu_erf",
    "matmul_f16_accf32",
    "matmul_odd",
    "maxpool",
    "mlp_const",
    "mlp_fwd",
    "pad_slice_concat",
    "resnet_block",
    "rnn_scan",
    "saxpy_tanh",
    "softmax",
    "softmax_f16",
    "transformer_block",
    "transformer_grad",
)
"""Programs of floats that have a derivative almost everywhere."""

TOLERANCE = {"matmul_f16_accf32": 2e-3, "softmax_f16": 1e-2, "transformer_grad": 5e-4}
"""Relative to the largest gradient, where it is not 5e-5."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SMOOTH)
def test_jax_agrees(name: str) -> None:
    from support.stablehlo_in_jax import function_of

    path = SHARED / "programs" / "stablehlo" / f"{name}.mlir"
    if not path.exists():
        pytest.skip(f"there is no {path}")
    text = path.read_text()
    module = read_module(text, path.name, make_context())
    with np.load(SHARED / "programs" / "data" / f"{name}.npz") as file:
        inputs: list[Array] = [file[f"in{i}"] for i in range(len(file.files)) if f"in{i}" in file]
    function = function_of(module)
    floats = [i for i, v in enumerate(inputs) if v.dtype.kind == "f"]

    def of_floats(*values: object) -> list[object]:
        given: list[object] = list(inputs)
        for i, value in zip(floats, values, strict=True):
            given[i] = value
        return [r for r in function(*given) if r.dtype.kind == "f" or r.dtype == ml_dtypes.bfloat16]

    results, pullback = jax.vjp(of_floats, *(jax.numpy.asarray(inputs[i]) for i in floats))
    rng = np.random.default_rng(0)
    cotangents = [rng.standard_normal(r.shape).astype(r.dtype) for r in results]
    expected = [np.asarray(g) for g in pullback([jax.numpy.asarray(c) for c in cotangents])]
    gradient = gradient_of(text)
    for device_name in DEVICES:
        given = [*inputs, *cotangents]
        check_on_device(gradient, given, expected, device_name, 1, TOLERANCE.get(name, 5e-5))
