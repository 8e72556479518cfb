"""The text of a transformer with any number of layers, as JAX would print it: StableHLO."""

from __future__ import annotations

from dataclasses import dataclass

_LINES = """\
{norm1}
    %{l}qkv = stablehlo.dot_general %{l}n1, %wqkv{i}, contracting_dims = [1] x [0] \
: (tensor<{s}x{d}xf32>, tensor<{d}x{t}xf32>) -> tensor<{s}x{t}xf32>
{split}
    %{l}raw = stablehlo.dot_general %{l}q, %{l}k, batching_dims = [1] x [1], \
contracting_dims = [2] x [2] : ({heads}, {heads}) -> {scores}
    %{l}scaled = stablehlo.multiply %{l}raw, %scale : {scores}
    %{l}max = stablehlo.reduce(%{l}scaled init: %low) applies stablehlo.maximum \
across dimensions = [2] : ({scores}, tensor<f32>) -> tensor<{h}x{s}xf32>
    %{l}maxb = stablehlo.broadcast_in_dim %{l}max, dims = [0, 1] \
: (tensor<{h}x{s}xf32>) -> {scores}
    %{l}diff = stablehlo.subtract %{l}scaled, %{l}maxb : {scores}
    %{l}exp = stablehlo.exponential %{l}diff : {scores}
    %{l}sum = stablehlo.reduce(%{l}exp init: %zero) applies stablehlo.add \
across dimensions = [2] : ({scores}, tensor<f32>) -> tensor<{h}x{s}xf32>
    %{l}sumb = stablehlo.broadcast_in_dim %{l}sum, dims = [0, 1] \
: (tensor<{h}x{s}xf32>) -> {scores}
    %{l}weights = stablehlo.divide %{l}exp, %{l}sumb : {scores}
    %{l}mixed = stablehlo.dot_general %{l}weights, %{l}v, batching_dims = [0] x [1], \
contracting_dims = [2] x [0] : ({scores}, {heads}) -> tensor<{h}x{s}x{w}xf32>
    %{l}turned = stablehlo.transpose %{l}mixed, dims = [1, 0, 2] \
: (tensor<{h}x{s}x{w}xf32>) -> {heads}
    %{l}joined = stablehlo.reshape %{l}turned : ({heads}) -> tensor<{s}x{d}xf32>
    %{l}out = stablehlo.dot_general %{l}joined, %wo{i}, contracting_dims = [1] x [0] \
: (tensor<{s}x{d}xf32>, tensor<{d}x{d}xf32>) -> tensor<{s}x{d}xf32>
    %{l}r = stablehlo.add %{x}, %{l}out : tensor<{s}x{d}xf32>
{norm2}
    %{l}up = stablehlo.dot_general %{l}n2, %wup{i}, contracting_dims = [1] x [0] \
: (tensor<{s}x{d}xf32>, tensor<{d}x{m}xf32>) -> tensor<{s}x{m}xf32>
    %{l}low = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<{s}x{m}xf32>
    %{l}relu = stablehlo.maximum %{l}up, %{l}low : tensor<{s}x{m}xf32>
    %{l}down = stablehlo.dot_general %{l}relu, %wdown{i}, contracting_dims = [1] x [0] \
: (tensor<{s}x{m}xf32>, tensor<{m}x{d}xf32>) -> tensor<{s}x{d}xf32>
    %y{i} = stablehlo.add %{l}r, %{l}down : tensor<{s}x{d}xf32>
"""

_NORM = """\
    %{p}s = stablehlo.reduce(%{x} init: %zero) applies stablehlo.add across dimensions = [1] \
: (tensor<{s}x{d}xf32>, tensor<f32>) -> tensor<{s}xf32>
    %{p}mean = stablehlo.divide %{p}s, %count : tensor<{s}xf32>
    %{p}meanb = stablehlo.broadcast_in_dim %{p}mean, dims = [0] \
: (tensor<{s}xf32>) -> tensor<{s}x{d}xf32>
    %{p}c = stablehlo.subtract %{x}, %{p}meanb : tensor<{s}x{d}xf32>
    %{p}sq = stablehlo.multiply %{p}c, %{p}c : tensor<{s}x{d}xf32>
    %{p}v = stablehlo.reduce(%{p}sq init: %zero) applies stablehlo.add across dimensions = [1] \
: (tensor<{s}x{d}xf32>, tensor<f32>) -> tensor<{s}xf32>
    %{p}var = stablehlo.divide %{p}v, %count : tensor<{s}xf32>
    %{p}eps = stablehlo.add %{p}var, %small : tensor<{s}xf32>
    %{p}inv = stablehlo.rsqrt %{p}eps : tensor<{s}xf32>
    %{p}invb = stablehlo.broadcast_in_dim %{p}inv, dims = [0] \
: (tensor<{s}xf32>) -> tensor<{s}x{d}xf32>
    %{p} = stablehlo.multiply %{p}c, %{p}invb : tensor<{s}x{d}xf32>"""


@dataclass(frozen=True)
class Sizes:
    """What a layer is made of."""

    tokens: int = 64
    heads: int = 4
    head_width: int = 32
    hidden: int = 256

    @property
    def width(self) -> int:
        """Features of a token."""
        return self.heads * self.head_width


def transformer(layers: int, sizes: Sizes = Sizes()) -> str:
    """A module whose `main` takes tokens, f32[tokens, width], and each layer's weights."""
    s, d, h, w, m = sizes.tokens, sizes.width, sizes.heads, sizes.head_width, sizes.hidden
    shapes = {"wqkv": (d, 3 * d), "wo": (d, d), "wup": (d, m), "wdown": (m, d)}
    weights = [
        f"%{name}{i}: tensor<{rows}x{columns}xf32>"
        for i in range(layers)
        for name, (rows, columns) in shapes.items()
    ]
    heads, scores = f"tensor<{s}x{h}x{w}xf32>", f"tensor<{h}x{s}x{s}xf32>"
    body: list[str] = []
    for i in range(layers):
        prefix, x = f"l{i}_", "x" if i == 0 else f"y{i - 1}"
        split = "\n".join(
            f"    %{prefix}{part}s = stablehlo.slice %{prefix}qkv "
            f"[0:{s}, {k * d}:{(k + 1) * d}] "
            f": (tensor<{s}x{3 * d}xf32>) -> tensor<{s}x{d}xf32>\n"
            f"    %{prefix}{part} = stablehlo.reshape %{prefix}{part}s "
            f": (tensor<{s}x{d}xf32>) -> {heads}"
            for k, part in enumerate("qkv")
        )
        shapes_of_layer = {"s": s, "d": d, "t": 3 * d, "h": h, "w": w, "m": m}
        norm1 = _NORM.format(p=f"{prefix}n1", x=x, **shapes_of_layer)
        norm2 = _NORM.format(p=f"{prefix}n2", x=f"{prefix}r", **shapes_of_layer)
        texts = {"split": split, "norm1": norm1, "norm2": norm2, "heads": heads, "scores": scores}
        text = _LINES.format(l=prefix, i=i, x=x, **texts, **shapes_of_layer)
        body.append(text)
    arguments = ", ".join([f"%x: tensor<{s}x{d}xf32>", *weights])
    return (
        f"module @transformer_{layers} {{\n"
        f"  func.func @main({arguments}) -> tensor<{s}x{d}xf32> {{\n"
        "    %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
        f"    %count = stablehlo.constant dense<{d}.0> : tensor<{s}xf32>\n"
        f"    %small = stablehlo.constant dense<1.0e-5> : tensor<{s}xf32>\n"
        f"    %scale = stablehlo.constant dense<{w**-0.5:.6f}> : {scores}\n"
        f"{''.join(body)}"
        f"    return %y{layers - 1} : tensor<{s}x{d}xf32>\n"
        "  }\n"
        "}\n"
    )
