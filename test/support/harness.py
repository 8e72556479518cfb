"""Compile a program for a device, run it there, compare: all in this process, to be fast."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from numpy.typing import NDArray

import ingot.runtime as rt
from ingot.compiler.driver.compile import compile_module
from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.driver.verify_values import compare
from ingot.targets.bundle.model import Bundle
from ingot.targets.bundle.writer import write_bundle

Array = NDArray[Any]

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
SHARED = ROOT.parent / "shared"
"""Real programs with expected outputs; tests that need them are skipped where they are not."""

DEVICES = ("host", "vulkan", *(["metal"] if sys.platform == "darwin" else []))
TARGETS = {"host": "metal:apple7", "metal": "metal:apple7", "vulkan": "vulkan:generic"}


@cache
def device(name: str) -> Any:
    """The device, opened once; the test is skipped where it does not exist."""
    try:
        return rt.open_device(name)
    except rt.IngotError as reason:
        pytest.skip(f"no device {name}: {reason}")


def bundle_for(text: str, device_name: str, filename: str = "test.mlir") -> Bundle:
    """The program compiled for the target of a device."""
    return compile_module(text, filename, CompileOptions(targets=(TARGETS[device_name],)))


def run(
    text: str, device_name: str, inputs: Sequence[Array], function: str | None = None
) -> list[Array]:
    """Compile, write, read back, run; the results of the function (the first by default)."""
    opened = device(device_name)
    loaded = rt.loads(write_bundle(bundle_for(text, device_name)))
    name = function or next(iter(loaded.functions))
    result = loaded.bind(opened).call(name, *inputs)
    if result is None:
        return []
    return list(result) if isinstance(result, tuple) else [result]


def assert_close(got: Array, expected: Array, where: str = "") -> None:
    """Equal shape, type and values: special values in the same places, floats within tolerance."""
    assert got.dtype == expected.dtype, f"{where}: {got.dtype}, expected {expected.dtype}"
    comparison = compare(got, expected)
    assert comparison.is_right, f"{where}: {comparison}"
