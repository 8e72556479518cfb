"""The table of the target profiles."""

from __future__ import annotations

from ingot.targets.profiles import PROFILES, TargetProfile
from reference.text import code, table


def _row(profile: TargetProfile) -> tuple[str, ...]:
    version = profile.msl_version
    peaks = profile.peaks
    return (
        code(profile.name),
        ".".join(map(str, version)) if version else "-",
        str(profile.simd_width or "any"),
        str(profile.max_threads_per_threadgroup),
        f"{profile.threadgroup_memory // 1024} KiB",
        str(profile.max_buffers),
        _bytes(profile.max_binding) if profile.max_binding else "any",
        ", ".join(sorted({f"{u.m}x{u.n}x{u.k} {u.element}" for u in profile.matrix_units})) or "-",
        f"{peaks.bandwidth / 1e9:g} GB/s, {peaks.flops / 1e12:g} Tflop/s ({peaks.source})"
        if peaks
        else "-",
    )


def _bytes(count: int) -> str:
    return f"{round(count / (1 << 20))} MiB"


def overview() -> str:
    """One row for each profile that `--target` takes."""
    headings = (
        "target",
        "MSL",
        "SIMD width",
        "threads of a threadgroup",
        "threadgroup memory",
        "buffers",
        "one binding",
        "matrix units",
        "peaks of the cost model",
    )
    return table(headings, map(_row, PROFILES.values()))
