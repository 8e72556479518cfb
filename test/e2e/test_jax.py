"""JAX's own numbers as the oracle: functions, their gradients, and how values come in and out.

Skipped where JAX is not installed; `pip install -e '.[dev,jax]'` in an environment of its own.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.harness import DEVICES, EXAMPLES, TARGETS, device

import ingot.runtime as rt
from ingot.compiler.driver.diagnostics import CompileError
from ingot.runtime.errors import ArgumentError

jax = pytest.importorskip("jax")
ingot_jax = pytest.importorskip("ingot.jax")
jnp, lax = jax.numpy, jax.lax

RNG = np.random.default_rng(5)


def f32(*shape: int) -> Any:
    return RNG.standard_normal(shape, dtype="f4")


def softmax(x: Any) -> Any:
    return jax.nn.softmax(x, axis=-1)


def layer_norm(x: Any, scale: Any, bias: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    return centred * lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale + bias


def mlp(x: Any, w: Any, v: Any) -> Any:
    return jnp.tanh(jax.nn.gelu(x @ w) @ v)


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = jnp.einsum("nhd,mhd->hnm", q, k) / 4
    causal = jnp.tril(jnp.ones(scores.shape[1:], bool))
    return jnp.einsum("hnm,mhd->nhd", jax.nn.softmax(jnp.where(causal, scores, -1e9)), v)


def convolution(x: Any, w: Any) -> Any:
    return jax.nn.relu(lax.conv_general_dilated(x, w, (2, 1), "SAME"))


def max_pool(x: Any) -> Any:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 3), (1, 1, 2, 2), "VALID")


def recurrence(x: Any, w: Any) -> Any:
    return lax.scan(lambda h, x: (jnp.tanh(h @ w + x),) * 2, jnp.zeros(x.shape[1:]), x)[1]


def embedding(table: Any) -> Any:
    return table[jnp.array([3, 1, 3, 0])].sum(0) * jnp.arange(1.0, 1 + table.shape[1])


def log_sum(x: Any) -> Any:
    return jax.nn.logsumexp(x, axis=0) + jnp.cumsum(x, axis=1)


def sorted_products(x: Any) -> Any:
    return jnp.sort(x, axis=-1) * jnp.prod(x, axis=0)


def solve(a: Any, b: Any) -> Any:
    return jnp.linalg.solve(a @ a.T + 4 * jnp.eye(4), b)


def special(x: Any) -> Any:
    return jax.scipy.special.erf(x) + jnp.log1p(jnp.abs(x)) + jnp.sinh(x) * lax.lgamma(x * x + 1)


FUNCTIONS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (softmax, (f32(5, 33),)),
    (layer_norm, (f32(4, 40), f32(40), f32(40))),
    (mlp, (f32(6, 8), f32(8, 16), f32(16, 4))),
    (attention, (f32(7, 2, 8), f32(7, 2, 8), f32(7, 2, 8))),
    (convolution, (f32(2, 3, 8, 9), f32(4, 3, 3, 3))),
    (max_pool, (f32(1, 2, 6, 9),)),
    (recurrence, (f32(5, 2, 4), f32(4, 4))),
    (embedding, (f32(6, 9),)),
    (log_sum, (f32(5, 7),)),
    (sorted_products, (f32(3, 10),)),
    (solve, (f32(4, 4), f32(4, 2))),
    (special, (f32(50),)),
]


def run_both(fn: Callable[..., Any], args: tuple[Any, ...], device_name: str) -> None:
    """Both trees of results are equal up to rounding."""
    compiled = ingot_jax.compile(fn, *args, target=TARGETS[device_name])
    ours = compiled.bind(device(device_name))(*args)
    theirs = fn(*args)
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    for mine, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_allclose(mine, other, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize(("fn", "args"), FUNCTIONS, ids=[f.__name__ for f, _ in FUNCTIONS])
def test_a_function_and_its_gradient(
    fn: Callable[..., Any], args: tuple[Any, ...], device_name: str
) -> None:
    def loss(*args: Any) -> Any:
        return jnp.sum(fn(*args) ** 2)

    gradient = jax.value_and_grad(loss, argnums=tuple(range(len(args))))
    run_both(lambda *args: (fn(*args), gradient(*args)), args, device_name)


def compiled_for_host(fn: Callable[..., Any], *args: Any, **options: Any) -> Any:
    return ingot_jax.compile(fn, *args, **options).bind(device("host"))


def test_trees_static_arguments_and_constants() -> None:
    weights = {"w": f32(8, 4), "b": np.arange(4.0)}  # f64, which JAX makes f32
    captured = f32(2, 8)

    def fn(weights: Any, x: Any, power: int, *, scale: Any) -> Any:
        y = (x + captured) @ weights["w"] + weights["b"]
        return {"y": y**power * scale, "parts": [y.sum(), y.argmax()]}

    x = f32(2, 8)
    compiled = compiled_for_host(fn, weights, x, 2, kwargs={"scale": 3.0}, static_argnums=2)
    ours, theirs = compiled(weights, x, scale=3.0), fn(weights, x, 2, scale=3.0)
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5), ours, theirs)
    with pytest.raises(ArgumentError, match="the arguments have the structure"):
        compiled(x, weights, scale=3.0)
    with pytest.raises(ArgumentError, match="expected 2x8xf32"):
        compiled(weights, x[:1], scale=3.0)


def test_types_and_keys() -> None:
    key = jax.random.key(7)

    def fn(key: Any, x: Any, flags: Any, unused: Any) -> Any:
        noise = jax.random.normal(key, x.shape)
        return (x + noise.astype(x.dtype), ~flags, jnp.float16(2) * x.astype(jnp.float16))

    args = (key, jnp.arange(6, dtype=jnp.bfloat16), np.array([True, False]), jnp.zeros(3))
    ours, theirs = compiled_for_host(fn, *args)(*args), fn(*args)
    for mine, other in zip(ours, theirs, strict=True):
        assert isinstance(mine, jax.Array) and mine.dtype == other.dtype
        np.testing.assert_allclose(mine.astype("f4"), other.astype("f4"), rtol=1e-2)


@pytest.mark.parametrize("device_name", DEVICES)
def test_a_small_model_of_the_shape_of_gpt2(device_name: str) -> None:
    gpt2 = runpy.run_path(str(EXAMPLES / "gpt2.py"))
    weights = gpt2["make_weights"](2, 32, 101, 16)
    constants = jax.tree.map(jnp.asarray, weights)
    ids = RNG.integers(0, 101, 9, dtype="i4")
    expected = gpt2["logits"](constants, ids, 4)
    opened, target = device(device_name), TARGETS[device_name]
    inline = ingot_jax.compile(lambda i: gpt2["logits"](constants, i, 4), ids, target=target)
    taken = ingot_jax.compile(lambda w, i: gpt2["logits"](w, i, 4), weights, ids, target=target)
    for ours in (inline.bind(opened)(ids), taken.bind(opened)(weights, ids)):
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-5)
    # The embedding is used twice, and every layer runs the kernels of the first.
    embeddings = [c for c in inline.bundle.constants if c.type.shape == (101, 32)]
    assert len(embeddings) == 1
    assert len(inline.bundle.variants[0].kernels) < 20


def test_a_compiled_function_is_saved_and_inspected(tmp_path: Path) -> None:
    w = f32(64, 64)
    compiled = ingot_jax.compile(lambda x: x @ w, jax.ShapeDtypeStruct((4, 64), "f4"))
    compiled.save(tmp_path / "m.ingot", weights=tmp_path / "m.safetensors")
    x = f32(4, 64)
    saved = rt.load(tmp_path / "m.ingot").bind(device("host")).call("main", x)
    np.testing.assert_allclose(saved, x @ w, rtol=1e-4, atol=1e-4)
    assert (tmp_path / "m.safetensors").stat().st_size >= w.nbytes
    assert "main_matmul" in compiled.inspect()
    assert "stablehlo.dot_general" in compiled.mlir


def test_refusals() -> None:
    with pytest.raises(
        CompileError, match=r"test_jax\.py:\d+:\d+: error: stablehlo.custom_call @Qr"
    ):
        ingot_jax.compile(lambda x: jnp.linalg.qr(x), f32(4, 4))
    with pytest.raises(CompileError, match="unknown target `metal`; targets are: metal:apple7"):
        ingot_jax.compile(softmax, f32(4), target="metal")
