"""Command buffers: what they check, and what a device implements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ingot.runtime.errors import DeviceMemoryError, HalUsageError
from ingot.runtime.hal.buffers import Buffer, BufferRange
from ingot.runtime.hal.executables import Pipeline

if TYPE_CHECKING:
    from ingot.runtime.hal.device import Device


@dataclass(frozen=True)
class Timing:
    """When one dispatch, fill, copy or update ran, in nanoseconds of the device's clock."""

    label: str
    """The kernel's source name, `fill`, `copy` or `update`."""
    start: int
    end: int


_Moved = Callable[[BufferRange], BufferRange]
"""Says which range stands in for a recorded one."""
PARAMETERS_SIZE: Final = 12
"""Bytes of an indirect dispatch's grid: x, y and z as little-endian u32."""


class CommandBuffer(ABC):
    """A list of commands, recorded once between `begin` and `end`, submitted as often as wanted.

    It may be submitted again while an earlier submission runs only if the semaphores order the two.
    `begin` after `end` records anew (no submission may be pending). It keeps every buffer and
    pipeline that it names alive.
    """

    def __init__(self, device: Device, profiling: bool) -> None:
        self.device: Final = device
        self.profiling: Final = profiling
        self._state = "initial"
        self._labels: list[str] = []
        self._alive: list[Buffer | Pipeline] = []
        self._log: list[Callable[[CommandBuffer, _Moved], None]] = []

    @property
    def recorded(self) -> bool:
        """Whether `end` was called, so that the command buffer can be submitted."""
        return self._state == "recorded"

    def begin(self) -> None:
        """Start recording; what was recorded before is dropped."""
        if self._state == "recording":
            raise HalUsageError("begin was called on a command buffer that is being recorded")
        self._state = "recording"
        self._labels = []
        self._alive = []
        self._log = []
        self._begin()

    def end(self) -> None:
        """Finish recording."""
        self._require_recording("end")
        self._end()
        self._state = "recorded"

    def dispatch(
        self,
        pipeline: Pipeline,
        groups: tuple[int, int, int],
        bindings: Sequence[BufferRange],
        push_constants: bytes = b"",
    ) -> None:
        """Run `groups` threadgroups of a kernel; binding i of the kernel is `bindings[i]`.

        A grid with a zero runs nothing. A binding of zero bytes is legal; the kernel must not
        access it. Offsets are multiples of `Limits.binding_alignment`, the grid is within
        `Limits.max_grid`, and `push_constants` has the size that the kernel declares.
        """
        self._require_recording("dispatch")
        self._check_dispatch(pipeline, bindings, push_constants)
        kernel, bound = pipeline.kernel, tuple(bindings)
        for axis, count, most in zip("xyz", groups, self.device.limits.max_grid, strict=True):
            if not 0 <= count <= most:
                raise HalUsageError(
                    f"kernel '{kernel.name}' asks for {count} threadgroups in {axis}; this device "
                    f"runs 0 to {most}"
                )
        self._log.append(
            lambda to, moved: to.dispatch(pipeline, groups, [*map(moved, bound)], push_constants)
        )
        if 0 in groups:
            return
        self._keep(kernel.name, pipeline, *(part.buffer for part in bound))
        self._dispatch(pipeline, groups, bound, push_constants)

    def dispatch_indirect(
        self,
        pipeline: Pipeline,
        parameters: BufferRange,
        bindings: Sequence[BufferRange],
        push_constants: bytes = b"",
    ) -> None:
        """Run as many threadgroups as `parameters` say when the command runs.

        `parameters` are 12 bytes at a multiple of 4: x, y and z as little-endian u32, within
        `Limits.max_grid` (a larger number is undefined, except on a device that reports it); a zero
        runs nothing. Else as `dispatch`.
        """
        self._require_recording("dispatch_indirect")
        self._check_dispatch(pipeline, bindings, push_constants)
        self._require_owner(parameters.buffer.device)
        if parameters.length != PARAMETERS_SIZE or parameters.offset % 4:
            raise HalUsageError(
                f"the grid of an indirect dispatch is {PARAMETERS_SIZE} bytes at a multiple of 4, "
                f"not {parameters.length} bytes at {parameters.offset}"
            )
        bound = tuple(bindings)
        self._log.append(
            lambda to, moved: to.dispatch_indirect(
                pipeline, moved(parameters), [*map(moved, bound)], push_constants
            )
        )
        buffers = (parameters.buffer, *(part.buffer for part in bound))
        self._keep(pipeline.kernel.name, pipeline, *buffers)
        self._dispatch_indirect(pipeline, parameters, bound, push_constants)

    def fill(self, target: BufferRange, pattern: bytes) -> None:
        """Fill `target` with a pattern of 1, 2 or 4 bytes, repeated from its first byte.

        Any offset and length; the last repetition may be cut off.
        """
        self._require_recording("fill")
        self._require_owner(target.buffer.device)
        if len(pattern) not in (1, 2, 4):
            raise HalUsageError(f"a fill pattern has 1, 2 or 4 bytes, not {len(pattern)}")
        self._log.append(lambda to, moved: to.fill(moved(target), pattern))
        if target.length:
            self._keep("fill", target.buffer)
            self._fill(target, pattern)

    def copy(self, source: BufferRange, target: BufferRange) -> None:
        """Copy between ranges of equal length that do not overlap; any offset and length."""
        self._require_recording("copy")
        self._require_owner(source.buffer.device)
        self._require_owner(target.buffer.device)
        if source.length != target.length:
            raise HalUsageError(
                f"a copy of {source.length} bytes into a range of {target.length} bytes"
            )
        if source.overlaps(target):
            raise HalUsageError("source and target of a copy overlap")
        self._log.append(lambda to, moved: to.copy(moved(source), moved(target)))
        if source.length:
            self._keep("copy", source.buffer, target.buffer)
            self._copy(source, target)

    def update(self, target: BufferRange, data: bytes | memoryview) -> None:
        """Write `data`, as it is now, into `target` when the command runs; any offset and length.

        The command buffer keeps a copy of the bytes: for large ones, `Buffer.write` or a copy from
        a buffer in host memory is better.
        """
        self._require_recording("update")
        self._require_owner(target.buffer.device)
        kept = bytes(data)
        if len(kept) != target.length:
            raise HalUsageError(
                f"an update with {len(kept)} bytes of a range of {target.length} bytes"
            )
        self._log.append(lambda to, moved: to.update(moved(target), kept))
        if kept:
            self._keep("update", target.buffer)
            self._update(target, kept)

    def barrier(self) -> None:
        """Every command before is finished, and its writes visible, before any command after."""
        self._require_recording("barrier")
        self._log.append(lambda to, _: to.barrier())
        self._barrier()

    def rebound(self, replacements: Mapping[Buffer, Buffer]) -> CommandBuffer:
        """Return a new command buffer with the same commands, recorded on other buffers.

        Where a command names a buffer of `replacements`, the new one names the same bytes of its
        replacement, which must have them; other buffers stay. The two are independent: both may be
        submitted, recorded again and dropped.
        """
        if not self.recorded:
            raise HalUsageError("only a recorded command buffer can be bound to other buffers")

        def moved(part: BufferRange) -> BufferRange:
            buffer = replacements.get(part.buffer)
            return part if buffer is None else BufferRange(buffer, part.offset, part.length)

        commands = self.device.create_command_buffer(self.profiling)
        commands.begin()
        for record in self._log:
            record(commands, moved)
        commands.end()
        return commands

    def timings(self) -> tuple[Timing, ...]:
        """When each recorded command but barriers last ran; after the submission completed.

        Only for command buffers created with `profiling`; commands that had nothing to do (zero
        grids and lengths) are left out.
        """
        if not self.profiling or not self.recorded:
            raise HalUsageError("timings are kept only by recorded command buffers with profiling")
        return tuple(
            Timing(label, start, end)
            for label, (start, end) in zip(self._labels, self._timestamps(), strict=True)
        )

    @abstractmethod
    def _begin(self) -> None: ...

    @abstractmethod
    def _end(self) -> None: ...

    @abstractmethod
    def _dispatch(
        self,
        pipeline: Pipeline,
        groups: tuple[int, int, int],
        bindings: Sequence[BufferRange],
        push_constants: bytes,
    ) -> None:
        """Record a dispatch; no zero in `groups`, bindings may have zero bytes."""

    @abstractmethod
    def _dispatch_indirect(
        self,
        pipeline: Pipeline,
        parameters: BufferRange,
        bindings: Sequence[BufferRange],
        push_constants: bytes,
    ) -> None:
        """Record a dispatch whose grid is read when it runs."""

    @abstractmethod
    def _fill(self, target: BufferRange, pattern: bytes) -> None:
        """Record a fill of at least one byte."""

    @abstractmethod
    def _copy(self, source: BufferRange, target: BufferRange) -> None:
        """Record a copy of at least one byte."""

    @abstractmethod
    def _update(self, target: BufferRange, data: bytes) -> None:
        """Record a write of at least one byte."""

    @abstractmethod
    def _barrier(self) -> None: ...

    @abstractmethod
    def _timestamps(self) -> Sequence[tuple[int, int]]:
        """(start, end) in nanoseconds of each command that was handed over, in order."""

    def _check_dispatch(
        self, pipeline: Pipeline, bindings: Sequence[BufferRange], push_constants: bytes
    ) -> None:
        kernel, limits = pipeline.kernel, self.device.limits
        self._require_owner(pipeline.device)
        if len(bindings) != len(kernel.bindings):
            raise HalUsageError(
                f"kernel '{kernel.name}' has {len(kernel.bindings)} bindings, got {len(bindings)}"
            )
        if len(push_constants) != kernel.push_constant_size:
            raise HalUsageError(
                f"kernel '{kernel.name}' takes {kernel.push_constant_size} bytes of push "
                f"constants, got {len(push_constants)}"
            )
        for position, part in enumerate(bindings):
            self._require_owner(part.buffer.device)
            if part.length and part.offset % limits.binding_alignment:
                raise HalUsageError(
                    f"binding {position} of kernel '{kernel.name}' starts at byte {part.offset}, "
                    f"which is not a multiple of the device's {limits.binding_alignment}"
                )
            if part.length > limits.max_binding_size:
                raise DeviceMemoryError(
                    f"binding {position} of kernel '{kernel.name}' has {part.length} bytes; "
                    f"'{self.device.name}' binds at most {limits.max_binding_size}"
                )

    def _keep(self, label: str, *used: Buffer | Pipeline) -> None:
        """Note a command that is handed over, and keep alive what it uses."""
        self._labels.append(label)
        self._alive.extend(used)

    def _require_recording(self, what: str) -> None:
        if self._state != "recording":
            raise HalUsageError(f"{what} was called on a command buffer that is not being recorded")

    def _require_owner(self, owner: Device) -> None:
        if owner is not self.device:
            raise HalUsageError("a command buffer was given something of another device")
