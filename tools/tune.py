"""`ingot tune`: look for schedules that make a program faster on a device."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from ingot.tools.report import (
    CommandLineError,
    Sources,
    debug_option,
    demote_f64_option,
    fail,
    math_option,
    read_text,
    reported,
)

if TYPE_CHECKING:
    from ingot.compiler.driver.options import MathMode
    from ingot.tuning.workers import Workers

_FASTEST_LIMIT, _SLOWEST_LIMIT, _LIMIT_SHARE = 15.0, 60.0, 0.125
"""Seconds that a candidate may take to build and load: that share of the budget, in between."""


def _show(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is None or ctx.resilient_parsing:
        return
    from ingot.compiler.driver.schedule_database import read_database
    from ingot.tools.tune_text import database_listing

    with reported(debug=False):
        click.echo(database_listing(read_database(Path(value))))
    ctx.exit()


@click.command("tune", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file")
@click.option("-o", "--output", required=True, metavar="FILE", help="Write the schedules here.")
@click.option(
    "--device",
    default="host",
    show_default=True,
    metavar="DEVICE",
    help="Measure on this device (see `ingot devices`).",
)
@click.option("--target", metavar="TARGET", help="Compile for this target; default: the device's.")
@click.option("--function", metavar="NAME", help="Measure this function (default: the only one).")
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    default=5.0,
    show_default=True,
    help="How long to search, all kernels together.",
)
@click.option(
    "--trials", type=click.IntRange(min=1), metavar="N", help="The most candidates of a kernel."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of what is left to chance.")
@click.option(
    "--schedule-db",
    "database",
    metavar="FILE",
    help="Begin with what this database holds, and add what is found.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Build and measure on the workers of this dask scheduler, as tcp://host:port.",
)
@math_option("As `ingot compile` has it.")
@demote_f64_option
@click.option(
    "--show",
    metavar="FILE",
    is_eager=True,
    expose_value=False,
    callback=_show,
    help="Show what a database of schedules holds, and do nothing else.",
)
@debug_option
def command(
    file: str,
    output: str,
    device: str,
    target: str | None,
    function: str | None,
    minutes: float,
    trials: int | None,
    seed: int,
    database: str | None,
    scheduler: str | None,
    math: str,
    demote_f64: bool,
    debug: bool,
) -> None:
    """Search for the schedules under which the kernels of FILE are fastest on a device.

    What is written is what was faster beyond noise, for `ingot compile --schedule`; nothing, where
    that is nothing. A search that was killed continues with the same command.

    \b
    Example:
      ingot tune model.mlir --device vulkan --minutes 10 -o model.json
      ingot compile model.mlir --target vulkan:hopper --schedule model.json -o model.ingot
    """
    if output == "-":
        raise CommandLineError("error: -o needs a file: the journal of the search lies beside it")
    sources = Sources()
    with reported(debug, sources):
        text, name = read_text(file, sources)
        _check_target(target)
        from ingot.tools.tune_text import report_text, tuning_display
        from ingot.tuning.report import Request
        from ingot.tuning.tune import tune

        request = Request(
            text=text,
            filename=name,
            device=device,
            seconds=60 * minutes,
            target=target or "",
            function=function or "",
            trials=trials,
            seed=seed,
            math=cast("MathMode", math),
            demote_f64=demote_f64,
        )
        limit = min(max(_FASTEST_LIMIT, _LIMIT_SHARE * request.seconds), _SLOWEST_LIMIT)
        workers = _workers(scheduler, limit)
        try:
            with tuning_display() as show:
                place = Path(database) if database is not None else None
                report = tune(request, Path(output), place, workers, show)
        except KeyboardInterrupt:
            fail(f"stopped; the same command continues from {output}.journal")
        finally:
            workers.close()
        click.echo(report_text(report))


def _check_target(target: str | None) -> None:
    from ingot.tools.compile import check_target_names

    check_target_names((target,) if target is not None else ())


def _workers(scheduler: str | None, seconds: float) -> Workers:
    if scheduler is None:
        from ingot.tuning.workers import LocalWorkers

        return LocalWorkers(seconds)
    from ingot.tuning.cluster import ClusterWorkers

    return ClusterWorkers(scheduler, seconds)
