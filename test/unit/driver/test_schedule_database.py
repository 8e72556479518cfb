"""The database of schedules: rows come back, processes write at once, other files are refused."""

from __future__ import annotations

import json
import sqlite3
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from ingot.compiler.driver.schedule_database import (
    FoundSchedule,
    ScheduleDatabaseError,
    database_text,
    read_database,
    store_schedules,
)

ROW = {"kind": "row", "threadgroup": [1], "thread": [1], "threads": 32}


def found(kernel="k", device="d", when="2026-01-01", **changes):
    return FoundSchedule("metal:apple7", kernel, device, ROW, 0.5, 1e-3, when, **changes)


def test_rows_come_back_and_are_replaced(tmp_path):
    path = tmp_path / "found.db"
    store_schedules(path, [found("a"), found("b")])
    store_schedules(path, [found("a", when="2026-01-02")])
    assert read_database(path) == [found("a", when="2026-01-02"), found("b")]


def test_readers_need_no_more_than_the_file(tmp_path):
    path = tmp_path / "found.db"
    store_schedules(path, [found()])
    assert read_database(path) == [found()]
    assert list(tmp_path.iterdir()) == [path]
    with sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_a_compilation_sees_the_latest_of_its_targets_and_compiler(tmp_path):
    path = tmp_path / "found.db"
    rows = [found(device="x", when="2026-01-02"), found(device="y"), found(compiler="0.0.1")]
    store_schedules(path, [*rows, found("other")])
    entries = json.loads(database_text(path, ["metal:apple7"]))["schedules"]
    assert [entry["kernel"] for entry in entries] == ["k", "other"]
    assert entries[0] == {"target": "metal:apple7", "kernel": "k", "schedule": ROW}
    assert json.loads(database_text(path, ["vulkan:generic"])) == {"schedules": []}


def store_one(path, number):
    store_schedules(path, [found(f"{number:02}")])


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    path = tmp_path / "found.db"
    with ProcessPoolExecutor(4, mp_context=get_context("fork")) as pool:
        list(pool.map(store_one, [path] * 16, range(16)))
    assert [row.kernel for row in read_database(path)] == [f"{n:02}" for n in range(16)]


def garbage(path):
    path.write_bytes(b"this is no database" * 100)


def other_program(path):
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE bookmarks (url TEXT)")


def newer(path):
    store_schedules(path, [found()])
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 9")


def cut(path):
    store_schedules(path, [found(f"{n:04}" * 20) for n in range(200)])
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (garbage, "cannot use this schedule database: file is not a database"),
        (other_program, "this is another program's database"),
        (newer, "a schedule database of format 9; this version reads 1"),
        (cut, "cannot use this schedule database: database disk image is malformed"),
        (lambda path: path.touch(), "this is no schedule database"),
        (lambda path: None, "no such file"),
    ],
)
def test_what_cannot_be_read_ends_in_a_sentence(tmp_path, damage, sentence):
    path = tmp_path / "found.db"
    damage(path)
    with pytest.raises(ScheduleDatabaseError) as caught:
        read_database(path)
    assert str(caught.value) == f"{path}: {sentence}"
