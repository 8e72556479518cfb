"""A model of GPT-2's shape with random weights, written in plain JAX and exported as StableHLO.

    python examples/gpt2.py gpt2            # 12 layers, 768 wide, 12 heads: 124 million parameters
    ingot compile gpt2/inline.mlir --target metal:apple7 -o gpt2/model.ingot
    ingot run gpt2/model.ingot --input @gpt2/ids.npy --output @gpt2/logits.npy

The folder gets `inline.mlir`, whose constants are the weights, and `arguments.mlir`, which takes
them (`arguments.npz`, in order); the ids of a text (`ids.npy`) and what JAX computes of them
(`expected.npy`).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Weights = dict[str, Any]


def make_weights(layers: int, width: int, vocabulary: int, context: int) -> Weights:
    """Random weights, f32, in the places where GPT-2 has them; the same in every run."""
    random = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return random.standard_normal(shape, dtype=np.float32) * np.float32(0.02)

    def norm() -> Weights:
        return {"scale": 1 + normal(width), "bias": normal(width)}

    def linear(inputs: int, outputs: int) -> Weights:
        return {"weight": normal(inputs, outputs), "bias": normal(outputs)}

    def layer() -> Weights:
        return {
            "norm1": norm(),
            "qkv": linear(width, 3 * width),
            "out": linear(width, width),
            "norm2": norm(),
            "up": linear(width, 4 * width),
            "down": linear(4 * width, width),
        }

    return {
        "tokens": normal(vocabulary, width),
        "positions": normal(context, width),
        "layers": [layer() for _ in range(layers)],
        "norm": norm(),
    }


def normalize(x: jax.Array, w: Weights) -> jax.Array:
    """Layer normalization over the last dimension."""
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred**2).mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + 1e-5) * w["scale"] + w["bias"]


def linear(x: jax.Array, w: Weights) -> jax.Array:
    """`x` [..., inputs] times the weight, plus the bias."""
    return x @ w["weight"] + w["bias"]


def attend(x: jax.Array, w: Weights, heads: int) -> jax.Array:
    """Causal attention of a sequence [n, width]."""
    n, width = x.shape
    parts = jnp.split(linear(x, w["qkv"]), 3, axis=-1)
    q, k, v = (part.reshape(n, heads, width // heads).transpose(1, 0, 2) for part in parts)
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(width // heads, dtype=np.float32)
    scores = jnp.where(jnp.tril(jnp.ones((n, n), bool)), scores, -jnp.inf)
    mixed = jax.nn.softmax(scores, axis=-1) @ v
    return linear(mixed.transpose(1, 0, 2).reshape(n, width), w["out"])


def logits(w: Weights, ids: jax.Array, heads: int) -> jax.Array:
    """What the model says of each next token: [n, vocabulary] for `ids` [n]."""
    x = w["tokens"][ids] + w["positions"][: ids.shape[0]]
    for layer in w["layers"]:
        x = x + attend(normalize(x, layer["norm1"]), layer, heads)
        hidden = jax.nn.gelu(linear(normalize(x, layer["norm2"]), layer["up"]))
        x = x + linear(hidden, layer["down"])
    return normalize(x, w["norm"]) @ w["tokens"].T


def main() -> None:
    """Write the folder that the command line names."""
    parser = argparse.ArgumentParser(description="Export a model of GPT-2's shape.")
    parser.add_argument("folder", type=Path)
    for name, default in {
        "layers": 12,
        "width": 768,
        "heads": 12,
        "vocabulary": 50257,
        "context": 1024,
        "length": 64,
    }.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    w = make_weights(options.layers, options.width, options.vocabulary, options.context)
    ids = np.random.default_rng(1).integers(0, options.vocabulary, options.length, dtype=np.int32)
    constants = jax.tree.map(jnp.asarray, w)
    inline = jax.jit(lambda ids: logits(constants, ids, options.heads)).lower(ids)
    (folder / "inline.mlir").write_text(inline.as_text())
    taken = jax.jit(lambda w, ids: logits(w, ids, options.heads)).lower(w, ids)
    (folder / "arguments.mlir").write_text(taken.as_text())
    leaves = {f"in{i}": leaf for i, leaf in enumerate(jax.tree.leaves((w, ids)))}
    np.savez(folder / "arguments.npz", **leaves)
    np.save(folder / "ids.npy", ids)
    np.save(folder / "expected.npy", taken.compile()(w, ids))


if __name__ == "__main__":
    main()
