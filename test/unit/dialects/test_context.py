"""The context knows every dialect and imports none before it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ingot.compiler.dialects.context import DIALECTS, make_context


@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_loads_under_its_name(name: str) -> None:
    dialect = make_context().get_dialect(name)
    assert dialect.name == name


def test_reading_imports_only_the_dialects_of_the_text() -> None:
    code = """
import sys
from ingot.compiler.dialects.context import make_context
from ingot.compiler.frontends.reader import read_module
read_module("func.func @f(%x: f32) -> f32 { return %x : f32 }", "f.mlir", make_context())
print(*(m for m in sys.modules if m.startswith(("ingot.compiler.dialects.", "numpy"))))
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == ["ingot.compiler.dialects.context"]
