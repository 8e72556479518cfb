"""From a program to a file of schedules: a search with its journal, output and database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from ingot.compiler.driver.cache import cache_key
from ingot.compiler.driver.schedule_database import (
    FoundSchedule,
    database_text,
    store_schedules,
)
from ingot.compiler.driver.schedules import (
    ScheduleEntry,
    read_schedules,
    schedule_values,
    schedules_text,
)
from ingot.tuning.journal import Journal
from ingot.tuning.measure import DeviceDescription
from ingot.tuning.process import WorkerDied
from ingot.tuning.report import OnProgress, Report, Request, TuningError
from ingot.tuning.session import Session
from ingot.tuning.workers import Workers


def tune(
    request: Request,
    output: Path,
    database: Path | None,
    workers: Workers,
    on_progress: OnProgress = lambda _: None,
) -> Report:
    """Search, write the schedules that stay to `output`, and add them to the database.

    A request without a target gets the device's. `output.journal` is there while the search runs,
    and the database afterwards, even if nothing was found.
    Raises what compiling the program raises, `TuningError`, `ScheduleDatabaseError`, and what the
    device reports.
    """
    try:
        device = workers.describe(request.device)
    except WorkerDied as error:
        raise TuningError(f"the device {request.device} cannot be asked: {error}") from None
    request = replace(request, target=request.target or device.target)
    if database is not None and database.exists():
        request = replace(request, hints=_hints(database, request.target))
    journal = _journal(output, request, device)
    try:
        report = Session(request, device, workers, journal, on_progress).run()
        output.write_text(schedules_text(report.entries), encoding="utf-8")
    except OSError as error:
        raise TuningError(f"{output}: cannot write: {error.strerror or error}") from None
    finally:
        journal.close()
    if database is not None:
        store_schedules(database, _rows(report) if report.is_confirmed else [])
    journal.remove()
    return report


def _hints(database: Path, target: str) -> tuple[ScheduleEntry, ...]:
    return read_schedules(database_text(database, [target]), str(database))


def _journal(output: Path, request: Request, device: DeviceDescription) -> Journal:
    """What the search depends on is what it is about; how long it takes is not."""
    about = cache_key(
        {
            "text": request.text,
            "function": request.function,
            "target": request.target,
            "device": device.name,
            "math": request.math,
            "demote_f64": request.demote_f64,
            "seed": request.seed,
        }
    )
    path = output.with_name(f"{output.name}.journal")
    try:
        return Journal(path, about)
    except OSError as error:
        raise TuningError(f"{path}: cannot write: {error.strerror or error}") from None


def _rows(report: Report) -> Sequence[FoundSchedule]:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return [
        FoundSchedule(
            target=one.kernel.target,
            kernel=one.kernel.key,
            device=report.device.name,
            schedule=schedule_values(one.schedule),
            ratio=one.best.median,
            seconds=one.seconds,
            found=now,
        )
        for one in report.kernels
        if one.schedule is not None and one.best is not None
    ]
