"""Every op of arith and math as a line of MLIR, in every type that it takes.

The tables are held against the dialects by a test, so that no op is forgotten. A case computes
from the values `%a`, `%b` and `%c` of its type, `%p` of i1 and `%n` of i32.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ingot.compiler.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS

Array = NDArray[Any]

FLOATS = ("f32", "f16", "bf16")
INTEGERS = ("i1", "i8", "i16", "i32", "i64")
WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}
NUMPY: dict[str, Any] = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "index": np.int64,
}

EXACT_FLOAT_UNARY = (
    "arith.negf", "math.absf", "math.ceil", "math.floor", "math.trunc", "math.round",
    "math.roundeven", "math.sqrt",
)  # fmt: skip
"""Rounded as IEEE 754 asks for."""
FLOAT_UNARY = (
    "math.acos", "math.acosh", "math.asin", "math.asinh", "math.atan", "math.atanh", "math.cbrt",
    "math.cos", "math.cosh", "math.erf", "math.exp", "math.exp2", "math.expm1", "math.log",
    "math.log10", "math.log1p", "math.log2", "math.rsqrt", "math.sin", "math.sinh", "math.tan",
    "math.tanh",
)  # fmt: skip
"""Within the bounds that docs/numerics.md publishes."""
EXACT_FLOAT_BINARY = (
    "arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.remf", "arith.maximumf",
    "arith.minimumf", "arith.maxnumf", "arith.minnumf", "math.copysign",
)  # fmt: skip
FLOAT_BINARY = ("math.powf", "math.atan2")
FLOAT_PREDICATES = ("math.isnan", "math.isinf", "math.isfinite", "math.isnormal")
INTEGER_UNARY = ("math.absi", "math.ctlz", "math.cttz", "math.ctpop")
INTEGER_BINARY = (
    "arith.addi", "arith.subi", "arith.muli", "arith.divui", "arith.divsi", "arith.floordivsi",
    "arith.ceildivsi", "arith.ceildivui", "arith.remui", "arith.remsi", "arith.minsi",
    "arith.maxsi", "arith.minui", "arith.maxui", "arith.andi", "arith.ori", "arith.xori",
    "arith.shli", "arith.shrui", "arith.shrsi", "math.ipowi",
)  # fmt: skip
INTEGER_EXTENDED = ("arith.mului_extended", "arith.mulsi_extended")
SPELLED_OUT = (
    "arith.constant", "arith.select", "arith.cmpi", "arith.cmpf", "arith.addui_extended",
    "arith.bitcast", "arith.extf", "arith.truncf", "arith.extsi", "arith.extui", "arith.trunci",
    "arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.fptoui", "arith.index_cast",
    "arith.index_castui", "math.fma", "math.fpowi", "math.sincos", "math.clampf",
)  # fmt: skip
ALL = frozenset((
    *EXACT_FLOAT_UNARY, *FLOAT_UNARY, *EXACT_FLOAT_BINARY, *FLOAT_BINARY, *FLOAT_PREDICATES,
    *INTEGER_UNARY, *INTEGER_BINARY, *INTEGER_EXTENDED, *SPELLED_OUT,
))  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Ops that compute `results` results `%NAME_0`, ... ; `is_exact` ones have one right value."""

    label: str
    body: str
    """With `{r}` for the name of the results."""
    results: tuple[str, ...]
    is_exact: bool = True


def _float_cases(t: str) -> Iterator[Case]:
    for exact, names in ((True, EXACT_FLOAT_UNARY), (False, FLOAT_UNARY)):
        for op in names:
            yield Case(op, f"%{{r}}_0 = {op} %a : {t}", (t,), exact)
    for exact, names in ((True, EXACT_FLOAT_BINARY), (False, FLOAT_BINARY)):
        for op in names:
            yield Case(op, f"%{{r}}_0 = {op} %a, %b : {t}", (t,), exact)
    for op in FLOAT_PREDICATES:
        yield Case(op, f"%{{r}}_0 = {op} %a : {t}", ("i1",))
    for predicate in CMPF_COMPARISON_OPERATIONS:
        label = f"arith.cmpf {predicate}"
        yield Case(label, f"%{{r}}_0 = {label}, %a, %b : {t}", ("i1",))
    yield Case("math.fma", f"%{{r}}_0 = math.fma %a, %b, %c : {t}", (t,), False)
    yield Case("math.fpowi", f"%{{r}}_0 = math.fpowi %a, %n : {t}, i32", (t,), False)
    yield Case("math.clampf", f"%{{r}}_0 = math.clampf %a to [%b, %c] : {t}", (t,))
    yield Case(
        "math.sincos",
        f"%{{r}}_0, %{{r}}_1 = math.sincos %a : {t}",
        (t, t),
        False,
    )
    for other in FLOATS:
        if FLOATS.index(other) != FLOATS.index(t) and (other == "f32" or t == "f32"):
            op = "arith.extf" if other == "f32" else "arith.truncf"
            yield Case(f"{op} to {other}", f"%{{r}}_0 = {op} %a : {t} to {other}", (other,))
    for other in INTEGERS:
        for op in ("arith.fptosi", "arith.fptoui"):
            yield Case(f"{op} to {other}", f"%{{r}}_0 = {op} %a : {t} to {other}", (other,))
    bits = "i32" if t == "f32" else "i16"
    yield Case("arith.bitcast", f"%{{r}}_0 = arith.bitcast %a : {t} to {bits}", (bits,))


def _integer_cases(t: str) -> Iterator[Case]:
    for op in INTEGER_UNARY:
        yield Case(op, f"%{{r}}_0 = {op} %a : {t}", (t,))
    for op in INTEGER_BINARY:
        yield Case(op, f"%{{r}}_0 = {op} %a, %b : {t}", (t,))
    for op in INTEGER_EXTENDED:
        yield Case(op, f"%{{r}}_0, %{{r}}_1 = {op} %a, %b : {t}", (t, t))
    if t != "index":
        op = "arith.addui_extended"
        yield Case(op, f"%{{r}}_0, %{{r}}_1 = {op} %a, %b : {t}, i1", (t, "i1"))
    for predicate in CMPI_COMPARISON_OPERATIONS:
        label = f"arith.cmpi {predicate}"
        yield Case(label, f"%{{r}}_0 = {label}, %a, %b : {t}", ("i1",))
    if t != "index":
        yield from _integer_conversions(t)


def _integer_conversions(t: str) -> Iterator[Case]:
    for other in INTEGERS:
        ops: tuple[str, ...] = ()
        if WIDTHS[other] > WIDTHS[t]:
            ops = ("arith.extsi", "arith.extui")
        elif WIDTHS[other] < WIDTHS[t]:
            ops = ("arith.trunci",)
        for op in ops:
            yield Case(f"{op} to {other}", f"%{{r}}_0 = {op} %a : {t} to {other}", (other,))
    for other in FLOATS:
        for op in ("arith.sitofp", "arith.uitofp"):
            yield Case(f"{op} to {other}", f"%{{r}}_0 = {op} %a : {t} to {other}", (other,))
    for other in FLOATS:
        if NUMPY[other](0).itemsize * 8 == WIDTHS[t]:
            label = f"arith.bitcast to {other}"
            yield Case(label, f"%{{r}}_0 = arith.bitcast %a : {t} to {other}", (other,))
    for op in ("arith.index_cast", "arith.index_castui"):
        text = f"%{{r}}_i = {op} %a : {t} to index\n%{{r}}_0 = {op} %{{r}}_i : index to {t}"
        yield Case(op, text, (t,))


def cases(t: str) -> list[Case]:
    """Every op that takes the type, once for each predicate or target type."""
    found = list(_float_cases(t) if t in FLOATS else _integer_cases(t))
    found.append(Case("arith.select", f"%{{r}}_0 = arith.select %p, %a, %b : {t}", (t,)))
    return found


def operands(t: str, *, subnormal: bool = False) -> dict[str, Array]:
    """Values of `%a`, `%b`, `%c`, `%p` and `%n`: all pairs of special numbers, and random ones."""
    special = np.array(special_numbers(t, subnormal=subnormal)).astype(NUMPY[t])
    a, b = (grid.ravel() for grid in np.meshgrid(special, special, indexing="ij"))
    rng = np.random.default_rng(5)
    random = _random(t, 2 * 300, rng)
    a, b = np.concatenate([a, random[:300]]), np.concatenate([b, random[300:]])
    c = b[rng.permutation(b.size)]
    exponents = np.array([0, 1, -1, 2, 3, -3, 10, 31, -100, 2**31 - 1, -(2**31)])
    return {
        "a": a,
        "b": b,
        "c": c,
        "p": rng.random(a.size) < 0.5,
        "n": exponents[rng.integers(0, exponents.size, a.size)].astype(np.int32),
    }


def special_numbers(t: str, *, subnormal: bool = False) -> list[Any]:
    """Numbers at which something changes."""
    if t in FLOATS:
        limits: Any = ml_dtypes.finfo(NUMPY[t])
        largest, smallest = float(limits.max), float(limits.smallest_normal)
        magnitudes = [0.0, smallest, 2.0**-13, 0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 20.0, 127.5,
                      128.0, 255.5, 300.0, largest, np.inf]  # fmt: skip
        if subnormal:
            magnitudes += [smallest / 2, float(limits.smallest_subnormal)]
        if t != "f16":
            magnitudes += [2.0**31, 2.0**32, 2.0**63, 2.0**64, 1e30]
        return [*magnitudes, *(-m for m in magnitudes), np.nan]
    width = WIDTHS[t]
    if width == 1:
        return [False, True]
    top = 1 << (width - 1)
    numbers = [0, 1, -1, 2, -2, 3, -3, 7, -7, width, width - 1, width + 1, 31, 32, 63, 64]
    numbers += [top - 1, top - 2, -top, -top + 1, top // 2, top // 3, -(top // 5)]
    return [n for n in numbers if -top <= n < top]


def _random(t: str, count: int, rng: np.random.Generator) -> Array:
    if t in FLOATS:
        exponents = rng.uniform(-12, 12, count)
        return (np.exp2(exponents) * rng.choice([-1.0, 1.0], count)).astype(NUMPY[t])
    if t == "i1":
        return rng.random(count) < 0.5
    # of all magnitudes alike
    wide = rng.integers(-(2**63), 2**63, count, dtype=np.int64)
    return (wide >> rng.integers(64 - WIDTHS[t], 64, count)).astype(NUMPY[t])


def program(t: str, chosen: Sequence[Case], count: int) -> str:
    """A function of the operands' tensors that returns every result of the cases."""
    stored = "i64" if t == "index" else t
    arguments = {"a": stored, "b": stored, "c": stored, "p": "i1", "n": "i32"}
    body: list[str] = []
    results: list[tuple[str, str]] = []
    if t == "index":
        arguments = {f"{v}_in" if v in "abc" else v: e for v, e in arguments.items()}
        body += [f"%{v} = arith.index_cast %{v}_in : i64 to index" for v in "abc"]
    for number, case in enumerate(chosen):
        body.append(case.body.format(r=f"r{number}"))
        for k, result in enumerate(case.results):
            value = f"%r{number}_{k}"
            if result == "index":
                body.append(f"%s{number}_{k} = arith.index_cast {value} : index to i64")
                value, result = f"%s{number}_{k}", "i64"
            results.append((value, result))
    return elementwise("\n".join(body), arguments, results, count)


def elementwise(
    body: str, arguments: Mapping[str, str], results: Sequence[tuple[str, str]], count: int
) -> str:
    """`@main` on tensors of `count` elements: for each one, `body` computes the results, given as
    (value, type), from `%NAME` of each argument."""
    inputs = [f"tensor<{count}x{e}>" for e in arguments.values()]
    outputs = [f"tensor<{count}x{e}>" for _, e in results]
    empties = [f"%empty{k} = tensor.empty() : {tensor}" for k, tensor in enumerate(outputs)]
    maps = ["affine_map<(d0) -> (d0)>"] * (len(inputs) + len(outputs))
    block = [f"%{name}: {e}" for name, e in arguments.items()]
    block += [f"%out{k}: {e}" for k, (_, e) in enumerate(results)]
    newline = "\n"
    return f"""
func.func @main({_listed(f"%{n}_t: {t}" for n, t in zip(arguments, inputs, strict=True))})
    -> ({_listed(outputs)}) {{
{newline.join(empties)}
%all:{len(results)} = linalg.generic {{
    indexing_maps = [{_listed(maps)}], iterator_types = ["parallel"]}}
    ins({_listed(f"%{name}_t" for name in arguments)} : {_listed(inputs)})
    outs({_listed(f"%empty{k}" for k in range(len(results)))} : {_listed(outputs)}) {{
^bb0({_listed(block)}):
{body}
linalg.yield {_listed(value for value, _ in results)} : {_listed(e for _, e in results)}
}} -> ({_listed(outputs)})
return {_listed(f"%all#{k}" for k in range(len(results)))} : {_listed(outputs)}
}}
"""


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(parts)
