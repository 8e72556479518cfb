"""What can go wrong on the host device, beyond the runtime's common errors."""

from __future__ import annotations

from ingot.runtime.errors import DeviceUnavailableError, KernelError


class ClangNotFoundError(DeviceUnavailableError):
    """No clang that can compile kernels; the sentence says how to install one."""


class KernelCompileError(KernelError):
    """MSL text that does not compile; the sentence holds clang's first error."""


class KernelFault(KernelError):
    """A kernel that did something undefined while it ran."""


class OutOfBoundsError(KernelFault):
    """An access outside of a buffer or a threadgroup variable.

    `name` is the buffer's or variable's name, `offset` the byte offset from its start (negative
    before it), `size` its bytes, `access` is `read`, `write` or `access`; `thread` is the position
    in the threadgroup and `threadgroup` the position in the grid, None where not known.
    """

    def __init__(
        self,
        sentence: str,
        name: str,
        offset: int,
        size: int,
        access: str,
        thread: tuple[int, int, int] | None,
        threadgroup: tuple[int, int, int] | None,
    ) -> None:
        super().__init__(sentence)
        self.name = name
        self.offset = offset
        self.size = size
        self.access = access
        self.thread = thread
        self.threadgroup = threadgroup


class BarrierError(KernelFault):
    """Threads of one threadgroup that wait at different barriers, or end while others wait."""


class ArithmeticFault(KernelFault):
    """An integer division by zero, or of the least value by -1."""


class StackOverflowError(KernelFault):
    """A thread whose private memory does not fit."""
