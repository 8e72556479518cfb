"""Queues, and the timeline semaphores that order their work."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ingot.runtime.errors import DeviceError, HalUsageError
from ingot.runtime.hal.commands import CommandBuffer

if TYPE_CHECKING:
    from ingot.runtime.hal.device import Device


class Semaphore(ABC):
    """A timeline: a 64-bit value that only grows, signalled and waited for by host and queues.

    A semaphore may fail instead of growing: then every wait on it, also a pending one, raises the
    error that it failed with. The first failure wins.
    """

    def __init__(self, device: Device) -> None:
        self.device: Final = device

    @property
    @abstractmethod
    def value(self) -> int:
        """The value reached so far; raises the failure when there is one."""

    @abstractmethod
    def signal(self, value: int) -> None:
        """Set the value from the host; it must be greater than the present one.

        Raises the failure when the semaphore has failed.
        """

    @abstractmethod
    def fail(self, error: DeviceError) -> None:
        """Let this and every later wait raise `error`."""

    @abstractmethod
    def wait(self, value: int, timeout: float | None = None) -> None:
        """Block until the value is at least `value`; the GIL is released meanwhile.

        `timeout` in seconds, None for no limit, 0 to poll; raises `DeviceTimeoutError` when it
        passes (the semaphore stays as it is), and the failure when the semaphore fails.
        """


SemaphoreValue = tuple[Semaphore, int]


class Queue(ABC):
    """Runs command buffers; may be used from several threads."""

    def __init__(self, device: Device) -> None:
        self.device: Final = device
        self._process: Final = os.getpid()

    def require_home(self) -> None:
        """Raise `HalUsageError` in a process forked from the one that opened the device.

        Drivers do their work in threads, which a forked process does not have: it would wait.
        """
        if os.getpid() != self._process:
            raise HalUsageError(
                f"'{self.device.name}' was opened before this process was forked; "
                "open devices after the fork"
            )

    def submit(
        self,
        command_buffers: Sequence[CommandBuffer],
        wait: Sequence[SemaphoreValue] = (),
        signal: Sequence[SemaphoreValue] = (),
    ) -> None:
        """Start the command buffers once all `wait` values are reached, and return at once.

        When all of them are finished the semaphores of `signal` get their values; when one fails,
        or a semaphore of `wait` fails, they fail with that cause. A submission that the device
        does not accept raises `DeviceError` and fails the semaphores too.
        """
        self.require_home()
        for command_buffer in command_buffers:
            if command_buffer.device is not self.device or not command_buffer.recorded:
                raise HalUsageError("only recorded command buffers of this device can be submitted")
        if any(semaphore.device is not self.device for semaphore, _ in (*wait, *signal)):
            raise HalUsageError("a submission names a semaphore of another device")
        self._submit(command_buffers, wait, signal)

    @abstractmethod
    def _submit(
        self,
        command_buffers: Sequence[CommandBuffer],
        wait: Sequence[SemaphoreValue],
        signal: Sequence[SemaphoreValue],
    ) -> None: ...
