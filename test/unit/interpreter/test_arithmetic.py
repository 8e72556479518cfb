"""The values of arith and math where they are easy to get wrong."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

NAN, INF = float("nan"), float("inf")
MIN32, MAX32 = -(2**31), 2**31 - 1


HELD: dict[str, Any] = {
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "i1": np.bool_,
    "i8": np.int8,
    "i32": np.int32,
}


def elementwise(
    run: Any, op: str, dtype: str, *values: list[Any], result: str | None = None
) -> Any:
    """Run one op on tensors of `values`; `op` holds `%a`, `%b` and the types after the colon."""
    count = len(values[0])
    out = result or dtype
    names = [f"%{letter}" for letter in "abc"[: len(values)]]
    tensors = ", ".join(f"{name}s: tensor<{count}x{dtype}>" for name in names)
    maps = ", ".join(["affine_map<(d0) -> (d0)>"] * (len(values) + 1))
    ins = ", ".join(f"{name}s" for name in names)
    ins_types = ", ".join([f"tensor<{count}x{dtype}>"] * len(values))
    args = ", ".join(f"{name}: {dtype}" for name in names)
    text = f"""
    func.func @main({tensors}) -> tensor<{count}x{out}> {{
      %e = tensor.empty() : tensor<{count}x{out}>
      %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
          ins({ins} : {ins_types}) outs(%e : tensor<{count}x{out}>) {{
      ^bb0({args}, %out: {out}):
        %v = {op}
        linalg.yield %v : {out}
      }} -> tensor<{count}x{out}>
      return %r : tensor<{count}x{out}>
    }}"""
    return run(text, *(np.array(v).astype(HELD[dtype]) for v in values))[0]


def same(actual: npt.NDArray[Any], expected: list[Any]) -> None:
    """Equal, NaN and the sign of zero included."""
    want = np.array(expected)
    np.testing.assert_array_equal(actual.astype(want.dtype), want)
    if want.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(actual), np.signbit(want))


def test_maximumf_propagates_nan_and_maxnumf_does_not(run: Any) -> None:
    a, b = [1.0, NAN, -0.0, 0.0], [NAN, 2.0, 0.0, -0.0]
    same(elementwise(run, "arith.maximumf %a, %b : f32", "f32", a, b), [NAN, NAN, 0.0, 0.0])
    same(elementwise(run, "arith.maxnumf %a, %b : f32", "f32", a, b), [1.0, 2.0, 0.0, 0.0])
    same(elementwise(run, "arith.minimumf %a, %b : f32", "f32", a, b), [NAN, NAN, -0.0, -0.0])
    same(elementwise(run, "arith.minnumf %a, %b : f32", "f32", a, b), [1.0, 2.0, -0.0, -0.0])


def test_signed_division_rounds_to_zero_and_is_defined_everywhere(run: Any) -> None:
    a, b = [7, -7, 5, MIN32, MIN32], [2, 2, 0, -1, 0]
    same(elementwise(run, "arith.divsi %a, %b : i32", "i32", a, b), [3, -3, -1, MIN32, -1])
    same(elementwise(run, "arith.remsi %a, %b : i32", "i32", a, b), [1, -1, 5, 0, MIN32])


def test_floor_and_ceil_division(run: Any) -> None:
    a, b = [7, -7, 7, -7, 6], [2, 2, -2, -2, 3]
    same(elementwise(run, "arith.floordivsi %a, %b : i32", "i32", a, b), [3, -4, -4, 3, 2])
    same(elementwise(run, "arith.ceildivsi %a, %b : i32", "i32", a, b), [4, -3, -3, 4, 2])


def test_unsigned_division_reads_the_bits_as_unsigned(run: Any) -> None:
    a, b = [-2, 5, -1], [2, 0, -1]
    same(elementwise(run, "arith.divui %a, %b : i32", "i32", a, b), [MAX32, -1, 1])
    same(elementwise(run, "arith.remui %a, %b : i32", "i32", a, b), [0, 5, 0])


def test_integers_wrap(run: Any) -> None:
    same(elementwise(run, "arith.addi %a, %b : i32", "i32", [MAX32], [1]), [MIN32])
    same(elementwise(run, "arith.muli %a, %b : i8", "i8", [100], [3]), [44])
    same(elementwise(run, "math.absi %a : i32", "i32", [MIN32]), [MIN32])


def test_shifts_by_the_width_or_more(run: Any) -> None:
    a, b = [-8, -8, 5, 5], [1, 32, 40, -1]
    same(elementwise(run, "arith.shli %a, %b : i32", "i32", a, b), [-16, 0, 0, 0])
    same(elementwise(run, "arith.shrsi %a, %b : i32", "i32", a, b), [-4, -1, 0, 0])
    same(elementwise(run, "arith.shrui %a, %b : i32", "i32", a, b), [2**31 - 4, 0, 0, 0])


def test_floats_saturate_to_integers_and_nan_is_zero(run: Any) -> None:
    a = [1.9, -1.9, NAN, INF, -INF, 3e9, -3e9]
    signed = elementwise(run, "arith.fptosi %a : f32 to i32", "f32", a, result="i32")
    same(signed, [1, -1, 0, MAX32, MIN32, MAX32, MIN32])
    unsigned = elementwise(run, "arith.fptoui %a : f32 to i32", "f32", a, result="i32")
    same(unsigned, [1, 0, 0, -1, 0, 3_000_000_000 - 2**32, 0])
    wide = elementwise(run, "arith.fptosi %a : f32 to i64", "f32", [1e30, -1e30], result="i64")
    same(wide, [2**63 - 1, -(2**63)])


def test_i1_is_minus_one_when_signed(run: Any) -> None:
    a, b = [True, False, True], [True, True, False]
    same(elementwise(run, "arith.extsi %a : i1 to i32", "i1", a, result="i32"), [-1, 0, -1])
    same(elementwise(run, "arith.extui %a : i1 to i32", "i1", a, result="i32"), [1, 0, 1])
    same(elementwise(run, "arith.cmpi slt, %a, %b : i1", "i1", a, b), [False, False, True])
    same(elementwise(run, "arith.cmpi ult, %a, %b : i1", "i1", a, b), [False, True, False])
    same(elementwise(run, "arith.addi %a, %b : i1", "i1", a, b), [False, True, True])
    same(elementwise(run, "arith.maxsi %a, %b : i1", "i1", a, b), [True, False, False])
    same(elementwise(run, "arith.uitofp %a : i1 to f32", "i1", a, result="f32"), [1.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("oeq", [True, False, False]), ("une", [False, True, True]), ("one", [False, True, False]),
        ("olt", [False, True, False]), ("ult", [False, True, True]), ("uge", [True, False, True]),
        ("ord", [True, True, False]), ("uno", [False, False, True]), ("ueq", [True, False, True]),
        ("true", [True, True, True]), ("false", [False, False, False]),
    ],
)  # fmt: skip
def test_float_comparisons_with_nan(run: Any, predicate: str, expected: list[bool]) -> None:
    op = f"arith.cmpf {predicate}, %a, %b : f32"
    got = elementwise(run, op, "f32", [1.0, 1.0, NAN], [1.0, 2.0, 1.0], result="i1")
    same(got, expected)


def test_rounding_functions(run: Any) -> None:
    a = [0.5, 1.5, -0.5, -2.5, 0.49999997]
    same(elementwise(run, "math.round %a : f32", "f32", a), [1.0, 2.0, -1.0, -3.0, 0.0])
    same(elementwise(run, "math.roundeven %a : f32", "f32", a), [0.0, 2.0, -0.0, -2.0, 0.0])


def test_bit_counts(run: Any) -> None:
    a = [0, 1, -1, 256]
    same(elementwise(run, "math.ctlz %a : i32", "i32", a), [32, 31, 0, 23])
    same(elementwise(run, "math.cttz %a : i32", "i32", a), [32, 0, 0, 8])
    same(elementwise(run, "math.ctpop %a : i32", "i32", a), [0, 1, 32, 1])


def test_integer_powers(run: Any) -> None:
    got = elementwise(run, "math.ipowi %a, %b : i32", "i32", [3, -2, 2, -1, 5], [4, 3, -1, -3, 0])
    same(got, [81, -8, 0, -1, 1])


def test_bf16_rounds_to_nearest_even_after_every_op(run: Any) -> None:
    got = elementwise(run, "arith.addf %a, %b : bf16", "bf16", [256.0, 258.0], [1.0, 1.0])
    same(got.astype(np.float32), [256.0, 260.0])


def test_float64_mode_does_not_round(run: Any) -> None:
    text = """
    func.func @main(%x: f16, %y: f16) -> f16 {
      %s = arith.addf %x, %y : f16
      return %s : f16
    }"""
    inputs = np.array(2048.0, np.float16), np.array(1.0, np.float16)
    assert run(text, *inputs)[0] == 2048.0
    assert run(text, *inputs, mode="float64")[0] == 2049.0


def test_bitcast_keeps_the_bits(run: Any) -> None:
    got = elementwise(run, "arith.bitcast %a : f32 to i32", "f32", [1.0, -0.0], result="i32")
    same(got, [0x3F800000, MIN32])


def test_extended_products(run: Any) -> None:
    text = """
    func.func @main(%x: i32, %y: i32) -> (i32, i32, i32, i1) {
      %low, %high = arith.mulsi_extended %x, %y : i32
      %ulow, %uhigh = arith.mului_extended %x, %y : i32
      %sum, %carry = arith.addui_extended %x, %y : i32, i1
      return %low, %high, %uhigh, %carry : i32, i32, i32, i1
    }"""
    low, high, unsigned_high, carry = run(text, np.array(-2, np.int32), np.array(3, np.int32))
    assert (low, high, unsigned_high, carry) == (-6, -1, 2, True)
