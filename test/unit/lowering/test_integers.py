"""Integer operations of `expand-math` against Python's integers, at the edges and at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from unit.lowering.expanded import expand, expanded

Array = npt.NDArray[Any]

WIDTHS = (8, 16, 32, 64)


def _operands(width: int) -> tuple[Array, Array]:
    dtype = np.dtype(f"i{width // 8}")
    info = np.iinfo(dtype)
    edges = np.array(
        [0, 1, -1, 2, -2, 3, 7, info.min, info.max, info.min + 1, width - 1, width], dtype
    )
    a, b = (grid.ravel() for grid in np.meshgrid(edges, edges))
    random = np.random.default_rng(0)
    more = random.integers(info.min, info.max, (2, 200), dtype=dtype)
    return np.concatenate([a, more[0]]), np.concatenate([b, more[1] >> dtype.type(width // 2)])


def _quotient(a: int, b: int) -> int:
    """Rounded towards zero; -1 for a division by zero, as RISC-V has it."""
    if b == 0:
        return -1
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _power(base: int, exponent: int) -> int:
    if exponent >= 0:
        return pow(base, exponent, 1 << 64)
    return {1: 1, -1: -1 if exponent % 2 else 1}.get(base, 0)


SIGNED: dict[str, Callable[[int, int, int], int]] = {
    "arith.divsi": lambda a, b, w: _quotient(a, b),
    "arith.remsi": lambda a, b, w: a - _quotient(a, b) * b if b else a,
    "arith.floordivsi": lambda a, b, w: a // b if b else -1,
    "arith.ceildivsi": lambda a, b, w: -(-a // b) if b else -1,
    "math.ipowi": lambda a, b, w: _power(a, b),
}
UNSIGNED: dict[str, Callable[[int, int, int], int]] = {
    "arith.divui": lambda a, b, w: a // b if b else -1,
    "arith.remui": lambda a, b, w: a % b if b else a,
    "arith.ceildivui": lambda a, b, w: -(-a // b) if b else -1,
    "arith.shli": lambda a, n, w: a << n if n < w else 0,
    "arith.shrui": lambda a, n, w: a >> n if n < w else 0,
}


def _check(op: str, width: int, function: Callable[[int, int, int], int], signed: bool) -> None:
    a, b = _operands(width)
    kind = a.dtype if signed else np.dtype(f"u{width // 8}")
    pairs = zip(a.view(kind).tolist(), b.view(kind).tolist(), strict=True)
    mask = (1 << width) - 1
    expected = [function(x, y, width) & mask for x, y in pairs]
    got = expanded(op, f"i{width}", 2)(a, b).view(f"u{width // 8}").tolist()
    assert got == expected


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("op", SIGNED)
def test_signed(op: str, width: int) -> None:
    _check(op, width, SIGNED[op], signed=True)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("op", UNSIGNED)
def test_unsigned(op: str, width: int) -> None:
    _check(op, width, UNSIGNED[op], signed=False)


@pytest.mark.parametrize("width", WIDTHS)
def test_arithmetic_shift_keeps_the_sign(width: int) -> None:
    a, n = _operands(width)
    counts = n.view(f"u{width // 8}").tolist()
    expected = [x >> min(k, width - 1) for x, k in zip(a.tolist(), counts, strict=True)]
    assert expanded("arith.shrsi", f"i{width}", 2)(a, n).tolist() == expected


@pytest.mark.parametrize("width", WIDTHS)
def test_bit_counts(width: int) -> None:
    a, _ = _operands(width)
    values = a.view(f"u{width // 8}").tolist()
    counts: dict[str, Callable[[int], int]] = {
        "math.ctpop": lambda x: x.bit_count(),
        "math.ctlz": lambda x: width - x.bit_length(),
        "math.cttz": lambda x: (x & -x).bit_length() - 1 if x else width,
    }
    for op, count in counts.items():
        assert expanded(op, f"i{width}")(a).tolist() == [count(x) for x in values], op


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("signed", [True, False])
def test_wide_products(width: int, signed: bool) -> None:
    a, b = _operands(width)
    type_ = f"i{width}"
    op = "arith.mulsi_extended" if signed else "arith.mului_extended"
    body = f"%low, %high = {op} %a, %b : {type_}\nfunc.return %low, %high : {type_}, {type_}"
    low, high = expand(body, f"%a: {type_}, %b: {type_}", f"{type_}, {type_}").run("f", a, b)
    kind = a.dtype if signed else np.dtype(f"u{width // 8}")
    mask = (1 << width) - 1
    products = [x * y for x, y in zip(a.view(kind).tolist(), b.view(kind).tolist(), strict=True)]
    unsigned = f"u{width // 8}"
    assert low.view(unsigned).tolist() == [p & mask for p in products]
    assert high.view(unsigned).tolist() == [p >> width & mask for p in products]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("signed", [True, False])
def test_float_to_integer_saturates(width: int, signed: bool) -> None:
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    near = [float(v) + d for v in (low, high, high + 1) for d in (-1, -0.5, 0, 0.5, 1)]
    x = np.array([*near, np.nan, np.inf, -np.inf, 1e30, -1e30, 0.9, -0.9, 2.5], np.float32)
    expected = [0 if v != v else int(max(low, min(high, v))) for v in x.tolist()]
    op = "arith.fptosi" if signed else "arith.fptoui"
    got = expanded(op, "f32", result=f"i{width}")(x)
    mask = (1 << width) - 1
    assert got.view(f"u{width // 8}").tolist() == [v & mask for v in expected]


def test_i1_is_one_bit_of_twos_complement() -> None:
    a, b = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    for op, expected in {
        "arith.addi": a ^ b,
        "arith.muli": a & b,
        "arith.minsi": a | b,
        "arith.maxsi": a & b,
        "arith.minui": a & b,
        "arith.cmpi slt,": a & ~b,
        "arith.cmpi ult,": ~a & b,
    }.items():
        assert expanded(op, "i1", 2)(a, b).tolist() == expected.tolist(), op
