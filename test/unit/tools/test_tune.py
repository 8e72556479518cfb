"""`ingot tune` as a user runs it: to the end, killed and continued, and with what it leaves."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from ingot.compiler.driver.schedule_database import FoundSchedule, store_schedules
from ingot.tools.main import command
from ingot.tools.tune_text import tuning_display
from ingot.tuning.report import Progress

PROGRAM = """
func.func @main(%x: tensor<40x32xf32>) -> tensor<40x32xf32> {
  %0 = math.exp %x : tensor<40x32xf32>
  return %0 : tensor<40x32xf32>
}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "exp.mlir").write_text(PROGRAM)
    return tmp_path


def words(*more):
    return ["tune", "exp.mlir", "--device", "host", "-o", "exp.json", *more]


def ingot(folder, *arguments):
    # Whoever runs the tests in the background may have had interrupts ignored.
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{heed}; from ingot.tools.main import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def journal(folder):
    path = folder / "exp.json.journal"
    return path.read_text().splitlines() if path.exists() else []


def trials(lines):
    return [line for line in lines if '"ratio"' in line]


def kill_after(process, folder, count):
    """Kill a search once it has tried so many candidates; what its journal holds then."""
    end = time.monotonic() + 60
    while len(trials(journal(folder))) < count and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return trials(journal(folder))


def test_a_search_that_is_killed_continues(folder):
    first = kill_after(ingot(folder, *words("--trials", "4")), folder, 1)
    assert first and not (folder / "exp.json").exists()
    second = kill_after(ingot(folder, *words("--trials", "4")), folder, len(first) + 1)
    assert second[: len(first)] == first
    assert len({json.loads(line)["key"] for line in second}) == len(second)
    third = ingot(folder, *words("--trials", "4", "--minutes", "0.2"))
    printed, _ = third.communicate()
    assert third.returncode == 0, printed
    assert re.search(r"^main_exp +1 +[\d.]+ +[\d.]+ +\d\.\d\d +4 +\d$", printed, re.M)
    assert "schedules" in json.loads((folder / "exp.json").read_text())
    assert journal(folder) == []


def test_a_search_that_is_interrupted_says_how_to_continue(folder):
    process = ingot(folder, *words())
    end = time.monotonic() + 60
    while not trials(journal(folder)):
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate()
    assert process.returncode == 1
    assert printed.endswith("stopped; the same command continues from exp.json.journal\n")
    assert "Traceback" not in printed


def test_a_terminal_shows_a_bar(monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(shown, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", shown)
    with tuning_display() as show:
        show(Progress("main_exp", 3, 0.5, 10.0, 100.0, "main_exp: twice as fast"))
        show(Progress("", 0, 1.0, 90.0, 100.0))
    printed = shown.getvalue()
    assert "main_exp: twice as fast" in printed
    assert "measuring the program" in printed


def test_a_database_serves_compilations_and_enters_the_cache_by_content(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("INGOT_CACHE_DIR", str(folder / "cache"))
    runner = CliRunner()

    def run(*arguments):
        result = runner.invoke(command, list(arguments))
        assert result.exit_code == 0, result.output
        return result.output

    target = ("--target", "metal:apple7")
    printed = run("compile", "exp.mlir", *target, "--print-schedule")
    (entry,) = json.loads(printed)["schedules"]
    store_schedules(folder / "f.db", [row(entry, entry["schedule"])])
    compiled = ("compile", "exp.mlir", *target, "--schedule-db", "f.db", "-o")
    run(*compiled, "a.ingot")
    run(*compiled, "b.ingot")
    other = {**entry["schedule"], "threadgroup": [128], "thread": [4], "threads": 32}
    store_schedules(folder / "f.db", [row(entry, other)])
    run(*compiled, "c.ingot")
    same, again, changed = ((folder / f"{n}.ingot").read_bytes() for n in "abc")
    assert same == again != changed
    assert "2.00" in run("tune", "--show", "f.db")


def row(entry, schedule):
    return FoundSchedule(entry["target"], entry["kernel"], "d", schedule, 0.5, 1e-3, "2026-01-01")


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (["tune", "exp.mlir"], 2, "Missing option '-o'"),
        (["tune", "exp.mlir", "-o", "-"], 2, "-o needs a file"),
        (words("--target", "metal:apple77"), 2, "did you mean metal:apple7?"),
        (words("--device", "abacus"), 1, "there is no device 'abacus'"),
        (words("--function", "other"), 1, "there is no function named other; there is main"),
        (words("--schedule-db", "exp.mlir"), 1, "exp.mlir: cannot use this schedule database"),
        (["tune", "--show", "no.db"], 1, "no.db: no such file"),
        (
            ["compile", "exp.mlir", "--target", "metal:apple7", "--schedule-db", "exp.mlir", "-ox"],
            1,
            "exp.mlir: cannot use this schedule database: file is not a database",
        ),
    ],
)
def test_what_is_wrong_is_one_sentence(folder, monkeypatch, arguments, status, sentence):
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(command, arguments)
    assert (result.exit_code, sentence in result.output) == (status, True), result.output
    assert "Traceback" not in result.output
