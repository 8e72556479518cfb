"""The cost report as text and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from ingot.targets.profiles import PROFILES
from ingot.tools.table import columns
from ingot.tools.units import scaled, time_text

if TYPE_CHECKING:
    from ingot.compiler.driver.cost import KernelCost
    from ingot.targets.bundle.model import Variant

_HEADINGS = (
    "kernel",
    "times",
    "flops",
    "bytes",
    "flop/byte",
    "shared",
    "registers",
    "bound",
    "at least",
)


def cost_text(variant: Variant) -> str:
    """A table of the kernels, and where the profile's peak figures come from."""
    from ingot.compiler.driver.cost import kernel_costs

    profile = PROFILES[variant.target]
    costs = kernel_costs(variant, profile)
    table = columns(_HEADINGS, map(_row, costs), right=_HEADINGS[1:7] + _HEADINGS[8:])
    times = [cost.least_time for cost in costs]
    lines = [table]
    if peaks := profile.peaks:
        known = [t * cost.dispatches for t, cost in zip(times, costs, strict=True) if t is not None]
        lines += [
            "",
            f"all kernels: at least {time_text(sum(known))}",
            f"peaks of {variant.target}: {peaks.bandwidth / 1e9:.0f} GB/s, "
            f"{peaks.flops / 1e12:.2f} Tflop/s, {peaks.matrix_flops / 1e12:.2f} on matrix units "
            f"({peaks.source})",
        ]
    return "\n".join(lines)


def cost_json(variant: Variant) -> str:
    """The fields of every `KernelCost`, and its intensity."""
    from ingot.compiler.driver.cost import kernel_costs

    costs = kernel_costs(variant, PROFILES[variant.target])
    return json.dumps([{**asdict(c), "intensity": c.intensity} for c in costs], indent=2)


def _row(cost: KernelCost) -> tuple[str, ...]:
    unit = " (matrix)" if cost.uses_matrix_units else ""
    return (
        cost.kernel,
        str(cost.dispatches),
        scaled(cost.flops).strip() if cost.flops is not None else "-",
        scaled(cost.bytes).strip() if cost.bytes is not None else "-",
        f"{cost.intensity:.2f}" if cost.intensity is not None else "-",
        str(cost.threadgroup_memory),
        str(cost.registers),
        f"{cost.bound}{unit}" if cost.bound else "-",
        time_text(cost.least_time) or "-",
    )
