"""Texts as SPIRV-Cross prints them, compiled from GLSL by glslang."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ingot.runtime.devices.host.check import check_msl
from ingot.runtime.devices.host.kernel import RACE_SCHEDULES, Schedule

from .launch import launch

TEXTS = {path.stem: path.read_text() for path in (Path(__file__).parent / "msl").iterdir()}
RNG = np.random.default_rng(13)
ORDERS = pytest.mark.parametrize("schedule", RACE_SCHEDULES[:4], ids=lambda s: s.order.name)


@pytest.mark.parametrize("name", sorted(TEXTS))
@pytest.mark.usefixtures("checker")
def test_nothing_to_complain_about(name: str) -> None:
    assert check_msl(TEXTS[name]) == []


@ORDERS
def test_softmax(schedule: Schedule) -> None:
    x = RNG.standard_normal((3, 500)).astype("f4")
    y = np.zeros_like(x)
    arrays = {"columns": np.array([500], "u4"), "x": x, "y": y}
    launch(TEXTS["softmax"], "main0", arrays, 3, 128, schedule)
    expected = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, expected / expected.sum(1, keepdims=True), rtol=1e-5)


@ORDERS
def test_histogram(schedule: Schedule) -> None:
    data, bins = RNG.integers(0, 256, 3000).astype("u4"), np.zeros(256, "u4")
    arrays = {"n": np.array([3000], "u4"), "data": data, "bins": bins}
    launch(TEXTS["histogram"], "main0", arrays, 12, 256, schedule)
    np.testing.assert_array_equal(bins, np.bincount(data, minlength=256))


def test_convolution_with_padding() -> None:
    x = RNG.standard_normal((3, 9, 11)).astype("f4")
    w = RNG.standard_normal((4, 3, 3, 3)).astype("f4")
    y = np.zeros((4, 9, 11), "f4")
    sizes = np.array([9, 11, 3, 4, 3, 3, 1, 1], "i4")
    arrays = {"sizes": sizes, "x": x, "w": w, "y": y}
    launch(TEXTS["conv2d"], "main0", arrays, (2, 2, 4), (8, 8, 1))
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
    expected = np.einsum("chwij,ocij->ohw", windows, w)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)
