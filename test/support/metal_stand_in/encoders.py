"""Compute and blit encoders: what a command needs, and in which order an encoder runs them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from struct import unpack
from typing import TYPE_CHECKING, Any, Final

from ingot.runtime.devices.host.binding import Binding

from .device import MTLBuffer, MTLFence
from .libraries import MOST_THREADS, MTLComputePipelineState
from .profiling import SampleAttachment
from .signatures import Selectors, require, selector

if TYPE_CHECKING:
    from .commands import MTLCommandBuffer

DONE, PENDING, FAULTED = 1, 3, 4
"""`MTLCommandEncoderErrorState`."""
_BUFFERS: Final = 1
_MOST_BYTES: Final = 4096
_LAST_INDEX: Final = 30

Work = Callable[[], None]
_Bound = tuple[MTLBuffer, int] | bytes
"""A buffer with an offset, or bytes that were copied."""


class Encoder(Selectors):
    """Commands between barriers have no order: they run from the last to the first."""

    def __init__(self, buffer: MTLCommandBuffer, samples: list[SampleAttachment]) -> None:
        buffer.require_open("a new encoder")
        self.buffer = buffer
        self._samples = samples
        self._segments: list[list[Work]] = [[]]
        self.after: set[Encoder] = set()
        """Encoders of the same command buffer that a fence holds this one for."""
        self.signposts: list[str] = []
        self.state = PENDING
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
        self.state = FAULTED
        for segment in self._segments:
            for work in reversed(segment):
                work()
        self.state = DONE
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

    def __init__(self, encoder: Encoder) -> None:
        self._state, self._signposts = encoder.state, list(encoder.signposts)

    @selector()
    def errorState(self) -> int:
        return self._state

    @selector()
    def debugSignposts(self) -> list[str]:
        return self._signposts


class MTLBlitCommandEncoder(Encoder):
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


class MTLComputeCommandEncoder(Encoder):
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
        require(buffer and offset < buffer.size, f"offset {offset} leaves the buffer")
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
