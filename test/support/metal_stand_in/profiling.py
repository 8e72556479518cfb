"""The GPU's clock, and captures."""

from __future__ import annotations

import time
from array import array
from typing import Any

from .foundation import NSURL, NSError
from .signatures import Descriptor, Selectors, autoreleased, require, selector

MTLCommonCounterSetTimestamp = "timestamp"
_MOST_SAMPLES = 4096
_ATTACHMENTS = 4
_TRACE_DOCUMENT = 2
_UNWRITTEN = 2**64 - 1
TICKS_PER_NANOSECOND = 3
"""A clock with a unit of its own."""


def gpu_ticks() -> int:
    """The GPU's clock."""
    return time.perf_counter_ns() * TICKS_PER_NANOSECOND


class MTLCounterSet(Selectors):
    @selector()
    def name(self) -> str:
        return MTLCommonCounterSetTimestamp


class MTLCounterSampleBufferDescriptor(Descriptor):
    def __init__(self) -> None:
        self.counter_set: MTLCounterSet | None = None
        self.count = 0

    @selector("@")
    def setCounterSet_(self, counters: MTLCounterSet) -> None:
        self.counter_set = counters

    @selector("Q")
    def setStorageMode_(self, mode: int) -> None:
        require(mode == 0, "samples in private storage cannot be resolved by the CPU")

    @selector("Q")
    def setSampleCount_(self, count: int) -> None:
        self.count = count


class MTLCounterSampleBuffer(Selectors):
    def __init__(self, count: int) -> None:
        self.values = array("Q", [_UNWRITTEN] * count)

    @autoreleased
    @selector("NSRange")
    def resolveCounterRange_(self, part: tuple[int, int]) -> bytes:
        start, length = part
        require(start + length <= len(self.values), "the range leaves the samples")
        return self.values[start : start + length].tobytes()


def new_sample_buffer(
    descriptor: MTLCounterSampleBufferDescriptor,
) -> tuple[MTLCounterSampleBuffer | None, NSError | None]:
    """Make one, of 32 KiB at most."""
    require(descriptor.counter_set is not None, "samples of no counter set")
    require(descriptor.count > 0, "a sample buffer without samples")
    if descriptor.count > _MOST_SAMPLES:
        return None, NSError("Cannot allocate sample buffer")
    return MTLCounterSampleBuffer(descriptor.count), None


class SampleAttachment(Selectors):
    """Where an encoder writes the clock when it starts and ends."""

    def __init__(self) -> None:
        self.buffer: MTLCounterSampleBuffer | None = None
        self.indices = [_UNWRITTEN, _UNWRITTEN]

    @selector("@")
    def setSampleBuffer_(self, buffer: MTLCounterSampleBuffer) -> None:
        self.buffer = buffer

    @selector("Q")
    def setStartOfEncoderSampleIndex_(self, index: int) -> None:
        self.indices[0] = index

    @selector("Q")
    def setEndOfEncoderSampleIndex_(self, index: int) -> None:
        self.indices[1] = index

    def sample(self, boundary: int) -> None:
        """Write the clock at the start (0) or the end (1)."""
        if self.buffer is not None:
            self.buffer.values[self.indices[boundary]] = gpu_ticks()


class _Attachments(Selectors):
    def __init__(self) -> None:
        self.all = [SampleAttachment() for _ in range(_ATTACHMENTS)]

    @selector("Q")
    def objectAtIndexedSubscript_(self, index: int) -> SampleAttachment:
        require(index < _ATTACHMENTS, f"there is no attachment {index}")
        return self.all[index]


class PassDescriptor(Selectors):
    def __init__(self) -> None:
        self._attachments = _Attachments()

    @autoreleased
    @selector()
    def sampleBufferAttachments(self) -> _Attachments:
        return self._attachments

    @property
    def samples(self) -> list[SampleAttachment]:
        return self._attachments.all


class MTLComputePassDescriptor(PassDescriptor):
    def __init__(self) -> None:
        super().__init__()
        self.kind = 0

    @classmethod
    def computePassDescriptor(cls) -> MTLComputePassDescriptor:
        return cls()

    @selector("Q")
    def setDispatchType_(self, kind: int) -> None:
        self.kind = kind


class MTLBlitPassDescriptor(PassDescriptor):
    @classmethod
    def blitPassDescriptor(cls) -> MTLBlitPassDescriptor:
        return cls()


class MTLCaptureDescriptor(Descriptor):
    def __init__(self) -> None:
        self.object: Any = None
        self.destination = 1
        self.url: NSURL | None = None

    @selector("@")
    def setCaptureObject_(self, captured: Selectors) -> None:
        self.object = captured

    @selector("Q")
    def setDestination_(self, destination: int) -> None:
        self.destination = destination

    @selector("@")
    def setOutputURL_(self, url: NSURL) -> None:
        self.url = url


class MTLCaptureManager(Selectors):
    """Writes the signposts of what was committed."""

    shared: MTLCaptureManager
    is_enabled = True
    """Whether METAL_CAPTURE_ENABLED is set."""

    def __init__(self) -> None:
        self._running: MTLCaptureDescriptor | None = None

    @classmethod
    def sharedCaptureManager(cls) -> MTLCaptureManager:
        return cls.shared

    @selector("Q")
    def supportsDestination_(self, destination: int) -> bool:
        return self.is_enabled and destination == _TRACE_DOCUMENT

    @selector("@", "o^@")
    def startCaptureWithDescriptor_error_(
        self, descriptor: MTLCaptureDescriptor, error: None
    ) -> tuple[bool, NSError | None]:
        require(descriptor.object is not None, "a capture of nothing")
        if self._running is not None:
            return False, NSError("Capturing is already started")
        url = descriptor.url
        if descriptor.destination != _TRACE_DOCUMENT or url is None or url.path.exists():
            return False, NSError("The output URL cannot be written")
        descriptor.object.captured = []
        self._running = descriptor
        return True, None

    @selector()
    def stopCapture(self) -> None:
        running, self._running = self._running, None
        require(running is not None, "no capture is running")
        assert running is not None and running.url is not None
        running.url.path.write_text("\n".join(running.object.captured))
        running.object.captured = None


MTLCaptureManager.shared = MTLCaptureManager()
