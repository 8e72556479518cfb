"""The cost report as text and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from ingot.targets.profiles import PROFILES
from ingot.tools.table import columns

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
            f"all kernels: at least {_time(sum(known))}",
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
        _scaled(cost.flops),
        _scaled(cost.bytes),
        f"{cost.intensity:.2f}" if cost.intensity is not None else "-",
        str(cost.threadgroup_memory),
        str(cost.registers),
        f"{cost.bound}{unit}" if cost.bound else "-",
        _time(cost.least_time),
    )


def _scaled(value: float | None) -> str:
    if value is None:
        return "-"
    for unit, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= scale:
            return f"{value / scale:.2f} {unit}"
    return f"{value:.0f}"


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e6:.3g} us"
