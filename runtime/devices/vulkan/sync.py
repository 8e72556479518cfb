"""Timeline semaphores and the queue."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from time import monotonic
from typing import Final, cast

from ingot.runtime.devices.timeline import Backlog, Submission, Timeline
from ingot.runtime.devices.vulkan.commands import VulkanCommandBuffer
from ingot.runtime.devices.vulkan.handle import DeviceHandle
from ingot.runtime.devices.vulkan.native import (
    DEVICE_LOST,
    SUCCESS,
    TIMEOUT,
    error_of,
    translated,
)
from ingot.runtime.errors import DeviceError, DeviceTimeoutError, HalUsageError
from ingot.runtime.hal import CommandBuffer, Device, Queue, Semaphore, SemaphoreValue

_SLICE: Final = 0.05
"""Seconds after which a wait looks for a failure, and for a signal of the operating system."""
_SPIN: Final = 0.01
"""Seconds for which a wait for a GPU looks again and again: to be woken takes a tenth of a
millisecond, which is longer than many kernels."""
_SPIN_CORES: Final = 4
"""Fewer processors have other work to do."""
_ALL_COMMANDS: Final = 0x10000
_LOST: Final = 2**64 - 1
"""Stands for the value of a semaphore whose device is gone."""


class VulkanSemaphore(Semaphore):
    """A `VkSemaphore` of the timeline type, and the failure that Vulkan's has no place for."""

    def __init__(self, device: Device, handle: DeviceHandle, backlog: Backlog, value: int) -> None:
        super().__init__(device)
        vk = handle.vk
        self._vk, self._raw = vk, handle.device
        kind = vk.VkSemaphoreTypeCreateInfo(
            semaphoreType=vk.VK_SEMAPHORE_TYPE_TIMELINE, initialValue=value
        )
        with translated(vk, "creating a semaphore"):
            semaphore = vk.vkCreateSemaphore(
                handle.device, vk.VkSemaphoreCreateInfo(pNext=kind), None
            )
        self.vk_semaphore: Final = semaphore
        handle.adopt(self, lambda: vk.lib.vkDestroySemaphore(handle.device, semaphore, vk.ffi.NULL))
        self._wait = handle.function("vkWaitSemaphores")
        self._get_value = handle.function("vkGetSemaphoreCounterValue")
        self._signal = handle.function("vkSignalSemaphore")
        self._semaphores = vk.ffi.new("VkSemaphore[]", [semaphore])
        # A device that is the processor would wait for the one that waits for it.
        spins = not handle.physical.is_unified and (os.cpu_count() or 1) >= _SPIN_CORES
        self._spin: Final = _SPIN if spins else 0.0
        self.timeline: Final = Timeline(backlog, value)
        self._known = value

    @property
    def value(self) -> int:
        self.timeline.raise_failure()
        stored = self._vk.ffi.new("uint64_t*")
        self._check(self._get_value(self._raw, self.vk_semaphore, stored), "reading a semaphore")
        return stored[0]

    @property
    def reached(self) -> int:
        """The native value; beyond every other when the device is gone.

        Where the driver cannot say for another reason, such as memory, it is the last one known.
        """
        stored = self._vk.ffi.new("uint64_t*")
        result = self._get_value(self._raw, self.vk_semaphore, stored)
        if result == DEVICE_LOST:
            return _LOST
        if result == SUCCESS:
            self._known = stored[0]
        return self._known

    def signal(self, value: int) -> None:
        with self.timeline.lock:
            if value <= self.value:
                raise HalUsageError(f"a semaphore at {self.value} cannot be signalled to {value}")
            self._check(self._signal_raw(value), "signalling a semaphore")
            self.timeline.signalled(value)

    def fail(self, error: DeviceError) -> None:
        self.timeline.fail(error, self.reached)

    def wait(self, value: int, timeout: float | None = None) -> None:
        ffi = self._vk.ffi
        info = ffi.new("VkSemaphoreWaitInfo*")
        info.sType = self._vk.VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO
        info.semaphoreCount = 1
        info.pSemaphores = self._semaphores
        values = ffi.new("uint64_t[]", [value])
        info.pValues = values
        start = monotonic()
        end = None if timeout is None else start + timeout
        spin_end = start + (self._spin if timeout is None else min(self._spin, timeout))
        while monotonic() < spin_end and self.reached < value:
            self.timeline.raise_failure()
        while True:
            self.timeline.raise_failure()
            left = _SLICE if end is None else min(_SLICE, max(0.0, end - monotonic()))
            result = self._wait(self._raw, info, int(left * 1e9))
            if result == SUCCESS:
                self.timeline.raise_failure()
                return
            if result != TIMEOUT:
                # What still runs must not meet what comes after the error.
                self._vk.lib.vkDeviceWaitIdle(self._raw)
                self._check(result, "waiting for the device")
            if end is not None and monotonic() >= end:
                self.timeline.raise_failure()
                raise DeviceTimeoutError(
                    f"'{self.device.name}' did not finish within {timeout:g} seconds"
                )

    def _check(self, result: int, doing: str) -> None:
        if result != SUCCESS:
            self.fail(error_of(self._vk, result, doing))
            self.timeline.raise_failure()

    def _signal_raw(self, value: int) -> int:
        info = self._vk.VkSemaphoreSignalInfo(semaphore=self.vk_semaphore, value=value)
        return self._signal(self._raw, self._vk.ffi.addressof(info))


class VulkanQueue(Queue):
    """The compute queue; it keeps what it runs alive."""

    def __init__(self, device: Device, handle: DeviceHandle, backlog: Backlog) -> None:
        super().__init__(device)
        self._handle = handle
        self._backlog = backlog
        self._vk = handle.vk
        with translated(self._vk, "asking for a queue"):
            self._queue = self._vk.vkGetDeviceQueue(handle.device, handle.physical.queue_family, 0)
        self._submit_function = handle.function("vkQueueSubmit")
        self._progress = VulkanSemaphore(device, handle, backlog, 0)
        """Counts submissions, so that finished ones can be let go."""
        self._submitted = 0
        self._running: deque[tuple[int, tuple[object, ...]]] = deque()

    def _submit(
        self,
        command_buffers: Sequence[CommandBuffer],
        wait: Sequence[SemaphoreValue],
        signal: Sequence[SemaphoreValue],
    ) -> None:
        self._handle.require_open()
        waits = cast("Sequence[tuple[VulkanSemaphore, int]]", wait)
        signals = cast("Sequence[tuple[VulkanSemaphore, int]]", signal)
        buffers = cast("Sequence[VulkanCommandBuffer]", command_buffers)
        self._backlog.submit(
            Submission(waits, signals, lambda: self._start(buffers, waits, signals))
        )

    def _start(
        self,
        buffers: Sequence[VulkanCommandBuffer],
        waits: Sequence[tuple[VulkanSemaphore, int]],
        signals: Sequence[tuple[VulkanSemaphore, int]],
    ) -> None:
        """Hand work to the driver; the backlog's lock is held."""
        self._submitted += 1
        result = self._submit_raw(buffers, waits, [*signals, (self._progress, self._submitted)])
        if result != SUCCESS:
            raise error_of(self._vk, result, "submitting work")
        self._running.append((self._submitted, (*buffers, *waits, *signals)))
        finished = self._progress.reached
        if finished == _LOST:
            return  # it cannot be asked now: nothing is let go
        while self._running and self._running[0][0] <= finished:
            self._running.popleft()

    def _submit_raw(
        self,
        buffers: Sequence[VulkanCommandBuffer],
        waits: Sequence[tuple[VulkanSemaphore, int]],
        signals: Sequence[tuple[VulkanSemaphore, int]],
    ) -> int:
        """Call `vkQueueSubmit`; the arrays stay alive in locals while it runs."""
        vk, new = self._vk, self._vk.ffi.new
        wait_semaphores = new("VkSemaphore[]", [s.vk_semaphore for s, _ in waits])
        wait_values = new("uint64_t[]", [value for _, value in waits])
        stages = new("VkPipelineStageFlags[]", [_ALL_COMMANDS] * len(waits))
        signal_semaphores = new("VkSemaphore[]", [s.vk_semaphore for s, _ in signals])
        signal_values = new("uint64_t[]", [value for _, value in signals])
        command_buffers = new("VkCommandBuffer[]", [b.vk_commands for b in buffers])
        timeline = new("VkTimelineSemaphoreSubmitInfo*")
        timeline.sType = vk.VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO
        timeline.waitSemaphoreValueCount = len(waits)
        timeline.pWaitSemaphoreValues = wait_values
        timeline.signalSemaphoreValueCount = len(signals)
        timeline.pSignalSemaphoreValues = signal_values
        info = new("VkSubmitInfo*")
        info.sType = vk.VK_STRUCTURE_TYPE_SUBMIT_INFO
        info.pNext = timeline
        info.waitSemaphoreCount = len(waits)
        info.pWaitSemaphores = wait_semaphores
        info.pWaitDstStageMask = stages
        info.commandBufferCount = len(buffers)
        info.pCommandBuffers = command_buffers
        info.signalSemaphoreCount = len(signals)
        info.pSignalSemaphores = signal_semaphores
        return self._submit_function(self._queue, 1, info, vk.ffi.NULL)
