"""A stand-in for PyObjC's `Metal` module, as far as the Metal device of the runtime uses it.

Tests only. Kernels run on the engine of the `host` device. What Metal's validation layer or
PyObjC's bridge would refuse raises `MetalRule` here: selectors and types of arguments (in
`signatures.py`, from the metadata in `pyobjc-framework-Metal` 12.2), the life cycle of encoders and
command buffers, offsets and sizes, missing bindings, buffers that are not resident. What no barrier
and no fence orders runs in the reverse of its order, so that a missing one shows. docs/metal.md
says what this cannot prove.
"""

from __future__ import annotations

import sys
from typing import Any

from .commands import MTLCommandBufferDescriptor, MTLCommandBufferEncoderInfoErrorKey
from .device import MTLCopyAllDevices
from .foundation import NSURL
from .libraries import (
    MTLBinaryArchiveDescriptor,
    MTLCompileOptions,
    MTLComputePipelineDescriptor,
)
from .profiling import (
    MTLBlitPassDescriptor,
    MTLCaptureDescriptor,
    MTLCaptureManager,
    MTLCommonCounterSetTimestamp,
    MTLComputePassDescriptor,
    MTLCounterSampleBufferDescriptor,
)
from .signatures import MetalRule, autorelease_pool

__all__ = [
    "NSURL",
    "MTLBinaryArchiveDescriptor",
    "MTLBlitPassDescriptor",
    "MTLCaptureDescriptor",
    "MTLCaptureManager",
    "MTLCommandBufferDescriptor",
    "MTLCommandBufferEncoderInfoErrorKey",
    "MTLCommonCounterSetTimestamp",
    "MTLCompileOptions",
    "MTLComputePassDescriptor",
    "MTLComputePipelineDescriptor",
    "MTLCopyAllDevices",
    "MTLCounterSampleBufferDescriptor",
    "MetalRule",
    "autorelease_pool",
    "install",
]


def install(patch: Any) -> None:
    """Let an open Metal device find the stand-in; `patch` is pytest's monkeypatch.

    Opening one by name goes on to say that it needs a Mac.
    """
    from ingot.runtime.devices.metal import native

    module = sys.modules[__name__]
    patch.setattr(native, "load_metal", lambda: module)
    patch.setattr(native, "load_foundation", lambda: module)
    patch.setattr(native, "load_objc", lambda: module)
