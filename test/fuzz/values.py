"""What the generator knows about a value: its type, its size, and how far a device may be off.

The bounds are a forward error analysis. Inputs lie on a coarse grid, so that most sums and products
are exact in any order and can be held to the bit; where rounding begins, `error` grows with every
op, and with the length of every sum. Ops that jump (comparisons, rounding, conversion to integers)
are only applied to exact values, so a right device can never disagree by more than `error`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from math import prod
from re import Match

Shape = tuple[int, ...]

SIGNIFICAND = {"f32": 24, "f16": 11, "bf16": 8}
"""Bits of precision, with the hidden one."""
LARGEST = {"f32": 1.0e5, "f16": 1.0e3, "bf16": 1.0e5}
"""Values beyond this are clamped before more is done with them: far from the type's infinity."""
SMALLEST = {"f32": 1.2e-38, "f16": 6.2e-5, "bf16": 1.2e-38}
"""The smallest normal: below it a device may flush to zero."""
WIDTH = {"i1": 1, "i4": 4, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}
FLOATS = tuple(SIGNIFICAND)
INTEGERS = ("i4", "i8", "i16", "i32", "i64")
DTYPES = (*FLOATS, *INTEGERS, "i1")


@dataclass(frozen=True)
class Spread:
    """Where the finite elements of a float value lie; all zeros for integers, which are exact."""

    bound: float = 0.0
    """Largest magnitude."""
    grid: float | None = 0.0
    """Every element is a multiple of this; None where the value has been rounded."""
    error: float = 0.0
    """How far a device's element may be from the exact one."""

    def fitted(self, dtype: str, roundings: float = 1.0) -> Spread:
        """After rounding the result of an op to `dtype` that many times."""
        bits = SIGNIFICAND.get(dtype)
        if bits is None:
            return Spread()
        if not self.error and self.grid and self.bound <= self.grid * 2.0**bits:
            return self
        unit = 2.0**-bits * (self.bound + self.error)
        return Spread(self.bound, None, self.error + roundings * (unit + SMALLEST[dtype]))


@dataclass(frozen=True)
class Value:
    """A tensor of the program; `name` has its percent sign."""

    name: str
    shape: Shape
    dtype: str
    spread: Spread = field(default_factory=Spread)

    @property
    def type(self) -> str:
        """`tensor<4x8xf32>`."""
        return tensor(self.shape, self.dtype)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def exact(self) -> bool:
        """Whether every device must have the same bits."""
        return not self.spread.error


@dataclass(frozen=True)
class Op:
    """A line or several of the program: what it defines, what it reads."""

    text: str
    results: tuple[Value, ...]
    operands: tuple[str, ...]
    """Names of the tensors and scalars that it reads."""


@dataclass(frozen=True)
class Program:
    """A function: its arguments, ops in order, and the values it returns."""

    arguments: tuple[Value, ...]
    ops: tuple[Op, ...]
    results: tuple[Value, ...]
    special: bool = False
    """Whether NaN and infinities are among the inputs."""
    opened: tuple[int, ...] = ()
    """Sizes that the text leaves open, as `?`: those of them that an argument has."""

    def pruned(self) -> Program:
        """Without ops and arguments that no result needs."""
        needed = {value.name for value in self.results}
        kept: list[Op] = []
        for op in reversed(self.ops):
            if any(result.name in needed for result in op.results):
                needed.update(op.operands)
                kept.append(op)
        arguments = tuple(value for value in self.arguments if value.name in needed)
        return replace(self, arguments=arguments, ops=tuple(reversed(kept)))

    def text(self, name: str = "main") -> str:
        """The function as MLIR."""
        arguments = ", ".join(f"{value.name}: {value.type}" for value in self.arguments)
        types = ", ".join(value.type for value in self.results)
        names = ", ".join(value.name for value in self.results)
        body = "\n".join(f"  {line}" for op in self.ops for line in op.text.splitlines())
        text = (
            f"func.func @{name}({arguments}) -> ({types}) {{\n{body}\n"
            f"  return {names} : {types}\n}}\n"
        )
        return self._with_open_sizes(text) if self.opened else text

    def _with_open_sizes(self, text: str) -> str:
        opened: set[str] = set()
        lines: list[str] = []
        for size in self.opened:
            found = next((v for v in self.arguments if size in v.shape), None)
            if found is not None:
                opened.add(str(size))
                lines.append(f"  %c{size} = arith.constant {found.shape.index(size)} : index")
                lines.append(f"  %n{size} = tensor.dim {found.name}, %c{size} : {found.type}")

        def with_sizes(match: Match[str]) -> str:
            names = [f"%n{part}" for part in match[1].split("x") if part in opened]
            return f"tensor.empty({', '.join(names)}) : tensor<{match[1]}>"

        def with_marks(match: Match[str]) -> str:
            return f"tensor<{'x'.join('?' if p in opened else p for p in match[1].split('x'))}>"

        first, _, rest = text.partition("\n")
        text = "\n".join([first, *lines, rest])
        text = re.sub(r"tensor\.empty\(\) : tensor<([^>]*)>", with_sizes, text)
        return re.sub(r"tensor<([^>]*)>", with_marks, text)


def tensor(shape: Shape, dtype: str) -> str:
    """`tensor<4x8xf32>`."""
    return f"tensor<{'x'.join([*map(str, shape), dtype])}>"
