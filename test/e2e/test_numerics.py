"""docs/numerics.md holds: the errors that it publishes, measured again on a part of the numbers."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest
from support.harness import DEVICES, ROOT


def _tool() -> ModuleType:
    path = ROOT / "docs" / "tools" / "numerics.py"
    spec = importlib.util.spec_from_file_location("numerics", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["numerics"] = module
    spec.loader.exec_module(module)
    return module


numerics = _tool()
STEPS = {"f32": 501, "f16": 7, "bf16": 7}
"""One number in so many of those that the page was made from."""


def check(type_: str, device_name: str, step: int) -> None:
    column = f"{type_} {device_name}"
    bounds = {row["function"].strip("`"): row[column] for row in numerics.published("errors")}
    measured = numerics.errors(type_, device_name, step)
    assert bounds.keys() == measured.keys()
    for name, error in measured.items():
        assert error.ulp <= float(bounds[name]), f"{name} of {type_} at {error.where}"


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("type_", STEPS)
def test_errors_are_within_what_is_published(type_: str, device_name: str) -> None:
    check(type_, device_name, STEPS[type_])


@pytest.mark.slow
@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("type_", STEPS)
def test_all_errors_are_within_what_is_published(type_: str, device_name: str) -> None:
    check(type_, device_name, 1)


@pytest.mark.parametrize("device_name", DEVICES)
def test_special_values_are_what_is_published(device_name: str) -> None:
    rows = {row["x"].strip("`"): list(row.values())[1:] for row in numerics.published("special")}
    assert rows == numerics.special_values(device_name)
