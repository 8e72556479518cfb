"""Numbers that other compilers were reported to get wrong, each with the right value."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.harness import DEVICES, Array, run
from support.scalar_ops import NUMPY, elementwise

both_devices = pytest.mark.parametrize("device_name", DEVICES)
WIDTHS = (8, 16, 32, 64)


def compute(
    device_name: str, body: str, result: str, arguments: dict[str, tuple[str, list[Any]]]
) -> Array:
    """`%r` of type `result` for each element of the arguments, given as (type, values)."""
    (values,) = compute_all(device_name, body, [("%r", result)], arguments)
    return values


def compute_all(
    device_name: str,
    body: str,
    results: list[tuple[str, str]],
    arguments: dict[str, tuple[str, list[Any]]],
) -> list[Array]:
    inputs = [np.array(values).astype(NUMPY[type_]) for type_, values in arguments.values()]
    types = {name: type_ for name, (type_, _) in arguments.items()}
    return run(elementwise(body, types, results, inputs[0].size), device_name, inputs)


def check(got: Array, expected: list[Any]) -> None:
    """Equal values in every element, NaN equal to NaN, zeros with their signs."""
    right = np.array(expected).astype(got.dtype)
    np.testing.assert_array_equal(got.astype(np.float64), right.astype(np.float64))
    np.testing.assert_array_equal(np.signbit(got[got == 0]), np.signbit(right[right == 0]))


def check_integers(got: Array, expected: list[int]) -> None:
    assert got.tolist() == expected


@both_devices
@pytest.mark.parametrize("type_", ["f32", "f16", "bf16"])
def test_maxima_know_nan(device_name: str, type_: str) -> None:
    a, b = [nan, 1.0, -inf, 3.0], [2.0, nan, nan, inf]
    names = ("maximumf", "minimumf", "maxnumf", "minnumf")
    body = "\n".join(f"%{name} = arith.{name} %a, %b : {type_}" for name in names)
    results = [(f"%{name}", type_) for name in names]
    got = compute_all(device_name, body, results, {"a": (type_, a), "b": (type_, b)})
    check(got[0], [nan, nan, nan, inf])
    check(got[1], [nan, nan, nan, 3.0])
    check(got[2], [2.0, 1.0, -inf, inf])
    check(got[3], [2.0, 1.0, -inf, 3.0])


@both_devices
def test_the_maximum_of_a_bf16_row_with_nan_is_nan(device_name: str) -> None:
    text = """
      func.func @main(%x: tensor<2x300xbf16>) -> tensor<2xbf16> {
        %low = arith.constant 0xFF80 : bf16
        %e = tensor.empty() : tensor<2xbf16>
        %i = linalg.fill ins(%low : bf16) outs(%e : tensor<2xbf16>) -> tensor<2xbf16>
        %r = linalg.reduce { arith.maximumf } ins(%x : tensor<2x300xbf16>)
          outs(%i : tensor<2xbf16>) dimensions = [1]
        return %r : tensor<2xbf16>
      }"""
    x = np.zeros((2, 300), ml_dtypes.bfloat16)
    x[0, 299] = nan
    (got,) = run(text, device_name, [x])
    check(got, [nan, 0.0])


@both_devices
def test_bf16_is_selected_against_infinity(device_name: str) -> None:
    body = """
      %inf = arith.constant 0x7F80 : bf16
      %low = arith.constant 0xFF80 : bf16
      %zero = arith.constant 0.0 : bf16
      %is = arith.cmpf oeq, %x, %inf : bf16
      %s = arith.select %is, %zero, %x : bf16
      %m = arith.cmpf ogt, %x, %zero : bf16
      %r = arith.select %m, %s, %low : bf16"""
    got = compute(device_name, body, "bf16", {"x": ("bf16", [inf, 2.0, -1.0, -inf, nan])})
    check(got, [0.0, 2.0, -inf, -inf, -inf])


@both_devices
@pytest.mark.parametrize("type_", ["f32", "f16", "bf16"])
def test_functions_at_their_limits(device_name: str, type_: str) -> None:
    cases = {
        "tanh": ([100.0, -100.0, inf, -0.0], [1.0, -1.0, 1.0, -0.0]),
        "exp": ([-inf, inf, -1000.0, 0.0], [0.0, inf, 0.0, 1.0]),
        "log": ([0.0, -0.0, -1.0, inf], [-inf, -inf, nan, inf]),
        "sqrt": ([-0.0, -1.0, inf, 4.0], [-0.0, nan, inf, 2.0]),
        "rsqrt": ([0.0, -0.0, inf, 4.0], [inf, -inf, 0.0, 0.5]),
        "log1p": ([-1.0, 0.0, -0.0, inf], [-inf, 0.0, -0.0, inf]),
        "expm1": ([-inf, inf, -0.0, 0.0], [-1.0, inf, -0.0, 0.0]),
        "sin": ([inf, -0.0, 0.0, -inf], [nan, -0.0, 0.0, nan]),
        "erf": ([inf, -inf, -0.0, nan], [1.0, -1.0, -0.0, nan]),
    }
    body = "\n".join(f"%{name} = math.{name} %{name}_x : {type_}" for name in cases)
    results = [(f"%{name}", type_) for name in cases]
    arguments = {f"{name}_x": (type_, list[Any](x)) for name, (x, _) in cases.items()}
    got = compute_all(device_name, body, results, arguments)
    for values, (_, expected) in zip(got, cases.values(), strict=True):
        check(values, expected)


@both_devices
@pytest.mark.parametrize("type_", ["f32", "f16", "bf16"])
def test_powers(device_name: str, type_: str) -> None:
    x = [-2.0, 0.0, -2.0, nan, 1.0, -2.0, 0.0, -0.0, -1.0, 2.0]
    y = [2.0, 0.0, 3.0, 0.0, nan, 0.5, -1.0, -3.0, inf, -inf]
    expected = [4.0, 1.0, -8.0, 1.0, 1.0, nan, inf, -inf, 1.0, 0.0]
    body = f"%r = math.powf %x, %y : {type_}"
    check(compute(device_name, body, type_, {"x": (type_, x), "y": (type_, y)}), expected)


@both_devices
@pytest.mark.parametrize("type_", ["f32", "f16", "bf16"])
def test_the_remainder_of_a_float_by_itself(device_name: str, type_: str) -> None:
    x = [3.0, -3.0, 0.0, inf, nan, 5.5, -5.5, 5.5]
    y = [3.0, -3.0, 0.0, inf, nan, inf, 2.0, -2.0]
    body = f"%r = arith.remf %x, %y : {type_}"
    got = compute(device_name, body, type_, {"x": (type_, x), "y": (type_, y)})
    check(got, [0.0, -0.0, nan, nan, nan, 5.5, -1.5, 1.5])


@both_devices
@pytest.mark.parametrize("type_", ["f32", "bf16"])
def test_quotients_of_very_large_numbers(device_name: str, type_: str) -> None:
    x = [1e38, -3e38, 1e38, inf, 0.0, 1.0]
    y = [2e38, 3e38, inf, 3e38, 3e38, nan]
    expected = np.array([0.5, -1.0, 0.0, inf, 0.0, nan])
    body = f"%r = arith.divf %x, %y : {type_}"
    got = compute(device_name, body, type_, {"x": (type_, x), "y": (type_, y)})
    np.testing.assert_allclose(got.astype(np.float64), expected, rtol=1e-2, atol=0)


@both_devices
def test_zero_over_a_subnormal_f16_is_zero(device_name: str) -> None:
    arguments = {"x": ("f16", [0.0, 6e-8, 1.0]), "y": ("f16", [6e-8, 6e-8, 3.0])}
    got = compute(device_name, "%r = arith.divf %x, %y : f16", "f16", arguments)
    check(got, [0.0, 1.0, 1 / 3])


DIVISIONS = ("divsi", "remsi", "floordivsi", "ceildivsi", "divui", "remui", "ceildivui")


@both_devices
@pytest.mark.parametrize("width", WIDTHS)
def test_integer_division(device_name: str, width: int) -> None:
    type_ = f"i{width}"
    least = -(1 << (width - 1))
    # -7 as an unsigned number, divided by 3
    high = (1 << width) - 7
    a = [-7, 7, -7, least, 5, least, 0]
    b = [3, -3, -3, -1, 0, 0, 0]
    body = "\n".join(f"%{op} = arith.{op} %a, %b : {type_}" for op in DIVISIONS)
    results = [(f"%{op}", type_) for op in DIVISIONS]
    got = compute_all(device_name, body, results, {"a": (type_, a), "b": (type_, b)})
    signed = {
        "divsi": [-2, -2, 2, least, -1, -1, -1],
        "remsi": [-1, 1, -1, 0, 5, least, 0],
        "floordivsi": [-3, -3, 2, least, -1, -1, -1],
        "ceildivsi": [-2, -2, 3, least, -1, -1, -1],
    }
    for values, expected in zip(got, signed.values(), strict=False):
        check_integers(values, expected)
    unsigned = got[4:]
    assert [int(v[0]) for v in unsigned[:2]] == [high // 3, high % 3]
    assert [int(v[4]) for v in unsigned] == [-1, 5, -1]


@both_devices
@pytest.mark.parametrize("width", WIDTHS)
def test_the_remainder_of_floor_division(device_name: str, width: int) -> None:
    """Python's // and %: -7 // 3 is -3, and -7 % 3 is 2; x % x is 0."""
    type_ = f"i{width}"
    body = f"""
      %q = arith.floordivsi %a, %b : {type_}
      %p = arith.muli %q, %b : {type_}
      %r = arith.subi %a, %p : {type_}
      %z = arith.remsi %a, %a : {type_}"""
    a, b = [-7, 7, -7, 7, -128], [3, 3, -3, -3, 7]
    got = compute_all(
        device_name,
        body,
        [("%q", type_), ("%r", type_), ("%z", type_)],
        {"a": (type_, a), "b": (type_, b)},
    )
    check_integers(got[0], [x // y for x, y in zip(a, b, strict=True)])
    check_integers(got[1], [x % y for x, y in zip(a, b, strict=True)])
    check_integers(got[2], [0] * len(a))


@both_devices
@pytest.mark.parametrize("width", WIDTHS)
def test_shifts_by_the_width_and_more(device_name: str, width: int) -> None:
    type_ = f"i{width}"
    amounts = [0, width - 1, width, width + 1, 31, 32, 33, 63, 64, 65, 127, -1]
    ops = ("shli", "shrui", "shrsi")
    body = "\n".join(f"%{op} = arith.{op} %x, %n : {type_}" for op in ops)
    got = compute_all(
        device_name,
        body,
        [(f"%{op}", type_) for op in ops],
        {"x": (type_, [-3] * len(amounts)), "n": (type_, amounts)},
    )
    mask = (1 << width) - 1
    bits = -3 & mask
    inside = [0 <= n < width for n in amounts]
    left = [(bits << n) & mask if ok else 0 for n, ok in zip(amounts, inside, strict=True)]
    right = [bits >> n if ok else 0 for n, ok in zip(amounts, inside, strict=True)]
    arithmetic = [-3 >> n if ok else -1 for n, ok in zip(amounts, inside, strict=True)]
    assert [int(v) & mask for v in got[0]] == left
    assert [int(v) & mask for v in got[1]] == right
    check_integers(got[2], arithmetic)


@both_devices
@pytest.mark.parametrize("amount", [31, 32, 40])
def test_shifts_by_a_constant(device_name: str, amount: int) -> None:
    body = f"""
      %n = arith.constant {amount} : i32
      %l = arith.shli %x, %n : i32
      %s = arith.shrsi %x, %n : i32
      %u = arith.shrui %x, %n : i32"""
    results = [("%l", "i32"), ("%s", "i32"), ("%u", "i32")]
    left, signed, unsigned = compute_all(device_name, body, results, {"x": ("i32", [-1, 1])})
    fits = amount < 32
    check_integers(left, [-(1 << 31), -(1 << 31)] if fits else [0, 0])
    check_integers(signed, [-1, 0])
    check_integers(unsigned, [1, 0] if fits else [0, 0])


@both_devices
@pytest.mark.parametrize("width", WIDTHS)
def test_counted_bits(device_name: str, width: int) -> None:
    type_ = f"i{width}"
    x = [0, -1, 1, -(1 << (width - 1)), 6]
    ops = ("ctlz", "cttz", "ctpop")
    body = "\n".join(f"%{op} = math.{op} %x : {type_}" for op in ops)
    results = [(f"%{op}", type_) for op in ops]
    got = compute_all(device_name, body, results, {"x": (type_, x)})
    check_integers(got[0], [width, 0, width - 1, 0, width - 3])
    check_integers(got[1], [width, 0, 0, width - 1, 1])
    check_integers(got[2], [0, width, 1, 1, 2])


@both_devices
def test_booleans_add_modulo_two(device_name: str) -> None:
    body = """
      %s = arith.addi %a, %b : i1
      %m = arith.muli %a, %b : i1
      %w = arith.extui %a : i1 to i32
      %n = arith.extsi %a : i1 to i32
      %f = arith.sitofp %a : i1 to f32"""
    results = [("%s", "i1"), ("%m", "i1"), ("%w", "i32"), ("%n", "i32"), ("%f", "f32")]
    a, b = [False, True, False, True], [False, False, True, True]
    got = compute_all(device_name, body, results, {"a": ("i1", a), "b": ("i1", b)})
    assert got[0].dtype == np.bool_
    assert got[0].tolist() == [False, True, True, False]
    assert got[1].tolist() == [False, False, False, True]
    check_integers(got[2], [0, 1, 0, 1])
    check_integers(got[3], [0, -1, 0, -1])
    check(got[4], [0.0, -1.0, 0.0, -1.0])


@both_devices
def test_the_whole_range_of_i64(device_name: str) -> None:
    most, least = (1 << 63) - 1, -(1 << 63)
    body = """
      %top = arith.constant 9223372036854775807 : i64
      %one = arith.constant 1 : i64
      %r = arith.maxsi %x, %y : i64
      %s = arith.addi %x, %one : i64
      %e = arith.cmpi eq, %x, %top : i64"""
    results = [("%r", "i64"), ("%s", "i64"), ("%e", "i1")]
    x, y = [most, least, (1 << 40) + 1, -1], [least, most, 1 << 40, 0]
    got = compute_all(device_name, body, results, {"x": ("i64", x), "y": ("i64", y)})
    check_integers(got[0], [most, most, (1 << 40) + 1, 0])
    check_integers(got[1], [least, least + 1, (1 << 40) + 2, 0])
    assert got[2].tolist() == [True, False, False, False]


@both_devices
@pytest.mark.parametrize("type_", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("width", WIDTHS)
def test_floats_saturate_as_integers(device_name: str, type_: str, width: int) -> None:
    x = [nan, inf, -inf, 1.99, -1.99, -0.5, 300.0, -300.0]
    body = f"""
      %s = arith.fptosi %x : {type_} to i{width}
      %u = arith.fptoui %x : {type_} to i{width}"""
    got = compute_all(
        device_name, body, [("%s", f"i{width}"), ("%u", f"i{width}")], {"x": (type_, x)}
    )
    low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
    top = (1 << width) - 1
    check_integers(got[0], [0, high, low, 1, -1, 0, min(300, high), max(-300, low)])
    # the bits of the unsigned number, which a signless array shows as signed
    unsigned = [0, top, 0, 1, 0, 0, min(300, top), 0]
    assert [int(v) & top for v in got[1]] == unsigned


def matmul(a: str, b: str, acc: str, shape: tuple[int, int, int]) -> str:
    """`linalg.matmul` of mixed types into zeros."""
    m, n, k = shape
    zero = "0" if acc.startswith("i") else "0.0"
    result = f"tensor<{m}x{n}x{acc}>"
    return f"""
      func.func @main(%a: tensor<{m}x{k}x{a}>, %b: tensor<{k}x{n}x{b}>) -> {result} {{
        %z = arith.constant {zero} : {acc}
        %e = tensor.empty() : {result}
        %i = linalg.fill ins(%z : {acc}) outs(%e : {result}) -> {result}
        %r = linalg.matmul ins(%a, %b : tensor<{m}x{k}x{a}>, tensor<{k}x{n}x{b}>)
          outs(%i : {result}) -> {result}
        return %r : {result}
      }}"""


@both_devices
@pytest.mark.parametrize("shape", [(5, 7, 300), (1, 1, 1), (33, 65, 17)])
def test_i8_by_i8_is_summed_in_i32(device_name: str, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, s).astype(np.int8) for s in ((m, k), (k, n)))
    a[0], b[:, 0] = -128, -128
    (got,) = run(matmul("i8", "i8", "i32", shape), device_name, [a, b])
    np.testing.assert_array_equal(got, a.astype(np.int32) @ b.astype(np.int32))


@both_devices
@pytest.mark.parametrize("type_", ["bf16", "f16"])
def test_half_products_are_summed_in_f32(device_name: str, type_: str) -> None:
    shape = (9, 17, 2000)
    rng = np.random.default_rng(0)
    a, b = (rng.random(s).astype(NUMPY[type_]) for s in ((9, 2000), (2000, 17)))
    (got,) = run(matmul(type_, type_, "f32", shape), device_name, [a, b])
    exact = a.astype(np.float64) @ b.astype(np.float64)
    # an f16 or bf16 accumulator would be off by a thousandth and more
    np.testing.assert_allclose(got, exact, rtol=2e-6)


@both_devices
def test_an_f16_result_is_summed_in_more_than_f16(device_name: str) -> None:
    a, b = np.full((2, 4096), 0.1, np.float16), np.full((4096, 3), 0.1, np.float16)
    (got,) = run(matmul("f16", "f16", "f16", (2, 3, 4096)), device_name, [a, b])
    exact = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_array_equal(got, exact.astype(np.float16))


@both_devices
def test_the_mean_of_many_equal_f16_is_that_number(device_name: str) -> None:
    text = """
      func.func @main(%x: tensor<70000xf16>) -> tensor<f32> {
        %z = arith.constant 0.0 : f32
        %n = arith.constant 70000.0 : f32
        %e = tensor.empty() : tensor<f32>
        %i = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
        %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
            iterator_types = ["reduction"]} ins(%x : tensor<70000xf16>) outs(%i : tensor<f32>) {
        ^bb0(%v: f16, %acc: f32):
          %w = arith.extf %v : f16 to f32
          %t = arith.addf %acc, %w : f32
          linalg.yield %t : f32
        } -> tensor<f32>
        %r = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>],
            iterator_types = []} ins(%s : tensor<f32>) outs(%e : tensor<f32>) {
        ^bb0(%v: f32, %o: f32):
          %q = arith.divf %v, %n : f32
          linalg.yield %q : f32
        } -> tensor<f32>
        return %r : tensor<f32>
      }"""
    (got,) = run(text, device_name, [np.full(70000, 3.0, np.float16)])
    assert float(got) == 3.0


@both_devices
def test_a_sum_of_f16_does_not_stall(device_name: str) -> None:
    # one by one, f16 stops at 2048: 2048 + 1 is 2048
    text = """
      func.func @main(%x: tensor<20000xf16>) -> tensor<f16> {
        %z = arith.constant 0.0 : f16
        %e = tensor.empty() : tensor<f16>
        %i = linalg.fill ins(%z : f16) outs(%e : tensor<f16>) -> tensor<f16>
        %r = linalg.reduce { arith.addf } ins(%x : tensor<20000xf16>) outs(%i : tensor<f16>)
          dimensions = [0]
        return %r : tensor<f16>
      }"""
    (got,) = run(text, device_name, [np.ones(20000, np.float16)])
    assert float(got) == 20000.0
