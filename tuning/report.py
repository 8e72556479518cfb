"""What a search is asked for, says on its way, and finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ingot.compiler.analysis.schedule import Schedule
from ingot.compiler.driver.options import MathMode
from ingot.compiler.driver.schedules import ScheduleEntry
from ingot.compiler.driver.single_kernels import SingleKernel
from ingot.targets.bundle.errors import IngotError
from ingot.tuning.measure import DeviceDescription
from ingot.tuning.statistics import Ratio


class TuningError(IngotError):
    """A search that cannot be: one sentence."""


@dataclass(frozen=True)
class Request:
    """What `ingot tune` was asked for."""

    text: str
    filename: str
    device: str
    seconds: float
    """The budget, over all runs of a search that was interrupted."""
    target: str = ""
    function: str = ""
    """Empty for the only one, or `main`."""
    trials: int | None = None
    """The most candidates of one kernel."""
    seed: int = 0
    math: MathMode = "safe"
    demote_f64: bool = False
    hints: tuple[ScheduleEntry, ...] = ()
    """Schedules that were found before; they are tried first."""


@dataclass
class KernelReport:
    """What became of one kernel."""

    kernel: SingleKernel
    seconds: float = 0.0
    """Of one run under the compiler's schedule."""
    trials: int = 0
    refused: int = 0
    """Candidates that could not be used."""
    bugs: list[str] = field(default_factory=list[str])
    """What candidates said that showed a bug in Ingot."""
    best: Ratio | None = None
    """Of the schedule that stays; None where that is the compiler's."""
    schedule: Schedule | None = None
    note: str = ""
    """Why it was not searched, or nothing was found."""


@dataclass
class Report:
    """What became of a search."""

    device: DeviceDescription
    kernels: list[KernelReport]
    program: Ratio | None = None
    """The program with all that was found, by the one without; None where nothing was found."""
    program_seconds: float = 0.0
    """Of one run without."""
    is_confirmed: bool = False
    """Whether what was found stays."""
    spent: float = 0.0
    note: str = ""

    @property
    def found(self) -> tuple[ScheduleEntry, ...]:
        """The schedules that made their kernels faster."""
        return tuple(
            ScheduleEntry(k.kernel.target, k.kernel.key, k.schedule)
            for k in self.kernels
            if k.schedule is not None
        )

    @property
    def entries(self) -> tuple[ScheduleEntry, ...]:
        """The schedules that stay."""
        return self.found if self.is_confirmed else ()


@dataclass(frozen=True)
class Progress:
    """What is being done, for a display."""

    kernel: str
    """Empty while the program is measured."""
    trials: int
    best: float
    """The least ratio so far; 1 is the compiler's schedule."""
    spent: float
    budget: float
    message: str = ""
    """What happened just now that deserves a line."""


OnProgress = Callable[[Progress], None]
