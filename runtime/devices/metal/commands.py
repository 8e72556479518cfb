"""Command buffers: kept as encoding steps, encoded anew at every submission."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import pack
from typing import Any, Final, cast

from ingot.runtime.devices.metal.memory import MetalBuffer
from ingot.runtime.devices.metal.native import (
    BARRIER_BUFFERS,
    CONCURRENT,
    SHARED_STORAGE,
    USAGE_READ,
    USAGE_WRITE,
)
from ingot.runtime.devices.metal.pipeline import ByteKernels, MetalPipeline
from ingot.runtime.errors import DeviceMemoryError, HalUsageError
from ingot.runtime.hal import BufferRange, CommandBuffer, Device, Pipeline
from ingot.targets.bundle.model import Access

_BYTE_THREADS: Final = 256
_BYTE_GROUPS: Final = 1024


class Encoder:
    """The encoders of one `MTLCommandBuffer`; at most one is open."""

    def __init__(self, buffer: Any) -> None:
        self._buffer = buffer
        self._compute: Any = None
        self._blit: Any = None

    def compute(self) -> Any:
        """Return the open compute encoder, or open one."""
        if self._compute is None:
            self.close()
            self._compute = self._buffer.computeCommandEncoderWithDispatchType_(CONCURRENT)
        return self._compute

    def blit(self) -> Any:
        """Return the open blit encoder, or open one."""
        if self._blit is None:
            self.close()
            self._blit = self._buffer.blitCommandEncoder()
        return self._blit

    def barrier(self) -> None:
        """Order what follows after what came before."""
        if self._compute is not None:
            self._compute.memoryBarrierWithScope_(BARRIER_BUFFERS)
        else:
            # Commands of one blit encoder are not ordered; those of two are, by their resources.
            self.close()

    def close(self) -> None:
        """End the open encoder."""
        for encoder in (self._compute, self._blit):
            if encoder is not None:
                encoder.endEncoding()
        self._compute = self._blit = None


_Step = Callable[[Encoder], None]


class MetalCommandBuffer(CommandBuffer):
    """A list of encoding steps."""

    def __init__(self, device: Device, mtl_device: Any, byte_kernels: ByteKernels) -> None:
        super().__init__(device, profiling=False)
        self._mtl_device: Final = mtl_device
        self._byte_kernels: Final = byte_kernels
        self._steps: list[_Step] = []

    def encode(self, buffer: Any) -> None:
        """Encode everything into an `MTLCommandBuffer`."""
        encoder = Encoder(buffer)
        for step in self._steps:
            step(encoder)
        encoder.close()

    def _begin(self) -> None:
        self._steps = []

    def _end(self) -> None:
        pass

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
        usages = [_usage(binding.access) for binding in kernel.bindings]

        def step(encoder: Encoder) -> None:
            compute = encoder.compute()
            compute.setComputePipelineState_(used.state)
            if packed is not None:
                compute.setBuffer_offset_atIndex_(packed, 0, 0)
                for buffer, usage in zip(buffers, usages, strict=True):
                    compute.useResource_usage_(buffer, usage)
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
                lambda encoder: encoder.blit().fillBuffer_range_value_(buffer, whole, value)
            )
            return
        words = pattern.ljust(4, b"\0")
        constants = pack("<Q", target.length) + words + pack("<I", len(pattern))
        self._bytes_step("ingot_fill", [(0, buffer, target.offset)], constants)

    def _copy(self, source: BufferRange, target: BufferRange) -> None:
        sources = cast(MetalBuffer, source.buffer).mtl_buffer
        targets = cast(MetalBuffer, target.buffer).mtl_buffer
        self._copy_bytes(sources, source.offset, targets, target.offset, source.length)

    def _update(self, target: BufferRange, data: bytes) -> None:
        staging = self._mtl_device.newBufferWithBytes_length_options_(
            data, len(data), SHARED_STORAGE
        )
        if staging is None:
            raise DeviceMemoryError(
                f"'{self.device.name}' has no memory for an update of {len(data)} bytes"
            )
        targets = cast(MetalBuffer, target.buffer).mtl_buffer
        self._copy_bytes(staging, 0, targets, target.offset, len(data))

    def _copy_bytes(self, sources: Any, start: int, targets: Any, to: int, length: int) -> None:
        if start % 4 or to % 4 or length % 4:
            buffers = [(0, targets, to), (2, sources, start)]
            self._bytes_step("ingot_copy", buffers, pack("<Q", length))
            return

        def step(encoder: Encoder) -> None:
            encoder.blit().copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
                sources, start, targets, to, length
            )

        self._steps.append(step)

    def _barrier(self) -> None:
        self._steps.append(lambda encoder: encoder.barrier())

    def _timestamps(self) -> Sequence[tuple[int, int]]:
        raise HalUsageError(f"'{self.device.name}' has no timestamps")

    def _bytes_step(
        self, name: str, buffers: Sequence[tuple[int, Any, int]], constants: bytes
    ) -> None:
        """Append a run of one of our own kernels; `buffers` are index, buffer, offset."""
        state = self._byte_kernels.get(name)

        def step(encoder: Encoder) -> None:
            compute = encoder.compute()
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
        packed = self._mtl_device.newBufferWithLength_options_(
            encoder.encodedLength(), SHARED_STORAGE
        )
        encoder.setArgumentBuffer_offset_(packed, 0)
        for index, (buffer, offset) in enumerate(zip(buffers, offsets, strict=True)):
            encoder.setBuffer_offset_atIndex_(buffer, offset, index)
        return packed


def _usage(access: Access) -> int:
    match access:
        case Access.READ:
            return USAGE_READ
        case Access.WRITE:
            return USAGE_WRITE
        case Access.READ_WRITE:
            return USAGE_READ | USAGE_WRITE
