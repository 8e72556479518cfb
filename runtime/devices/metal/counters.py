"""When commands ran, by the GPU's clock."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from ingot.runtime.devices.metal import native
from ingot.runtime.devices.metal.native import (
    AT_STAGE_BOUNDARY,
    SAMPLE_ERROR,
    message_of,
)
from ingot.runtime.errors import DeviceError

_MOST_COMMANDS: Final = 2048
"""Of one sample buffer: Metal gives 32 KiB, two samples of eight bytes are for each command."""
_SHARED: Final = 0


class Samples:
    """Two timestamps for each command of a command buffer, in `MTLCounterSampleBuffer`s."""

    def __init__(self, mtl_device: Any, counter_set: Any, commands: int) -> None:
        """Make room for so many commands; raises `DeviceError` when there is none."""
        self._device: Final = mtl_device
        self._commands: Final = commands
        self._buffers: Final[list[Any]] = []
        for start in range(0, commands, _MOST_COMMANDS):
            descriptor = native.load_metal().MTLCounterSampleBufferDescriptor.alloc().init()
            descriptor.setCounterSet_(counter_set)
            descriptor.setStorageMode_(_SHARED)
            descriptor.setSampleCount_(2 * min(_MOST_COMMANDS, commands - start))
            buffer, error = mtl_device.newCounterSampleBufferWithDescriptor_error_(descriptor, None)
            if buffer is None:
                raise DeviceError(f"Metal has no room for timestamps: {message_of(error)}")
            self._buffers.append(buffer)
        self._start = self._clocks()

    def attach(self, descriptor: Any, command: int) -> None:
        """Let a pass of one encoder write the timestamps of a command."""
        attachment = descriptor.sampleBufferAttachments().objectAtIndexedSubscript_(0)
        attachment.setSampleBuffer_(self._buffers[command // _MOST_COMMANDS])
        index = 2 * (command % _MOST_COMMANDS)
        attachment.setStartOfEncoderSampleIndex_(index)
        attachment.setEndOfEncoderSampleIndex_(index + 1)

    def read(self) -> list[tuple[int, int]]:
        """Start and end of each command in nanoseconds; after the submission completed."""
        values = array("Q")
        with native.autorelease_pool():
            for index, buffer in enumerate(self._buffers):
                count = 2 * min(_MOST_COMMANDS, self._commands - index * _MOST_COMMANDS)
                values.frombytes(bytes(buffer.resolveCounterRange_((0, count)))[: 8 * count])
        if SAMPLE_ERROR in values:
            raise DeviceError("Metal could not read the GPU's clock for every command")
        return list(pairs(in_nanoseconds(values, self._start, self._clocks())))

    def _clocks(self) -> tuple[int, int]:
        """The CPU's clock in nanoseconds and the GPU's in its own units, now."""
        cpu, gpu = self._device.sampleTimestamps_gpuTimestamp_(None, None)
        return int(cpu), int(gpu)


def pairs(values: Sequence[int]) -> list[tuple[int, int]]:
    """Every two values together."""
    return list(pairwise(values))[::2]


def in_nanoseconds(
    ticks: Sequence[int], first: tuple[int, int], last: tuple[int, int]
) -> list[int]:
    """GPU ticks in nanoseconds; `first` and `last` are (CPU nanoseconds, GPU ticks) of two moments.

    Both clocks run evenly, so the line through the two moments gives one from the other.
    """
    elapsed, ticked = last[0] - first[0], last[1] - first[1]
    if ticked <= 0:
        return list(ticks)
    return [first[0] + (tick - first[1]) * elapsed // ticked for tick in ticks]


def timestamp_counters(mtl_device: Any) -> Any:
    """The `MTLCounterSet` of the GPU's clock, None where encoders cannot be sampled with it."""
    if not mtl_device.supportsCounterSampling_(AT_STAGE_BOUNDARY):
        return None
    wanted = str(native.load_metal().MTLCommonCounterSetTimestamp)
    sets = mtl_device.counterSets() or ()
    return next((counters for counters in sets if str(counters.name()) == wanted), None)
