"""Loaded by every Python process that `list_unreached.py` starts: notes each refusal it makes."""

from __future__ import annotations

import os
import sys
from typing import Any


def _install(log: str) -> None:
    try:
        from ingot.compiler.analysis import diagnostics
    except ImportError:  # a Python without the compiler, such as pip's
        return
    original = diagnostics.Refusal.__init__

    def noted(self: Any, *args: Any, **keywords: Any) -> None:
        original(self, *args, **keywords)
        frame = sys._getframe(1)
        while frame.f_back and frame.f_code.co_filename == diagnostics.__file__:
            frame = frame.f_back
        with open(log, "a") as file:
            file.write(f"{os.path.realpath(frame.f_code.co_filename)}:{frame.f_lineno}\n")

    diagnostics.Refusal.__init__ = noted  # type: ignore[method-assign]


if _log := os.environ.get("INGOT_REFUSALS_LOG"):
    _install(_log)
