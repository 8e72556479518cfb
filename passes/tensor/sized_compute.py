"""Elements of tensors whose sizes a call decides, computed in a kernel where they are needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import memref, scf, tensor
from xdsl.dialects.builtin import BFloat16Type, Float16Type, IndexType, f32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ingot.compiler.analysis.generics import Emitter, all_of, clamp, materialize, zero
from ingot.compiler.analysis.neutral import neutral_element
from ingot.compiler.analysis.structured import (
    Combiner,
    element_type,
    indexing_maps,
    match_combiner,
    reduction_loops,
)
from ingot.compiler.dialects import arith, gpu
from ingot.compiler.dialects.linalg import FillOp, GenericOp, IndexOp, YieldOp

from .sized_arguments import KernelArguments
from .sized_schedule import Size, SizedSchedule, lane_combiner

Point = Mapping[int, SSAValue]
"""The indices of some loops of a generic."""
Indices = tuple[SSAValue, ...]
Values = list[list[SSAValue]]
"""For each point the results of a generic."""


@dataclass
class Computation:
    """Computes generics at points, all points of a thread together.

    What several points read is read once, and a reduction goes through its loops once for all.
    """

    arguments: KernelArguments
    dim_of: Callable[[tensor.DimOp], Size]
    """The size that a `tensor.dim` of the host program asks for."""
    extents: Mapping[GenericOp, Sequence[Size]]
    """The loops of the generics that may be met."""
    inlined: Mapping[Operation, None]
    """The producers that are computed where they are read."""
    schedule: SizedSchedule
    lanes: tuple[SSAValue, SSAValue] | None = None
    """The number of this thread among those that share a reduction, and how many these are."""
    _read: list[dict[tuple[SSAValue, Indices], SSAValue]] = field(default_factory=lambda: [{}])
    """What has been read, in the block at hand and those around it."""

    def compute(self, emit: Emitter, op: GenericOp, points: Sequence[Point]) -> Values:
        """What a generic yields at points of its parallel loops."""
        reduced = reduction_loops(op)
        initial = self._initial(emit, op, points)
        if not reduced:
            return self._bodies(emit, op, points, initial)
        wide = _accumulates_wide(op)
        if wide:
            initial = [[self._wide(emit, value) for value in one] for one in initial]
        combiner = lane_combiner(op) if self.lanes is not None else None
        starts: Values = initial
        if combiner is not None:
            type_ = f32 if wide else element_type(op.results[0])
            neutral = neutral_element(combiner.op.name, type_)
            assert neutral is not None
            start: SSAValue = emit.add(arith.ConstantOp(neutral)).result
            starts = [[start] for _ in points]
        results = self._reduce(emit, op, reduced, points, starts, combiner is not None)
        if combiner is not None:
            results = [
                [self._joined(emit, combiner, before[0], part[0])]
                for before, part in zip(initial, results, strict=True)
            ]
        if wide:
            type_ = element_type(op.results[0])
            return [[emit.add(arith.TruncFOp(one[0], type_)).result] for one in results]
        return results

    @staticmethod
    def _wide(emit: Emitter, value: SSAValue) -> SSAValue:
        return emit.add(arith.ExtFOp(value, f32)).result

    def _joined(
        self, emit: Emitter, combiner: Combiner, initial: SSAValue, part: SSAValue
    ) -> SSAValue:
        """The parts of all lanes; where a thread is alone its own part is all there is."""
        assert self.lanes is not None
        name = gpu.AllReduceOperation(combiner.name)
        together = emit.add(gpu.AllReduceOp(part, name)).results[0]
        alone = emit.add(arith.CmpiOp(self.lanes[1], emit.index(1), "eq")).result
        whole = emit.add(arith.SelectOp(alone, part, together)).result
        operands = list(combiner.op.operands)
        pair = [whole if v is combiner.contribution else initial for v in operands]
        return emit.add(type(combiner.op).create(operands=pair, result_types=[part.type])).results[
            0
        ]

    def _initial(self, emit: Emitter, op: GenericOp, points: Sequence[Point]) -> Values:
        """What the body reads of its outputs before anything is computed."""
        maps = indexing_maps(op)[len(op.inputs) :]
        found: Values = [[] for _ in points]
        for i, (init, map_) in enumerate(zip(op.outputs, maps, strict=True)):
            if not op.body.block.args[len(op.inputs) + i].uses:
                nothing = emit.add(arith.ConstantOp(zero(element_type(init)))).result
                elements = [nothing] * len(points)
            else:
                at = [self._apply(emit, map_.results, self._point(emit, op, p)) for p in points]
                elements = self.elements(emit, init, at)
            for one, element in zip(found, elements, strict=True):
                one.append(element)
        return found

    def _point(self, emit: Emitter, op: GenericOp, point: Point) -> list[SSAValue]:
        loops = range(len(op.iterator_types.data))
        nothing = emit.index(0) if any(i not in point for i in loops) else None
        found = [point.get(i, nothing) for i in loops]
        return [index for index in found if index is not None]

    def _apply(
        self, emit: Emitter, exprs: Sequence[AffineExpr], point: Sequence[SSAValue]
    ) -> Indices:
        return tuple(materialize(emit, expr, point) for expr in exprs)

    def elements(
        self, emit: Emitter, value: SSAValue, indices: Sequence[Indices]
    ) -> list[SSAValue]:
        """Elements of a tensor of the host program."""
        owner = value.owner
        if isinstance(owner, FillOp):
            return [self.scalar(emit, owner.inputs[0], {})] * len(indices)
        if isinstance(owner, tensor.EmptyOp):
            nothing = emit.add(arith.ConstantOp(zero(element_type(value)))).result
            return [nothing] * len(indices)
        wanted = [at for at in dict.fromkeys(indices) if self._known(value, at) is None]
        if isinstance(owner, GenericOp) and owner in self.inlined:
            points: list[dict[int, SSAValue]] = []
            for at in wanted:
                exprs = indexing_maps(owner)[-1].results
                dims = [expr for expr in exprs if isinstance(expr, AffineDimExpr)]
                points.append({expr.position: index for expr, index in zip(dims, at, strict=True)})
            made = [one[0] for one in self.compute(emit, owner, points)] if points else []
        else:
            made = [self._load(emit, value, at) for at in wanted]
        for at, element in zip(wanted, made, strict=True):
            self._read[-1][value, at] = element
        known = [self._known(value, at) for at in indices]
        return [element for element in known if element is not None]

    def _known(self, value: SSAValue, at: Indices) -> SSAValue | None:
        for read in reversed(self._read):
            if (value, at) in read:
                return read[value, at]
        return None

    def _load(self, emit: Emitter, value: SSAValue, at: Indices) -> SSAValue:
        buffer = self.arguments.input(value)
        return emit.add(memref.LoadOp.get(buffer, [self.arguments.linear(emit, value, at)])).res

    def _reduce(
        self,
        emit: Emitter,
        op: GenericOp,
        reduced: Sequence[int],
        points: Sequence[Point],
        carried: Values,
        shared: bool,
    ) -> Values:
        """Nested loops over the dimensions of `reduced`, the first outermost; its turns are shared
        by the lanes where they are `shared`. The last is written out several times."""
        if not reduced:
            return self._bodies(emit, op, points, carried)
        first, *rest = reduced
        extent = self.extents[op][first]
        lane, count = self.lanes if shared and self.lanes is not None else (None, None)
        turns = self.arguments.size(emit, extent)
        if lane is not None and count is not None:
            # Of the turns lane, lane + count, ... as many as there are below the extent.
            last = emit.add(arith.SubiOp(count, emit.index(1))).result
            up = emit.add(arith.AddiOp(turns, last)).result
            left = emit.add(arith.SubiOp(up, lane)).result
            turns = emit.add(arith.DivUIOp(left, count)).results[0]

        def turn(inner: Emitter, number: SSAValue, held: Values) -> Values:
            index = number
            if lane is not None and count is not None:
                scaled = inner.add(arith.MuliOp(number, count)).result
                index = inner.add(arith.AddiOp(scaled, lane)).result
            inside = [{**point, first: index} for point in points]
            return self._reduce(inner, op, rest, inside, held, False)

        times = 1 if rest else self.schedule.unrolled
        if isinstance(extent, int) and extent < 2 * times:
            times = 1
        if times == 1:
            return self._loop(emit, emit.index(0), turns, 1, carried, turn)
        step = emit.index(times)
        whole = emit.add(arith.DivUIOp(turns, step)).results[0]
        end = emit.add(arith.MuliOp(whole, step)).result
        carried = self._loop(emit, emit.index(0), end, times, carried, turn)
        if isinstance(extent, int) and not shared and extent % times == 0:
            return carried
        return self._loop(emit, end, turns, 1, carried, turn)

    def _loop(
        self,
        emit: Emitter,
        start: SSAValue,
        end: SSAValue,
        times: int,
        carried: Values,
        turn: Callable[[Emitter, SSAValue, Values], Values],
    ) -> Values:
        """`scf.for` in steps of `times` turns."""
        flat = [value for one in carried for value in one]
        block = Block(arg_types=[IndexType(), *(v.type for v in flat)])
        inner = Emitter.at_end(block, emit.location)
        self._read.append({})
        held = _grouped(block.args[1:], carried)
        for number in range(times):
            index: SSAValue = block.args[0]
            if number:
                index = inner.add(arith.AddiOp(index, inner.index(number))).result
            held = turn(inner, index, held)
        self._read.pop()
        inner.add(scf.YieldOp(*(value for one in held for value in one)))
        loop = scf.ForOp(start, end, emit.index(times), flat, Region(block))
        return _grouped(emit.add(loop).results, carried)

    def _bodies(
        self, emit: Emitter, op: GenericOp, points: Sequence[Point], carried: Values
    ) -> Values:
        """One run of a generic's body at each point."""
        block, maps = op.body.block, indexing_maps(op)
        known: list[dict[SSAValue, SSAValue]] = [{} for _ in points]
        whole = [self._point(emit, op, point) for point in points]
        for argument, operand, map_ in zip(block.args, op.inputs, maps, strict=False):
            if argument.uses:
                at = [self._apply(emit, map_.results, point) for point in whole]
                for values, element in zip(known, self.elements(emit, operand, at), strict=True):
                    values[argument] = element
        for values, before in zip(known, carried, strict=True):
            values |= zip(block.args[len(op.inputs) :], before, strict=True)
        return [
            self._body(emit, op, values, point) for values, point in zip(known, whole, strict=True)
        ]

    def _body(
        self,
        emit: Emitter,
        op: GenericOp,
        values: dict[SSAValue, SSAValue],
        point: Sequence[SSAValue],
    ) -> list[SSAValue]:
        wide = bool(reduction_loops(op)) and _accumulates_wide(op)
        combiner = match_combiner(op) if wide else None
        for inner in op.body.block.ops:
            if isinstance(inner, YieldOp):
                return [self.scalar(emit, v, values) for v in inner.operands]
            if combiner is not None and inner is combiner.op:
                part = self.scalar(emit, combiner.contribution, values)
                before = values[op.body.block.args[-1]]
                total = emit.add(arith.AddfOp(before, self._wide(emit, part))).result
                values[inner.results[0]] = total
                continue
            self._clone(emit, inner, values, point)
        raise AssertionError("a body ends in linalg.yield")

    def _clone(
        self,
        emit: Emitter,
        op: Operation,
        values: dict[SSAValue, SSAValue],
        point: Sequence[SSAValue],
    ) -> None:
        if isinstance(op, IndexOp):
            values[op.results[0]] = point[op.dim.value.data]
            return
        if isinstance(op, tensor.ExtractOp):
            sizes = self.arguments.sizes_of(op.tensor)
            indices = [
                self._clamped(emit, self.scalar(emit, index, values), size)
                for index, size in zip(op.indices, sizes, strict=True)
            ]
            values[op.results[0]] = self._if_any(emit, op.tensor, tuple(indices))
            return
        operands = [self.scalar(emit, operand, values) for operand in op.operands]
        new = emit.add(
            type(op).create(
                operands=operands,
                result_types=list(op.result_types),
                properties=dict(op.properties),
                attributes=dict(op.attributes),
                regions=[self._clone_region(region, values, point) for region in op.regions],
            )
        )
        values |= zip(op.results, new.results, strict=True)

    def _if_any(self, emit: Emitter, value: SSAValue, at: Indices) -> SSAValue:
        """An element of a tensor, or 0 where the tensor is empty."""
        sizes = [size for size in self.arguments.sizes_of(value) if not isinstance(size, int)]
        if not sizes:
            return self.elements(emit, value, [at])[0]
        nothing = emit.index(0)
        conditions = [
            emit.add(arith.CmpiOp(self.arguments.size(emit, size), nothing, "sgt")).result
            for size in sizes
        ]
        read, other = Block(), Block()
        self._read.append({})
        inner = Emitter.at_end(read, emit.location)
        inner.add(scf.YieldOp(self.elements(inner, value, [at])[0]))
        self._read.pop()
        inner = Emitter.at_end(other, emit.location)
        inner.add(scf.YieldOp(inner.add(arith.ConstantOp(zero(element_type(value)))).result))
        branch = scf.IfOp(
            all_of(emit, conditions), [element_type(value)], Region(read), Region(other)
        )
        return emit.add(branch).results[0]

    def _clone_region(
        self, region: Region, values: Mapping[SSAValue, SSAValue], point: Sequence[SSAValue]
    ) -> Region:
        """A branch or a loop of a body: it has one block, or none where there is no `else`."""
        blocks: list[Block] = []
        for source in region.blocks:
            block = Block(arg_types=[argument.type for argument in source.args])
            inside = {**values, **dict(zip(source.args, block.args, strict=True))}
            self._read.append({})
            for op in source.ops:
                self._clone(Emitter.at_end(block, op.location), op, inside, point)
            self._read.pop()
            blocks.append(block)
        return Region(blocks)

    def _clamped(self, emit: Emitter, index: SSAValue, size: Size) -> SSAValue:
        """An index that data decides, moved into the tensor."""
        if isinstance(size, int):
            return clamp(emit, index, 0, size - 1)
        last = emit.add(arith.SubiOp(self.arguments.size(emit, size), emit.index(1))).result
        below = emit.add(arith.MinSIOp(index, last)).result
        return emit.add(arith.MaxSIOp(below, emit.index(0))).result

    def scalar(self, emit: Emitter, value: SSAValue, values: dict[SSAValue, SSAValue]) -> SSAValue:
        """A scalar of the body, or one of the host program, which the kernel computes itself."""
        if value in values:
            return values[value]
        owner = value.owner
        if isinstance(owner, tensor.DimOp):
            return self.arguments.size(emit, self.dim_of(owner))
        # Functions take tensors only, and the arguments of bodies are known.
        assert isinstance(owner, Operation)
        known: dict[SSAValue, SSAValue] = {}
        self._clone(emit, owner, known, ())
        return known[value]


def _grouped(flat: Sequence[SSAValue], like: Values) -> Values:
    """Values in groups as large as those of `like`."""
    values = iter(flat)
    return [[next(values) for _ in one] for one in like]


def _accumulates_wide(op: GenericOp) -> bool:
    """Whether a reduction is a sum of narrow floats, which is kept in f32."""
    combiner = match_combiner(op)
    return (
        combiner is not None and combiner.name == "add" and _is_narrow(element_type(op.results[0]))
    )


def _is_narrow(type_: Attribute) -> bool:
    return isinstance(type_, Float16Type | BFloat16Type)
