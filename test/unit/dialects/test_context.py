"""The context knows every dialect and imports none before it is used."""

from __future__ import annotations

import subprocess
import sys
from inspect import getclosurevars

import pytest
from xdsl.irdl import IRDLOperation, OpDef
from xdsl.irdl.declarative_assembly_format import FormatProgram

from ingot.compiler.dialects.context import DIALECTS, make_context
from ingot.compiler.dialects.lazy_formats import LazyFormatProgram


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
    assert result.stdout.split() == [
        "ingot.compiler.dialects.quick_accessors",
        "ingot.compiler.dialects.late_definitions",
        "ingot.compiler.dialects.lazy_formats",
        "ingot.compiler.dialects.quick_construction",
        "ingot.compiler.dialects.quick_walk",
        "ingot.compiler.dialects.context",
    ]


def test_every_definition_and_assembly_format_can_be_read() -> None:
    """They are read at first use, so that a bad one would wait for a user."""
    for name in DIALECTS:
        for op in make_context().get_dialect(name).operations:
            if issubclass(op, IRDLOperation):
                assert isinstance(op.get_irdl_definition(), OpDef)
            captured = getclosurevars(op.parse).nonlocals  # empty where the op parses itself
            if isinstance(program := captured.get("assembly_program"), LazyFormatProgram):
                assert isinstance(program.program, FormatProgram)
