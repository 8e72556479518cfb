"""A whole search: every kernel of a program in turn, then the program with what was found.

Nothing is kept that is not faster beyond noise. A candidate is measured beside the compiler's own
schedule; the best few of a kernel are measured once more, longer, and the best of them stays only
if it is faster with much confidence; and so does the program with all of them. What was found out
is in the journal, from which a search that was killed continues.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from math import inf
from statistics import median
from typing import Any, Final

from ingot.compiler.analysis.schedule import Schedule
from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.driver.schedules import (
    ScheduleEntry,
    read_schedules,
    schedule_values,
    schedules_text,
)
from ingot.compiler.driver.single_kernels import SingleKernel, single_kernels
from ingot.targets.profiles import PROFILES
from ingot.tuning.journal import Journal, Record
from ingot.tuning.measure import (
    INTERNAL_ERROR,
    DeviceDescription,
    KernelBuild,
    Outcome,
    ProgramBuild,
    Task,
)
from ingot.tuning.report import (
    KernelReport,
    OnProgress,
    Progress,
    Report,
    Request,
    TuningError,
)
from ingot.tuning.search import Search
from ingot.tuning.statistics import Ratio, paired_ratio
from ingot.tuning.workers import Workers

_TRIAL_SECONDS = 0.4
"""For the rounds of one candidate."""
_LAST_SHARE = 0.08
"""Of the budget, for the last measurements of the kernels, as much for that of the program, and as
much for building what is measured then."""
_LEAST_LAST, _MOST_LAST = 1.0, 10.0
"""Seconds of a last measurement, which takes place even where trials took longer than they might:
without it nothing is kept."""
_FINALISTS = 6
_FAR_BEHIND = 1.3
"""Times the best ratio so far at which a candidate is left after a few rounds."""
_CONFIDENCE = 0.99
_LEAST_GAIN = 0.01
"""What a schedule must save beyond doubt to be worth a line in a file."""


class Session:
    """A search by some workers."""

    def __init__(
        self,
        request: Request,
        device: DeviceDescription,
        workers: Workers,
        journal: Journal,
        on_progress: OnProgress = lambda _: None,
    ) -> None:
        self._request: Final = request
        self._device: Final = device
        self._workers: Final = workers
        self._journal: Final = journal
        self._on_progress: Final = on_progress
        self._begun: Final = time.monotonic() - journal.spent
        self._numbers = 0
        last = _LAST_SHARE * request.seconds
        self._last_seconds: Final = min(max(last, _LEAST_LAST), _MOST_LAST)

    def run(self) -> Report:
        """Search all kernels. Raises what compiling the program raises, and `TuningError` where it
        does not run as it is."""
        asked = self._request
        options = CompileOptions(
            targets=(asked.target,), math=asked.math, demote_f64=asked.demote_f64
        )
        kernels = single_kernels(asked.text, asked.filename, options)
        reports = [KernelReport(kernel) for kernel in kernels]
        report = Report(self._device, reports)
        self._program_as_it_is(report)
        searches: list[tuple[KernelReport, Search]] = []
        for one in reports:
            search = self._begin(one)
            if search is not None:
                searches.append((one, search))
        searches.sort(key=lambda pair: -_weight(pair[0]))
        total = sum(_weight(one) for one, _ in searches) or 1.0
        for i, (one, search) in enumerate(searches):
            weights = [_weight(other) for other, _ in searches[i:]]
            left = self._left() - 3 * self._last_seconds
            self._search(one, search, left * weights[0] / (sum(weights) or 1.0))
            self._confirm(one, search, self._last_seconds * _weight(one) / total)
        self._confirm_program(report)
        report.spent = self._spent()
        return report

    # One kernel

    def _begin(self, report: KernelReport) -> Search | None:
        """Time the compiler's schedule, and hold its values against the reference evaluator's."""
        kernel = report.kernel
        profile = PROFILES[kernel.target]
        search = Search(kernel.shape, profile, kernel.builtin, self._request.seed)
        search.hint(self._hints(kernel))
        if search.is_empty:
            report.note = "takes the compiler's schedule only"
            return None
        record: Record | None = self._journal.get(kernel.key, "builtin")
        if record is None:
            self._tell(report, search, f"{kernel.name}: measuring the compiler's schedule")
            task = self._task((kernel.builtin,), kernel, _TRIAL_SECONDS, with_reference=True)
            outcome = self._outcome(task)
            times = outcome.seconds[0]
            record = {"problem": outcome.problems[0], "seconds": median(times or [0.0])}
            self._note(kernel.key, "builtin", **record)
        report.seconds = record["seconds"]
        if record["problem"]:
            report.note = f"left alone: {record['problem']}"
            return None
        return search

    def _entry(self, kernel: SingleKernel, schedule: Schedule) -> str:
        """A schedule as the journal keeps it."""
        return schedules_text([ScheduleEntry(kernel.target, kernel.key, schedule)])

    def _schedule(self, text: str) -> Schedule:
        (entry,) = read_schedules(text, str(self._journal.path))
        return entry.schedule

    def _hints(self, kernel: SingleKernel) -> list[Schedule]:
        return [e.schedule for e in self._request.hints if e.kernel == kernel.key]

    def _search(self, report: KernelReport, search: Search, seconds: float) -> None:
        """Try candidates for some time; those that the journal knows take none."""
        kernel, end = report.kernel, self._spent() + seconds
        most = self._request.trials if self._request.trials is not None else inf
        flying: dict[int, Schedule] = {}
        asked = 0
        is_over = False
        while flying or not is_over:
            while not is_over and len(flying) < self._workers.width:
                candidate = search.ask() if asked < most else None
                if candidate is None:
                    is_over = True
                    break
                asked += 1
                record = self._journal.get(kernel.key, str(schedule_values(candidate)))
                if record is not None:
                    self._learn(report, search, candidate, record)
                elif self._spent() >= end:
                    is_over = True
                else:
                    give_up = _FAR_BEHIND * search.least_ratio
                    pair = (kernel.builtin, candidate)
                    task = self._task(pair, kernel, _TRIAL_SECONDS, give_up)
                    flying[task.number] = candidate
                    self._workers.submit(task)
            if flying:
                task, outcome = self._workers.next_outcome()
                candidate = flying.pop(task.number)
                record = _trial_record(outcome)
                self._note(kernel.key, str(schedule_values(candidate)), **record)
                self._learn(report, search, candidate, record)

    def _learn(
        self, report: KernelReport, search: Search, candidate: Schedule, record: Record
    ) -> None:
        before = search.least_ratio
        ratio = record["ratio"] if record["ratio"] is not None else inf
        search.tell(candidate, ratio)
        report.trials += 1
        problem = record["problem"]
        report.refused += bool(problem)
        message = ""
        if problem.startswith(INTERNAL_ERROR):
            report.bugs.append(f"{schedule_values(candidate)}: {problem}")
        if ratio < before:
            message = (
                f"{report.kernel.name}: {1 / ratio:.2f} times as fast in trial {report.trials}"
            )
        self._tell(report, search, message)

    def _confirm(self, report: KernelReport, search: Search, seconds: float) -> None:
        """Keep the best of the finalists if it is faster beyond doubt."""
        kernel = report.kernel
        finalists = search.best(_FINALISTS)
        if not finalists:
            report.note = "nothing faster was found"
            return
        record: Record | None = self._journal.get(kernel.key, "confirmed")
        if record is None:
            self._tell(report, search)
            task = self._task((kernel.builtin, *finalists), kernel, seconds, give_up=1.0)
            outcome = self._outcome(task)
            base, *others = outcome.seconds
            ratios = [paired_ratio(t, base[: len(t)], _CONFIDENCE) if t else None for t in others]
            # The one that is faster for sure by the most, not the luckiest one.
            bounds = [(r.high, i) for i, r in enumerate(ratios) if r is not None]
            chosen = min(bounds, default=(inf, 0))[1]
            best = ratios[chosen]
            record = {
                "schedule": self._entry(kernel, finalists[chosen]),
                "ratio": asdict(best) if best is not None else None,
            }
            self._note(kernel.key, "confirmed", **record)
        ratio = Ratio(**record["ratio"]) if record["ratio"] is not None else None
        if ratio is not None and _is_gain(ratio):
            report.best, report.schedule = ratio, self._schedule(record["schedule"])
        else:
            report.note = "nothing was faster beyond noise"

    # The program

    def _confirm_program(self, report: Report) -> None:
        """Keep what was found if the program is faster with it beyond doubt."""
        if not report.found:
            return
        record: Record | None = self._journal.get("program")
        if record is None:
            self._on_progress(Progress("", 0, 1.0, self._spent(), self._request.seconds))
            builds = (self._program(), replace(self._program(), schedules=report.found))
            task = Task(self._number(), builds, self._request.device, self._last_seconds)
            outcome = self._outcome(task)
            times, others = outcome.seconds
            ratio = paired_ratio(others, times, _CONFIDENCE) if others else None
            record = {
                "ratio": asdict(ratio) if ratio is not None else None,
                "problem": outcome.problems[1],
            }
            self._note("program", **record)
        if record["ratio"] is not None:
            report.program = Ratio(**record["ratio"])
            report.is_confirmed = _is_gain(report.program)
        report.note = record["problem"]

    def _program(self) -> ProgramBuild:
        asked = self._request
        return ProgramBuild(
            asked.text,
            asked.filename,
            asked.function,
            asked.target,
            math=asked.math,
            demote_f64=asked.demote_f64,
        )

    def _program_as_it_is(self, report: Report) -> None:
        """Run the program once before anything else: one that cannot be run cannot be tuned."""
        record: Record | None = self._journal.get("program as it is")
        if record is None:
            task = Task(self._number(), (self._program(),), self._request.device, 0.0)
            outcome = self._outcome(task)
            if outcome.problems[0]:
                raise TuningError(f"the program cannot be measured: {outcome.problems[0]}")
            record = {"seconds": median(outcome.seconds[0])}
            self._note("program as it is", **record)
        report.program_seconds = record["seconds"]

    # Tasks

    def _task(
        self,
        schedules: Sequence[Schedule],
        kernel: SingleKernel,
        seconds: float,
        give_up: float = inf,
        with_reference: bool = False,
    ) -> Task:
        builds = tuple(KernelBuild(kernel, s, self._request.math) for s in schedules)
        return Task(self._number(), builds, self._request.device, seconds, give_up, with_reference)

    def _outcome(self, task: Task) -> Outcome:
        """Run one task alone."""
        self._workers.submit(task)
        _, outcome = self._workers.next_outcome()
        return outcome

    def _number(self) -> int:
        self._numbers += 1
        return self._numbers

    # Time

    def _note(self, *key: str, **values: Any) -> None:
        """Write a record, with the seconds spent until now."""
        self._journal.put(*key, spent=self._spent(), **values)

    def _spent(self) -> float:
        return time.monotonic() - self._begun

    def _left(self) -> float:
        return self._request.seconds - self._spent()

    def _tell(self, report: KernelReport, search: Search, message: str = "") -> None:
        self._on_progress(
            Progress(
                report.kernel.name,
                report.trials,
                search.least_ratio,
                self._spent(),
                self._request.seconds,
                message,
            )
        )


def _weight(report: KernelReport) -> float:
    """The share of a kernel in the program's time, in seconds."""
    return report.seconds * max(1, report.kernel.dispatches)


def _is_gain(ratio: Ratio) -> bool:
    return ratio.high <= 1 - _LEAST_GAIN


def _trial_record(outcome: Outcome) -> dict[str, Any]:
    base, times = outcome.seconds
    problem = outcome.problems[1]
    ratio = None if problem or not times else paired_ratio(times, base[: len(times)]).median
    return {"ratio": ratio, "problem": problem}
