"""The process in which kernels of strangers run: `python -m ingot.runtime.devices.host.worker`.

It loads the engine, gives up opening files for writing, processes and the network, loads the
kernels, gives up opening files at all, and then runs what it is asked to, on memory that it shares
with its parent. What comes back is a status and a sentence, which the parent trusts with nothing.
"""

from __future__ import annotations

import ctypes
import json
import os
import pickle
import resource
import signal
import sys
from collections.abc import Sequence
from typing import Any, Final

from ingot.runtime.devices.host import seccomp
from ingot.runtime.devices.host.binding import Binding
from ingot.runtime.devices.host.compile import BuiltKernel, load_kernel
from ingot.runtime.devices.host.engine import engine
from ingot.runtime.devices.host.kernel import HostKernel, Schedule
from ingot.runtime.errors import DeviceMemoryError, IngotError

DONE, FAILED, NO_MEMORY, READY = range(4)
MOST_TEXT: Final = 4096
"""Bytes of the sentence in an answer."""
_READ_WRITE, _SHARED = 3, 1
_FAILED_MAPPING: Final = 2 ** (8 * ctypes.sizeof(ctypes.c_void_p)) - 1


def answer(channel: int, status: int, text: str = "") -> None:
    """Send one byte of status, two of length, and a sentence."""
    data = text.encode("utf-8", "replace")[:MOST_TEXT]
    os.write(channel, bytes([status]) + len(data).to_bytes(2, "little") + data)


def receive(channel: int, size: int) -> bytes:
    """Exactly `size` bytes; empty where the other end is closed."""
    data = b""
    while len(data) < size:
        part = os.read(channel, size - len(data))
        if not part:
            return b""
        data += part
    return data


class _Memory:
    """The memory that is shared with the parent; it grows."""

    def __init__(self, file: int) -> None:
        self._file: Final = file
        self._library: Final = ctypes.CDLL(None)
        self._map: Final[Any] = self._library.mmap
        self._map.restype = ctypes.c_void_p
        self._map.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
        self._unmap: Final[Any] = self._library.munmap
        self._unmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
        self._address, self._size = 0, 0

    def address(self, size: int) -> int:
        """Where the first `size` bytes are."""
        if size > self._size:
            if self._size:
                self._unmap(self._address, self._size)
            self._address = self._map(None, size, _READ_WRITE, _SHARED, self._file, 0)
            if self._address == _FAILED_MAPPING:
                raise DeviceMemoryError("the sandbox has no memory for the buffers of a kernel")
            self._size = size
        return self._address


def _run(kernels: Sequence[HostKernel], memory: _Memory, request: dict[str, Any]) -> None:
    base = memory.address(request["size"])
    bindings = [
        Binding(name, base + offset, length, writable)
        for name, offset, length, writable in request["bindings"]
    ]
    signal.setitimer(signal.ITIMER_REAL, request["seconds"])
    kernel: HostKernel = kernels[int(request["kernel"])]
    kernel.run(
        bindings,
        tuple(request["groups"]),
        tuple(request["threadgroup_size"]),
        push_constants=bytes.fromhex(request["push_constants"]),
        argument_buffer=request["argument_buffer"],
        schedule=Schedule(workers=1),
    )
    signal.setitimer(signal.ITIMER_REAL, 0)


def main() -> None:
    """`worker CHANNEL MEMORY`: numbers of open files; kernels come first, pickled."""
    channel, memory = int(sys.argv[1]), _Memory(int(sys.argv[2]))
    built: list[BuiltKernel] = pickle.loads(
        receive(channel, int.from_bytes(receive(channel, 8), "little"))
    )
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        engine()
        seccomp.allow_only(seccomp.LOADING)
        kernels = [HostKernel(load_kernel(kernel)) for kernel in built]
        seccomp.allow_only(seccomp.RUNNING)
    except (IngotError, OSError) as error:
        answer(channel, FAILED, str(error))
        return
    answer(channel, READY)
    while head := receive(channel, 8):
        request = json.loads(receive(channel, int.from_bytes(head, "little")))
        try:
            _run(kernels, memory, request)
        except DeviceMemoryError as error:
            answer(channel, NO_MEMORY, str(error))
        except IngotError as error:
            answer(channel, FAILED, str(error))
        else:
            answer(channel, DONE)


if __name__ == "__main__":
    main()
