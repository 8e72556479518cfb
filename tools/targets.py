"""`ingot targets`: the profiles that `--target` takes."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from ingot.targets.profiles import PROFILES, TargetProfile
from ingot.tools.table import columns


@click.command("targets", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--pipeline",
    "pipeline_of",
    metavar="TARGET",
    help="Print the pass pipeline of a target, one stage a line, for `ingot opt -p`.",
)
def command(as_json: bool, pipeline_of: str | None) -> None:
    """List the target profiles and their limits.

    \b
    Example:
      ingot targets
      ingot targets --pipeline metal:apple7
    """
    if pipeline_of is not None:
        from ingot.compiler.driver.options import CompileOptions
        from ingot.compiler.driver.pipelines import STAGES
        from ingot.tools.compile import check_target_names

        check_target_names((pipeline_of,))
        for stage in STAGES:
            options = CompileOptions(targets=(pipeline_of,))
            click.echo(stage.pipeline(options, PROFILES[pipeline_of]))
        return
    if as_json:
        click.echo(json.dumps([_plain(p) for p in PROFILES.values()], indent=2))
        return
    headings = ("target", "MSL", "SIMD", "threads", "KiB", "buffers", "matrix units")
    click.echo(columns(headings, map(_row, PROFILES.values()), right=headings[1:-1]))


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
