"""A contraction's result spread over threads: each holds vectors at places that it knows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import groupby

from xdsl.ir import SSAValue

from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.dialects.bufferization import MaterializeInDestinationOp
from ingot.compiler.dialects.linalg import GenericOp
from ingot.passes.kernel.contraction_loops import ContractionLoops
from ingot.passes.kernel.emitter import Lanes
from ingot.passes.kernel.evaluate import Evaluator
from ingot.passes.kernel.linear import Linear
from ingot.passes.kernel.reduction import narrow, wide_accumulator, widen_accumulator
from ingot.passes.kernel.store import store_all

Point = tuple[Linear, Linear]
"""Row and column of an element, or of the first element of a vector, in a threadgroup's tile."""


class DistributedTile(ABC):
    """Accumulators that are vectors of `width` elements along a row of the result."""

    def __init__(
        self, evaluator: Evaluator, op: GenericOp, loops: ContractionLoops, width: int
    ) -> None:
        self.evaluator = evaluator
        self.loops = loops
        self.width = width
        self.rank = len(shape_of(op.results[0]))
        self.lanes = Lanes(self.rank - 1, width) if width > 1 else None
        self.wide = wide_accumulator(op.results[0])
        self.points = self.make_points()

    @abstractmethod
    def make_points(self) -> list[Point]:
        """Where the thread's vectors are, rows first."""

    def start(self, init: SSAValue) -> list[SSAValue]:
        """The accumulators of one thread, from the tile `init`."""
        evaluator = self.evaluator
        width = None if self.lanes is None else self.width
        return [
            widen_accumulator(
                evaluator,
                evaluator.widen(evaluator.element(init, index, self.lanes), width),
                self.wide,
            )
            for index in self._indices(self.points)
        ]

    def finish(self, result: SSAValue, accumulators: Sequence[SSAValue]) -> None:
        """Let the evaluator know the elements of `result` that a thread holds."""
        for index, value in zip(self._indices(self.points), accumulators, strict=True):
            value = narrow(self.evaluator, value, result)
            self.evaluator.remember(result, index, self.lanes, value)

    def store(self, stores: Sequence[MaterializeInDestinationOp]) -> None:
        """Store those elements of the tiles that are computed from the result."""
        for op in stores:
            view = self.evaluator.view(op.dest)
            assert view is not None
            for _, points in groupby(self.points, lambda point: point[0]):
                row = [
                    (index, self.evaluator.element(op.source, index, self.lanes))
                    for index in self._indices(points)
                ]
                store_all(self.evaluator, view, row, self.lanes)

    def _indices(self, points: Iterable[Point]) -> list[tuple[Linear, ...]]:
        return [self.loops.result_index(self.rank, *point) for point in points]
