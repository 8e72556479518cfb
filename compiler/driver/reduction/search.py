"""Delta debugging: take as much from a module as a judge lets go.

A `Reduction` lists the parts of a module that it could take away. The search tries them all at
once, then in halves, quarters, and one by one (ddmin: Zeller and Hildebrandt, Simplifying and
Isolating Failure-Inducing Input, 2002), with every reduction before it gets finer, since large
modules are slow to copy. Every step makes the module's `weight` smaller, so the search ends; what
it finds depends on the program and the judge only, not on how many trials run at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from xdsl.dialects.builtin import ModuleOp, ShapedType
from xdsl.ir import Attribute, Operation

from ingot.compiler.driver.pass_pipeline import module_text
from ingot.compiler.driver.reduction.constants import contents, is_constant

if TYPE_CHECKING:
    from ingot.compiler.driver.reduction.trials import Trials

Part = tuple[int, ...]
"""Something that may be taken from a module, in numbers that mean the same in a copy of it."""


class Reduction(Protocol):
    """One way of making modules smaller."""

    @property
    def name(self) -> str:
        """What it does, for the progress display."""
        ...

    def parts(self, module: ModuleOp) -> Sequence[Part]:
        """What could be taken from the module, in the order in which it is tried."""
        ...

    def take(self, module: ModuleOp, parts: Sequence[Part]) -> None:
        """Take the parts from a copy of the module; what turns out not to fit is left alone."""
        ...


@dataclass(frozen=True, order=True)
class Weight:
    """How large a module is; what is compared first comes first."""

    ops: int
    """Without constants."""
    constants: int
    values: int
    """Operands, results and block arguments."""
    elements: int
    """Of the types of all results and block arguments."""
    contents: int
    """How much there is to say about the values of constants."""
    attributes: int


def weight(module: ModuleOp) -> Weight:
    """The weight of a module."""
    ops = constants = values = elements = said = attributes = 0
    for op in module.walk():
        if is_constant(op):
            constants += 1
            said += contents(op)
        else:
            ops += 1
        types = defined_types(op)
        values += len(op.operands) + len(types)
        elements += sum(map(_elements, types))
        attributes += len(op.attributes) + len(op.properties)
    return Weight(ops, constants, values, elements, said, attributes)


def defined_types(op: Operation) -> list[Attribute]:
    """The types of an op's results and of the arguments of its blocks."""
    blocks = [block for region in op.regions for block in region.blocks]
    return [*op.result_types, *(argument.type for block in blocks for argument in block.args)]


def _elements(type: Attribute) -> int:
    """The number of elements of a type; open sizes count as 1."""
    count = 1
    for size in type.get_shape() if isinstance(type, ShapedType) else ():
        count *= max(size, 1)
    return count


@dataclass(frozen=True)
class Size:
    """How large a program is for those who read it."""

    ops: int
    """Without the module."""
    characters: int


@dataclass(frozen=True)
class Step:
    """A smaller module was found."""

    reduction: str
    size: Size
    trials: int
    """How often the judge has been asked so far."""


@dataclass(frozen=True)
class _Candidate:
    """A module without some parts: those from `start` on."""

    start: int
    module: ModuleOp
    text: str
    weight: Weight


class Search:
    """The state of a reduction: the smallest module so far."""

    def __init__(
        self,
        module: ModuleOp,
        trials: Trials,
        deadline: float | None = None,
        on_step: Callable[[Step], None] = lambda _: None,
    ) -> None:
        """`deadline` is a time of `time.monotonic`, after which nothing new is tried."""
        self.module: ModuleOp = module
        self.text = module_text(module) + "\n"
        self._trials = trials
        self._deadline = deadline
        self._on_step = on_step
        self._weight = weight(module)
        self._rejected: set[str] = set()
        self._in_vain: dict[str, tuple[str, int]] = {}
        """For each reduction the text and the number of parts at once that it last failed with."""

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self._deadline is not None and time.monotonic() > self._deadline

    @property
    def size(self) -> Size:
        """How large the module is now."""
        return Size(self._weight.ops + self._weight.constants - 1, len(self.text))

    def run(self, reductions: Sequence[Reduction]) -> None:
        """Apply reductions until none of them finds a smaller module or the time is up."""
        pieces = 1
        while not self.is_over:
            improved, is_finest = False, True
            for reduction in reductions:
                at_once = -(-len(reduction.parts(self.module)) // pieces)
                is_finest &= at_once <= 1
                improved |= self._sweep(reduction, at_once)
            if not improved and is_finest:
                return
            if not improved:
                pieces *= 2

    def _sweep(self, reduction: Reduction, at_once: int) -> bool:
        """Try all parts of a reduction, so many at once; whether the module got smaller."""
        if not at_once or self._in_vain.get(reduction.name) == (self.text, at_once):
            return False
        improved, start = False, 0
        while (found := self._first(self._candidates(reduction, start, at_once))) is not None:
            start, improved = found.start, True
            self.module, self.text, self._weight = found.module, found.text, found.weight
            self._on_step(Step(reduction.name, self.size, self._trials.count))
        self._in_vain[reduction.name] = (self.text, at_once)
        return improved

    def _candidates(self, reduction: Reduction, start: int, size: int) -> Iterator[_Candidate]:
        parts = reduction.parts(self.module)
        for begin in range(start, len(parts), size):
            if self.is_over:
                return
            copy: ModuleOp = self.module.clone()
            reduction.take(copy, parts[begin : begin + size])
            smaller = weight(copy)
            if smaller >= self._weight:
                continue
            try:
                text = module_text(copy) + "\n"
            except Exception:  # no op's printer expects what a reduction may have taken
                continue
            if text not in self._rejected:
                yield _Candidate(begin, copy, text, smaller)

    def _first(self, candidates: Iterator[_Candidate]) -> _Candidate | None:
        """The first candidate, in their order, that is as interesting as the program was."""
        for candidate, is_interesting in self._trials.judged(candidates, lambda c: c.text):
            if is_interesting:
                return candidate
            self._rejected.add(candidate.text)
        return None
