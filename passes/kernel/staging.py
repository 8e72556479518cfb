"""Copy tiles of a contraction's inputs to threadgroup memory, and read them back.

A tile has two dimensions: the depth (the reduction) and the one across it (rows or columns of the
result). It is loaded in vectors along the dimension that the input is contiguous in, by all threads
of the threadgroup, and lies in threadgroup memory as its `Layout` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.dialects import memref
from xdsl.dialects.bufferization import AllocTensorOp
from xdsl.dialects.builtin import MemRefType, NoneAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ingot.compiler.analysis.building import before
from ingot.compiler.analysis.index_range import known_divisor
from ingot.compiler.analysis.schedule import Schedule
from ingot.compiler.analysis.structured import element_type, indexing_maps, shape_of
from ingot.compiler.dialects.arith import CmpiOp, SelectOp
from ingot.compiler.dialects.gpu import AddressSpace, AddressSpaceAttr
from ingot.compiler.dialects.linalg import GenericOp
from ingot.compiler.dialects.tensor import PadOp
from ingot.passes.kernel.contraction_loops import ContractionLoops
from ingot.passes.kernel.cooperative import load_inside, thread_id
from ingot.passes.kernel.emitter import Lanes
from ingot.passes.kernel.evaluate import Evaluator
from ingot.passes.kernel.indices import dimension_sizes
from ingot.passes.kernel.linear import Linear, constant_index
from ingot.passes.kernel.memory import View
from ingot.passes.kernel.store import store

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

    slow: Linear
    fast: Linear
    valid: SSAValue | None
    """Whether the step lies inside the tile; None when it always does."""
    value: SSAValue


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
    ) -> None:
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
        self.buffer = _threadgroup_buffer((schedule.stages * self.lines, pitch), alloc)
        self.width = self._copied_at_once(layout.widest)

    def load(self) -> list[_Part]:
        """Read the thread's part of the tile, at the current position of the reduction."""
        stride = self.threads * self.width
        elements = self.extents["across"] * self.extents["depth"]
        parts: list[_Part] = []
        for start in range(0, elements, stride):
            slow, fast = self._chunk(start)
            valid = None
            if start + stride > elements:
                valid = self._is_inside(elements - start)
                slow, fast = self._kept_inside(slow, valid), self._kept_inside(fast, valid)
            parts.append(_Part(slow, fast, valid, self._load(slow, fast)))
        return parts

    def store(self, parts: Sequence[_Part], stage: Linear) -> None:
        """Write what `load` read to half `stage` of the buffer."""
        view = View(self.buffer, [stage * self.lines, Linear()], [False, False])
        lanes = Lanes(1, self.width) if self.width > 1 else None
        for part in parts:
            if self.contiguous == self.fast:
                store(self.evaluator, view, (part.slow, part.fast), lanes, part.value, part.valid)
                continue
            for lane in range(self.width):
                value = self.evaluator.lane(part.value, lane)
                index = (part.fast + lane, part.slow)
                store(self.evaluator, view, index, None, value, part.valid)

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
            or (view is not None and not _is_multiple(view.offsets[-1], width))
            or elements // width < self.threads
        ):
            width //= 2
        return width

    def _chunk(self, start: int) -> tuple[Linear, Linear]:
        """The thread's place, slow and fast, in the chunk that begins at element `start`."""
        extent = self.extents[self.fast]
        thread = thread_id(self.evaluator)
        moved = AffineDimExpr(0) * self.width
        if start % extent:
            moved = moved + start
        elif extent % self.width == 0:
            # The place inside a line is the same in each chunk.
            per_line = extent // self.width
            slow = self.evaluator.apply(AffineDimExpr(0) // per_line, thread)
            fast = self.evaluator.apply(AffineDimExpr(0) % per_line, thread)
            return Linear.of(slow) + start // extent, Linear.of(fast) * self.width
        slow = self.evaluator.apply(moved // extent, thread)
        fast = self.evaluator.apply((moved // self.width) % (extent // self.width), thread)
        return Linear.of(slow), Linear.of(fast) * self.width

    def _is_inside(self, left: int) -> SSAValue:
        """Whether the thread has a vector among the `left` elements of the last chunk."""
        end = constant_index(self.evaluator.builder, left // self.width)
        return self.evaluator.emit(CmpiOp(thread_id(self.evaluator), end, "slt")).result

    def _kept_inside(self, place: Linear, valid: SSAValue) -> Linear:
        position = place.materialize(self.evaluator.builder)
        zero = constant_index(self.evaluator.builder, 0)
        return Linear.of(self.evaluator.emit(SelectOp(valid, position, zero)).result)

    def _load(self, slow: Linear, fast: Linear) -> SSAValue:
        evaluator = self.evaluator
        places = {self.slow: slow, self.fast: fast}
        index = [Linear()] * self.rank
        index[self.across_dim], index[self.depth_dim] = places["across"], places["depth"]
        lanes = Lanes(self.rank - 1, self.width) if self.width > 1 else None
        view = evaluator.view(self.source)
        if view is None:
            value = evaluator.element(self.source, index, lanes)
        else:
            value = load_inside(evaluator, view, index, lanes)
        size = dimension_sizes(self.source)[self.depth_dim]
        if size == self.extents["depth"]:
            return value
        # Past the end of the reduction there must be zeros; past the end of a row or column of
        # the result anything may be, since what is computed from it is not stored.
        position = places["depth"].materialize(evaluator.builder)
        fits = evaluator.emit(CmpiOp(position, evaluator.index_value(size), "slt")).result
        if lanes is None:
            return evaluator.emit(SelectOp(fits, value, evaluator.zero(self.element))).result
        zero = evaluator.widen(evaluator.zero(self.element), self.width)
        value = evaluator.widen(value, self.width)
        condition = evaluator.widen(fits, self.width)
        return evaluator.emit(SelectOp(condition, value, zero)).result


def _staged(value: SSAValue) -> AllocTensorOp:
    """The copy that an input of a contraction is."""
    owner = value.owner
    assert isinstance(owner, AllocTensorOp), "the inputs of a tiled contraction are staged"
    return owner


def _is_multiple(form: Linear, n: int) -> bool:
    """Whether n divides an offset; the position of the reduction is a multiple of its step."""
    return form.constant % n == 0 and all(c * known_divisor(v) % n == 0 for v, c in form.terms)


def _bytes(element: object) -> int:
    return max(1, int(getattr(element, "bitwidth", 32)) // 8)


def _threadgroup_buffer(shape: Sequence[int], alloc: AllocTensorOp) -> SSAValue:
    """Allocate threadgroup memory at the start of the kernel."""
    space = AddressSpaceAttr(AddressSpace.WORKGROUP)
    type_ = MemRefType(element_type(alloc.tensor), shape, NoneAttr(), space)
    top: Operation = alloc
    while (parent := top.parent_op()) is not None and not isinstance(parent, FuncOp):
        top = parent
    op = memref.AllocOp([], [], type_)
    op.memref.name_hint = alloc.tensor.name_hint
    return before(top).insert(op).memref
