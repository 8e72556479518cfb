"""The table of the target profiles."""

from __future__ import annotations

from ingot.targets.profiles import PROFILES, TargetProfile
from reference.text import code, prose, table


def _limits(profile: TargetProfile) -> tuple[str, ...]:
    version = profile.msl_version
    return (
        code(profile.name),
        ".".join(map(str, version)) if version else "-",
        str(profile.simd_width or "any"),
        str(profile.max_threads_per_threadgroup),
        f"{profile.threadgroup_memory // 1024} KiB",
        str(profile.max_buffers),
        f"{round(profile.max_binding / (1 << 20))} MiB" if profile.max_binding else "any",
    )


def _rates(profile: TargetProfile) -> tuple[str, ...]:
    units = sorted({f"{u.m}x{u.n}x{u.k} {u.element}" for u in profile.matrix_units})
    peaks = profile.peaks
    if peaks is None:
        return code(profile.name), ", ".join(units) or "-", "-", "-", "-", ""
    return (
        code(profile.name),
        ", ".join(units) or "-",
        f"{peaks.bandwidth / 1e9:g}",
        f"{peaks.flops / 1e12:.3g}",
        f"{peaks.matrix_flops / 1e12:.3g}" if units else "-",
        prose(peaks.source),
    )


def overview() -> str:
    """What each profile that `--target` takes allows, and what the cost model expects of it."""
    limits = table(
        (
            "target",
            "MSL",
            "SIMD width",
            "threads of a threadgroup",
            "threadgroup memory",
            "buffers",
            "one binding",
        ),
        map(_limits, PROFILES.values()),
    )
    rates = table(
        ("target", "matrix units", "GB/s", "Tflop/s of f32", "on matrix units", "who says so"),
        map(_rates, PROFILES.values()),
    )
    return f"{limits}\nWhat the cost model takes for the peaks of each:\n\n{rates}"
