"""Importing a framework that is an optional dependency."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ingot.compiler.driver.diagnostics import CompileError


def framework(module: str, extra: str) -> Any:
    """The imported `module`; raises `CompileError` with what to install where it is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        raise CompileError(
            f"{error.name} is not installed", f"pip install 'ingot-compiler[{extra}]'"
        ) from None
