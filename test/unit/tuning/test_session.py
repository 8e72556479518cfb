"""A whole search on made-up times: what stays, what is refused, and what a second run measures."""

from __future__ import annotations

import json
from random import Random

import pytest

from ingot.compiler.driver.schedule_database import read_database
from ingot.compiler.driver.schedules import read_schedules
from ingot.tuning.measure import DeviceDescription, KernelBuild, Outcome
from ingot.tuning.process import WorkerDied
from ingot.tuning.report import Request, TuningError
from ingot.tuning.tune import tune

PROGRAM = """
func.func @main(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = linalg.matmul ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
"""
ROUNDS = 12


class Dead:
    """Workers that opening the device kills."""

    def describe(self, device):
        raise WorkerDied(f"opening {device} ended the process")


class MadeUp:
    """Workers on a device where a kernel takes `time_of(schedule)`, and a program `gain` of its
    time with any schedule of its own."""

    width = 2

    def __init__(self, time_of, gain=0.5, noise=0.0, problem_of=lambda schedule: ""):
        self.time_of, self.gain, self.problem_of = time_of, gain, problem_of
        self.random, self.noise = Random(0), noise
        self.waiting, self.measured = [], []
        self.order = Random(1)

    def describe(self, device):
        return DeviceDescription(f"made up {device}", "vulkan:lavapipe", True)

    def submit(self, task):
        self.waiting.append(task)

    def next_outcome(self):
        task = self.waiting.pop(self.order.randrange(len(self.waiting)))
        self.measured.append(task)
        times, problems = [], []
        for i, build in enumerate(task.builds):
            if isinstance(build, KernelBuild):
                time = (
                    1.0 if build.schedule == build.kernel.builtin else self.time_of(build.schedule)
                )
                problems.append(self.problem_of(build.schedule) if i else "")
            else:
                time = self.gain if build.schedules else 1.0
                problems.append("")
            noise = [self.random.uniform(1 - self.noise, 1 + self.noise) for _ in range(ROUNDS)]
            times.append(() if problems[-1] else tuple(time * n for n in noise))
        return task, Outcome(tuple(times), tuple(problems))

    def close(self):
        pass


def wide_vectors_win(schedule):
    return 0.6 if schedule.vector == 2 else 1.2


def request(**changes):
    return Request(PROGRAM, "matmul.mlir", "d", **{"seconds": 1e6, "trials": 25, **changes})


def test_what_is_faster_is_written_and_kept(tmp_path):
    output, database = tmp_path / "out.json", tmp_path / "found.db"
    report = tune(request(), output, database, MadeUp(wide_vectors_win))
    (entry,) = read_schedules(output.read_text(), "out.json")
    assert (entry.target, entry.schedule.vector) == ("vulkan:lavapipe", 2)
    assert report.is_confirmed and report.kernels[0].trials == 25
    (row,) = read_database(database)
    assert (row.kernel, row.device, row.ratio) == (entry.kernel, "made up d", pytest.approx(0.6))
    assert [path.name for path in tmp_path.iterdir() if "journal" in path.name] == []


@pytest.mark.parametrize(
    "workers",
    [
        MadeUp(lambda schedule: 1.1),  # nothing is faster
        MadeUp(lambda schedule: 1.0, noise=0.3),  # noise is faster at times
        MadeUp(wide_vectors_win, gain=1.3),  # the program is slower
        MadeUp(wide_vectors_win, gain=0.995, noise=0.05),  # the program may be faster
        MadeUp(wide_vectors_win, problem_of=lambda schedule: "wrong values"),
    ],
    ids=["slower", "noise", "slower program", "uncertain program", "wrong values"],
)
def test_otherwise_the_compilers_schedule_stays(tmp_path, workers):
    output, database = tmp_path / "out.json", tmp_path / "found.db"
    report = tune(request(), output, database, workers)
    assert not report.is_confirmed
    assert json.loads(output.read_text()) == {"schedules": []}
    assert read_database(database) == []


def test_wrong_values_do_not_win(tmp_path):
    def problem_of(schedule):
        return "wrong values" if schedule.vector == 2 else ""

    workers = MadeUp(lambda s: 0.1 if s.vector == 2 else 0.8, problem_of=problem_of)
    report = tune(request(), tmp_path / "out.json", None, workers)
    assert report.entries[0].schedule.vector != 2
    assert report.kernels[0].refused > 0


def trials_of(workers):
    """The candidates that were measured, in order."""
    pairs = [task.builds for task in workers.measured if len(task.builds) == 2]
    return [other.schedule for base, other in pairs if isinstance(base, KernelBuild)]


class Killed(BaseException):
    pass


def test_a_search_that_was_killed_measures_nothing_twice(tmp_path):
    output = tmp_path / "out.json"
    first = MadeUp(wide_vectors_win)

    def after_ten(progress):
        if progress.trials == 10:
            raise Killed

    with pytest.raises(Killed):
        tune(request(), output, None, first, after_ten)
    second = MadeUp(wide_vectors_win)
    report = tune(request(), output, None, second)
    assert report.kernels[0].trials == 25

    def schedules(workers):
        return {
            t.builds[1].schedule for t in workers.measured if len(t.builds) == 2 and is_kernel(t)
        }

    def is_kernel(task):
        return isinstance(task.builds[0], KernelBuild)

    assert len(schedules(first)) == 10
    assert schedules(first) & schedules(second) == set()
    assert report.entries[0].schedule.vector == 2


def test_what_a_database_holds_is_tried_first(tmp_path):
    database = tmp_path / "found.db"
    found = tune(request(), tmp_path / "a.json", database, MadeUp(wide_vectors_win)).entries
    workers = MadeUp(wide_vectors_win)
    tune(request(seed=7), tmp_path / "b.json", database, workers)
    assert found[0].schedule in trials_of(workers)[:5]


def test_a_search_takes_no_longer_than_it_may(tmp_path):
    workers = MadeUp(wide_vectors_win)
    report = tune(request(seconds=1e-9, trials=None), tmp_path / "out.json", None, workers)
    assert report.kernels[0].trials == 0


def test_a_kernel_whose_values_are_wrong_as_it_is_is_left_alone(tmp_path):
    class Wrong(MadeUp):
        def next_outcome(self):
            task, outcome = super().next_outcome()
            if task.with_reference:
                outcome = Outcome(outcome.seconds, ("wrong values",))
            return task, outcome

    report = tune(request(), tmp_path / "out.json", None, Wrong(wide_vectors_win))
    assert (report.kernels[0].trials, report.kernels[0].note) == (0, "left alone: wrong values")


def test_a_program_that_does_not_run_is_not_searched(tmp_path):
    class Broken(MadeUp):
        def next_outcome(self):
            task, _ = super().next_outcome()
            return task, Outcome.failed(task, "the device is on fire")

    with pytest.raises(TuningError, match="cannot be measured: the device is on fire"):
        tune(request(), tmp_path / "out.json", None, Broken(wide_vectors_win))
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_cannot_be_written_is_told_first(tmp_path):
    with pytest.raises(TuningError, match="cannot write: No such file"):
        tune(request(), tmp_path / "no" / "out.json", None, MadeUp(wide_vectors_win))


def test_a_device_that_kills_is_named(tmp_path):
    request = Request(PROGRAM, "matmul.mlir", "vulkan", 1.0)
    with pytest.raises(TuningError, match="the device vulkan cannot be asked: opening vulkan"):
        tune(request, tmp_path / "out.json", None, Dead())
