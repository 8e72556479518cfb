"""What --math changes: in the text of the kernels, and in their values."""

from __future__ import annotations

import numpy as np
import pytest
from support.harness import DEVICES, TARGETS, Array, device, rt
from support.scalar_ops import elementwise

from ingot.compiler.driver.compile import compile_module
from ingot.compiler.driver.options import CompileOptions, MathMode
from ingot.targets.bundle.model import Bundle
from ingot.targets.bundle.writer import write_bundle
from ingot.targets.spirv import disassemble

BODY = """
  %e = math.exp %x : f32
  %p = arith.mulf %x, %y : f32
  %r = arith.addf %p, %e : f32
  %m = arith.maximumf %x, %y : f32"""
RESULTS = [("%r", "f32"), ("%m", "f32")]
MODES: tuple[MathMode, ...] = ("safe", "strict", "fast")


def bundle(device_name: str, math: MathMode, count: int = 4) -> Bundle:
    text = elementwise(BODY, {"x": "f32", "y": "f32"}, RESULTS, count)
    return compile_module(text, "t.mlir", CompileOptions((TARGETS[device_name],), math=math))


def msl(math: MathMode) -> str:
    return bundle("host", math).variants[0].kernels[0].msl


def spirv(math: MathMode) -> str:
    return disassemble(bundle("vulkan", math).variants[0].kernels[0].spirv)


def run(device_name: str, math: MathMode, x: Array, y: Array) -> list[Array]:
    loaded = rt.loads(write_bundle(bundle(device_name, math, x.size)))
    result = loaded.bind(device(device_name)).call("main", x, y)
    assert isinstance(result, tuple)
    return list(result)


def test_the_bundle_says_the_mode() -> None:
    assert [bundle("host", m).variants[0].math_mode for m in MODES] == list(MODES)


def test_strict_forbids_contraction_in_the_text() -> None:
    assert "fp contract(off)" in msl("strict")
    assert "fp contract(off)" not in msl("safe")


def test_fast_calls_the_targets_functions() -> None:
    assert " exp(" in msl("fast")
    assert "ingot_exp_" not in msl("fast")
    assert "ingot_exp_" in msl("safe")
    assert "ingot_exp_" in msl("strict")
    assert "fast::" not in msl("safe")


def test_vulkan_drivers_may_transform_in_fast_alone() -> None:
    assert "NoContraction" in spirv("safe")
    assert "NoContraction" in spirv("strict")
    assert "NoContraction" not in spirv("fast")


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("math", ["safe", "strict"])
def test_nan_and_infinity_stay_themselves(device_name: str, math: MathMode) -> None:
    x = np.array([np.nan, 1.0, np.inf, -np.inf, -0.0, 3e38], np.float32)
    y = np.array([1.0, np.nan, 0.0, 2.0, 0.0, 3e38], np.float32)
    sums, maxima = run(device_name, math, x, y)
    np.testing.assert_array_equal(sums, np.float32([np.nan, np.nan, np.nan, -np.inf, 1, np.inf]))
    np.testing.assert_array_equal(maxima, np.float32([np.nan, np.nan, np.inf, 2.0, 0.0, 3e38]))
    assert not np.signbit(maxima[4])


@pytest.mark.parametrize("device_name", DEVICES)
def test_strict_rounds_the_product_by_itself(device_name: str) -> None:
    # exp(x) is 0 in f32, so the sum shows the rounding of the product alone
    x = np.full(64, -200.0, np.float32) - np.arange(64, dtype=np.float32)
    y = np.float32(1) + np.arange(64, dtype=np.float32) * np.float32(2.0**-23)
    sums, _ = run(device_name, "strict", x, y)
    np.testing.assert_array_equal(sums, x * y)


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("math", MODES)
def test_ordinary_numbers_are_right_in_every_mode(device_name: str, math: MathMode) -> None:
    x = np.linspace(-5, 5, 101, dtype=np.float32)
    y = np.linspace(3, -4, 101, dtype=np.float32)
    sums, maxima = run(device_name, math, x, y)
    np.testing.assert_allclose(sums, x * y + np.exp(x), rtol=2e-6, atol=2e-6)
    np.testing.assert_array_equal(maxima, np.maximum(x, y))
