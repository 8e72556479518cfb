"""A process that runs calls: it may fail, end or hang, and it does not outlive its owner."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from ingot.runtime import open_device
from ingot.tuning.process import WorkerDied, WorkerProcess
from ingot.tuning.report import TuningError


@pytest.fixture
def process():
    one = WorkerProcess()
    yield one
    one.stop()


def test_calls_are_answered_by_another_process(process):
    first = process.call(os.getpid, seconds=30)
    assert first != os.getpid()
    assert process.call(os.getpid, seconds=30) == first


def test_what_is_raised_there_is_raised_here(process):
    with pytest.raises(TuningError, match="there is no device 'abacus'"):
        process.call(open_device, "abacus", seconds=30)
    with pytest.raises(RuntimeError, match="ValueError: invalid literal"):
        process.call(int, "x", seconds=30)


def test_after_its_end_there_is_another_one(process):
    with pytest.raises(WorkerDied, match="ended the process"):
        process.call(os._exit, 3, seconds=30)
    assert process.call(len, "ab", seconds=30) == 2


def test_what_does_not_end_is_ended(process):
    process.call(len, "", seconds=30)
    with pytest.raises(WorkerDied, match="more than 0 s"):
        process.call(time.sleep, 60, seconds=0.1)
    assert process.call(len, "ab", seconds=30) == 2


def test_it_ends_with_its_owner_even_in_a_call():
    code = """
import os, time, threading
from ingot.tuning.process import WorkerProcess
process = WorkerProcess()
print(process.call(os.getpid, seconds=30), flush=True)
threading.Thread(target=process.call, args=(time.sleep, 60), kwargs={"seconds": 60}).start()
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        child = int(owner.stdout.readline())
        owner.kill()
    end = time.monotonic() + 20
    while time.monotonic() < end and is_running(child):
        time.sleep(0.05)
    assert not is_running(child)


def is_running(pid):
    """Whether a process still runs; one that nobody has waited for does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
