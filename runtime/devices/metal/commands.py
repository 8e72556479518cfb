"""Command buffers: kept as encoding steps, encoded anew at every submission."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import pack
from typing import Any, Final, cast

from ingot.runtime.devices.metal.counters import Samples
from ingot.runtime.devices.metal.encoders import Encoder, Recording, SampledEncoder, SplitEncoder
from ingot.runtime.devices.metal.memory import MetalBuffer
from ingot.runtime.devices.metal.native import STORAGE, USAGE_READ, USAGE_WRITE
from ingot.runtime.devices.metal.pipeline import ByteKernels, MetalPipeline
from ingot.runtime.errors import DeviceMemoryError
from ingot.runtime.hal import BufferRange, CommandBuffer, Device, Pipeline
from ingot.targets.bundle.model import Access, Kernel

_BYTE_THREADS: Final = 256
_BYTE_GROUPS: Final = 1024


_Step = Callable[[Encoder], None]


class MetalCommandBuffer(CommandBuffer):
    """A list of encoding steps."""

    def __init__(
        self,
        device: Device,
        mtl_device: Any,
        byte_kernels: ByteKernels,
        counters: Any = None,
        profiling: bool = False,
    ) -> None:
        """`counters` is the `MTLCounterSet` to profile with, None for times of command buffers."""
        super().__init__(device, profiling)
        self._mtl_device: Final = mtl_device
        self._byte_kernels: Final = byte_kernels
        self._counters: Final = counters
        self._steps: list[_Step] = []
        self._samples: Samples | None = None
        self._timed: list[Any] = []

    def encode(self, recording: Recording) -> None:
        """Encode everything into the command buffers of a submission."""
        if not self.profiling:
            self._encode(recording.encoder)
            return
        recording.encoder.pause()
        if self._samples is not None:
            encoder = SampledEncoder(recording, self._samples)
        else:
            encoder = SplitEncoder(recording)
            self._timed = encoder.timed
        self._encode(encoder)
        encoder.pause()

    def _encode(self, encoder: Encoder) -> None:
        for step in self._steps:
            step(encoder)

    def _begin(self) -> None:
        self._steps = []
        self._samples = None

    def _end(self) -> None:
        if self.profiling and self._counters is not None:
            self._samples = Samples(self._mtl_device, self._counters, len(self._labels))

    def _dispatch(
        self,
        pipeline: Pipeline,
        groups: tuple[int, int, int],
        bindings: Sequence[BufferRange],
        push_constants: bytes,
    ) -> None:
        size = pipeline.kernel.threadgroup_size
        self._append_dispatch(
            pipeline,
            bindings,
            push_constants,
            lambda compute: compute.dispatchThreadgroups_threadsPerThreadgroup_(groups, size),
        )

    def _dispatch_indirect(
        self,
        pipeline: Pipeline,
        parameters: BufferRange,
        bindings: Sequence[BufferRange],
        push_constants: bytes,
    ) -> None:
        grid, offset = cast(MetalBuffer, parameters.buffer).mtl_buffer, parameters.offset
        size = pipeline.kernel.threadgroup_size

        def launch(compute: Any) -> None:
            compute.dispatchThreadgroupsWithIndirectBuffer_indirectBufferOffset_threadsPerThreadgroup_(
                grid, offset, size
            )

        self._append_dispatch(pipeline, bindings, push_constants, launch)

    def _append_dispatch(
        self,
        pipeline: Pipeline,
        bindings: Sequence[BufferRange],
        push_constants: bytes,
        launch: Callable[[Any], None],
    ) -> None:
        """Append a step that binds everything; `launch` gets the encoder."""
        used = cast(MetalPipeline, pipeline)
        kernel = used.kernel
        buffers = [cast(MetalBuffer, part.buffer).mtl_buffer for part in bindings]
        offsets = [part.offset if part.length else 0 for part in bindings]
        packed = self._argument_buffer(used, buffers, offsets) if kernel.argument_buffer else None
        resident = _by_usage(kernel, buffers)

        def step(encoder: Encoder) -> None:
            compute = encoder.compute(kernel.name)
            compute.setComputePipelineState_(used.state)
            if packed is not None:
                compute.setBuffer_offset_atIndex_(packed, 0, 0)
                for usage, part in resident.items():
                    compute.useResources_count_usage_(part, len(part), usage)
            else:
                for index, (buffer, offset) in enumerate(zip(buffers, offsets, strict=True)):
                    compute.setBuffer_offset_atIndex_(buffer, offset, index)
            if push_constants:
                index = 1 if packed is not None else len(buffers)
                compute.setBytes_length_atIndex_(push_constants, len(push_constants), index)
            launch(compute)

        self._steps.append(step)

    def _fill(self, target: BufferRange, pattern: bytes) -> None:
        buffer = cast(MetalBuffer, target.buffer).mtl_buffer
        if len(set(pattern)) == 1 and not target.offset % 4 and not target.length % 4:
            whole = (target.offset, target.length)
            # PyObjC passes the byte as a `char`, with a sign.
            value = int.from_bytes(pattern[:1], "little", signed=True)
            self._steps.append(
                lambda encoder: encoder.blit("fill").fillBuffer_range_value_(buffer, whole, value)
            )
            return
        words = pattern.ljust(4, b"\0")
        constants = pack("<Q", target.length) + words + pack("<I", len(pattern))
        self._bytes_step("fill", [(0, buffer, target.offset)], constants)

    def _copy(self, source: BufferRange, target: BufferRange) -> None:
        sources = cast(MetalBuffer, source.buffer).mtl_buffer
        targets = cast(MetalBuffer, target.buffer).mtl_buffer
        self._copy_bytes("copy", sources, source.offset, targets, target.offset, source.length)

    def _update(self, target: BufferRange, data: bytes) -> None:
        staging = self._mtl_device.newBufferWithBytes_length_options_(data, len(data), STORAGE)
        if staging is None:
            raise DeviceMemoryError(
                f"'{self.device.name}' has no memory for an update of {len(data)} bytes"
            )
        targets = cast(MetalBuffer, target.buffer).mtl_buffer
        self._copy_bytes("update", staging, 0, targets, target.offset, len(data))

    def _copy_bytes(
        self, name: str, sources: Any, start: int, targets: Any, to: int, length: int
    ) -> None:
        if start % 4 or to % 4 or length % 4:
            buffers = [(0, targets, to), (2, sources, start)]
            self._bytes_step(name, buffers, pack("<Q", length))
            return

        def step(encoder: Encoder) -> None:
            encoder.blit(name).copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
                sources, start, targets, to, length
            )

        self._steps.append(step)

    def _barrier(self) -> None:
        self._steps.append(lambda encoder: encoder.barrier())

    def _timestamps(self) -> Sequence[tuple[int, int]]:
        if self._samples is not None:
            return self._samples.read()
        seconds = [(buffer.GPUStartTime(), buffer.GPUEndTime()) for buffer in self._timed]
        return [(int(start * 1e9), int(end * 1e9)) for start, end in seconds]

    def _bytes_step(
        self, name: str, buffers: Sequence[tuple[int, Any, int]], constants: bytes
    ) -> None:
        """Append a run of one of our own kernels; `buffers` are index, buffer, offset."""
        state = self._byte_kernels.get("ingot_fill" if name == "fill" else "ingot_copy")

        def step(encoder: Encoder) -> None:
            compute = encoder.compute(name)
            compute.setComputePipelineState_(state)
            for index, buffer, offset in buffers:
                compute.setBuffer_offset_atIndex_(buffer, offset, index)
            compute.setBytes_length_atIndex_(constants, len(constants), 1)
            compute.dispatchThreadgroups_threadsPerThreadgroup_(
                (_BYTE_GROUPS, 1, 1), (_BYTE_THREADS, 1, 1)
            )

        self._steps.append(step)

    def _argument_buffer(
        self, pipeline: MetalPipeline, buffers: Sequence[Any], offsets: Sequence[int]
    ) -> Any:
        """Return an `MTLBuffer` with the addresses of all bindings."""
        encoder = pipeline.function.newArgumentEncoderWithBufferIndex_(0)
        packed = self._mtl_device.newBufferWithLength_options_(encoder.encodedLength(), STORAGE)
        if packed is None:
            raise DeviceMemoryError(f"'{self.device.name}' has no memory for an argument buffer")
        encoder.setArgumentBuffer_offset_(packed, 0)
        for index, (buffer, offset) in enumerate(zip(buffers, offsets, strict=True)):
            encoder.setBuffer_offset_atIndex_(buffer, offset, index)
        return packed


def _by_usage(kernel: Kernel, buffers: Sequence[Any]) -> dict[int, list[Any]]:
    """The buffers of a kernel by how it uses them, as `MTLResourceUsage`."""
    found: dict[int, list[Any]] = {}
    for binding, buffer in zip(kernel.bindings, buffers, strict=True):
        found.setdefault(_USAGE[binding.access], []).append(buffer)
    return found


_USAGE: Final = {
    Access.READ: USAGE_READ,
    Access.WRITE: USAGE_WRITE,
    Access.READ_WRITE: USAGE_READ | USAGE_WRITE,
}
