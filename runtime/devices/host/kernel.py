"""Running a compiled kernel: binding memory, choosing an order, reporting faults."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from ingot.runtime.devices.host.binding import Binding, BoundBuffers
from ingot.runtime.devices.host.compile import CompiledKernel, KernelSource, compile_kernels
from ingot.runtime.devices.host.engine import MAX_THREADS, Dispatch, Fault, engine
from ingot.runtime.devices.host.faults import fault_error
from ingot.runtime.errors import HalUsageError

MAX_WORKERS = 16
"""OS threads of one dispatch; each may keep a stack for every thread of a threadgroup."""
_SMALL_DISPATCH = 4096
"""Threads below which starting another OS thread costs more than it brings."""


class Order(IntEnum):
    """In which order threads run; the numbers are those of dispatch.h."""

    FORWARD = 0
    """Each thread up to its next barrier, first to last; threadgroups first to last."""
    REVERSE = 1
    """The same from last to first, threadgroups too."""
    SIMDGROUPS = 2
    """Each SIMD-group as far as it comes before the next one starts."""
    SIMDGROUPS_REVERSE = 3
    """The same from the last SIMD-group and threadgroup to the first."""
    RANDOM = 4
    """Shuffled anew after every barrier; threadgroups shuffled too."""


@dataclass(frozen=True)
class Schedule:
    """How the threads of a dispatch take turns; the same schedule on one worker repeats exactly."""

    order: Order = Order.FORWARD
    seed: int = 0
    """Of the random order."""
    workers: int = 0
    """OS threads that run threadgroups at the same time; 0: one for each core, 1: repeatable."""
    poison: int = 0xFF
    """The byte that fills threadgroup memory before use: 0xFF makes NaN and -1."""


DEFAULT_SCHEDULE = Schedule()

RACE_SCHEDULES = (
    Schedule(Order.FORWARD),
    Schedule(Order.SIMDGROUPS, poison=0x7F),
    Schedule(Order.SIMDGROUPS_REVERSE),
    Schedule(Order.REVERSE),
    Schedule(Order.RANDOM, seed=1),
    Schedule(Order.RANDOM, seed=2),
)
"""Schedules under which a kernel with a missing barrier rarely gives the same result."""


@dataclass(frozen=True)
class HostKernel:
    """A kernel ready to run; see `compile_kernel`."""

    compiled: CompiledKernel

    @property
    def name(self) -> str:
        """The kernel's name in the MSL text."""
        return self.compiled.signature.name

    def run(
        self,
        buffers: Sequence[Binding],
        groups: tuple[int, int, int],
        threadgroup_size: tuple[int, int, int],
        *,
        push_constants: bytes = b"",
        argument_buffer: bool = False,
        threadgroup_lengths: Mapping[int, int] | None = None,
        schedule: Schedule = DEFAULT_SCHEDULE,
        guard: bool = True,
    ) -> None:
        """Run `groups` threadgroups and return when all are done.

        `buffers[i]` is bound to `[[buffer(i)]]`, or with `argument_buffer` is pointer i of the
        structure at buffer 0. `push_constants` go to the one buffer parameter that is left.
        `threadgroup_lengths` gives the bytes of `[[threadgroup(n)]]` arguments by n. With `guard`
        every buffer that does not end at inaccessible memory is copied to where it does, so that
        an access past it is caught; without it only the pages around whole buffers are.

        Raises `KernelFault` and its subclasses for what the kernel did wrong, `HalUsageError` for
        a call that does not fit the kernel.
        """
        count = threadgroup_size[0] * threadgroup_size[1] * threadgroup_size[2]
        if not 1 <= count <= MAX_THREADS:
            raise HalUsageError(
                f"kernel '{self.name}': a threadgroup of {count} threads; the host device runs 1 "
                f"to {MAX_THREADS}"
            )
        if 0 in groups:
            return
        bound = BoundBuffers(self.compiled, buffers, push_constants, argument_buffer, guard)
        lengths = self._threadgroup_lengths(threadgroup_lengths or {})
        in_order = schedule.order is Order.FORWARD
        dispatch = Dispatch(
            thread_entry=self.compiled.thread_entry,
            group_entry=self.compiled.group_entry if in_order else None,
            buffers=bound.pointers,
            threadgroup_lengths=(ctypes.c_uint64 * max(1, len(lengths)))(*lengths),
            threadgroup_buffers=len(lengths),
            groups=(ctypes.c_uint32 * 3)(*groups),
            threadgroup_size=(ctypes.c_uint32 * 3)(*threadgroup_size),
            order=int(schedule.order),
            seed=schedule.seed,
            workers=_workers(schedule, groups, count),
            poison=schedule.poison,
        )
        fault = Fault()
        failed = engine().library.ingot_run(ctypes.byref(dispatch), ctypes.byref(fault))
        try:
            if failed:
                raise fault_error(self.compiled, bound, fault)
            bound.check_margins()
        finally:
            bound.finish()

    def _threadgroup_lengths(self, given: Mapping[int, int]) -> list[int]:
        wanted = [
            p.threadgroup for p in self.compiled.signature.parameters if p.threadgroup is not None
        ]
        for index in wanted:
            if index not in given:
                raise HalUsageError(
                    f"kernel '{self.name}' needs the length of threadgroup argument {index}"
                )
        return [given.get(index, 0) for index in range(max(wanted, default=-1) + 1)]


def compile_kernel(msl: str, entry_point: str, optimization: int = 1) -> HostKernel:
    """Compile the kernel `entry_point` of an MSL text, or take it from the cache.

    Raises `KernelCompileError` or `ClangNotFoundError`.
    """
    return HostKernel(compile_kernels([KernelSource(msl, entry_point, optimization)])[0])


def _workers(schedule: Schedule, groups: tuple[int, int, int], threads_per_group: int) -> int:
    total = groups[0] * groups[1] * groups[2]
    wanted = schedule.workers or min(os.cpu_count() or 1, MAX_WORKERS)
    if not schedule.workers and total * threads_per_group < _SMALL_DISPATCH:
        wanted = 1
    return min(wanted, total)
