"""How a search over schedules looks, on its way and at its end, and how a database of them does."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from ingot.tools.table import columns

if TYPE_CHECKING:
    from ingot.compiler.driver.schedule_database import FoundSchedule
    from ingot.tuning.report import KernelReport, OnProgress, Progress, Report
    from ingot.tuning.statistics import Ratio

_HEADINGS = ("kernel", "times", "built-in us", "tuned us", "speed-up", "trials", "refused")
_SHOWN = ("target", "kernel", "device", "compiler", "us", "speed-up", "found")


@contextmanager
def tuning_display() -> Generator[OnProgress]:
    """A bar on a terminal; elsewhere a line for what is worth one."""
    if not sys.stderr.isatty():
        yield lambda now: click.echo(now.message, err=True) if now.message else None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    text = TextColumn("{task.description}")
    with Bar(
        text, BarColumn(), TimeRemainingColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task("tuning", total=None)

        def show(now: Progress) -> None:
            if now.message:
                bar.console.print(now.message, markup=False, highlight=False)
            spent = min(now.spent, now.budget)
            bar.update(task, description=_state(now), completed=spent, total=now.budget)

        yield show


def _state(now: Progress) -> str:
    if not now.kernel:
        return "measuring the program"
    return f"{now.kernel}: {now.trials} trials, {1 / now.best:.2f} times as fast"


def report_text(report: Report) -> str:
    """A table with a line for each kernel, and what became of the program."""
    ordered = sorted(report.kernels, key=lambda k: -k.seconds * max(1, k.kernel.dispatches))
    parts = [columns(_HEADINGS, map(_row, ordered), right=_HEADINGS[1:]), ""]
    parts += [f"{k.kernel.name}: {k.note}" for k in ordered if k.note]
    parts += [
        f"{k.kernel.name}: this is a bug in Ingot, please report it: {bug}"
        for k in ordered
        for bug in k.bugs[:1]
    ]
    parts.append(_program(report))
    return "\n".join(parts)


def _row(one: KernelReport) -> tuple[str, ...]:
    tuned = one.seconds * one.best.median if one.best is not None else one.seconds
    return (
        one.kernel.name,
        str(one.kernel.dispatches),
        _microseconds(one.seconds),
        _microseconds(tuned),
        f"{one.seconds / tuned:.2f}" if one.seconds and tuned else "",
        str(one.trials),
        str(one.refused),
    )


def _program(report: Report) -> str:
    how = "by the device's clock" if report.device.has_timestamps else "by the clock of the host"
    where = f"on {report.device.name}, {how}, in {report.spent:.0f} s"
    if report.note:
        return f"the program: {report.note}; the compiler's schedules stay ({where})"
    if report.program is None:
        return f"the program: the compiler's schedules stay ({where})"
    stays = (
        "" if report.is_confirmed else "; that is not beyond noise: the compiler's schedules stay"
    )
    return f"the program: {_speed_up(report.program)}{stays} ({where})"


def _speed_up(ratio: Ratio) -> str:
    bounds = f"between {1 / ratio.high:.2f} and {1 / ratio.low:.2f}" if ratio.low else "uncertain"
    return f"{1 / ratio.median:.2f} times as fast, {bounds} in {ratio.rounds} rounds"


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.1f}" if seconds else ""


def database_listing(rows: Sequence[FoundSchedule]) -> str:
    """A table of what a database holds."""
    lines = [
        (
            row.target,
            row.kernel,
            row.device,
            row.compiler,
            _microseconds(row.seconds * row.ratio),
            f"{1 / row.ratio:.2f}",
            row.found,
        )
        for row in rows
    ]
    return columns(_SHOWN, lines, right=("us", "speed-up"))
