"""Matrix products as programs, with their values by NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

DTYPES: dict[str, Any] = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


@dataclass(frozen=True)
class Product:
    """out = x * y from inputs of `dtype`; with an epilogue, a bias is added and relu applied."""

    m: int
    n: int
    k: int
    dtype: str = "f32"
    out: str = "f32"
    turned: tuple[bool, bool] = (False, False)
    """Whether the left and the right input lie transposed in memory."""
    batch: int = 0
    epilogue: bool = False

    @property
    def name(self) -> str:
        """For a test's id."""
        turned = "".join(side for side, t in zip("xy", self.turned, strict=True) if t)
        parts = [f"{self.m}x{self.n}x{self.k}", self.dtype, self.out, turned and f"turned-{turned}"]
        parts += [f"batch{self.batch}" if self.batch else "", "epilogue" * self.epilogue]
        return "-".join(part for part in parts if part)

    def text(self) -> str:
        """The program."""
        left, right, result = (
            _tensor(s, t) for s, t in zip(self._shapes(), self._types, strict=True)
        )
        dims = ("b, " if self.batch else "") + "i, j, k"
        lead = "b, " if self.batch else ""
        maps = [
            lead + ("k, i" if self.turned[0] else "i, k"),
            lead + ("j, k" if self.turned[1] else "k, j"),
            lead + "i, j",
        ]
        kinds = ['"parallel"'] * (3 if self.batch else 2)
        bias = f", %bias: tensor<{self.n}x{self.out}>" if self.epilogue else ""
        extend = self.dtype != self.out
        casts = [f"%{v}w = arith.extf %{v} : {self.dtype} to {self.out}" for v in "ab" if extend]
        a, b = ("%aw", "%bw") if extend else ("%a", "%b")
        return f"""
func.func @main(%x: {left}, %y: {right}{bias}) -> {result} {{
  %zero = arith.constant 0.0 : {self.out}
  %empty = tensor.empty() : {result}
  %init = linalg.fill ins(%zero : {self.out}) outs(%empty : {result}) -> {result}
  %product = linalg.generic {{
    indexing_maps = [{", ".join(f"affine_map<({dims}) -> ({m})>" for m in maps)}],
    iterator_types = [{", ".join([*kinds, '"reduction"'])}]
  }} ins(%x, %y : {left}, {right}) outs(%init : {result}) {{
  ^bb0(%a: {self.dtype}, %b: {self.dtype}, %acc: {self.out}):
    {"; ".join(casts).replace("; ", chr(10) + "    ")}
    %p = arith.mulf {a}, {b} : {self.out}
    %s = arith.addf %acc, %p : {self.out}
    linalg.yield %s : {self.out}
  }} -> {result}
  {self._end(result, kinds)}
}}
"""

    def _end(self, result: str, kinds: list[str]) -> str:
        if not self.epilogue:
            return f"return %product : {result}"
        dims = ("b, " if self.batch else "") + "i, j"
        return f"""%end = linalg.generic {{
    indexing_maps = [affine_map<({dims}) -> ({dims})>, affine_map<({dims}) -> (j)>,
                     affine_map<({dims}) -> ({dims})>],
    iterator_types = [{", ".join(kinds)}]
  }} ins(%product, %bias : {result}, tensor<{self.n}x{self.out}>) outs(%empty : {result}) {{
  ^bb0(%p: {self.out}, %b: {self.out}, %unused: {self.out}):
    %s = arith.addf %p, %b : {self.out}
    %r = arith.maximumf %s, %zero : {self.out}
    linalg.yield %r : {self.out}
  }} -> {result}
  return %end : {result}"""

    @property
    def _types(self) -> tuple[str, str, str]:
        return self.dtype, self.dtype, self.out

    def _shapes(self) -> tuple[tuple[int, ...], ...]:
        lead = (self.batch,) if self.batch else ()
        left, right = (self.m, self.k), (self.k, self.n)
        if self.turned[0]:
            left = left[::-1]
        if self.turned[1]:
            right = right[::-1]
        return (*lead, *left), (*lead, *right), (*lead, self.m, self.n)

    def inputs(self) -> list[Array]:
        """Random inputs, always the same."""
        rng = np.random.default_rng(5)
        left, right, _ = self._shapes()
        arrays = [rng.standard_normal(s).astype(DTYPES[self.dtype]) for s in (left, right)]
        if self.epilogue:
            arrays.append(rng.standard_normal(self.n).astype(DTYPES[self.out]))
        return arrays

    def expected(self, inputs: list[Array]) -> Array:
        """The result in f32, rounded once."""
        x, y = (np.asarray(a, np.float32) for a in inputs[:2])
        x = np.swapaxes(x, -1, -2) if self.turned[0] else x
        y = np.swapaxes(y, -1, -2) if self.turned[1] else y
        product = (x @ y).astype(DTYPES[self.out])
        if not self.epilogue:
            return product
        wide = product.astype(np.float32) + inputs[2].astype(np.float32)
        return np.maximum(wide, np.float32(0)).astype(DTYPES[self.out])


def _tensor(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"
