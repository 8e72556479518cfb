"""Queues and command buffers, and the thread that runs what was committed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from threading import Condition, Event, Thread
from typing import Final
from weakref import WeakSet

from ingot.runtime.errors import DeviceError, DeviceMemoryError

from .device import MTLSharedEvent, look, queues
from .encoders import (
    Encoder,
    MTLBlitCommandEncoder,
    MTLCommandBufferEncoderInfo,
    MTLComputeCommandEncoder,
    Work,
)
from .foundation import NSDictionary, NSError
from .profiling import MTLBlitPassDescriptor, MTLComputePassDescriptor
from .signatures import Descriptor, MetalRule, Selectors, autoreleased, require, selector

MTLCommandBufferEncoderInfoErrorKey = "MTLCommandBufferEncoderInfoErrorKey"

NOT_ENQUEUED, COMMITTED, COMPLETED, ERROR = 0, 2, 4, 5
_CONCURRENT: Final = 1
_MOST_OPEN: Final = 64
_LONGEST_SLEEP: Final = 0.1
"""Seconds after which a queue runs what nobody waits for."""
_PAGE_FAULT, _OUT_OF_MEMORY = 3, 8


class MTLCommandBufferDescriptor(Descriptor):
    def __init__(self) -> None:
        self.options = 0

    @selector("Q")
    def setErrorOptions_(self, options: int) -> None:
        require(options in (0, 1), f"there are no error options {options}")
        self.options = options


class MTLCommandQueue(Selectors):
    """Runs command buffers, the last one first where neither events nor fences order them.

    It sleeps until the CPU looks at an event or a command buffer, so that there is a choice.
    """

    def __init__(self) -> None:
        self._committed: list[MTLCommandBuffer] = []
        self._changed = Condition()
        self._is_watched = False
        queues.add(self)
        Thread(target=self._run_all, daemon=True).start()
        self._open: WeakSet[MTLCommandBuffer] = WeakSet()
        self.captured: list[str] | None = None
        """Signposts of what was committed while a capture runs."""

    @autoreleased
    @selector()
    def commandBuffer(self) -> MTLCommandBuffer:
        return MTLCommandBuffer(self, 0)

    @autoreleased
    @selector("@")
    def commandBufferWithDescriptor_(
        self, descriptor: MTLCommandBufferDescriptor
    ) -> MTLCommandBuffer:
        return MTLCommandBuffer(self, descriptor.options)

    def open(self, buffer: MTLCommandBuffer) -> None:
        self._open.add(buffer)
        # A real queue would wait for one to be completed, which nobody commits.
        require(len(self._open) <= _MOST_OPEN, f"more than {_MOST_OPEN} uncommitted buffers")

    def commit(self, buffer: MTLCommandBuffer) -> None:
        self._open.remove(buffer)
        if self.captured is not None:
            self.captured += [name for encoder in buffer.encoders for name in encoder.signposts]
        with self._changed:
            self._committed.append(buffer)

    def look(self) -> None:
        """Let the thread run what it can."""
        with self._changed:
            self._is_watched = True
            self._changed.notify()

    def _run_all(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_watched, _LONGEST_SLEEP)
                self._is_watched = False
            while self._run_one():
                pass

    def _run_one(self) -> bool:
        """Run the last command buffer that can run; they are completed in order."""
        with self._changed:
            committed = list(self._committed)
        ready = (b for b in reversed(committed) if not b.has_run and b.is_ready())
        buffer = next(ready, None)
        if buffer is None:
            return False
        buffer.run()
        while committed and committed[0].has_run:
            with self._changed:
                self._committed.remove(committed[0])
            committed.pop(0).complete()
        return True


class MTLCommandBuffer(Selectors):
    """Used once: encoded, committed, completed."""

    def __init__(self, queue: MTLCommandQueue, options: int) -> None:
        queue.open(self)
        self._queue = queue
        self._options = options
        self._waits: list[tuple[MTLSharedEvent, int]] = []
        self._parts: list[Encoder | Work] = []
        self._handlers: list[Callable[[MTLCommandBuffer], None]] = []
        self._encoder: Encoder | None = None
        self._status = NOT_ENQUEUED
        self.has_run = False
        self._error: NSError | None = None
        self._done = Event()
        self._times = (0.0, 0.0)

    @property
    def encoders(self) -> list[Encoder]:
        return [part for part in self._parts if isinstance(part, Encoder)]

    @autoreleased
    @selector("Q")
    def computeCommandEncoderWithDispatchType_(self, kind: int) -> MTLComputeCommandEncoder:
        require(kind == _CONCURRENT, "the stand-in has concurrent compute encoders only")
        self._encoder = MTLComputeCommandEncoder(self, [])
        return self._encoder

    @autoreleased
    @selector("@")
    def computeCommandEncoderWithDescriptor_(
        self, descriptor: MTLComputePassDescriptor
    ) -> MTLComputeCommandEncoder:
        require(descriptor.kind == _CONCURRENT, "the stand-in has concurrent compute encoders only")
        self._encoder = MTLComputeCommandEncoder(self, descriptor.samples)
        return self._encoder

    @autoreleased
    @selector()
    def blitCommandEncoder(self) -> MTLBlitCommandEncoder:
        self._encoder = MTLBlitCommandEncoder(self, [])
        return self._encoder

    @autoreleased
    @selector("@")
    def blitCommandEncoderWithDescriptor_(
        self, descriptor: MTLBlitPassDescriptor
    ) -> MTLBlitCommandEncoder:
        self._encoder = MTLBlitCommandEncoder(self, descriptor.samples)
        return self._encoder

    @selector("@", "Q")
    def encodeWaitForEvent_value_(self, event: MTLSharedEvent, value: int) -> None:
        require(not self._parts, "the stand-in waits for events before all commands only")
        self._waits.append((event, value))

    @selector("@", "Q")
    def encodeSignalEvent_value_(self, event: MTLSharedEvent, value: int) -> None:
        def signal() -> None:
            require(not event.reached(value + 1), "an event goes back")
            event.signal(value)

        self.add(signal)

    @selector("block")
    def addCompletedHandler_(self, handler: Callable[[MTLCommandBuffer], None]) -> None:
        require(self._status == NOT_ENQUEUED, "a handler was added after the commit")
        self._handlers.append(handler)

    @selector()
    def commit(self) -> None:
        self.require_open("commit")
        self._status = COMMITTED
        self._queue.commit(self)

    @selector()
    def waitUntilCompleted(self) -> None:
        require(self._status != NOT_ENQUEUED, "nobody will complete what was not committed")
        look()
        self._done.wait()

    @selector()
    def status(self) -> int:
        look()
        return self._status

    @autoreleased
    @selector()
    def error(self) -> NSError | None:
        return self._error

    @selector()
    def GPUStartTime(self) -> float:
        require(self._status in (COMPLETED, ERROR), "the command buffer has not run yet")
        return self._times[0]

    @selector()
    def GPUEndTime(self) -> float:
        require(self._status in (COMPLETED, ERROR), "the command buffer has not run yet")
        return self._times[1]

    def add(self, part: Encoder | Work) -> None:
        """Append an ended encoder, or what the buffer itself does."""
        self.require_open("encoding")
        self._parts.append(part)

    def require_open(self, what: str) -> None:
        """Require that no encoder is open and nothing was committed."""
        is_ended = self._encoder is None or self._encoder.is_ended
        require(is_ended, f"{what} while an encoder is open")
        require(self._status == NOT_ENQUEUED, f"{what} after the commit")

    def is_ready(self) -> bool:
        """Whether it has all that it waits for, also what fences hold it for."""
        behind = set[Encoder]().union(*(encoder.after for encoder in self.encoders))
        others = {encoder.buffer for encoder in behind} - {self}
        events = all(event.reached(value) for event, value in self._waits)
        return events and all(other.has_run for other in others)

    def run(self) -> None:
        """Run everything up to the first failure."""
        start = time.perf_counter()
        try:
            for part in _disordered(self._parts):
                part.run() if isinstance(part, Encoder) else part()
        except DeviceError as error:
            information = None
            if self._options:
                infos = [MTLCommandBufferEncoderInfo(encoder) for encoder in self.encoders]
                information = NSDictionary({MTLCommandBufferEncoderInfoErrorKey: infos})
            code = _OUT_OF_MEMORY if isinstance(error, DeviceMemoryError) else _PAGE_FAULT
            self._error = NSError(str(error), information, code)
        except MetalRule as broken:  # on a thread of its own: let whoever waits see it
            self._error = NSError(f"a rule of Metal was broken: {broken}")
        self._times = (start, time.perf_counter())
        self._parts.clear()
        self.has_run = True

    def complete(self) -> None:
        """Tell the handlers."""
        self._status = COMPLETED if self._error is None else ERROR
        for handler in self._handlers:
            handler(self)
        self._handlers.clear()
        self._done.set()


def _disordered(parts: Sequence[Encoder | Work]) -> Iterator[Encoder | Work]:
    """Encoders between two events, the last one first where no fence orders them."""
    waiting: list[Encoder] = []

    def released() -> Iterator[Encoder]:
        while waiting:
            last = next(e for e in reversed(waiting) if not e.after.intersection(waiting))
            waiting.remove(last)
            yield last

    for part in parts:
        if isinstance(part, Encoder):
            waiting.append(part)
        else:
            yield from released()
            yield part
    yield from released()
