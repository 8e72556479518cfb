"""`jax.grad` agrees on the smooth StableHLO programs; skipped where JAX is not installed."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from support.gradients import check_on_device, gradient_of
from support.harness import DEVICES, SHARED, Array
from xdsl.dialects.builtin import BFloat16Type, ModuleOp
from xdsl.dialects.func import FuncOp

from ingot.compiler.analysis.types import element_type
from ingot.compiler.dialects.context import make_context
from ingot.compiler.frontends.reader import read_module

jax = pytest.importorskip("jax")

SMOOTH = (
    "add",
    "attention_causal",
    "attention_sh",
    "avgpool",
    "batch_matmul",
    "causal_mask",
    "complex_mul",
    "conv1d",
    "conv_bn_relu",
    "conv_nchw",
    "conv_stride2_valid",
    "cumsum",
    "dynamic_slice",
    "embedding",
    "fft",
    "gpt_tiny",
    "layernorm",
    "math_unary",
    "matmul_bias_gelu",
    "matmul_bias_gelu_erf",
    "matmul_f16_accf32",
    "matmul_odd",
    "maxpool",
    "mlp_const",
    "mlp_fwd",
    "mlp_grad",
    "pad_slice_concat",
    "resnet_block",
    "rnn_scan",
    "saxpy_tanh",
    "softmax",
    "softmax_f16",
    "sort",
    "transformer_block",
    "transformer_block_bf16",
    "transformer_grad",
)
"""Programs of floats that have a derivative almost everywhere."""

TOLERANCE = {
    "matmul_f16_accf32": 2e-3,
    "softmax_f16": 1e-2,
    "transformer_block_bf16": 5e-2,
    "transformer_grad": 5e-4,
}
"""Relative to the largest gradient, where it is not 5e-5."""


def is_float(array: Array) -> bool:
    """Whether a result or argument has a gradient."""
    return array.dtype.kind == "f" or array.dtype == ml_dtypes.bfloat16


def inputs_of(module: ModuleOp, name: str) -> list[Array]:
    """The program's inputs; those of bf16 are stored by their bits."""
    (main,) = [f for f in module.ops if isinstance(f, FuncOp) and f.sym_name.data == "main"]
    with np.load(SHARED / "programs" / "data" / f"{name}.npz") as file:
        stored: list[Array] = [file[f"in{i}"] for i in range(len(main.function_type.inputs))]
    return [
        v.view(ml_dtypes.bfloat16) if isinstance(element_type(type_), BFloat16Type) else v
        for v, type_ in zip(stored, main.function_type.inputs, strict=True)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", SMOOTH)
def test_jax_agrees(name: str) -> None:
    from support.stablehlo_in_jax import function_of

    path = SHARED / "programs" / "stablehlo" / f"{name}.mlir"
    if not path.exists():
        pytest.skip(f"there is no {path}")
    text = path.read_text()
    module = read_module(text, path.name, make_context())
    inputs = inputs_of(module, name)
    function = function_of(module)
    floats = [i for i, v in enumerate(inputs) if is_float(v)]

    def of_floats(*values: object) -> list[object]:
        given: list[object] = list(inputs)
        for i, value in zip(floats, values, strict=True):
            given[i] = value
        return [r for r in function(*given) if is_float(r)]

    results, pullback = jax.vjp(of_floats, *(jax.numpy.asarray(inputs[i]) for i in floats))
    rng = np.random.default_rng(0)
    cotangents = [rng.standard_normal(r.shape).astype(r.dtype) for r in results]
    expected = pullback([jax.numpy.asarray(c) for c in cotangents])
    wide = [np.asarray(gradient).astype(np.float64) for gradient in expected]
    gradient = gradient_of(text)
    for device_name in DEVICES:
        given = [*inputs, *cotangents]
        check_on_device(gradient, given, wide, device_name, 1, TOLERANCE.get(name, 5e-5))
