"""The host device for bundles from strangers: kernels run in a process that can do nothing else.

The text of a kernel passes `vetting` and is compiled as for every bundle, but loaded only by a
worker, a process that Linux lets use the memory that it shares with us, and nothing beside
(`seccomp`). A dispatch copies the bytes of its bindings there and back, so that a kernel reaches no
other byte of ours, whatever its indices are. A kernel that takes too long is stopped with its
process.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import os
import pickle
import select
import socket
import subprocess
import sys
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

from ingot.runtime.devices.host import seccomp
from ingot.runtime.devices.host.binding import Binding, clusters
from ingot.runtime.devices.host.commands import HostPipeline
from ingot.runtime.devices.host.compile import BuiltKernel, build_kernels
from ingot.runtime.devices.host.device import HostDevice, kernel_sources
from ingot.runtime.devices.host.engine import engine
from ingot.runtime.devices.host.kernel import DEFAULT_SCHEDULE, Schedule
from ingot.runtime.devices.host.worker import (
    DONE,
    MOST_TEXT,
    NO_MEMORY,
    READY,
)
from ingot.runtime.devices.ownership import finalize_at_home
from ingot.runtime.errors import DeviceMemoryError, DeviceUnavailableError, KernelError
from ingot.runtime.hal import Executable
from ingot.targets.bundle.model import Kernel

SECONDS: Final = 60.0
"""How long a dispatch may take."""
_START_SECONDS: Final = 120.0
"""How long a worker may take to start and to load its kernels."""
_PLACE: Final = 64
"""Alignment of what is copied to the worker."""
_ENVIRONMENT: Final = (
    "PATH",
    "PYTHONPATH",
    "HOME",
    "INGOT_CACHE_DIR",
    "INGOT_CLANG",
    "XDG_CACHE_HOME",
)
"""What the worker needs to find Python and the engine; the rest is not its business."""


class SandboxedHostDevice(HostDevice):
    """`HostDevice` with every executable in a process of its own."""

    def __init__(self, seconds: float = SECONDS) -> None:
        seccomp.require()
        super().__init__()
        self.name = f"{self.name}, sandboxed"
        self._seconds: Final = seconds

    @classmethod
    def open(cls, selector: str) -> SandboxedHostDevice:
        """Open the device; it has no orders of threads."""
        if selector:
            raise DeviceUnavailableError(
                f"the sandboxed host device has no order of threads '{selector}'"
            )
        return cls()

    def load(
        self, kernels: Sequence[Kernel], math_mode: str, msl_version: tuple[int, int]
    ) -> Executable:
        del math_mode, msl_version
        if not kernels:
            return Executable(())
        engine()
        built = build_kernels(kernel_sources(kernels), self.compilers, alone=True)
        worker = Worker(built, self._seconds)
        return Executable(
            tuple(
                HostPipeline(self, kernel, SandboxedKernel(kernel.name, worker, index))
                for index, kernel in enumerate(kernels)
            )
        )


@dataclass(frozen=True)
class SandboxedKernel:
    """Kernel `index` of a worker; runs as a `HostKernel` does."""

    name: str
    worker: Worker
    index: int

    def run(
        self,
        buffers: Sequence[Binding],
        groups: tuple[int, int, int],
        threadgroup_size: tuple[int, int, int],
        *,
        push_constants: bytes = b"",
        argument_buffer: bool = False,
        schedule: Schedule = DEFAULT_SCHEDULE,
        guard: bool = True,
    ) -> None:
        """Run the kernel on copies of the buffers; raises `KernelError` or `DeviceMemoryError`."""
        del schedule, guard
        request = {
            "kernel": self.index,
            "groups": groups,
            "threadgroup_size": threadgroup_size,
            "push_constants": push_constants.hex(),
            "argument_buffer": argument_buffer,
        }
        self.worker.run(self.name, request, buffers)


class Worker:
    """One process for the kernels of one variant; it is started again after it was stopped."""

    def __init__(self, kernels: Sequence[BuiltKernel], seconds: float) -> None:
        """Start the process; raises `DeviceUnavailableError` where it cannot lock itself in."""
        self._kernels: Final = pickle.dumps(list(kernels))
        self._seconds: Final = seconds
        self._lock: Final = Lock()
        self._file: Final = os.memfd_create("ingot")
        weakref.finalize(self, os.close, self._file)
        self._memory: mmap.mmap | None = None
        self._start()

    def run(self, name: str, request: dict[str, Any], buffers: Sequence[Binding]) -> None:
        """Run a kernel on copies of the buffers, and copy back what it may write."""
        with self._lock:
            if self._process.poll() is not None:
                self._start()
            places, size = _places(buffers)
            memory = self._reserve(size)
            start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
            for binding, offset in zip(buffers, places, strict=True):
                ctypes.memmove(start + offset, binding.address, binding.size)
            request["size"], request["seconds"] = len(memory), self._seconds + 10
            request["bindings"] = [
                (binding.name, offset, binding.size, binding.writable)
                for binding, offset in zip(buffers, places, strict=True)
            ]
            self._send(json.dumps(request).encode())
            status, text = self._answer(f"kernel '{name}'", self._seconds)
            if status == NO_MEMORY:
                raise DeviceMemoryError(text)
            if status != DONE:
                raise KernelError(text)
            for binding, offset in zip(buffers, places, strict=True):
                if binding.writable:
                    ctypes.memmove(binding.address, start + offset, binding.size)

    def _reserve(self, size: int) -> mmap.mmap:
        if self._memory is None or len(self._memory) < size:
            os.ftruncate(self._file, size)
            self._memory = mmap.mmap(self._file, size)
        return self._memory

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-P",  # imports nothing from the current folder, which may be a stranger's
                    "-m",
                    "ingot.runtime.devices.host.worker",
                    str(theirs.fileno()),
                    str(self._file),
                ],
                pass_fds=(theirs.fileno(), self._file),
                env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        ours.settimeout(_START_SECONDS)
        self._channel = ours
        finalize_at_home(self, _stop, self._process, ours)
        self._send(self._kernels)
        status, text = self._answer("the process for kernels", _START_SECONDS)
        if status != READY:
            _stop(self._process, ours)
            raise DeviceUnavailableError(f"the host device cannot lock a bundle in: {text}")

    def _send(self, data: bytes) -> None:
        with contextlib.suppress(OSError):  # where the process has ended, no answer says so
            self._channel.sendall(len(data).to_bytes(8, "little") + data)

    def _answer(self, what: str, seconds: float) -> tuple[int, str]:
        """Status and sentence of an answer, in which nothing is believed."""
        channel = self._channel.fileno()
        if not select.select([channel], [], [], seconds)[0]:
            _stop(self._process, self._channel)
            raise KernelError(f"{what} did not end within {seconds:g} seconds and was stopped")
        try:
            # An answer is written at once, and whoever sends less is not waited for.
            said = self._channel.recv(3 + MOST_TEXT, socket.MSG_DONTWAIT)
        except OSError:
            said = b""
        if len(said) < 3:
            _stop(self._process, self._channel)
            raise KernelError(f"{what} ended before it answered")
        text = said[3 : 3 + int.from_bytes(said[1:3], "little")].decode("utf-8", "replace")
        return said[0], "".join(c if c.isprintable() else "?" for c in text)


def _stop(process: subprocess.Popen[bytes], channel: socket.socket) -> None:
    process.kill()
    process.wait()
    channel.close()


def _places(buffers: Sequence[Binding]) -> tuple[list[int], int]:
    """Offsets for copies of the buffers and their size in all; bytes that two share stay shared."""
    offsets: dict[int, int] = {}
    end = 0
    for group in clusters(buffers):
        base = -(-end // _PLACE) * _PLACE - group[0].address
        offsets |= {id(binding): base + binding.address for binding in group}
        end = base + max(binding.address + binding.size for binding in group)
    return [offsets[id(binding)] for binding in buffers], max(end, 1)
