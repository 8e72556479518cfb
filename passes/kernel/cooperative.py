"""Emit what all threads of a threadgroup do together: rows, and copies to threadgroup memory.

Thread t of T takes vectors t, T + t, 2T + t, ... of a row. A row of a few vectors a thread is
unrolled, so that what several ops read of it stays in registers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import affine, memref
from xdsl.dialects.bufferization import AllocTensorOp
from xdsl.dialects.builtin import (
    AffineMapAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.scf import ForOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.utils.hints import isa

from ingot.compiler.analysis.building import before
from ingot.compiler.analysis.schedule import Schedule
from ingot.compiler.analysis.shared_loops import Dims
from ingot.compiler.analysis.structured import (
    Combiner,
    element_type,
    indexing_maps,
    loop_extents,
    match_combiner,
    reduction_loops,
    shape_of,
)
from ingot.compiler.dialects.arith import AndIOp, CmpiOp, MinSIOp, SelectOp
from ingot.compiler.dialects.bufferization import MaterializeInDestinationOp
from ingot.compiler.dialects.gpu import (
    AddressSpace,
    AddressSpaceAttr,
    AllReduceOp,
    AllReduceOperation,
    BarrierOp,
    Dimension,
    ThreadIdOp,
)
from ingot.compiler.dialects.linalg import GenericOp
from ingot.compiler.dialects.tensor import PadOp
from ingot.passes.kernel.emitter import Lanes, on_behalf_of_op
from ingot.passes.kernel.evaluate import Evaluator, loops_of
from ingot.passes.kernel.indices import dimension_sizes
from ingot.passes.kernel.linear import Linear
from ingot.passes.kernel.memory import View
from ingot.passes.kernel.reduction import (
    narrow,
    reduce_points,
    wide_accumulator,
    widen_accumulator,
)
from ingot.passes.kernel.store import store


@dataclass(frozen=True)
class Chunk:
    """The part of a row that a thread takes in one step."""

    index: tuple[Linear, ...]
    """Where it starts, in each dimension of the row; kept inside the row."""
    valid: SSAValue | None
    """Whether it lies inside the row; None when it always does."""


@dataclass(frozen=True)
class Row:
    """How the elements of a row are shared out."""

    extents: tuple[int, ...]
    threads: int
    width: int
    unroll: int = 8
    """The most steps that are emitted without a loop."""

    @property
    def elements(self) -> int:
        """Elements of the row."""
        count = 1
        for extent in self.extents:
            count *= extent
        return count

    @property
    def chunks(self) -> int:
        """Steps that a thread takes."""
        return -(-self.elements // (self.threads * self.width))

    def chunk(self, evaluator: Evaluator, step: Linear) -> Chunk:
        """The thread's chunk number `step`; what computes it is emitted once in a scope."""
        return evaluator.once(("chunk", self, step), lambda: self._make_chunk(evaluator, step))

    def _make_chunk(self, evaluator: Evaluator, step: Linear) -> Chunk:
        stride = self.threads * self.width
        start = step * stride + Linear.of(thread_id(evaluator)) * self.width
        valid = None
        last = self.chunks if step.known is None else step.known + 1
        if last * stride > self.elements:
            position = evaluator.materialize(start)
            end = evaluator.index_value(self.elements)
            valid = evaluator.pure(CmpiOp, position, end, "slt")
            edge = evaluator.index_value(max(0, self.elements - self.width))
            start = Linear.of(evaluator.pure(MinSIOp, position, edge))
        return Chunk(delinearize(evaluator, start, self.extents), valid)


@dataclass(frozen=True)
class RowPlace:
    """One of the rows that a threadgroup computes, in the values of its tile."""

    dims: Mapping[SSAValue, Dims]
    loop: int
    """The shared loop that the rows of a tile follow each other along."""
    number: int

    def index(self, value: SSAValue) -> tuple[Linear, ...]:
        """Where the row begins in a value."""
        rows = {i for i, loop in enumerate(self.dims.get(value, ())) if loop == self.loop}
        at = Linear((), self.number)
        return tuple(at if i in rows else Linear() for i in range(len(shape_of(value))))

    def loops(self, op: GenericOp) -> list[Linear]:
        """The point of an op's loops where the row begins."""
        loops, _ = loops_of(indexing_maps(op)[len(op.inputs)], self.index(op.results[0]), None)
        return loops

    def inside(self, value: SSAValue) -> list[int]:
        """The dimensions of a value that run inside a row, but for those of one element."""
        dims = self.dims.get(value, ())
        return [
            i
            for i, size in enumerate(shape_of(value))
            if size != 1 and not (i < len(dims) and dims[i] == self.loop)
        ]


def row_of(extents: Sequence[int], schedule: Schedule) -> Row:
    """How a row with these extents is shared out under a schedule."""
    width = schedule.vector if extents and extents[-1] % schedule.vector == 0 else 1
    return Row(tuple(extents), schedule.threads, width, schedule.unroll)


def delinearize(evaluator: Evaluator, start: Linear, extents: Sequence[int]) -> tuple[Linear, ...]:
    """The index in each dimension of element `start` in row-major order."""
    index: list[Linear] = []
    stride = 1
    for extent in extents:
        stride *= max(1, extent)
    for i, extent in enumerate(extents):
        stride //= max(1, extent)
        if extent == 1:
            index.append(Linear())
            continue
        expr: AffineExpr = AffineDimExpr(0)
        if stride > 1:
            expr = expr // stride
        if any(n > 1 for n in extents[:i]):
            expr = expr % extent
        if isinstance(expr, AffineDimExpr):
            index.append(start)
            continue
        position = evaluator.materialize(start)
        apply = affine.ApplyOp([position], AffineMapAttr(AffineMap(1, 0, (expr,))))
        index.append(Linear.of(evaluator.emit(apply).result))
    return tuple(index)


def thread_id(evaluator: Evaluator) -> SSAValue:
    """The thread's position in its threadgroup."""
    return evaluator.once("thread", lambda: evaluator.emit(ThreadIdOp(Dimension.X)).result)


@on_behalf_of_op
def reduce_row(evaluator: Evaluator, op: GenericOp, schedule: Schedule, place: RowPlace) -> None:
    """A reduction of a row to one value, which every thread gets.

    Each thread combines its chunks, then `gpu.all_reduce` combines the threads. A body that is no
    plain combiner is run by every thread over the whole row instead.
    """
    combiner = match_combiner(op)
    result = place.index(op.results[0])
    if combiner is None:
        reduce_points(evaluator, op, [result], None)
        return
    inner = reduction_loops(op)
    extents = loop_extents(op)
    row = row_of([extents[i] for i in inner], schedule)
    wide = wide_accumulator(op.results[0])
    element = wide or combiner.contribution.type
    identity = evaluator.constant(identity_of(combiner.name, element), element)
    # Lanes run along a loop of the op: the last reduction loop.
    lanes = Lanes(inner[-1], row.width) if row.width > 1 else None
    start = evaluator.widen(identity, row.width if lanes else None)

    def step(number: Linear, accumulator: SSAValue) -> SSAValue:
        chunk = row.chunk(evaluator, number)
        loops = place.loops(op)
        for loop, form in zip(inner, chunk.index, strict=True):
            loops[loop] = form
        (part,) = evaluator.inline(op, loops, lanes, [identity], until=combiner.contribution)
        part = evaluator.widen(part, row.width if lanes else None)
        part = widen_accumulator(evaluator, part, wide)
        if chunk.valid is not None:
            neutral = evaluator.widen(identity, row.width if lanes else None)
            condition = evaluator.widen(chunk.valid, row.width if lanes else None)
            part = evaluator.emit(SelectOp(condition, part, neutral)).result
        return combine(evaluator, combiner, accumulator, part)

    total = over_chunks(evaluator, row, [start], lambda n, values: [step(n, values[0])])[0]
    if lanes is not None:
        parts = [evaluator.lane(total, i) for i in range(row.width)]
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [combine(evaluator, combiner, a, b) for a, b in pairs]
        (total,) = parts
    total = evaluator.emit(AllReduceOp(total, AllReduceOperation(combiner.name))).result
    init = evaluator.element(op.outputs[0], place.index(op.outputs[0]))
    total = combine(evaluator, combiner, widen_accumulator(evaluator, init, wide), total)
    evaluator.remember(op.results[0], result, None, narrow(evaluator, total, op.outputs[0]))


def combine(evaluator: Evaluator, combiner: Combiner, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """The combiner applied to two scalars or vectors, perhaps of a wider type than its own."""
    op = type(combiner.op).create(
        operands=[lhs, rhs],
        result_types=[lhs.type],
        properties=dict(combiner.op.properties),
    )
    op.location = combiner.op.location
    return evaluator.emit(op).results[0]


def over_chunks(
    evaluator: Evaluator,
    row: Row,
    carried: Sequence[SSAValue],
    body: Callable[[Linear, Sequence[SSAValue]], list[SSAValue]],
) -> list[SSAValue]:
    """Run `body` for each chunk of a thread: unrolled when they are few, in a loop otherwise."""
    if row.chunks <= row.unroll:
        values = list(carried)
        for number in range(row.chunks):
            values = body(Linear((), number), values)
        return values
    lower, upper, one = (evaluator.index_value(n) for n in (0, row.chunks, 1))
    thread_id(evaluator)
    block = Block(arg_types=[IndexType(), *(v.type for v in carried)])
    with evaluator.inside(block):
        evaluator.emit(YieldOp(*body(Linear.of(block.args[0]), block.args[1:])))
    return list(evaluator.emit(ForOp(lower, upper, one, carried, block)).results)


@on_behalf_of_op
def store_row(
    evaluator: Evaluator, op: MaterializeInDestinationOp, schedule: Schedule, place: RowPlace
) -> None:
    """Store a row, each thread its chunks; a single element is stored by the first thread."""
    view = evaluator.view(op.dest)
    assert view is not None
    shape = shape_of(op.source)
    inner, start = place.inside(op.source), place.index(op.source)
    if not inner:
        index = start
        value = evaluator.element(op.source, index)
        first = evaluator.index_value(0)
        guard = evaluator.pure(CmpiOp, thread_id(evaluator), first, "eq")
        store(evaluator, view, index, None, value, guard)
        return
    row = row_of([shape[dim] for dim in inner], schedule)
    lanes = Lanes(inner[-1], row.width) if row.width > 1 else None

    def step(number: Linear, _: Sequence[SSAValue]) -> list[SSAValue]:
        chunk = row.chunk(evaluator, number)
        index = list(start)
        for dim, form in zip(inner, chunk.index, strict=True):
            index[dim] = form
        value = evaluator.element(op.source, index, lanes)
        store(evaluator, view, index, lanes, value, chunk.valid)
        return []

    over_chunks(evaluator, row, [], step)


def copy_to_threadgroup(
    evaluator: Evaluator, allocs: Sequence[AllocTensorOp], schedule: Schedule
) -> None:
    """Copy tiles to threadgroup memory, all threads together, before a barrier."""
    if isinstance(allocs[0].parent_op(), ForOp):
        # The last iteration's readers come before this one's writers.
        evaluator.emit(BarrierOp())
    for alloc in allocs:
        _copy_tile(evaluator, alloc, schedule)
    evaluator.emit(BarrierOp())


@on_behalf_of_op
def _copy_tile(evaluator: Evaluator, alloc: AllocTensorOp, schedule: Schedule) -> None:
    assert alloc.copy is not None
    shape, element = shape_of(alloc.tensor), element_type(alloc.tensor)
    pitch = alloc.attributes.get("ingot.pitch")
    stored = (*shape[:-1], pitch.value.data) if isinstance(pitch, IntegerAttr) else shape
    buffer = allocate_threadgroup_memory(stored, element, alloc, alloc.tensor.name_hint)
    target = View(buffer, [Linear()] * len(shape), [False] * len(shape), padded=True)
    evaluator.views[alloc.tensor] = target
    source = alloc.copy
    if isinstance(source.owner, PadOp):
        source = source.owner.source
    view = evaluator.view(source)
    assert view is not None, "a staged tile is part of a buffer"
    aligned = shape_of(view.buffer)[-1] % schedule.vector == 0
    width = schedule.vector if aligned and shape[-1] % schedule.vector == 0 else 1
    row = Row(shape, schedule.threads, width)
    lanes = Lanes(len(shape) - 1, width) if width > 1 else None
    missing = [
        (dim, size)
        for dim, size in enumerate(dimension_sizes(source))
        if not (isinstance(size, int) and size == shape[dim])
    ]

    padded = {dim for dim, _ in missing}
    partial = [part or dim in padded for dim, part in enumerate(view.partial)]
    inner = View(view.buffer, view.offsets, partial)

    def step(number: Linear, _: Sequence[SSAValue]) -> list[SSAValue]:
        chunk = row.chunk(evaluator, number)
        # Vectors never straddle an edge: the extents are multiples of the width.
        value = load_inside(evaluator, inner, chunk.index, lanes)
        inside: SSAValue | None = None
        for dim, size in missing:
            position = evaluator.materialize(chunk.index[dim])
            end = evaluator.index_value(size)
            fits = evaluator.pure(CmpiOp, position, end, "slt")
            inside = fits if inside is None else evaluator.pure(AndIOp, inside, fits)
        if inside is not None:
            zero = evaluator.widen(evaluator.zero(element), width if lanes else None)
            condition = evaluator.widen(inside, width if lanes else None)
            value = evaluator.emit(SelectOp(condition, value, zero)).result
        store(evaluator, target, chunk.index, lanes, value, chunk.valid)
        return []

    over_chunks(evaluator, row, [], step)


def load_inside(
    evaluator: Evaluator, view: View, index: Sequence[Linear], lanes: Lanes | None
) -> SSAValue:
    """Load from a range that may pass the end of its buffer; there, its last elements are read."""
    kept: list[Linear] = []
    for dim, (offset, local) in enumerate(zip(view.offsets, index, strict=True)):
        position = offset + local
        width = lanes.width if lanes is not None and lanes.dim == dim else 1
        end = shape_of(view.buffer)[dim] - width + 1
        if view.partial[dim] and not evaluator.stays_below(position, end):
            last = evaluator.index_value(max(0, end - 1))
            at = evaluator.materialize(position)
            position = Linear.of(evaluator.pure(MinSIOp, at, last))
        kept.append(position)
    rank = len(kept)
    return evaluator.load(View(view.buffer, [Linear()] * rank, [False] * rank), kept, lanes)


def allocate_threadgroup_memory(
    shape: Sequence[int], element: Attribute, user: Operation, name: str | None
) -> SSAValue:
    """Allocate threadgroup memory at the start of the kernel that `user` belongs to."""
    type_ = MemRefType(element, shape, NoneAttr(), AddressSpaceAttr(AddressSpace.WORKGROUP))
    top: Operation = user
    while (parent := top.parent_op()) is not None and not isinstance(parent, FuncOp):
        top = parent
    op = memref.AllocOp([], [], type_)
    op.memref.name_hint = name
    return before(top).insert(op).memref


def integer_width(element: Attribute) -> int | None:
    """Bits of an integer type."""
    return element.bitwidth if isa(element, IntegerType) else None


def identity_of(name: str, element: Attribute) -> float | int:
    """The number that a combiner leaves any other number unchanged by."""
    width = integer_width(element) or 64
    numbers: dict[str, float | int] = {
        "add": 0,
        "mul": 1,
        "maximumf": -math.inf,
        "minimumf": math.inf,
        "maxnumf": math.nan,
        "minnumf": math.nan,
        "maxsi": -(1 << (width - 1)),
        "minsi": (1 << (width - 1)) - 1,
        "maxui": 0,
        "minui": -1,
        "and": -1,
        "or": 0,
        "xor": 0,
    }
    if width == 1:
        # As signed numbers, i1 has -1 (true) and 0.
        numbers |= {"maxsi": -1, "minsi": 0, "mul": -1}
    return numbers[name]
