"""Queues, command buffers and encoders, and the thread that runs what was committed."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator, Sequence
from struct import unpack
from threading import Condition, Event, Thread
from typing import Any, Final
from weakref import WeakSet

from ingot.runtime.devices.host.binding import Binding
from ingot.runtime.errors import DeviceError, DeviceMemoryError

from .device import MTLBuffer, MTLFence, MTLSharedEvent, look, queues
from .foundation import NSDictionary, NSError
from .libraries import MOST_THREADS, MTLComputePipelineState
from .profiling import MTLBlitPassDescriptor, MTLComputePassDescriptor, SampleAttachment
from .signatures import Descriptor, MetalRule, Selectors, autoreleased, require, selector

MTLCommandBufferEncoderInfoErrorKey = "MTLCommandBufferEncoderInfoErrorKey"

NOT_ENQUEUED, COMMITTED, COMPLETED, ERROR = 0, 2, 4, 5
_COMPLETED, _PENDING, _FAULTED = 1, 3, 4
_CONCURRENT: Final = 1
_MOST_OPEN: Final = 64
_LONGEST_SLEEP: Final = 0.1
"""Seconds after which a queue runs what nobody waits for."""
_PAGE_FAULT, _OUT_OF_MEMORY = 3, 8
_BUFFERS: Final = 1
_MOST_BYTES: Final = 4096
_LAST_INDEX: Final = 30

Work = Callable[[], None]
_Bound = tuple[MTLBuffer, int] | bytes
"""A buffer with an offset, or bytes that were copied."""


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
        self._parts: list[_Encoder | Work] = []
        self._handlers: list[Callable[[MTLCommandBuffer], None]] = []
        self._encoder: _Encoder | None = None
        self._status = NOT_ENQUEUED
        self.has_run = False
        self._error: NSError | None = None
        self._done = Event()
        self._times = (0.0, 0.0)

    @property
    def encoders(self) -> list[_Encoder]:
        return [part for part in self._parts if isinstance(part, _Encoder)]

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

    def add(self, part: _Encoder | Work) -> None:
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
        behind = set[_Encoder]().union(*(encoder.after for encoder in self.encoders))
        others = {encoder.buffer for encoder in behind} - {self}
        events = all(event.reached(value) for event, value in self._waits)
        return events and all(other.has_run for other in others)

    def run(self) -> None:
        """Run everything up to the first failure."""
        start = time.perf_counter()
        try:
            for part in _disordered(self._parts):
                part.run() if isinstance(part, _Encoder) else part()
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


def _disordered(parts: Sequence[_Encoder | Work]) -> Iterator[_Encoder | Work]:
    """Encoders between two events, the last one first where no fence orders them."""
    waiting: list[_Encoder] = []

    def released() -> Iterator[_Encoder]:
        while waiting:
            last = next(e for e in reversed(waiting) if not e.after.intersection(waiting))
            waiting.remove(last)
            yield last

    for part in parts:
        if isinstance(part, _Encoder):
            waiting.append(part)
        else:
            yield from released()
            yield part
    yield from released()


class _Encoder(Selectors):
    """Commands between barriers have no order: they run from the last to the first."""

    def __init__(self, buffer: MTLCommandBuffer, samples: list[SampleAttachment]) -> None:
        buffer.require_open("a new encoder")
        self.buffer = buffer
        self._samples = samples
        self._segments: list[list[Work]] = [[]]
        self.after: set[_Encoder] = set()
        """Encoders of the same command buffer that a fence holds this one for."""
        self.signposts: list[str] = []
        self.state = _PENDING
        self.is_ended = False
        self._updated: set[MTLFence] = set()

    @selector()
    def endEncoding(self) -> None:
        self.require_open("endEncoding")
        self.is_ended = True
        self.buffer.add(self)

    @selector("@")
    def insertDebugSignpost_(self, name: str) -> None:
        self.require_open("insertDebugSignpost")
        self.signposts.append(name)

    @selector("@")
    def waitForFence_(self, fence: MTLFence) -> None:
        self.require_open("waitForFence")
        require(fence not in self._updated, "an encoder waits for a fence that it updates before")
        require(fence.updated_by is not None, "nothing updates this fence")
        if fence.updated_by is not None:
            self.after.add(fence.updated_by)

    @selector("@")
    def updateFence_(self, fence: MTLFence) -> None:
        self.require_open("updateFence")
        self._updated.add(fence)
        fence.updated_by = self

    def run(self) -> None:
        """Run the commands."""
        for attachment in self._samples:
            attachment.sample(0)
        self.state = _FAULTED
        for segment in self._segments:
            for work in reversed(segment):
                work()
        self.state = _COMPLETED
        self._segments.clear()
        for attachment in self._samples:
            attachment.sample(1)

    def require_open(self, what: str) -> None:
        require(not self.is_ended, f"{what} after endEncoding")

    def add_command(self, what: str, work: Work) -> None:
        self.require_open(what)
        self._segments[-1].append(work)

    def barrier(self) -> None:
        self.require_open("a barrier")
        self._segments.append([])


class MTLCommandBufferEncoderInfo(Selectors):
    """What became of an encoder in a command buffer that failed."""

    def __init__(self, encoder: _Encoder) -> None:
        self._state, self._signposts = encoder.state, list(encoder.signposts)

    @selector()
    def errorState(self) -> int:
        return self._state

    @selector()
    def debugSignposts(self) -> list[str]:
        return self._signposts


class MTLBlitCommandEncoder(_Encoder):
    @selector("@", "NSRange", "z")
    def fillBuffer_range_value_(self, buffer: MTLBuffer, part: tuple[int, int], value: int) -> None:
        start, length = part
        require(length > 0 and start + length <= buffer.size, "the fill leaves the buffer")
        require(start % 4 == length % 4 == 0, "fills are whole words on macOS")
        self.add_command("fill", lambda: _set(buffer, start, value & 0xFF, length))

    @selector("@", "Q", "@", "Q", "Q")
    def copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
        self, source: MTLBuffer, start: int, target: MTLBuffer, to: int, size: int
    ) -> None:
        require(size > 0 and start + size <= source.size, "the copy leaves the source")
        require(to + size <= target.size, "the copy leaves the target")
        require(start % 4 == to % 4 == size % 4 == 0, "copies are whole words on macOS")
        overlaps = source is target and start < to + size and to < start + size
        require(not overlaps, "the source and the target of a copy overlap")
        self.add_command("copy", lambda: _move(target, to, source, start, size))


def _set(buffer: MTLBuffer, start: int, value: int, length: int) -> None:
    ctypes.memset(buffer.address + start, value, length)


def _move(target: MTLBuffer, to: int, source: MTLBuffer, start: int, size: int) -> None:
    ctypes.memmove(target.address + to, source.address + start, size)


class MTLComputeCommandEncoder(_Encoder):
    def __init__(self, buffer: MTLCommandBuffer, samples: list[SampleAttachment]) -> None:
        super().__init__(buffer, samples)
        self._state: MTLComputePipelineState | None = None
        self._bound: dict[int, _Bound] = {}
        self._resident: dict[int, MTLBuffer] = {}

    @selector("@")
    def setComputePipelineState_(self, state: MTLComputePipelineState) -> None:
        self.require_open("setComputePipelineState")
        self._state = state

    @selector("@", "Q", "Q")
    def setBuffer_offset_atIndex_(self, buffer: MTLBuffer, offset: int, index: int) -> None:
        self.require_open("setBuffer")
        require(index <= _LAST_INDEX, f"there is no buffer {index}")
        require(buffer is not None and offset < buffer.size, f"offset {offset} leaves the buffer")
        self._bound[index] = (buffer, offset)

    @selector("^v", "Q", "Q")
    def setBytes_length_atIndex_(self, data: bytes, length: int, index: int) -> None:
        self.require_open("setBytes")
        require(index <= _LAST_INDEX, f"there is no buffer {index}")
        require(length == len(data), "the length is not that of the bytes")
        require(0 < length <= _MOST_BYTES, f"setBytes takes 1 to {_MOST_BYTES} bytes")
        self._bound[index] = bytes(data)

    @selector("n^@", "Q", "Q")
    def useResources_count_usage_(self, buffers: list[MTLBuffer], count: int, usage: int) -> None:
        self.require_open("useResources")
        require(count == len(buffers) > 0, "the count is not that of the resources")
        require(usage in (1, 2, 3), f"there is no usage {usage}")
        self._resident.update({id(buffer): buffer for buffer in buffers})

    @selector("Q")
    def memoryBarrierWithScope_(self, scope: int) -> None:
        require(scope == _BUFFERS, "the stand-in has barriers for buffers only")
        self.barrier()

    @selector("MTLSize", "MTLSize")
    def dispatchThreadgroups_threadsPerThreadgroup_(
        self, groups: tuple[int, int, int], threads: tuple[int, int, int]
    ) -> None:
        require(0 not in groups, "a grid has at least one threadgroup")
        self._dispatch(lambda: groups, threads)

    @selector("@", "Q", "MTLSize")
    def dispatchThreadgroupsWithIndirectBuffer_indirectBufferOffset_threadsPerThreadgroup_(
        self, grid: MTLBuffer, offset: int, threads: tuple[int, int, int]
    ) -> None:
        require(offset % 4 == 0, "the grid of an indirect dispatch is at a multiple of 4")
        require(offset + 12 <= grid.size, "the grid leaves its buffer")

        def groups() -> tuple[int, int, int]:
            x, y, z = unpack("<3I", ctypes.string_at(grid.address + offset, 12))
            return x, y, z

        self._dispatch(groups, threads)

    def _dispatch(
        self, groups: Callable[[], tuple[int, int, int]], threads: tuple[int, int, int]
    ) -> None:
        state = self._state
        require(state is not None, "a dispatch without a pipeline state")
        assert state is not None
        x, y, z = threads
        require(0 < x * y * z <= MOST_THREADS, f"{x * y * z} threads a threadgroup")
        bindings: list[Binding] = []
        kept: list[Any] = []
        for index in range(max(state.buffers, default=-1) + 1):
            bound = self._bound.get(index)
            name = state.buffers.get(index, f"buffer {index}")
            require(bound is not None or index not in state.buffers, f"buffer {index} is not bound")
            bindings.append(self._binding(name, bound, state.alignments.get(index, 1), kept))

        def run() -> None:
            # Holds the buffers, as Metal does, until the command buffer is completed.
            assert kept or not bindings
            state.kernel.run(bindings, groups(), threads, guard=False)

        self.add_command("dispatch", run)

    def _binding(
        self,
        name: str,
        bound: _Bound | None,
        alignment: int,
        kept: list[Any],
    ) -> Binding:
        if not isinstance(bound, tuple):
            copy = ctypes.create_string_buffer(bound or b"\0", len(bound or b"\0"))
            kept.append(copy)
            return Binding(name, ctypes.addressof(copy), len(copy), writable=False)
        buffer, offset = bound
        require(offset % alignment == 0, f"offset {offset} of {name} breaks its alignment")
        for pointee in buffer.pointees.values():
            require(id(pointee) in self._resident, f"a buffer of argument buffer {name} is unused")
        kept.extend([buffer, *buffer.pointees.values()])
        whole = buffer.memory if offset == 0 else None
        return Binding(name, buffer.address + offset, buffer.size - offset, memory=whole)
