"""Captures: what a queue ran, in a document for Xcode."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from ingot.runtime.devices.metal import native
from ingot.runtime.devices.metal.native import TRACE_DOCUMENT, file_url, message_of
from ingot.runtime.errors import DeviceError

SUFFIX: Final = ".gputrace"


@contextmanager
def capture(mtl_queue: Any, path: Path) -> Generator[None]:
    """Capture what is committed to a queue inside of the `with`; raises `DeviceError`."""
    if path.suffix != SUFFIX:
        raise DeviceError(f"a capture is a document {SUFFIX}, not '{path.name}'")
    if path.exists():
        raise DeviceError(f"'{path}' exists, and Metal writes no capture over it")
    with native.autorelease_pool():
        manager = _start(mtl_queue, path)
    try:
        yield
    finally:
        manager.stopCapture()


def _start(mtl_queue: Any, path: Path) -> Any:
    """Start a capture; returns its `MTLCaptureManager`."""
    metal = native.load_metal()
    manager = metal.MTLCaptureManager.sharedCaptureManager()
    if not manager.supportsDestination_(TRACE_DOCUMENT):
        raise DeviceError("Metal writes captures only with METAL_CAPTURE_ENABLED=1 set: set it")
    descriptor = metal.MTLCaptureDescriptor.alloc().init()
    descriptor.setCaptureObject_(mtl_queue)
    descriptor.setDestination_(TRACE_DOCUMENT)
    descriptor.setOutputURL_(file_url(path))
    is_started, error = manager.startCaptureWithDescriptor_error_(descriptor, None)
    if not is_started:
        raise DeviceError(f"Metal does not capture: {message_of(error)}")
    return manager
