"""Importing the runtime is cheap, and brings nothing of the compiler."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("xdsl", "ingot.compiler", "ml_dtypes", "vulkan", "flatbuffers", "click", "rich")


def test_import_brings_in_nothing_heavy() -> None:
    code = f"import sys, ingot.runtime; print([n for n in {HEAVY!r} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
