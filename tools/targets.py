"""`ingot targets`: the profiles that `--target` takes."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from ingot.targets.profiles import PROFILES, TargetProfile


@click.command("targets", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """List the target profiles and their limits.

    \b
    Example:
      ingot targets
      ingot targets --json
    """
    if as_json:
        click.echo(json.dumps([_plain(p) for p in PROFILES.values()], indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("target", "MSL", "SIMD", "threads", "shared KiB", "buffers", "matrix units"):
        table.add_column(heading, justify="left" if heading == "target" else "right")
    for profile in PROFILES.values():
        table.add_row(*_row(profile))
    Console(highlight=False).print(table)


def _row(profile: TargetProfile) -> tuple[str, ...]:
    msl = ".".join(map(str, profile.msl_version)) if profile.msl_version else "-"
    units = sorted({f"{u.m}x{u.n}x{u.k} {u.element}" for u in profile.matrix_units})
    return (
        profile.name,
        msl,
        str(profile.simd_width or "any"),
        str(profile.max_threads_per_threadgroup),
        str(profile.threadgroup_memory // 1024),
        str(profile.max_buffers),
        ", ".join(units) or "-",
    )


def _plain(profile: TargetProfile) -> dict[str, object]:
    plain: dict[str, object] = asdict(profile)
    for name in ("storage_types", "arithmetic_types"):
        plain[name] = sorted(getattr(profile, name))
    return plain
