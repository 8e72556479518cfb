"""Kernels of the contract's tests."""

from __future__ import annotations

import pytest

from ingot.runtime.hal import Device, Pipeline

from ..kernels import axpy as axpy_kernel
from ..kernels import ids as ids_kernel


@pytest.fixture(scope="session")
def axpy(device: Device) -> Pipeline:
    """out[i] = a * x[i] + y[i]; push constants n (u32) and a (f32)."""
    return device.load([axpy_kernel()], "safe", (3, 1)).lookup("axpy")


@pytest.fixture(scope="session")
def ids(device: Device) -> Pipeline:
    """out[linear index of the threadgroup] = x | y << 8 | z << 24."""
    return device.load([ids_kernel()], "safe", (3, 1)).lookup("ids")
