"""What the kernels of a bundle cost on a profile: work, traffic, and which of them is the bound.

The model is the roofline (Williams, Waterman, Patterson, CACM 52(4), 2009): a kernel takes at least
its flops over the peak rate, and at least its bytes over the bandwidth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Literal

from ingot.targets.bundle import model
from ingot.targets.profiles import Peaks, TargetProfile
from ingot.targets.spirv.work import kernel_work


@dataclass(frozen=True)
class KernelCost:
    """One dispatch of a kernel; sizes in bytes, time in seconds, None where only a call decides."""

    kernel: str
    dispatches: int
    """How often the program's commands name the kernel with this grid and these sizes."""
    threads: int | None
    flops: float | None
    bytes: int | None
    """Every range that is read once, and every range that is written once."""
    threadgroup_memory: int
    registers: int
    """32-bit values of a thread that are alive at once: an estimate."""
    uses_matrix_units: bool
    bound: Literal["compute", "memory"] | None
    least_time: float | None
    """None as well for a profile without peak figures."""

    @property
    def intensity(self) -> float | None:
        """Flops for each byte."""
        return self.flops / self.bytes if self.flops is not None and self.bytes else None


def kernel_costs(variant: model.Variant, profile: TargetProfile) -> list[KernelCost]:
    """The cost of every dispatch of a variant, equal ones counted together."""
    costs: list[KernelCost] = []
    for body in variant.bodies:
        for dispatch in _dispatches(body.commands):
            cost = _cost(dispatch, variant, profile)
            for i, other in enumerate(costs):
                if replace(other, dispatches=1) == cost:
                    costs[i] = replace(other, dispatches=other.dispatches + 1)
                    break
            else:
                costs.append(cost)
    return costs


def _dispatches(commands: Sequence[model.Command]) -> Iterator[model.Dispatch]:
    for command in commands:
        match command:
            case model.Dispatch():
                yield command
            case model.Loop():
                yield from _dispatches(command.body)
            case model.While():
                yield from _dispatches(command.condition)
                yield from _dispatches(command.body)
            case model.If():
                yield from _dispatches(command.then)
                yield from _dispatches(command.otherwise)
            case _:
                pass


def _cost(dispatch: model.Dispatch, variant: model.Variant, profile: TargetProfile) -> KernelCost:
    kernel = variant.kernels[dispatch.kernel]
    entry_point = kernel.spirv_entry_point or kernel.entry_point
    work = kernel_work(kernel.spirv, entry_point, profile.simd_width)
    groups = [g for g in dispatch.groups if isinstance(g, int)]
    threads = prod(groups) * prod(kernel.threadgroup_size) if len(groups) == 3 else None
    flops = work.flops * threads if threads is not None and work.is_bounded else None
    traffic = _traffic(dispatch, kernel)
    bound, time = _bound(flops, traffic, work.uses_matrix_units, profile)
    return KernelCost(
        kernel=kernel.name,
        dispatches=1,
        threads=threads,
        flops=flops,
        bytes=traffic,
        threadgroup_memory=kernel.threadgroup_memory,
        registers=work.registers,
        uses_matrix_units=work.uses_matrix_units,
        bound=bound,
        least_time=time,
    )


def _traffic(dispatch: model.Dispatch, kernel: model.Kernel) -> int | None:
    total = 0
    for ref, binding in zip(dispatch.bindings, kernel.bindings, strict=True):
        if not isinstance(ref.length, int):
            return None
        total += ref.length * (2 if binding.access is model.Access.READ_WRITE else 1)
    return total


def _bound(
    flops: float | None, traffic: int | None, on_matrix_units: bool, profile: TargetProfile
) -> tuple[Literal["compute", "memory"] | None, float | None]:
    if flops is None or traffic is None or profile.peaks is None:
        return None, None
    return roofline(flops, traffic, on_matrix_units, profile.peaks)


def roofline(
    flops: float, traffic: float, on_matrix_units: bool, peaks: Peaks
) -> tuple[Literal["compute", "memory"], float]:
    """What bounds so much arithmetic and so many bytes, and the seconds that it takes at least."""
    rate = peaks.matrix_flops if on_matrix_units else peaks.flops
    compute, memory = flops / rate, traffic / peaks.bandwidth
    return ("compute", compute) if compute > memory else ("memory", memory)
