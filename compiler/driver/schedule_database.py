"""Schedules that searches found, in an SQLite file that many processes read and write.

A row is known by what it holds for: the kernel (its ops, shapes and types, as `kernel_key` spells
them), the target, the device it was measured on, and the version of the compiler. For a compilation
the database is one more file of schedules, `database_text`, which names no device: of several for
one kernel the latest counts. Nothing here imports the compiler.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingot.targets import VERSION
from ingot.targets.bundle.errors import IngotError

_FORMAT = 1
_APPLICATION = 0x494E474F
"""`INGO` in SQLite's `application_id`, so that another program's database is not written to."""
_PATIENCE = 30.0
"""Seconds to wait for another process that writes."""
_TABLE = """
CREATE TABLE schedules (
  target TEXT NOT NULL, kernel TEXT NOT NULL, device TEXT NOT NULL, compiler TEXT NOT NULL,
  schedule TEXT NOT NULL, ratio REAL NOT NULL, seconds REAL NOT NULL, found TEXT NOT NULL,
  PRIMARY KEY (target, kernel, device, compiler)
) WITHOUT ROWID
"""


class ScheduleDatabaseError(IngotError):
    """A file that is no database of schedules, or cannot be used as one: one sentence."""


@dataclass(frozen=True)
class FoundSchedule:
    """A row of the database."""

    target: str
    kernel: str
    device: str
    schedule: Mapping[str, Any]
    """As a file of schedules has it."""
    ratio: float
    """Time by that of the compiler's own choice."""
    seconds: float
    """Of one run."""
    found: str
    """UTC date and time, ISO 8601."""
    compiler: str = VERSION


def store_schedules(path: Path, found: Sequence[FoundSchedule]) -> None:
    """Add rows, in place of those for the same kernel, target, device and compiler; the file is
    made where there is none. Raises `ScheduleDatabaseError`."""
    rows = [
        (
            f.target,
            f.kernel,
            f.device,
            f.compiler,
            json.dumps(dict(f.schedule)),
            f.ratio,
            f.seconds,
            f.found,
        )
        for f in found
    ]
    with _opened(path, create=True) as database, database:
        database.executemany("INSERT OR REPLACE INTO schedules VALUES (?,?,?,?,?,?,?,?)", rows)


def read_database(path: Path) -> list[FoundSchedule]:
    """All rows, by target, kernel and device. Raises `ScheduleDatabaseError`."""
    with _opened(path, create=False) as database:
        rows = database.execute(
            "SELECT target, kernel, device, schedule, ratio, seconds, found, compiler"
            " FROM schedules ORDER BY target, kernel, device, compiler"
        ).fetchall()
        return [
            FoundSchedule(target, kernel, device, json.loads(schedule), *rest)
            for target, kernel, device, schedule, *rest in rows
        ]


def database_text(path: Path, targets: Sequence[str]) -> str:
    """What this compiler may use for some targets, as the text of a file of schedules."""
    latest: dict[tuple[str, str], FoundSchedule] = {}
    for row in sorted(read_database(path), key=lambda row: (row.found, row.device)):
        if row.target in targets and row.compiler == VERSION:
            latest[row.target, row.kernel] = row
    entries = [
        {"target": row.target, "kernel": row.kernel, "schedule": dict(row.schedule)}
        for _, row in sorted(latest.items())
    ]
    return json.dumps({"schedules": entries})


@contextmanager
def _opened(path: Path, *, create: bool) -> Generator[sqlite3.Connection]:
    """The database, with its table; every failure of SQLite becomes a sentence."""
    if not create and not path.exists():
        raise ScheduleDatabaseError(f"{path}: no such file")
    database = None
    mode = "rwc" if create else "ro"
    try:
        place = f"{path.resolve().as_uri()}?mode={mode}"
        database = sqlite3.connect(place, timeout=_PATIENCE, uri=True)
        _check(path, database, create=create)
        yield database
    except (sqlite3.Error, json.JSONDecodeError) as error:
        raise ScheduleDatabaseError(f"{path}: cannot use this schedule database: {error}") from None
    finally:
        if database is not None:
            database.close()


def _check(path: Path, database: sqlite3.Connection, *, create: bool) -> None:
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if application == _APPLICATION:
        if version != _FORMAT:
            raise ScheduleDatabaseError(
                f"{path}: a schedule database of format {version}; this version reads {_FORMAT}"
            )
        return
    (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables or application:
        raise ScheduleDatabaseError(f"{path}: this is another program's database")
    if not create:
        raise ScheduleDatabaseError(f"{path}: this is no schedule database")
    # Of several processes that find the file empty one makes the table.
    with database:
        database.execute("BEGIN IMMEDIATE")
        (application,) = database.execute("PRAGMA application_id").fetchone()
        if application != _APPLICATION:
            database.execute(_TABLE)
            database.execute(f"PRAGMA application_id = {_APPLICATION}")
            database.execute(f"PRAGMA user_version = {_FORMAT}")
