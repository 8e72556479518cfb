"""Command buffers: commands are kept until `end`, which knows how much of everything is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, cast

from ingot.runtime.devices.vulkan.handle import DeviceHandle
from ingot.runtime.devices.vulkan.memory import VulkanBuffer
from ingot.runtime.devices.vulkan.native import error_of, translated
from ingot.runtime.devices.vulkan.pipeline import VulkanPipeline
from ingot.runtime.errors import HalUsageError
from ingot.runtime.hal import BufferRange, CommandBuffer, Device, Memory, Pipeline

_COMPUTE_AND_TRANSFER: Final = 0x2 | 0x800 | 0x1000
"""With the stage that reads the grids of indirect dispatches."""
_HOST_STAGE: Final = 0x4000
_TOP, _BOTTOM = 0x1, 0x2000
_WRITES: Final = 0x40 | 0x1000
"""Shader and transfer writes."""
_ACCESSES: Final = _WRITES | 0x1 | 0x20 | 0x800
"""Those, and reads of grids, shaders and transfers."""
_HOST_READ: Final = 0x2000
_SIMULTANEOUS_USE: Final = 0x4

_Emit = Callable[[], None]


class VulkanCommandBuffer(CommandBuffer):
    """A primary command buffer with its own pools for memory, descriptors and timestamps."""

    def __init__(
        self, device: Device, handle: DeviceHandle, empty: VulkanBuffer, profiling: bool
    ) -> None:
        """Create a command buffer; `empty` is a buffer to show where a binding has no bytes."""
        super().__init__(device, profiling)
        self._handle: Final = handle
        self._empty: Final = empty
        self._vk = vk = handle.vk
        with translated(vk, "creating a command buffer"):
            pool = vk.vkCreateCommandPool(
                handle.device,
                vk.VkCommandPoolCreateInfo(queueFamilyIndex=handle.physical.queue_family),
                None,
            )
            handle.adopt(
                self, lambda: vk.lib.vkDestroyCommandPool(handle.device, pool, vk.ffi.NULL)
            )
            info = vk.VkCommandBufferAllocateInfo(commandPool=pool, commandBufferCount=1)
            self.vk_commands: Final = vk.vkAllocateCommandBuffers(handle.device, info)[0]
        self._pool = pool
        self._pending: list[_Emit] = []
        self._dispatches: list[tuple[VulkanPipeline, tuple[BufferRange, ...]]] = []
        self._sets: Sequence[Any] = ()
        self._staged = bytearray()
        """Bytes that commands copy from: the ends of fills, and updates."""
        self._staging: VulkanBuffer | None = None
        self._timed = 0
        self._query_pool: Any = None
        self._release_pools: list[Callable[[], Any]] = []

    def _begin(self) -> None:
        for release in self._release_pools:
            release()
        self._release_pools = []
        self._pending = []
        self._dispatches = []
        self._staged = bytearray()
        self._staging = None
        self._query_pool = None
        self._timed = 0

    def _dispatch(
        self,
        pipeline: Pipeline,
        groups: tuple[int, int, int],
        bindings: Sequence[BufferRange],
        push_constants: bytes,
    ) -> None:
        self._append_dispatch(
            pipeline,
            bindings,
            push_constants,
            lambda: self._vk.lib.vkCmdDispatch(self.vk_commands, *groups),
        )

    def _dispatch_indirect(
        self,
        pipeline: Pipeline,
        parameters: BufferRange,
        bindings: Sequence[BufferRange],
        push_constants: bytes,
    ) -> None:
        buffer, offset = cast(VulkanBuffer, parameters.buffer).vk_buffer, parameters.offset
        self._append_dispatch(
            pipeline,
            bindings,
            push_constants,
            lambda: self._vk.lib.vkCmdDispatchIndirect(self.vk_commands, buffer, offset),
        )

    def _append_dispatch(
        self,
        pipeline: Pipeline,
        bindings: Sequence[BufferRange],
        push_constants: bytes,
        launch: _Emit,
    ) -> None:
        used = cast(VulkanPipeline, pipeline)
        position = len(self._dispatches)
        self._dispatches.append((used, tuple(bindings)))

        def emit() -> None:
            lib, ffi, commands = self._vk.lib, self._vk.ffi, self.vk_commands
            lib.vkCmdBindPipeline(commands, 1, used.vk_pipeline)
            if bindings:
                sets = ffi.new("VkDescriptorSet[]", [self._sets[position]])
                lib.vkCmdBindDescriptorSets(commands, 1, used.layout, 0, 1, sets, 0, ffi.NULL)
            if push_constants:
                size = -(-len(push_constants) // 4) * 4
                data = ffi.new("char[]", push_constants.ljust(size, b"\0"))
                lib.vkCmdPushConstants(commands, used.layout, 0x20, 0, size, data)
            launch()

        self._append(emit)

    def _fill(self, target: BufferRange, pattern: bytes) -> None:
        """Vulkan fills whole aligned words; the bytes around them are copied."""
        buffer = cast(VulkanBuffer, target.buffer).vk_buffer
        start, end = target.offset, target.offset + target.length
        first, last = -(-start // 4) * 4, end // 4 * 4
        if first >= last:
            edges = [(start, target.length)]
        else:
            edges = [(start, first - start), (last, end - last)]
        word = bytes(pattern[(first - start + i) % len(pattern)] for i in range(4))
        copies: list[tuple[int, int, int]] = []
        for offset, length in edges:
            if length:
                edge = bytes(pattern[(offset - start + i) % len(pattern)] for i in range(length))
                copies.append((self._stage(edge), offset, length))

        def emit() -> None:
            lib, commands = self._vk.lib, self.vk_commands
            if last > first:
                value = int.from_bytes(word, "little")
                lib.vkCmdFillBuffer(commands, buffer, first, last - first, value)
            for source_offset, target_offset, length in copies:
                self._emit_staged_copy(source_offset, buffer, target_offset, length)

        self._append(emit)

    def _copy(self, source: BufferRange, target: BufferRange) -> None:
        sources, targets = cast(VulkanBuffer, source.buffer), cast(VulkanBuffer, target.buffer)
        self._append(
            lambda: self._emit_copy(
                sources.vk_buffer, source.offset, targets.vk_buffer, target.offset, source.length
            )
        )

    def _update(self, target: BufferRange, data: bytes) -> None:
        """Vulkan's own updates end at 64 KiB and take whole words; copies do not."""
        buffer, source = cast(VulkanBuffer, target.buffer).vk_buffer, self._stage(data)
        self._append(lambda: self._emit_staged_copy(source, buffer, target.offset, target.length))

    def _barrier(self) -> None:
        self._pending.append(lambda: self._emit_barrier(_COMPUTE_AND_TRANSFER, _WRITES, _ACCESSES))

    def _end(self) -> None:
        vk, handle = self._vk, self._handle
        if self._staged:
            buffer = self.device.allocate(len(self._staged), Memory.HOST)
            buffer.map()[:] = self._staged
            self._staging = cast(VulkanBuffer, buffer)
            self._alive.append(buffer)
            self._staged = bytearray()
        with translated(vk, "recording commands"):
            self._allocate_descriptors()
            if self.profiling and self._timed:
                self._create_query_pool()
            vk.vkResetCommandPool(handle.device, self._pool, 0)
            vk.vkBeginCommandBuffer(
                self.vk_commands, vk.VkCommandBufferBeginInfo(flags=_SIMULTANEOUS_USE)
            )
            if self._query_pool is not None:
                vk.lib.vkCmdResetQueryPool(self.vk_commands, self._query_pool, 0, 2 * self._timed)
            for emit in self._pending:
                emit()
            self._emit_barrier(_HOST_STAGE, _WRITES, _HOST_READ)
            vk.vkEndCommandBuffer(self.vk_commands)
        self._pending = []

    def _timestamps(self) -> Sequence[tuple[int, int]]:
        if not self._timed:
            return []
        ffi, count = self._vk.ffi, 2 * self._timed
        ticks = ffi.new("uint64_t[]", count)
        result = self._vk.lib.vkGetQueryPoolResults(
            self._handle.device, self._query_pool, 0, count, 8 * count, ticks, 8, 0x1
        )
        if result != 0:
            if result < 0:
                raise error_of(self._vk, result, "reading timestamps")
            raise HalUsageError("timings were asked for before the submission completed")
        period = self._handle.physical.timestamp_period
        times = [int(tick * period) for tick in ticks]
        return list(zip(times[0::2], times[1::2], strict=True))

    def _append(self, emit: _Emit) -> None:
        """Keep a command, between two timestamps when profiling."""
        if not self.profiling:
            self._pending.append(emit)
            return
        query = 2 * self._timed
        self._timed += 1

        def timed() -> None:
            write, commands = self._vk.lib.vkCmdWriteTimestamp, self.vk_commands
            write(commands, _TOP, self._query_pool, query)
            emit()
            write(commands, _BOTTOM, self._query_pool, query + 1)

        self._pending.append(timed)

    def _stage(self, data: bytes) -> int:
        """Keep bytes for a copy; returns where in the staging buffer they will be."""
        offset = len(self._staged)
        self._staged += data
        return offset

    def _emit_staged_copy(self, offset: int, target: Any, target_offset: int, length: int) -> None:
        assert self._staging is not None
        self._emit_copy(self._staging.vk_buffer, offset, target, target_offset, length)

    def _emit_copy(
        self, source: Any, source_offset: int, target: Any, target_offset: int, length: int
    ) -> None:
        region = self._vk.ffi.new("VkBufferCopy*", [source_offset, target_offset, length])
        self._vk.lib.vkCmdCopyBuffer(self.vk_commands, source, target, 1, region)

    def _emit_barrier(self, stages: int, before: int, after: int) -> None:
        barrier = self._vk.ffi.new("VkMemoryBarrier*")
        barrier.sType = self._vk.VK_STRUCTURE_TYPE_MEMORY_BARRIER
        barrier.srcAccessMask, barrier.dstAccessMask = before, after
        null = self._vk.ffi.NULL
        self._vk.lib.vkCmdPipelineBarrier(
            self.vk_commands, _COMPUTE_AND_TRANSFER, stages, 0, 1, barrier, 0, null, 0, null
        )

    def _allocate_descriptors(self) -> None:
        """Make one descriptor set for each dispatch and point it at the bindings."""
        vk, device = self._vk, self._handle.device
        descriptors = sum(len(bindings) for _, bindings in self._dispatches)
        if not descriptors:
            self._sets = [None] * len(self._dispatches)
            return
        size = vk.VkDescriptorPoolSize(vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, descriptors)
        pool = vk.vkCreateDescriptorPool(
            device,
            vk.VkDescriptorPoolCreateInfo(maxSets=len(self._dispatches), pPoolSizes=[size]),
            None,
        )
        self._own(lambda: vk.lib.vkDestroyDescriptorPool(device, pool, vk.ffi.NULL))
        layouts = [pipeline.set_layout for pipeline, _ in self._dispatches]
        self._sets = list(
            vk.vkAllocateDescriptorSets(
                device, vk.VkDescriptorSetAllocateInfo(descriptorPool=pool, pSetLayouts=layouts)
            )
        )
        writes = [
            vk.VkWriteDescriptorSet(
                dstSet=target,
                dstBinding=binding,
                descriptorCount=1,
                descriptorType=vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                pBufferInfo=[self._descriptor(part)],
            )
            for target, (_, bindings) in zip(self._sets, self._dispatches, strict=True)
            for binding, part in enumerate(bindings)
        ]
        vk.vkUpdateDescriptorSets(device, len(writes), writes, 0, None)

    def _descriptor(self, part: BufferRange) -> Any:
        """Vulkan has no empty ranges: an empty binding shows four bytes that nobody else uses."""
        if part.length == 0:
            return self._vk.VkDescriptorBufferInfo(self._empty.vk_buffer, 0, 4)
        buffer = cast(VulkanBuffer, part.buffer).vk_buffer
        return self._vk.VkDescriptorBufferInfo(buffer, part.offset, part.length)

    def _create_query_pool(self) -> None:
        vk, device = self._vk, self._handle.device
        pool = vk.vkCreateQueryPool(
            device,
            vk.VkQueryPoolCreateInfo(
                queryType=vk.VK_QUERY_TYPE_TIMESTAMP, queryCount=2 * self._timed
            ),
            None,
        )
        self._query_pool = pool
        self._own(lambda: vk.lib.vkDestroyQueryPool(device, pool, vk.ffi.NULL))

    def _own(self, destroy: Callable[[], None]) -> None:
        """Keep a pool until the next `begin` or the end of this command buffer."""
        self._release_pools.append(self._handle.adopt(self, destroy))
