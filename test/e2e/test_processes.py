"""Many processes and one cache: they work side by side, and one that is killed spoils nothing."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.harness import EXAMPLES, device

RUN = "from ingot.tools.main import main; main()"
ARGUMENTS = ["--input", "f32=2", "--input", "1000xf32=1", "--input", "1000xf32=1"]
EXPECTED = "result 0: result0: 1000xf32 =\n[3., 3., 3., ..., 3., 3., 3.]\n"
"""What saxpy makes of them."""


def start(cache: Path, device_name: str = "host") -> subprocess.Popen[str]:
    """A process of its own session that compiles saxpy and runs it, with this cache."""
    program = str(EXAMPLES / "saxpy.mlir")
    return subprocess.Popen(
        [sys.executable, "-c", RUN, "run", program, *ARGUMENTS, "--device", device_name],
        env=os.environ | {"INGOT_CACHE_DIR": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def kill_again_and_again(cache: Path, times: int) -> None:
    """Kill a process and its compilers at some moment, then let one finish."""
    device("host")
    moments = random.Random(3)
    for _ in range(times):
        process = start(cache)
        time.sleep(moments.uniform(0.3, 2.5))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    output, errors = start(cache).communicate()
    assert output == EXPECTED, errors


def run_side_by_side(cache: Path, count: int, at_a_time: int) -> None:
    """Processes that all begin with an empty cache, on both devices."""
    names = ("host", "vulkan")
    for name in names:
        device(name)
    for first in range(0, count, at_a_time):
        numbers = range(first, min(count, first + at_a_time))
        processes = [start(cache, names[number % 2]) for number in numbers]
        for process in processes:
            output, errors = process.communicate()
            assert output == EXPECTED, errors


def test_a_killed_process_leaves_a_cache_that_works(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path, 2)


@pytest.mark.slow
def test_many_killed_processes_leave_a_cache_that_works(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path, 50)


def test_processes_share_a_cache(tmp_path: Path) -> None:
    run_side_by_side(tmp_path, 4, 4)


@pytest.mark.slow
def test_a_hundred_processes_share_a_cache(tmp_path: Path) -> None:
    run_side_by_side(tmp_path, 100, 20)
