"""PyObjC's Metal behind one door; without annotations there, so its objects are `Any` here."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from ingot.runtime.errors import (
    DeviceError,
    DeviceLostError,
    DeviceMemoryError,
    DeviceUnavailableError,
    KernelError,
)

PLATFORM: Final = "macosx"
"""Of the metallibs that run here."""
STORAGE: Final = 256
"""`MTLResourceStorageModeShared`, `MTLResourceHazardTrackingModeUntracked`: what must be ordered is
ordered by barriers, fences and events."""
CONCURRENT: Final = 1
"""`MTLDispatchTypeConcurrent`."""
BARRIER_BUFFERS: Final = 1
"""`MTLBarrierScopeBuffers`."""
STATUS_ERROR: Final = 5
"""`MTLCommandBufferStatusError`."""
ENCODER_STATUS: Final = 1
"""`MTLCommandBufferErrorOptionEncoderExecutionStatus`."""
FAULTED, AFFECTED = 4, 2
"""`MTLCommandEncoderErrorState`."""
USAGE_READ, USAGE_WRITE = 1, 2
"""`MTLResourceUsage`."""
FAIL_ON_ARCHIVE_MISS: Final = 4
"""`MTLPipelineOptionFailOnBinaryArchiveMiss`."""
AT_STAGE_BOUNDARY: Final = 0
"""`MTLCounterSamplingPointAtStageBoundary`."""
SAMPLE_ERROR: Final = 2**64 - 1
"""`MTLCounterErrorValue`."""
TRACE_DOCUMENT: Final = 2
"""`MTLCaptureDestinationGPUTraceDocument`."""
MATH_MODES: Final = {"safe": 0, "strict": 0, "fast": 2}
"""`MTLMathMode` of a bundle's math mode; relaxed (1) is not used."""
_FAILURES: Final[dict[int, type[DeviceError]]] = {
    2: KernelError,  # timeout
    3: KernelError,  # page fault
    4: DeviceLostError,  # access revoked, after too many faults
    8: DeviceMemoryError,
    11: DeviceLostError,  # device removed
    12: KernelError,  # stack overflow
}
"""Errors by `MTLCommandBufferError`."""
FAST_FUNCTIONS, PRECISE_FUNCTIONS = 0, 1
"""`MTLMathFloatingPointFunctions`."""


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


@cache
def load_objc() -> Any:
    """Return PyObjC's bridge itself."""
    return import_module("objc")


@cache
def load_foundation() -> Any:
    """Return PyObjC's `Foundation` module, which its Metal needs."""
    return import_module("Foundation")


def file_url(path: Path) -> Any:
    """Return the `NSURL` of a file."""
    return load_foundation().NSURL.fileURLWithPath_(str(path))


def message_of(error: Any) -> str:
    """Return the text of an `NSError`, in one line."""
    text = str(error.localizedDescription()) if error is not None else "no reason given"
    return " ".join(text.split())


def autorelease_pool() -> AbstractContextManager[None]:
    """Let go, at the end of a `with`, of what Metal returns and nobody owns.

    Python's threads have no pool of their own: without one every encoder would stay for ever.
    """
    return load_objc().autorelease_pool()


def failure_of(error: Any) -> DeviceError:
    """Return what a command buffer's `NSError` says, and which commands it stopped in."""
    kind = _FAILURES.get(error.code(), DeviceError) if error is not None else DeviceError
    return kind(f"Metal failed: {message_of(error)}{_place_of(error)}")


def _place_of(error: Any) -> str:
    """The commands of the encoder that failed, in brackets; encoders hold names as signposts."""
    information = error.userInfo() if error is not None else None
    key = load_metal().MTLCommandBufferEncoderInfoErrorKey
    encoders = (information.objectForKey_(key) if information is not None else None) or ()
    for state, words in ((FAULTED, "in"), (AFFECTED, "in one of")):
        stopped = [encoder for encoder in encoders if encoder.errorState() == state]
        names = [str(name) for encoder in stopped for name in encoder.debugSignposts()]
        if names:
            return f" ({words} {', '.join(dict.fromkeys(names))})"
    return ""
