"""Giving up what a process may ask of Linux: system calls beyond a list are refused after it."""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Iterable
from struct import pack
from typing import Final

from ingot.runtime.errors import DeviceUnavailableError

_SET_NO_NEW_PRIVILEGES, _SET_FILTER, _ALL_THREADS = 38, 1, 1
_LOAD, _JUMP_IF_EQUAL, _AND, _RETURN = 0x20, 0x15, 0x54, 0x06
_ALLOW, _KILL, _NOT_PERMITTED = 0x7FFF0000, 0x80000000, 0x00050001
_NUMBER, _ARCHITECTURE, _THIRD_ARGUMENT = 0, 4, 32
"""Offsets in `struct seccomp_data`."""
_WRITING: Final = 0o1 | 0o2 | 0o100 | 0o1000
"""`O_WRONLY`, `O_RDWR`, `O_CREAT`, `O_TRUNC`."""
_CALLS: Final[dict[str, tuple[int, dict[str, int]]]] = {
    "x86_64": (
        0xC000003E,
        {
            "read": 0,
            "write": 1,
            "close": 3,
            "fstat": 5,
            "lseek": 8,
            "mmap": 9,
            "mprotect": 10,
            "munmap": 11,
            "brk": 12,
            "rt_sigaction": 13,
            "rt_sigprocmask": 14,
            "rt_sigreturn": 15,
            "pread64": 17,
            "mremap": 25,
            "madvise": 28,
            "setitimer": 38,
            "exit": 60,
            "sigaltstack": 131,
            "prctl": 157,
            "futex": 202,
            "clock_gettime": 228,
            "exit_group": 231,
            "openat": 257,
            "newfstatat": 262,
            "seccomp": 317,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "openat": 56,
            "close": 57,
            "lseek": 62,
            "read": 63,
            "write": 64,
            "pread64": 67,
            "newfstatat": 79,
            "fstat": 80,
            "exit": 93,
            "exit_group": 94,
            "futex": 98,
            "setitimer": 103,
            "clock_gettime": 113,
            "sigaltstack": 132,
            "rt_sigaction": 134,
            "rt_sigprocmask": 135,
            "rt_sigreturn": 139,
            "prctl": 167,
            "brk": 214,
            "munmap": 215,
            "mremap": 216,
            "mmap": 222,
            "mprotect": 226,
            "madvise": 233,
            "seccomp": 277,
        },
    ),
}
"""For each processor its number in audits, and the numbers of the calls that are ever allowed."""

RUNNING: Final = frozenset(
    {
        "read",
        "write",
        "mmap",
        "mprotect",
        "munmap",
        "mremap",
        "brk",
        "madvise",
        "futex",
        "rt_sigaction",
        "rt_sigprocmask",
        "rt_sigreturn",
        "sigaltstack",
        "setitimer",
        "clock_gettime",
        "exit",
        "exit_group",
    }
)
"""What running a kernel needs: memory of its own, signals, and the files that are open."""
LOADING: Final = RUNNING | {
    "openat",
    "close",
    "fstat",
    "newfstatat",
    "pread64",
    "lseek",
    "prctl",
    "seccomp",
}
"""What loading a library and the next filter need beside that; files are opened for reading."""


def require() -> None:
    """Raise `DeviceUnavailableError` where there is no filter for this system."""
    if sys.platform != "linux" or platform.machine() not in _CALLS:
        raise DeviceUnavailableError(
            "the host device keeps bundles from strangers apart on Linux only, on x86-64 and "
            "AArch64; run this one on vulkan, or trust it"
        )


def allow_only(calls: Iterable[str]) -> None:
    """Refuse every other system call of this process, and of what it starts, with `EPERM`.

    Of all its threads: NumPy has started some, and whoever can write to their stacks has them do
    what it likes. Raises `OSError` where the kernel does not take the filter.
    """
    program = _program(frozenset(calls))
    buffer = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: a count of 16 bits, and a pointer.
    header = pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    library = ctypes.CDLL(None, use_errno=True)
    seccomp = ctypes.c_long(_CALLS[platform.machine()][1]["seccomp"])
    if library.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or library.syscall(
        seccomp, _SET_FILTER, _ALL_THREADS, header
    ):
        raise OSError(ctypes.get_errno(), "this kernel takes no filter of system calls")


def _program(calls: frozenset[str]) -> bytes:
    """The filter in the classic BPF of seccomp(2)."""
    audit, numbers = _CALLS[platform.machine()]
    code = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_IF_EQUAL, 1, 0, audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    for name in sorted(calls - {"openat"}):
        code += [(_JUMP_IF_EQUAL, 0, 1, numbers[name]), (_RETURN, 0, 0, _ALLOW)]
    if "openat" in calls:
        code += [
            (_JUMP_IF_EQUAL, 0, 4, numbers["openat"]),
            (_LOAD, 0, 0, _THIRD_ARGUMENT),
            (_AND, 0, 0, _WRITING),
            (_JUMP_IF_EQUAL, 0, 1, 0),
            (_RETURN, 0, 0, _ALLOW),
        ]
    code.append((_RETURN, 0, 0, _NOT_PERMITTED))
    return b"".join(pack("<HBBI", *instruction) for instruction in code)
