"""Copy tiles of a contraction's inputs to threadgroup memory, and read them back.

A tile has two dimensions: the depth (the reduction) and the one across it (rows or columns of the
result). It is loaded in vectors along the dimension that the input is contiguous in, by all threads
of the threadgroup, and lies in threadgroup memory as its `Layout` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.dialects.bufferization import AllocTensorOp
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from ingot.compiler.analysis.schedule import Schedule
from ingot.compiler.analysis.structured import element_type, indexing_maps, shape_of
from ingot.compiler.dialects.arith import CmpiOp, SelectOp
from ingot.compiler.dialects.gpu_matrix import MMAMatrixType, SubgroupMmaLoadMatrixOp
from ingot.compiler.dialects.linalg import GenericOp
from ingot.compiler.dialects.tensor import PadOp
from ingot.passes.kernel.contraction_loops import ContractionLoops
from ingot.passes.kernel.cooperative import allocate_threadgroup_memory, load_inside
from ingot.passes.kernel.emitter import Lanes
from ingot.passes.kernel.evaluate import Evaluator
from ingot.passes.kernel.indices import dimension_sizes
from ingot.passes.kernel.linear import Linear, is_multiple
from ingot.passes.kernel.memory import View
from ingot.passes.kernel.store import store_all
from ingot.passes.kernel.tile_share import Place, TileShare

Side = Literal["across", "depth"]

VECTOR_BYTES = 16
"""The widest access of a thread."""


@dataclass(frozen=True)
class Layout:
    """How a staged tile lies in threadgroup memory."""

    contiguous: Side | None
    """The dimension along its rows; None for the one that the input itself is contiguous in."""
    padding: int
    """Bytes after each row, so that elements of a column lie in different banks."""
    widest: int = 4
    """Elements that a thread copies at once at most."""


@dataclass(frozen=True)
class _Part:
    """What a thread copies in one step."""

    place: Place
    values: list[SSAValue]
    """A vector from each line of the block."""


class StagedTile:
    """The tile of one input of a contraction in threadgroup memory."""

    def __init__(
        self,
        evaluator: Evaluator,
        schedule: Schedule,
        op: GenericOp,
        loops: ContractionLoops,
        position: int,
        layout: Layout,
        first: int = 0,
    ) -> None:
        """`first` is the thread that copies the first part."""
        self.evaluator = evaluator
        self.threads = schedule.threads
        alloc = _staged(op.inputs[position])
        assert alloc.copy is not None
        self.element = element_type(alloc.tensor)
        source = alloc.copy.owner
        self.source = source.source if isinstance(source, PadOp) else alloc.copy
        exprs = indexing_maps(op)[position].results
        self.rank = len(exprs)
        self.depth_dim = exprs.index(AffineDimExpr(loops.depth))
        self.across_dim = exprs.index(AffineDimExpr(loops.across(position)))
        shape = shape_of(alloc.tensor)
        self.extents: dict[Side, int] = {
            "across": shape[self.across_dim],
            "depth": shape[self.depth_dim],
        }
        self.fast: Side = "across" if self.across_dim == self.rank - 1 else "depth"
        self.slow: Side = "depth" if self.fast == "across" else "across"
        self.contiguous: Side = layout.contiguous or self.fast
        self.lines = self.extents["depth" if self.contiguous == "across" else "across"]
        pitch = self.extents[self.contiguous] + layout.padding // _bytes(self.element)
        lines = schedule.stages * self.lines
        self.buffer = allocate_threadgroup_memory(
            (lines, pitch), self.element, alloc, alloc.tensor.name_hint or "tile"
        )
        self.width = self._copied_at_once(layout.widest)
        turned = self.contiguous != self.fast and self.extents[self.slow] % self.width == 0
        self.height = self.width if turned else 1
        """Lines that a thread loads at once: a tile that is stored turned is copied in squares."""
        lines, length = self.extents[self.slow], self.extents[self.fast]
        self.share = TileShare(schedule.threads, lines, length, self.height, self.width, first)

    def load(self) -> list[_Part]:
        """Read the thread's part of the tile, at the current position of the reduction."""
        return [
            _Part(place, [self._load(place.slow + i, place.fast) for i in range(self.height)])
            for place in self.share.places(self.evaluator)
        ]

    def store(self, parts: Sequence[_Part], stage: Linear) -> None:
        """Write what `load` read to half `stage` of the buffer."""
        evaluator = self.evaluator
        view = View(self.buffer, [stage * self.lines, Linear()], [False, False])
        for part in parts:
            slow, fast, valid = part.place.slow, part.place.fast, part.place.valid
            values, line, place = part.values, slow, fast
            if self.contiguous != self.fast:
                lanes = ([evaluator.lane(v, i) for v in values] for i in range(self.width))
                values = [evaluator.from_elements(v) if len(v) > 1 else v[0] for v in lanes]
                line, place = fast, slow
            width = self.width if self.contiguous == self.fast else self.height
            own = Lanes(1, width) if width > 1 else None
            lines = [((line + number, place), value) for number, value in enumerate(values)]
            store_all(evaluator, view, lines, own, valid)

    def read(
        self, across: Linear, depth: Linear, stage: Linear, along: Side, width: int
    ) -> SSAValue:
        """`width` elements along a dimension, from the one at (across, depth) on."""
        if along != self.contiguous and width > 1:
            elements = [
                self.read(
                    across + (lane if along == "across" else 0),
                    depth + (lane if along == "depth" else 0),
                    stage,
                    along,
                    1,
                )
                for lane in range(width)
            ]
            return self.evaluator.from_elements(elements)
        line, place = (depth, across) if self.contiguous == "across" else (across, depth)
        view = View(self.buffer, [stage * self.lines, Linear()], [False, False])
        lanes = Lanes(1, width) if width > 1 else None
        return self.evaluator.load(view, (line, place), lanes)

    def read_matrix(
        self, across: Linear, depth: Linear, stage: Linear, rows: Side, type_: MMAMatrixType
    ) -> SSAValue:
        """The matrix at (across, depth) whose rows follow each other along `rows`."""
        line, place = (depth, across) if self.contiguous == "across" else (across, depth)
        indices = [self.evaluator.materialize(form) for form in (stage * self.lines + line, place)]
        pitch = shape_of(self.buffer)[-1]
        load = SubgroupMmaLoadMatrixOp(
            self.buffer, indices, type_, pitch, transpose=self.contiguous == rows
        )
        return self.evaluator.emit(load).res

    def _copied_at_once(self, widest: int) -> int:
        """The widest vector of which every thread gets one and none straddles an edge."""
        if self.fast == "depth" and self.depth_dim != self.rank - 1:
            return 1
        view = self.evaluator.view(self.source)
        extent = self.extents[self.fast]
        if view is not None:
            extent = shape_of(view.buffer)[-1]
        width = min(widest, VECTOR_BYTES // _bytes(self.element))
        elements = self.extents["across"] * self.extents["depth"]
        while width > 1 and (
            extent % width
            or self.extents[self.fast] % width
            or (view is not None and not is_multiple(view.offsets[-1], width))
            or elements // width < self.threads
        ):
            width //= 2
        return width

    def _load(self, slow: Linear, fast: Linear) -> SSAValue:
        evaluator = self.evaluator
        places = {self.slow: slow, self.fast: fast}
        index = [Linear()] * self.rank
        index[self.across_dim], index[self.depth_dim] = places["across"], places["depth"]
        lanes = Lanes(self.rank - 1, self.width) if self.width > 1 else None
        view = evaluator.view(self.source)
        if view is None:
            with evaluator.anew():
                value = evaluator.element(self.source, index, lanes)
        else:
            value = load_inside(evaluator, view, index, lanes)
        size = evaluator.size(dimension_sizes(self.source)[self.depth_dim])
        if size == self.extents["depth"]:
            return value
        # Past the end of the reduction there must be zeros; past the end of a row or column of
        # the result anything may be, since what is computed from it is not stored.
        position = evaluator.materialize(places["depth"])
        fits = evaluator.pure(CmpiOp, position, evaluator.index_value(size), "slt")
        if lanes is None:
            return evaluator.emit(SelectOp(fits, value, evaluator.zero(self.element))).result
        zero = evaluator.widen(evaluator.zero(self.element), self.width)
        value = evaluator.widen(value, self.width)
        return evaluator.emit(SelectOp(fits, value, zero)).result


def _staged(value: SSAValue) -> AllocTensorOp:
    """The copy that an input of a contraction is."""
    owner = value.owner
    assert isinstance(owner, AllocTensorOp), "the inputs of a tiled contraction are staged"
    return owner


def _bytes(element: object) -> int:
    return max(1, int(getattr(element, "bitwidth", 32)) // 8)
