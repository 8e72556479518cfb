"""The pass `kernel-select-schedule`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from ingot.compiler.analysis.kernel_shape import describe_kernel, is_kernel
from ingot.compiler.analysis.schedule import select_schedule
from ingot.targets.profiles import PROFILES


@dataclass(frozen=True)
class KernelSelectSchedulePass(ModulePass):
    """Attach to every kernel (L2) the schedule that fits the target profile; changes nothing else.

    before:  func.func private @k(...) attributes {ingot.kernel} { ... }
    after:   func.func private @k(...) attributes {ingot.kernel, ingot.schedule = {kind = ...,
             threadgroup = array<i64: 4, 64>, thread = array<i64: 1, 4>, ...}} { ... }

    A schedule that is already there is kept.
    """

    name = "kernel-select-schedule"

    target: str = "vulkan:generic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        profile = PROFILES.get(self.target)
        if profile is None:
            raise PassFailedException(f"unknown target '{self.target}'")
        for func in op.ops:
            if not isinstance(func, FuncOp) or not is_kernel(func):
                continue
            if "ingot.schedule" not in func.attributes:
                schedule = select_schedule(describe_kernel(func), profile)
                func.attributes["ingot.schedule"] = schedule.to_attr()
