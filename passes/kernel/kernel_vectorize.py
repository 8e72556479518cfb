"""The pass `kernel-vectorize`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.context import Context
from xdsl.dialects.bufferization import AllocTensorOp
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.scf import ForOp, YieldOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.building import before
from ingot.compiler.analysis.schedule import Schedule
from ingot.compiler.analysis.shared_loops import shared_dims
from ingot.compiler.analysis.structured import Combiner, reduction_loops, shape_of
from ingot.compiler.dialects.bufferization import MaterializeInDestinationOp
from ingot.compiler.dialects.ingot import ScanOp
from ingot.compiler.dialects.ingot import YieldOp as ScanYieldOp
from ingot.compiler.dialects.linalg import GenericOp
from ingot.compiler.dialects.scf import ForallOp
from ingot.passes.kernel.body_functions import BodyFunctions
from ingot.passes.kernel.cooperative import (
    RowPlace,
    copy_to_threadgroup,
    reduce_row,
    store_row,
)
from ingot.passes.kernel.emitter import Lanes
from ingot.passes.kernel.evaluate import Evaluator
from ingot.passes.kernel.indices import dimension_sizes, erase_unused, result_index, upper_bound
from ingot.passes.kernel.joint_reduction import Reduced, joint_reductions, reduce_jointly
from ingot.passes.kernel.linear import Linear
from ingot.passes.kernel.mapping import is_over_blocks, is_over_threads
from ingot.passes.kernel.online_softmax import find_online, is_long, reduce_online
from ingot.passes.kernel.reduction import reduce_at, reduce_points
from ingot.passes.kernel.results import related_dims
from ingot.passes.kernel.store import store


@dataclass(frozen=True)
class KernelVectorizePass(ModulePass):
    """Turn linalg on tiles (L3, bufferized) into loops over vectors and scalars on buffers (L4).

    before:  %e = linalg.generic ... ins(%s : tensor<1x4xf32>) { exp } -> tensor<1x4xf32>
             bufferization.materialize_in_destination %e in restrict writable %view
    after:   %v = vector.transfer_read %x[%i, %j] : memref<8x64xf32>, vector<4xf32>
             %e = math.exp %v : vector<4xf32>
             vector.transfer_write %e, %out[%i, %j]

    Inside a loop over threads every thread computes its own tile. Ops outside one (rows, staging
    copies) are shared out over all threads, with barriers and `gpu.all_reduce` where they exchange.
    """

    name = "kernel-vectorize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp) and "ingot.schedule" in func.attributes:
                schedule = Schedule.from_attr(func.attributes["ingot.schedule"])
                for loop in func.body.block.ops:
                    if isinstance(loop, ForallOp) and is_over_blocks(loop):
                        vectorize(loop, schedule)
                erase_unused([o for o in func.body.block.ops if o.results])


def vectorize(blocks: ForallOp, schedule: Schedule) -> None:
    """Rewrite what one threadgroup does; what is special to a kind is imported when one is met."""
    body = blocks.body.block
    threads = next((op for op in body.ops if is_over_threads(op)), None)
    if isinstance(threads, ForallOp):
        body = threads.body.block
    assert body.last_op is not None
    evaluator = Evaluator(before(body.last_op), blocks.location, reduce_at=reduce_at)
    ops = list(body.ops)[:-1]
    if isinstance(threads, ForallOp):
        _ThreadTile(evaluator, schedule).emit(ops)
    elif schedule.kind == "contraction":
        from ingot.passes.kernel.contraction import ContractionEmitter

        kernel = blocks.parent_op()
        assert isinstance(kernel, FuncOp)
        evaluator.functions = BodyFunctions(kernel)
        ContractionEmitter(evaluator, schedule).emit(ops)
    elif schedule.kind == "attention":
        from ingot.compiler.analysis.attention_kernels import kernel_attention
        from ingot.passes.kernel.attention import emit_attention

        attention = kernel_attention(blocks.body.block)
        emit_attention(evaluator, attention, schedule, blocks)
    elif schedule.kind == "column":
        from ingot.passes.kernel.columns import emit_columns

        emit_columns(evaluator, ops, schedule)
    else:
        _emit_rows(evaluator, ops, schedule)
    _erase_tiles(ops)
    _erase_tiles(list(blocks.body.block.ops)[:-1])


def _erase_tiles(ops: Sequence[Operation]) -> None:
    """Erase what was rewritten: stores and loops over tiles, then whatever nothing uses."""
    for op in reversed(ops):
        match op:
            case MaterializeInDestinationOp() | AllocTensorOp():
                unused = True
            case ForOp():
                unused = any(isinstance(r.type, TensorType) for r in op.results)
            case _:
                unused = bool(op.results) and all(not r.uses for r in op.results)
        if unused:
            op.detach()
            op.erase(safe_erase=False)


def _emit_rows(evaluator: Evaluator, ops: Sequence[Operation], schedule: Schedule) -> None:
    """All threads of the threadgroup compute its rows together; what is the same in several rows is
    read and computed once."""
    online = {m: pair for m, pair in find_online(ops).items() if is_long(m, schedule)}
    done: set[Operation] = set()
    places = _row_places(ops, schedule)
    for op in ops:
        match op:
            case GenericOp() if op in online:
                for place in places:
                    reduce_online(evaluator, online[op], schedule, place)
                done.add(online[op].total)
            case GenericOp() if reduction_loops(op) and op not in done:
                if not any(places[0].inside(r) for r in op.results):
                    for place in places:
                        reduce_row(evaluator, op, schedule, place)
            case MaterializeInDestinationOp():
                for place in places:
                    store_row(evaluator, op, schedule, place)
            case _:
                pass


def _row_places(ops: Sequence[Operation], schedule: Schedule) -> list[RowPlace]:
    """The rows of a threadgroup, which follow each other along the last shared loop."""
    sources = [op.source for op in ops if isinstance(op, MaterializeInDestinationOp)]
    count = len(schedule.threadgroup)
    dims = shared_dims(ops, sources[0], count)
    dims |= dict(zip(sources, related_dims(ops, sources, count), strict=True))
    rows = schedule.threadgroup[-1] if count else 1
    return [RowPlace(dims, count - 1, number) for number in range(rows)]


@dataclass
class _ThreadTile:
    """One thread computes its tile alone."""

    evaluator: Evaluator
    schedule: Schedule

    def emit(self, ops: Sequence[Operation]) -> None:
        """Emit the ops of one block in order; elementwise ops are emitted where they are used."""
        staged = [op for op in ops if isinstance(op, AllocTensorOp)]
        joint = joint_reductions(ops)
        for op in ops:
            match op:
                case GenericOp() if op in joint:
                    if op is next(iter(joint)):
                        self._reduce_jointly(joint)
                case GenericOp() if reduction_loops(op):
                    points, lanes = self.points(op.results[0])
                    reduce_points(self.evaluator, op, points, lanes, self.schedule.unroll)
                case ScanOp():
                    self._scan(op)
                case AllocTensorOp():
                    if op is staged[0]:
                        copy_to_threadgroup(self.evaluator, staged, self.schedule)
                case MaterializeInDestinationOp() if not isinstance(op.source.owner, ScanOp):
                    self._store(op)
                case MaterializeInDestinationOp() if result_index(op.source) == 1:
                    self._store(op)
                case _:
                    pass

    def _reduce_jointly(self, joint: dict[GenericOp, Combiner]) -> None:
        reductions = [
            Reduced(op, combiner, *self.points(op.results[0])) for op, combiner in joint.items()
        ]
        starts = [reduced.init(self.evaluator) for reduced in reductions]
        values = reduce_jointly(self.evaluator, reductions, starts)
        for reduced, found in zip(reductions, values, strict=True):
            reduced.remember(self.evaluator, found)

    def points(self, value: SSAValue) -> tuple[list[tuple[Linear, ...]], Lanes | None]:
        """Where a thread's tile of `value` is evaluated, and the vector at each point."""
        bounds: list[int] = []
        for size in dimension_sizes(value):
            bound = upper_bound(size)
            assert bound is not None, "the size of a tile has a known bound"
            bounds.append(bound)
        width = self.schedule.vector
        lanes = None
        if width > 1 and bounds and bounds[-1] % width == 0:
            lanes = Lanes(len(bounds) - 1, width)
        steps = [1] * len(bounds)
        if lanes is not None:
            steps[-1] = width
        ranges = [range(0, bound, step) for bound, step in zip(bounds, steps, strict=True)]
        points = [tuple(Linear((), i) for i in index) for index in product(*ranges)]
        return points, lanes

    def _store(self, op: MaterializeInDestinationOp) -> None:
        view = self.evaluator.view(op.dest)
        assert view is not None
        points, lanes = self.points(op.source)
        for index in points:
            value = self.evaluator.element(op.source, index, lanes)
            store(self.evaluator, view, index, lanes, value)

    def _scan(self, op: ScanOp) -> None:
        """Each thread runs along the scanned dimension and stores as it goes."""
        evaluator = self.evaluator
        dimension = op.dimension.value.data
        views = [
            evaluator.view(use.operation.dest)
            for use in op.scanned.uses
            if isinstance(use.operation, MaterializeInDestinationOp)
        ]
        points, _ = self.points(op.last)
        for index in points:
            zero = evaluator.index_value(0)
            one = evaluator.index_value(1)
            extent = evaluator.index_value(shape_of(op.input)[dimension])
            init = evaluator.element(op.init, index)
            block = Block(arg_types=[zero.type, init.type])
            with evaluator.inside(block):
                position, accumulator = block.args
                at = (*index[:dimension], Linear.of(position), *index[dimension:])
                element = evaluator.element(op.input, at)
                combined = self._combine(op.body.block, accumulator, element)
                value = accumulator if op.inclusive is None else combined
                for view in views:
                    assert view is not None
                    store(evaluator, view, at, None, value)
                evaluator.emit(YieldOp(combined))
            loop = evaluator.emit(ForOp(zero, extent, one, [init], block))
            loop.location = op.location
            evaluator.remember(op.last, index, None, loop.results[0])

    def _combine(self, body: Block, accumulator: SSAValue, element: SSAValue) -> SSAValue:
        values: dict[SSAValue, SSAValue] = dict(zip(body.args, (accumulator, element), strict=True))
        for op in body.ops:
            if isinstance(op, ScanYieldOp):
                return values.get(op.operands[0], op.operands[0])
            copy = op.clone(values)
            self.evaluator.emit(copy)
            values.update(zip(op.results, copy.results, strict=True))
        raise AssertionError("the body of a scan yields")
