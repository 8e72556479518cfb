"""The reducer: a program in, a small one that fails in the same way out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingot.compiler.driver.diagnostics import CompileError
from ingot.compiler.driver.reading import read_valid
from ingot.compiler.driver.reduction import operations, sizes
from ingot.compiler.driver.reduction.attributes import DropAttributes
from ingot.compiler.driver.reduction.constants import SimplifyConstants
from ingot.compiler.driver.reduction.generic_operands import DropGenericOperands
from ingot.compiler.driver.reduction.search import Reduction, Search, Size, Step
from ingot.compiler.driver.reduction.symbols import DropArguments, DropResults, DropSymbols
from ingot.compiler.driver.reduction.trials import Judge, Trials

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

REDUCTIONS: tuple[Reduction, ...] = (
    DropSymbols(),
    operations.ReturnEarlier(),
    DropResults(),
    operations.EraseUnused(),
    operations.BYPASS,
    operations.TO_ARGUMENTS,
    operations.TO_ZEROS,
    operations.ToNewArguments(),
    operations.Unwrap(),
    DropGenericOperands(),
    DropArguments(),
    sizes.ShrinkSizes("sizes to 1", sizes.to(1)),
    sizes.ShrinkSizes("sizes to 2", sizes.to(2)),
    sizes.ShrinkSizes("half sizes", sizes.half),
    sizes.ShrinkSizes("sizes less 1", sizes.one_less),
    SimplifyConstants("zero"),
    SimplifyConstants("first element"),
    DropAttributes(),
)
"""In the order in which they are tried: what takes most away comes first."""


@dataclass(frozen=True)
class Limits:
    """How much a reduction may use."""

    jobs: int = 1
    """Trials at once."""
    seconds_per_trial: float = 60.0
    seconds: float | None = None
    """For all of it; what has been found by then is the result."""


@dataclass(frozen=True)
class Reduced:
    """What a reduction found."""

    text: str
    before: Size
    after: Size
    trials: int
    failure: str
    """What the judge says about it."""
    is_complete: bool
    """Whether nothing more can be taken, rather than the time being up."""


def reduce_text(
    text: str,
    filename: str,
    judge: Judge,
    otherwise: str,
    limits: Limits = Limits(),
    on_step: Callable[[Step], None] = lambda _: None,
    unregistered: bool = False,
    reductions: Sequence[Reduction] = REDUCTIONS,
) -> Reduced:
    """Make the program in `text` as small as the judge allows.

    Raises what reading and verifying raise, and `CompileError` with the sentence `otherwise` for a
    program that the judge has nothing to say about.
    """
    begin = time.monotonic()
    module: ModuleOp = read_valid(text, filename, unregistered)
    trials = Trials(judge, limits.jobs, limits.seconds_per_trial, unregistered)
    deadline = None if limits.seconds is None else begin + limits.seconds
    search = Search(module, trials, deadline, on_step)
    trials.wanted = trials.ask(search.text)
    if trials.wanted is None:
        raise CompileError(otherwise, filename=filename)
    before = search.size
    search.run(reductions)
    return Reduced(
        search.text, before, search.size, trials.count, trials.wanted, not search.is_over
    )
