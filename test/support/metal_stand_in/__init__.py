"""A stand-in for PyObjC's `Metal` module, as far as the Metal device of the runtime uses it.

Tests only. Kernels run on the engine of the `host` device. What Metal's validation layer or
PyObjC's bridge would refuse raises `MetalRule` here: selectors and types of arguments (in
`signatures.py`, from the metadata in `pyobjc-framework-Metal` 12.2), the life cycle of encoders and
command buffers, offsets and sizes, missing bindings, buffers that are not resident. Commands that
nothing orders run in the reverse of their order, so that a missing barrier shows. docs/metal.md
says what this cannot prove.
"""

from __future__ import annotations

from .device import MTLCompileOptions, MTLCopyAllDevices
from .signatures import MetalRule

__all__ = ["MTLCompileOptions", "MTLCopyAllDevices", "MetalRule"]
