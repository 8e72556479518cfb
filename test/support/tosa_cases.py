"""TOSA programs of one op with random shapes and values, and what the specification computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from support import tosa_spec as spec

Array = NDArray[Any]

NAMES: dict[str, str] = {
    "bool": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
}


@dataclass(frozen=True)
class Case:
    """A program, its inputs, and its results."""

    text: str
    inputs: list[Array]
    expected: list[Array]


def tensor(array: Array) -> str:
    """The type of an array."""
    return "tensor<" + "".join(f"{s}x" for s in array.shape) + NAMES[array.dtype.name] + ">"


@dataclass
class Source:
    """Where a case takes its sizes (`pick`) and its values (`rng`) from."""

    pick: Callable[[int, int], int]
    rng: np.random.Generator

    def shape(self, rank: int, most: int = 5) -> tuple[int, ...]:
        """Random sizes from 1."""
        return tuple(self.pick(1, most) for _ in range(rank))

    def flag(self) -> bool:
        """True or false."""
        return bool(self.pick(0, 1))

    def values(self, shape: Sequence[int], dtype: Any, special: bool = False) -> Array:
        """Random values over the whole range of an integer type; of floats around 0, with NaN and
        infinities under `special`."""
        kind = np.dtype(dtype)
        if kind == np.bool_:
            return self.rng.integers(0, 2, shape).astype(np.bool_)
        if kind.kind == "i":
            high = spec.high_of(kind)
            array = self.rng.integers(spec.low_of(kind), high, shape, endpoint=True, dtype=kind)
            edge = self.rng.random(shape)
            array = np.where(edge < 0.1, spec.low_of(kind), array)
            return np.where(edge > 0.9, high, array).astype(kind)
        array = (self.rng.standard_normal(shape) * 3).astype(kind)
        if special:
            edge = self.rng.random(shape)
            for limit, value in ((0.2, np.nan), (0.15, -np.inf), (0.1, np.inf), (0.05, -0.0)):
                array = np.where(edge < limit, np.array(value, kind), array)
        return array.astype(kind)


@dataclass
class Program:
    """A function that is written op by op."""

    lines: list[str] = field(default_factory=list[str])
    inputs: list[Array] = field(default_factory=list[Array])
    count: int = 0

    def argument(self, array: Array) -> str:
        """An argument of the function."""
        self.inputs.append(array)
        return f"%a{len(self.inputs) - 1}"

    def constant(self, array: Array) -> str:
        """`tosa.const`."""
        self.count += 1
        name = f"%c{self.count}"
        elements = (
            np.array2string(
                array, separator=",", threshold=1 << 30, max_line_width=1 << 30, floatmode="unique"
            ).lower()
            if array.dtype.kind != "f"
            else str(array.tolist())
        )
        self.lines.append(
            f'{name} = "tosa.const"() <{{values = dense<{elements}> : {tensor(array)}}}>'
            f" : () -> {tensor(array)}"
        )
        return name

    def sizes(self, numbers: Sequence[int]) -> tuple[str, str]:
        """`tosa.const_shape`: name and type."""
        self.count += 1
        name, type_ = f"%c{self.count}", f"!tosa.shape<{len(numbers)}>"
        self.lines.append(
            f"{name} = tosa.const_shape {{values = dense<{list(numbers)}> : "
            f"tensor<{len(numbers)}xindex>}} : () -> {type_}"
        )
        return name, type_

    def op(
        self,
        name: str,
        operands: Sequence[tuple[str, str]],
        expected: Sequence[Array],
        attributes: str = "",
    ) -> Case:
        """The op whose results the function returns."""
        names = ", ".join(n for n, _ in operands)
        types = ", ".join(t for _, t in operands)
        results = ", ".join(f"%r{i}" for i in range(len(expected)))
        result_types = ", ".join(tensor(e) for e in expected)
        suffix = f" {{{attributes}}}" if attributes else ""
        self.lines.append(
            f"{results} = tosa.{name} {names}{suffix} : ({types}) -> ({result_types})"
        )
        arguments = ", ".join(f"%a{i}: {tensor(a)}" for i, a in enumerate(self.inputs))
        body = "\n  ".join(self.lines)
        text = (
            f"func.func @main({arguments}) -> ({result_types}) {{\n  {body}\n"
            f"  return {results} : {result_types}\n}}\n"
        )
        return Case(text, self.inputs, list(expected))


Build = Callable[[Source], Case]
CASES: dict[str, Build] = {}
"""By name; the part before the first `-` is the op."""


def case(*names: str) -> Callable[[Build], Build]:
    """Register a builder."""

    def register(build: Build) -> Build:
        for name in names:
            CASES[name] = build
        return build

    return register


def _ints(numbers: Sequence[int], width: int = 64) -> str:
    return f"array<i{width}: {', '.join(map(str, numbers))}>"


# Elementwise


def _elementwise(
    name: str,
    dtypes: Sequence[Any],
    compute: Callable[..., Array],
    attributes: str = "",
    extra: Callable[[Program], list[tuple[str, str]]] = lambda _: [],
    prepare: Callable[..., Sequence[Array]] = lambda *arrays: arrays,
    special: bool = False,
) -> Build:
    """Operands of the given types, each with some dimensions of one element."""

    def build(source: Source) -> Case:
        shape = source.shape(source.pick(0, 4) if len(dtypes) < 3 else 3)
        arrays: list[Array] = []
        for position, dtype in enumerate(dtypes):
            mine = shape
            if position and len(dtypes) > 1:
                mine = tuple(1 if source.pick(0, 2) == 0 else s for s in shape)
            arrays.append(source.values(mine, dtype, special))
        arrays = [np.asarray(a, d) for a, d in zip(prepare(*arrays), dtypes, strict=True)]
        program = Program()
        operands = [(program.argument(a), tensor(a)) for a in arrays]
        with np.errstate(all="ignore"):
            expected = np.asarray(compute(*arrays))
        return program.op(name, operands + extra(program), [expected], attributes)

    return build


def _shift_operand(shift: int) -> Callable[[Program], list[tuple[str, str]]]:
    return lambda program: [(program.constant(np.array([shift], np.int8)), "tensor<1xi8>")]


def _zero_points(dtype: Any, *numbers: int) -> Callable[[Program], list[tuple[str, str]]]:
    def add(program: Program) -> list[tuple[str, str]]:
        arrays = [np.array([n], dtype) for n in numbers]
        return [(program.constant(a), tensor(a)) for a in arrays]

    return add


def _mul_shifted(shift: int) -> Callable[[Array, Array], Array]:
    def compute(a: Array, b: Array) -> Array:
        product = a.astype(object) * b.astype(object)
        shifted = np.asarray((product + (1 << (shift - 1))) // (1 << shift), object)
        return np.vectorize(lambda v: spec.wrap(int(v), np.int32), otypes=[np.int32])(shifted)

    return compute


def _round_shift(a: Array, b: Array) -> Array:
    a, b = np.broadcast_arrays(a, b)
    return (a >> b) + np.where(b > 0, (a >> np.maximum(b - 1, 0)) & 1, 0).astype(a.dtype)


def _clz(x: Array) -> Array:
    return np.array([32 - (int(v) % (1 << 32)).bit_length() for v in x.flat], np.int32).reshape(
        x.shape
    )


def _negate_i8(x: Array) -> Array:
    return np.clip(-(x.astype(np.int32) - 5) + 7, -128, 127).astype(np.int8)


def _nan_max(a: Array, b: Array) -> Array:
    return np.fmax(a, b)


F32, I32, I8, I16, BOOL = np.float32, np.int32, np.int8, np.int16, np.bool_
_amounts: Callable[..., Sequence[Array]] = lambda a, b: (a, np.abs(b % 32))  # noqa: E731
_divisors: Callable[..., Sequence[Array]] = lambda a, b: (  # noqa: E731
    np.where(a == -(2**31), 5, a),
    np.where(b == 0, 3, b),
)
_positive: Callable[..., Sequence[Array]] = lambda *arrays: [np.abs(a) + 0.01 for a in arrays]  # noqa: E731

for _name, _compute in {
    "add": np.add,
    "sub": np.subtract,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "equal": np.equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}.items():
    CASES[f"{_name}-i32"] = _elementwise(_name, [I32, I32], _compute)
for _name, _compute in {
    "add": np.add,
    "sub": np.subtract,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "equal": np.equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}.items():
    CASES[f"{_name}-f32"] = _elementwise(_name, [F32, F32], _compute, special=True)
for _name, _compute in {
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "equal": np.equal,
}.items():
    CASES[f"{_name}-i1"] = _elementwise(_name, [BOOL, BOOL], _compute)
for _name, _compute in {
    "abs": np.abs,
    "ceil": np.ceil,
    "cos": np.cos,
    "exp": np.exp,
    "floor": np.floor,
    "reciprocal": lambda x: np.float32(1) / x,
    "sigmoid": lambda x: (1 / (1 + np.exp(-x.astype(np.float64)))).astype(F32),
    "sin": np.sin,
    "tanh": np.tanh,
    "identity": lambda x: x,
}.items():
    CASES[f"{_name}-f32"] = _elementwise(_name, [F32], _compute)

CASES |= {
    "maximum-ignore": _elementwise(
        "maximum", [F32, F32], np.fmax, "nan_mode = IGNORE", special=True
    ),
    "minimum-ignore": _elementwise(
        "minimum", [F32, F32], np.fmin, "nan_mode = IGNORE", special=True
    ),
    "abs-i32": _elementwise("abs", [I32], np.abs),
    "log-f32": _elementwise("log", [F32], np.log, prepare=_positive),
    "rsqrt-f32": _elementwise(
        "rsqrt", [F32], lambda x: np.float32(1) / np.sqrt(x), prepare=_positive
    ),
    "pow-f32": _elementwise("pow", [F32, F32], np.power, prepare=_positive),
    "add-f16": _elementwise("add", [np.float16, np.float16], np.add),
    "add-bf16": _elementwise("add", [ml_dtypes.bfloat16, ml_dtypes.bfloat16], np.add),
    "sub-i64": _elementwise("sub", [np.int64, np.int64], np.subtract),
    "bitwise_not-i8": _elementwise("bitwise_not", [I8], np.invert),
    "bitwise_not-i32": _elementwise("bitwise_not", [I32], np.invert),
    "logical_not-i1": _elementwise("logical_not", [BOOL], np.logical_not),
    "clz-i32": _elementwise("clz", [I32], _clz),
    "intdiv-i32": _elementwise(
        "intdiv",
        [I32, I32],
        lambda a, b: np.trunc(a.astype(np.float64) / b).astype(I32),
        prepare=_divisors,
    ),
    "arithmetic_right_shift-i32": _elementwise(
        "arithmetic_right_shift", [I32, I32], np.right_shift, "round = false", prepare=_amounts
    ),
    "arithmetic_right_shift-round": _elementwise(
        "arithmetic_right_shift", [I32, I32], _round_shift, "round = true", prepare=_amounts
    ),
    "arithmetic_right_shift-i8": _elementwise(
        "arithmetic_right_shift",
        [I8, I8],
        _round_shift,
        "round = true",
        prepare=lambda a, b: (a, np.abs(b % 8)),
    ),
    "logical_left_shift-i32": _elementwise(
        "logical_left_shift", [I32, I32], np.left_shift, prepare=_amounts
    ),
    "logical_right_shift-i32": _elementwise(
        "logical_right_shift",
        [I32, I32],
        lambda a, b: (a.view(np.uint32) >> b.view(np.uint32)).view(I32),
        prepare=_amounts,
    ),
    "logical_right_shift-i8": _elementwise(
        "logical_right_shift",
        [I8, I8],
        lambda a, b: (a.view(np.uint8) >> b.view(np.uint8)).view(I8),
        prepare=lambda a, b: (a, np.abs(b % 8)),
    ),
    "mul-f32": _elementwise("mul", [F32, F32], np.multiply, extra=_shift_operand(0)),
    "mul-i32": _elementwise("mul", [I32, I32], np.multiply, extra=_shift_operand(0)),
    "mul-i8": _elementwise(
        "mul", [I8, I8], lambda a, b: a.astype(I32) * b.astype(I32), extra=_shift_operand(0)
    ),
    "mul-i16": _elementwise(
        "mul", [I16, I16], lambda a, b: a.astype(I32) * b.astype(I32), extra=_shift_operand(0)
    ),
    "mul-shift1": _elementwise("mul", [I32, I32], _mul_shifted(1), extra=_shift_operand(1)),
    "mul-shift31": _elementwise("mul", [I32, I32], _mul_shifted(31), extra=_shift_operand(31)),
    "negate-f32": _elementwise("negate", [F32], np.negative, extra=_zero_points(F32, 0, 0)),
    "negate-i32": _elementwise("negate", [I32], np.negative, extra=_zero_points(I32, 0, 0)),
    "negate-i8": _elementwise("negate", [I8], _negate_i8, extra=_zero_points(I8, 5, 7)),
    "clamp-f32": _elementwise(
        "clamp",
        [F32],
        lambda x: np.minimum(np.maximum(x, F32(-1)), F32(2)),
        "min_val = -1.0 : f32, max_val = 2.0 : f32",
        special=True,
    ),
    "clamp-ignore": _elementwise(
        "clamp",
        [F32],
        lambda x: np.fmin(np.fmax(x, F32(-1)), F32(2)),
        "min_val = -1.0 : f32, max_val = 2.0 : f32, nan_mode = IGNORE",
        special=True,
    ),
    "clamp-i8": _elementwise(
        "clamp", [I8], lambda x: np.clip(x, -20, 50), "min_val = -20 : i8, max_val = 50 : i8"
    ),
    "select-f32": _elementwise("select", [BOOL, F32, F32], np.where),
    "select-i1": _elementwise("select", [BOOL, BOOL, BOOL], np.where),
}


# Casts


def _cast(source_type: Any, to: Any) -> Build:
    def build(source: Source) -> Case:
        shape = source.shape(2)
        x = source.values(shape, source_type, special=True)
        if x.dtype.kind == "f" or x.dtype == ml_dtypes.bfloat16:
            scales = (0.5, 50.0, 1e4, 1e9, 3e9, 1e18)
            with np.errstate(all="ignore"):
                halves = (np.round(x.astype(np.float32) * 4) / 2).astype(source_type)
                large = (x.astype(np.float64) * scales[source.pick(0, 5)]).astype(source_type)
            x = np.where(source.rng.random(shape) < 0.5, halves, large).astype(source_type)
        with np.errstate(all="ignore"):
            wide = x.astype(np.float32) if x.dtype == ml_dtypes.bfloat16 else x
            expected = spec.cast(wide, to)
        program = Program()
        return program.op("cast", [(program.argument(x), tensor(x))], [expected])

    return build


for _from in (BOOL, I8, I16, I32, np.int64, np.float16, ml_dtypes.bfloat16, F32):
    for _to in (BOOL, I8, I16, I32, np.int64, np.float16, ml_dtypes.bfloat16, F32):
        if _from != _to:
            _key = f"cast-{NAMES[np.dtype(_from).name]}-{NAMES[np.dtype(_to).name]}"
            CASES[_key] = _cast(_from, _to)


# Reductions


def _reduction(
    name: str, dtype: Any, compute: Callable[..., Array], mode: str = "", special: bool = False
) -> Build:
    def build(source: Source) -> Case:
        x = source.values(source.shape(source.pick(1, 4), 6), dtype, special)
        axis = source.pick(0, x.ndim - 1)
        with np.errstate(all="ignore"):
            expected = compute(x, axis)
        attributes = f"axis = {axis} : i32{mode}"
        program = Program()
        return program.op(name, [(program.argument(x), tensor(x))], [expected], attributes)

    return build


def _keep(function: Callable[..., Array], dtype: Any = None) -> Callable[[Array, int], Array]:
    return lambda x, axis: function(x, axis=axis, keepdims=True).astype(dtype or x.dtype)


CASES |= {
    "reduce_sum-f32": _reduction("reduce_sum", F32, _keep(np.sum)),
    "reduce_sum-i32": _reduction("reduce_sum", I32, _keep(np.sum)),
    "reduce_sum-f16": _reduction("reduce_sum", np.float16, _keep(np.sum)),
    "reduce_product-f32": _reduction("reduce_product", F32, _keep(np.prod)),
    "reduce_max-f32": _reduction("reduce_max", F32, _keep(np.max), special=True),
    "reduce_min-f32": _reduction("reduce_min", F32, _keep(np.min), special=True),
    "reduce_max-i8": _reduction("reduce_max", I8, _keep(np.max)),
    "reduce_min-i16": _reduction("reduce_min", I16, _keep(np.min)),
    "reduce_max-ignore": _reduction(
        "reduce_max", F32, _keep(np.fmax.reduce), ", nan_mode = IGNORE", special=True
    ),
    "reduce_min-ignore": _reduction(
        "reduce_min", F32, _keep(np.fmin.reduce), ", nan_mode = IGNORE", special=True
    ),
    "reduce_all-i1": _reduction("reduce_all", BOOL, _keep(np.all)),
    "reduce_any-i1": _reduction("reduce_any", BOOL, _keep(np.any)),
    "argmax-f32": _reduction("argmax", F32, spec.argmax, special=True),
    "argmax-ignore": _reduction(
        "argmax",
        F32,
        lambda x, axis: spec.argmax(x, axis, ignore_nan=True),
        ", nan_mode = IGNORE",
        special=True,
    ),
    "argmax-i8": _reduction("argmax", I8, spec.argmax),
    "argmax-i64": _reduction(
        "argmax", F32, lambda x, axis: spec.argmax(x, axis).astype(np.int64), special=True
    ),
}
