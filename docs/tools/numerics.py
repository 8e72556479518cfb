"""Measures the functions of `math` on `host` and `vulkan`, and writes the tables of numerics.md.

    python docs/tools/numerics.py            measure everything and rewrite the tables (minutes)
    python docs/tools/numerics.py --check    measure everything and compare with the tables

The reference is NumPy in float64; errors are in units of the last place (`test/support/ulp.py`).
All numbers of f16 and bf16 are tried; of f32 four million, spread over all exponents and signs.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))

from support.harness import TARGETS, device  # noqa: E402
from support.scalar_ops import NUMPY, elementwise  # noqa: E402
from support.ulp import ulp_errors  # noqa: E402

import ingot.runtime as rt  # noqa: E402
from ingot.compiler.driver.compile import compile_module  # noqa: E402
from ingot.compiler.driver.options import CompileOptions, MathMode  # noqa: E402
from ingot.targets.bundle.writer import write_bundle  # noqa: E402

Array = NDArray[Any]
PAGE = ROOT / "docs" / "numerics.md"
DEVICES = ("host", "vulkan")
TYPES = ("f32", "f16", "bf16")
GROUP = 6
"""Functions of one kernel."""


def _erf(x: Array) -> Array:
    return np.asarray(np.frompyfunc(math.erf, 1, 1)(x), np.float64)


def _rsqrt(x: Array) -> Array:
    return 1.0 / np.sqrt(x)


UNARY: dict[str, Callable[[Array], Array]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": _erf,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "rsqrt": _rsqrt,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}
BINARY: dict[str, tuple[str, Callable[[Array, Array], Array]]] = {
    "divf": ("arith.divf", np.divide),
    "remf": ("arith.remf", np.fmod),
    "atan2": ("math.atan2", np.arctan2),
    "powf": ("math.powf", np.power),
}
NATIVE = ("cos", "exp", "exp2", "log", "log2", "sin")
"""What `--math fast` leaves to the target."""
SPECIAL = (-math.inf, -2.0, -1.0, -0.0, 0.0, 1.0, 2.0, math.inf, math.nan)


@dataclass(frozen=True)
class Error:
    """The largest error of a function, in units of the last place, and an argument that has it."""

    ulp: float
    where: str

    def __str__(self) -> str:
        return "wrong" if math.isinf(self.ulp) else f"{math.ceil(self.ulp * 100) / 100:.2f}"


def arguments(type_: str, step: int = 1) -> Array:
    """Every `step`-th of the numbers that are tried."""
    if type_ != "f32":
        return np.arange(0, 1 << 16, step, dtype=np.uint16).view(NUMPY[type_])
    number = np.arange(0, 1 << 22, step, dtype=np.uint64)
    # one in each 1024 patterns, at a place that looks random
    offset = (number * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(54)
    return (number * np.uint64(1024) + offset).astype(np.uint32).view(np.float32)


def pairs(name: str, type_: str, step: int = 1) -> tuple[Array, Array]:
    """Every `step`-th of the pairs that are tried."""
    rng = np.random.default_rng(11)
    count = 1 << 20
    if name != "powf":
        bits = rng.integers(0, 1 << 32, (2, count), np.uint32)
        shift = 16 if type_ != "f32" else 0
        small = (bits >> shift).astype(np.uint16 if shift else np.uint32).view(NUMPY[type_])
        return small[0][::step], small[1][::step]
    # powers of all sizes that do not overflow, many of them of numbers near one
    near_one = rng.choice([-1.0, 1.0], count) * 2.0 ** rng.uniform(-20, 0, count)
    exponent = np.where(rng.random(count) < 0.5, rng.uniform(-20, 20, count), near_one)
    largest = 15.0 if type_ == "f16" else 126.0
    power = rng.uniform(-largest, largest, count) / exponent
    x, y = (2.0**exponent).astype(NUMPY[type_]), power.astype(NUMPY[type_])
    return x[::step], y[::step]


@cache
def _executable(text: str, device_name: str, mode: MathMode) -> Any:
    options = CompileOptions(targets=(TARGETS[device_name],), math=mode)
    bundle = compile_module(text, "numerics.mlir", options)
    return rt.loads(write_bundle(bundle)).bind(device(device_name))


def compute(
    bodies: Sequence[str], type_: str, inputs: dict[str, Array], device_name: str, mode: MathMode
) -> list[Array]:
    """What a device computes for `%r0`, `%r1`, ..., one body each."""
    count = next(iter(inputs.values())).size
    results = [(f"%r{k}", type_) for k in range(len(bodies))]
    body = "\n".join(f"%r{k} = {text} : {type_}" for k, text in enumerate(bodies))
    text = elementwise(body, dict.fromkeys(inputs, type_), results, count)
    got = _executable(text, device_name, mode).call("main", *inputs.values())
    return list(got) if isinstance(got, tuple) else [got]


def _worst(got: Array, exact: Array, *inputs: Array) -> Error:
    errors = ulp_errors(got, exact)
    at = int(np.argmax(errors))
    return Error(float(errors[at]), ", ".join(f"{float(x[at]):.9g}" for x in inputs))


def unary_errors(
    type_: str, device_name: str, names: Sequence[str], step: int = 1, mode: MathMode = "safe"
) -> dict[str, Error]:
    """The largest error of each function."""
    x = arguments(type_, step)
    wide = x.astype(np.float64)
    found: dict[str, Error] = {}
    for start in range(0, len(names), GROUP):
        group = names[start : start + GROUP]
        got = compute([f"math.{n} %x" for n in group], type_, {"x": x}, device_name, mode)
        for name, values in zip(group, got, strict=True):
            with np.errstate(all="ignore"):
                found[name] = _worst(values, UNARY[name](wide), x)
    return found


def binary_errors(type_: str, device_name: str, step: int = 1) -> dict[str, Error]:
    """The largest error of each function of two numbers."""
    found: dict[str, Error] = {}
    for name, (op, reference) in BINARY.items():
        x, y = pairs(name, type_, step)
        (got,) = compute([f"{op} %x, %y"], type_, {"x": x, "y": y}, device_name, "safe")
        with np.errstate(all="ignore"):
            found[name] = _worst(got, reference(x.astype(np.float64), y.astype(np.float64)), x, y)
    return found


def errors(type_: str, device_name: str, step: int = 1) -> dict[str, Error]:
    """The largest error of every function of the table."""
    unary = unary_errors(type_, device_name, list(UNARY), step)
    return {**unary, **binary_errors(type_, device_name, step)}


def special_values(device_name: str) -> dict[str, list[str]]:
    """What each function of one f32 gives at the special numbers."""
    x = np.array(SPECIAL, np.float32)
    found: dict[str, list[str]] = {}
    names = list(UNARY)
    for start in range(0, len(names), GROUP):
        group = names[start : start + GROUP]
        got = compute([f"math.{n} %x" for n in group], "f32", {"x": x}, device_name, "safe")
        found |= {
            n: [f"{float(v):.6g}" for v in values] for n, values in zip(group, got, strict=True)
        }
    return found


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def error_table(step: int = 1) -> str:
    columns = [(t, d) for t in TYPES for d in DEVICES]
    measured = {column: errors(*column, step) for column in columns}
    head = ["function", *(f"{t} {d}" for t, d in columns), "worst f32 argument"]
    rows = [
        [
            f"`{name}`",
            *(str(measured[c][name]) for c in columns),
            measured["f32", "host"][name].where,
        ]
        for name in (*UNARY, *BINARY)
    ]
    return _table(head, rows)


def native_table(step: int = 1) -> str:
    measured = {d: unary_errors("f32", d, NATIVE, step, "fast") for d in DEVICES}
    rows = [[f"`{n}`", *(str(measured[d][n]) for d in DEVICES)] for n in NATIVE]
    return _table(["function", *DEVICES], rows)


def special_table() -> str:
    host, vulkan = (special_values(d) for d in DEVICES)
    if host != vulkan:
        raise SystemExit("the devices differ at special numbers")
    head = ["x", *(f"{x:g}" for x in SPECIAL)]
    return _table(head, [[f"`{name}`", *values] for name, values in host.items()])


TABLES: dict[str, Callable[[], str]] = {
    "errors": error_table,
    "native": native_table,
    "special": special_table,
}


def published(name: str) -> list[dict[str, str]]:
    """The rows of a table of the page, by column."""
    (text,) = re.findall(f"<!-- table {name} -->\n(.*?)\n<!-- end -->", PAGE.read_text(), re.DOTALL)
    head, _, *rows = [[c.strip() for c in line.strip("|").split("|")] for line in text.splitlines()]
    return [dict(zip(head, row, strict=True)) for row in rows]


def main() -> int:
    """Rewrite the tables, or compare them; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, change nothing")
    check = parser.parse_args().check
    old = text = PAGE.read_text()
    for name, make in TABLES.items():
        pattern = re.compile(f"(<!-- table {name} -->\n).*?(\n?<!-- end -->)", re.DOTALL)
        table = make()
        text = pattern.sub(lambda found, t=table: f"{found[1]}{t}\n<!-- end -->", text)
    if check:
        return int(text != old)
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
