"""Which schedule to try next: promising tilings first, then steps away from the best so far.

The search asks nothing of a device: `ask` gives a schedule and `tell` takes what became of it, so
it runs as well on a formula, and the same seed and answers lead to the same questions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from random import Random
from typing import Final

from ingot.compiler.analysis.schedule import KernelShape, Schedule
from ingot.compiler.analysis.schedule_check import schedule_problem
from ingot.targets.profiles import TargetProfile
from ingot.tuning.estimate import estimate
from ingot.tuning.space import neighbours, tilings

_FIRST = 8
"""Tilings that are tried before the search takes steps."""
_PARENTS = 3
"""The best schedules so far, which steps are taken from."""
_LEAP = 0.25
"""How often a tiling is tried instead of a step."""
_HOPELESS = 16.0
"""How many times the least estimate is not worth a trial."""
_PICKY = 0.35
"""Chance that the best of what remains is taken, then the next one, and so on."""


@dataclass
class _Tried:
    ratio: float = inf
    steps: list[Schedule] | None = None
    """What one step leads to and was not asked for yet; None until they are wanted."""


@dataclass
class Search:
    """A search over the schedules of one kernel; the compiler's choice counts as tried, with 1."""

    shape: KernelShape
    profile: TargetProfile
    builtin: Schedule
    seed: int
    _asked: Final[set[Schedule]] = field(default_factory=set[Schedule], init=False)
    _tried: Final[dict[Schedule, _Tried]] = field(
        default_factory=dict[Schedule, _Tried], init=False
    )

    def __post_init__(self) -> None:
        self._random = Random(self.seed)
        self._asked.add(self.builtin)
        self._tried[self.builtin] = _Tried(1.0)
        listed = tilings(self.shape, self.profile, self.builtin)[1:]
        costs = {s: self._estimate(s) for s in listed}
        limit = _HOPELESS * min(costs.values(), default=0.0)
        self._tilings = sorted((s for s in listed if costs[s] <= limit), key=costs.__getitem__)
        self.pruned = len(listed) - len(self._tilings)
        """Tilings that the estimate left out."""
        self._leaps = 0
        self._hints: list[Schedule] = []

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to try beside the compiler's choice."""
        return not self._tilings

    def hint(self, schedules: Iterable[Schedule]) -> None:
        """Ask for these first, as far as they fit."""
        for schedule in schedules:
            if schedule_problem(schedule, self.shape, self.profile) is None:
                self._hints.append(schedule)

    def ask(self) -> Schedule | None:
        """A schedule to try, never the same twice; None when there is nothing left."""
        chosen = None
        while self._hints and chosen is None:
            hint = self._hints.pop(0)
            chosen = hint if hint not in self._asked else None
        if chosen is None and self._leaps >= _FIRST and self._random.random() >= _LEAP:
            chosen = self._step()
        if chosen is None:
            chosen = self._leap() or self._step()
        if chosen is not None:
            self._asked.add(chosen)
        return chosen

    def tell(self, schedule: Schedule, ratio: float) -> None:
        """Its time by the compiler's choice's; infinity where it cannot be used."""
        self._tried[schedule] = _Tried(ratio)

    def best(self, count: int) -> list[Schedule]:
        """The fastest that were faster than the compiler's choice, at most so many."""
        faster = [s for s, tried in self._tried.items() if tried.ratio < 1.0]
        return sorted(faster, key=lambda s: self._tried[s].ratio)[:count]

    @property
    def least_ratio(self) -> float:
        """Of the fastest so far; 1 is the compiler's choice."""
        return min(tried.ratio for tried in self._tried.values())

    def _leap(self) -> Schedule | None:
        self._leaps += 1
        while self._tilings:
            index = self._pick(len(self._tilings))
            schedule = self._tilings.pop(index)
            if schedule not in self._asked:
                return schedule
        return None

    def _step(self) -> Schedule | None:
        order = sorted(self._tried, key=lambda s: self._tried[s].ratio)
        parents = [s for s in order if self._tried[s].ratio < inf]
        first = self._pick(min(_PARENTS, len(parents)))
        for parent in (parents[first], *parents):
            tried = self._tried[parent]
            if tried.steps is None:
                steps = neighbours(parent, self.shape, self.profile)
                tried.steps = sorted(steps, key=self._estimate)
            tried.steps = [s for s in tried.steps if s not in self._asked]
            if tried.steps:
                return tried.steps[self._pick(len(tried.steps))]
        return None

    def _pick(self, count: int) -> int:
        """A position in a sorted list, the first ones more often."""
        for index in range(count - 1):
            if self._random.random() < _PICKY:
                return index
        return self._random.randrange(count)

    def _estimate(self, schedule: Schedule) -> float:
        return estimate(schedule, self.shape, self.profile)
