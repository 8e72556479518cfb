"""Delta debugging: take as much from a module as a judge lets go.

A `Reduction` lists the parts of a module that it could take away. The search tries them all at
once, then in halves, quarters, and one by one (ddmin: Zeller and Hildebrandt, Simplifying and
Isolating Failure-Inducing Input, 2002), reduction after reduction, until none finds anything.
Every step makes the module's `weight` smaller, so the search ends; what it finds depends on the
program and the judge only, not on how many trials run at once.
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


@dataclass(frozen=True)
class Weight:
    """How large a module is."""

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
    characters: int

    @property
    def key(self) -> tuple[int, ...]:
        """Smaller modules come first."""
        return (
            self.ops,
            self.constants,
            self.values,
            self.elements,
            self.contents,
            self.attributes,
            self.characters,
        )


def weight(module: ModuleOp, characters: int) -> Weight:
    """The weight of a module whose text has so many characters."""
    ops = constants = values = elements = said = attributes = 0
    for op in module.walk():
        if is_constant(op):
            constants += 1
            said += contents(op)
        else:
            ops += 1
        types = _defined_types(op)
        values += len(op.operands) + len(types)
        elements += sum(map(_elements, types))
        attributes += len(op.attributes) + len(op.properties)
    return Weight(ops, constants, values, elements, said, attributes, characters)


def _defined_types(op: Operation) -> list[Attribute]:
    blocks = [block for region in op.regions for block in region.blocks]
    return [*op.result_types, *(argument.type for block in blocks for argument in block.args)]


def _elements(type: Attribute) -> int:
    """The number of elements of a type; open sizes count as 1."""
    count = 1
    for size in type.get_shape() if isinstance(type, ShapedType) else ():
        count *= max(size, 1)
    return count


@dataclass(frozen=True)
class Step:
    """A smaller module was found."""

    reduction: str
    weight: Weight
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
        self.weight = weight(module, len(self.text))
        self._trials = trials
        self._deadline = deadline
        self._on_step = on_step
        self._rejected: set[str] = set()

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self._deadline is not None and time.monotonic() > self._deadline

    def run(self, reductions: Sequence[Reduction]) -> None:
        """Apply reductions until none of them finds a smaller module or the time is up."""
        improved = True
        while improved and not self.is_over:
            improved = False
            for reduction in reductions:
                improved |= self._sweep(reduction)

    def _sweep(self, reduction: Reduction) -> bool:
        """Try the parts of one reduction, many at once first; whether the module got smaller."""
        improved = False
        size = len(reduction.parts(self.module))
        while size:
            start = 0
            while (found := self._first(self._candidates(reduction, start, size))) is not None:
                start, improved = found.start, True
                self.module, self.text, self.weight = found.module, found.text, found.weight
                self._on_step(Step(reduction.name, found.weight, self._trials.count))
            size //= 2
        return improved

    def _candidates(self, reduction: Reduction, start: int, size: int) -> Iterator[_Candidate]:
        parts = reduction.parts(self.module)
        for begin in range(start, len(parts), size):
            if self.is_over:
                return
            copy: ModuleOp = self.module.clone()
            reduction.take(copy, parts[begin : begin + size])
            try:
                text = module_text(copy) + "\n"
            except Exception:  # no op's printer expects what a reduction may have taken
                continue
            smaller = weight(copy, len(text))
            if smaller.key < self.weight.key and text not in self._rejected:
                yield _Candidate(begin, copy, text, smaller)

    def _first(self, candidates: Iterator[_Candidate]) -> _Candidate | None:
        """The first candidate, in their order, that is as interesting as the program was."""
        for candidate, is_interesting in self._trials.judged(candidates, lambda c: c.text):
            if is_interesting:
                return candidate
            self._rejected.add(candidate.text)
        return None
