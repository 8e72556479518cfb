"""The text of every named op of linalg, at small odd shapes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from ingot.compiler.dialects.linalg.table import NAMED_OPS, NamedOpSpec

EXTENTS = (3, 5, 2, 7, 4, 3, 2, 5, 3, 2)
"""Extents of the loops, in their order; those of windows are 2 and 3."""

_FLOATS_ONLY = {"exp", "log", "abs", "ceil", "floor", "negf", "reciprocal", "round", "sqrt"} | {
    "rsqrt", "square", "tanh", "erf", "powf",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One op in one type."""

    name: str
    spec: NamedOpSpec
    element: str
    result: str

    def function(self, symbol: str) -> str:
        """A public function that applies the op to its arguments."""
        shapes = self._shapes()
        types = [self._type(shape, i == len(shapes) - 1) for i, shape in enumerate(shapes)]
        if self.name == "linalg.select":
            types[0] = types[0].replace("f32", "i1").replace("i32", "i1")
        arguments = ", ".join(f"%a{i}: {type}" for i, type in enumerate(types))
        scalars = ""
        names = [f"%a{i}" for i in range(len(types))]
        operands = list(types)
        for i, shape in enumerate(shapes[:-1]):
            if self._is_scalar(i):
                element = types[i].removeprefix("tensor<").removesuffix(">")
                scalars += f"  %s{i} = tensor.extract %a{i}[] : {types[i]}\n"
                names[i], operands[i] = f"%s{i}", element
            assert all(size > 0 for size in shape)
        attributes = self._attributes()
        ins = f"ins({', '.join(names[:-1])} : {', '.join(operands[:-1])})"
        return (
            f"func.func @{symbol}({arguments}) -> {types[-1]} {{\n{scalars}"
            f"  %r = {self.name} {attributes}{ins} outs({names[-1]} : {types[-1]}) -> {types[-1]}\n"
            f"  return %r : {types[-1]}\n}}\n"
        )

    def _is_scalar(self, operand: int) -> bool:
        quantized = len(self.spec.maps) == 5 and operand in (2, 3)
        return quantized or self.spec.scalar_inputs

    def _attributes(self) -> str:
        if not self.spec.strided:
            return ""
        strides = [2, 1, 2][: len(self.spec.spatial)]
        dilations = [1, 2, 2][: len(self.spec.spatial)]
        count = len(strides)
        return (
            f"{{dilations = dense<{dilations}> : tensor<{count}xi64>, "
            f"strides = dense<{strides}> : tensor<{count}xi64>}} "
        )

    def _type(self, shape: tuple[int, ...], is_result: bool) -> str:
        element = self.result if is_result else self.element
        if not is_result and self.spec.maps and not shape and len(self.spec.maps) == 5:
            element = "i32"
        return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"

    def _shapes(self) -> list[tuple[int, ...]]:
        if not self.spec.maps:
            shapes: list[tuple[int, ...]] = [(3, 17)] * (self.spec.num_inputs + 1)
            return [(), (3, 17)] if self.spec.scalar_inputs else shapes
        sizes = dict(zip(self.spec.loops, EXTENTS, strict=False))
        for loop in sizes:
            if loop[0] == "k" and loop[1:] in ("d", "h", "w"):
                sizes[loop] = {"d": 2, "h": 2, "w": 3}[loop[1:]]
        values = dict(sizes)
        for letter, stride, dilation in zip(self.spec.spatial, (2, 1, 2), (1, 2, 2), strict=False):
            values[f"s{letter}"], values[f"d{letter}"] = stride, dilation
        return [
            tuple(_extent(expr, values) for expr in text.split(",")) if text else ()
            for text in self.spec.maps
        ]


def _extent(expr: str, values: dict[str, int]) -> int:
    """One more than the largest value of an expression over the loops."""
    largest = 0
    for term in expr.strip().split("+"):
        loop, *factor = re.split(r"\*", term.strip())
        largest += (values[loop] - 1) * prod(values[f] for f in factor)
    return largest + 1


def cases() -> Iterator[Case]:
    """Every op in f32 where it takes floats, and in integers where it takes those."""
    for name, spec in NAMED_OPS.items():
        short = name.removeprefix("linalg.")
        quantized = len(spec.maps) == 5
        if not quantized and "unsigned" not in short:
            yield Case(name, spec, "f32", "f32")
        if short in _FLOATS_ONLY:
            continue
        yield Case(name, spec, "i8" if quantized or "conv" in short else "i32", "i32")
