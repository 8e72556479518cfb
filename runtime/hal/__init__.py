"""The hardware abstraction layer: what a device must do to run bundles.

One set of base classes, three implementations (`metal`, `vulkan`, `host`). A base class checks the
contract (ranges, life cycle, owners) in its public methods and hands over to the methods with a
leading underscore, which are all that a device implements; so every device refuses the same misuse
with the same sentence. There are no tensors here: only bytes, kernels and order.

Order of work
- Commands of one command buffer may run in any order and at the same time, except across a
  `barrier`.
- Submissions to a queue are ordered only by the semaphores they wait for and signal.
- What the host wrote into mapped memory before `Queue.submit` is visible to the submitted work;
  what that work wrote is visible to the host once a semaphore that it signals has its value.

Errors: `HalUsageError` for misuse, `DeviceError` and its subclasses for what the device reports.
"""

from __future__ import annotations

from ingot.runtime.hal.buffers import Buffer, BufferRange, Memory
from ingot.runtime.hal.commands import CommandBuffer, Timing
from ingot.runtime.hal.device import Device, Limits
from ingot.runtime.hal.executables import Executable, Pipeline
from ingot.runtime.hal.queues import Queue, Semaphore, SemaphoreValue

__all__ = [
    "Buffer",
    "BufferRange",
    "CommandBuffer",
    "Device",
    "Executable",
    "Limits",
    "Memory",
    "Pipeline",
    "Queue",
    "Semaphore",
    "SemaphoreValue",
    "Timing",
]
