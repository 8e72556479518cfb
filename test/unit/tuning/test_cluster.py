"""A search over a dask cluster of two workers on this machine, one of which is lost on the way."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from ingot.tuning.report import Request, TuningError
from ingot.tuning.tune import tune

pytest.importorskip("distributed", reason="dask is not installed: pip install -e '.[tune]'")

from ingot.tuning.cluster import ClusterWorkers

PROGRAM = """
func.func @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %0 = math.exp %x : tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}
"""


def start(*words):
    """A process of dask, with its standard error."""
    command = [sys.executable, "-m", "distributed.cli." + words[0], *words[1:], "--no-dashboard"]
    environment = {**os.environ, "DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD": "fork"}
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)


@pytest.fixture
def cluster():
    """The address of a scheduler and two workers, which have a device each."""
    processes = [start("dask_scheduler", "--host", "127.0.0.1", "--port", "0")]
    try:
        address = ""
        while not address:
            line = processes[0].stderr.readline()
            assert line, "the scheduler did not start"
            found = re.search(r"tcp://127\.0\.0\.1:\d+", line)
            address = found.group() if found else ""
        one = ("--nthreads", "1", "--resources", "device=1", "--no-nanny")
        processes += [start("dask_worker", address, *one) for _ in range(2)]
        yield address, processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()
            process.stderr.close()


def test_a_worker_that_is_lost_is_replaced_by_the_other_one(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("ingot.tuning.session._TRIAL_SECONDS", 0.05)
    monkeypatch.setattr("ingot.tuning.session._MOST_LAST", 0.1)
    address, (first, second) = cluster
    workers = ClusterWorkers(address, seconds=60)
    while workers.width < 4:
        time.sleep(0.05)
    lost = []

    def lose_one(progress):
        if progress.trials == 2 and not lost:
            first.send_signal(signal.SIGKILL)
            lost.append(first)

    request = Request(PROGRAM, "exp.mlir", "host", seconds=60, trials=6)
    try:
        report = tune(request, tmp_path / "out.json", None, workers, lose_one)
    finally:
        workers.close()
    assert lost and second.poll() is None
    assert (report.kernels[0].trials, report.kernels[0].bugs) == (6, [])
    assert (tmp_path / "out.json").exists()


def test_without_a_scheduler_there_is_a_sentence(monkeypatch):
    monkeypatch.setattr("ingot.tuning.cluster._CONNECT_SECONDS", 0.5)
    with pytest.raises(TuningError, match=r"no dask scheduler at tcp://127\.0\.0\.1:9"):
        ClusterWorkers("tcp://127.0.0.1:9", seconds=1)
