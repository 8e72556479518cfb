"""PyObjC's Metal behind one door; without annotations there, so its objects are `Any` here."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from typing import Any, Final

from ingot.runtime.errors import DeviceUnavailableError

PLATFORM: Final = "macosx"
"""Of the metallibs that run here."""
SHARED_STORAGE: Final = 0
"""`MTLResourceStorageModeShared`, tracked, with the default cache mode."""
CONCURRENT: Final = 1
"""`MTLDispatchTypeConcurrent`."""
BARRIER_BUFFERS: Final = 1
"""`MTLBarrierScopeBuffers`."""
STATUS_ERROR: Final = 5
"""`MTLCommandBufferStatusError`."""
USAGE_READ, USAGE_WRITE = 1, 2
"""`MTLResourceUsage`."""
MATH_MODES: Final = {"safe": 0, "strict": 0, "fast": 2}
"""`MTLMathMode` of a bundle's math mode; relaxed (1) is not used."""


@cache
def load_metal() -> Any:
    """Return PyObjC's `Metal` module; `DeviceUnavailableError` on other systems or without it."""
    if sys.platform != "darwin":
        raise DeviceUnavailableError(
            "the 'metal' device needs macOS; the 'host' device runs the same kernels on a CPU"
        )
    try:
        return import_module("Metal")
    except ImportError:
        raise DeviceUnavailableError(
            "the 'metal' device needs PyObjC (`pip install pyobjc-framework-Metal`)"
        ) from None


def message_of(error: Any) -> str:
    """Return the text of an `NSError`, in one line."""
    text = str(error.localizedDescription()) if error is not None else "no reason given"
    return " ".join(text.split())
