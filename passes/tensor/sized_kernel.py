"""Kernels over tensors whose sizes a call decides.

The kernel is built as it enters the lowering passes (L4), over flat buffers: sizes come from a
buffer of i32, and every linear index is computed from them. Elementwise producers, and reductions
whose every element is read once, are computed where they are read.

The space of the results is cut into tiles, one for each thread: element j of a tile along a loop
lies j times the number of tiles behind the first, so that neighbouring threads read neighbours. At
the edge an element is moved into the tensor where it is read, and not written. With lanes, as many
threads as the host says compute one tile together, and the first of them writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.dialects import func, memref, scf, tensor
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap

from ingot.compiler.analysis.generics import Emitter, all_of, materialize
from ingot.compiler.analysis.sized_grid import GROUPS_X, THREADS
from ingot.compiler.analysis.structured import indexing_maps, is_parallel
from ingot.compiler.dialects import arith, gpu
from ingot.compiler.dialects.linalg import FillOp, GenericOp

from .sized_arguments import KernelArguments, SizesOf
from .sized_compute import Computation
from .sized_schedule import Size, SizedSchedule


def is_inlined(op: Operation) -> bool:
    """Whether the one reader of an op computes what it needs of it instead of reading a buffer."""
    if not isinstance(op, GenericOp) or len(op.results) != 1:
        return False
    uses = list(op.results[0].uses)
    if len(uses) != 1:
        return False
    (use,) = uses
    reader = use.operation
    if not isinstance(reader, GenericOp) or reader.parent_block() is not op.parent_block():
        return False
    if use.index >= len(reader.inputs):
        return False
    parallel = is_parallel(op)
    out = indexing_maps(op)[-1]
    if not out.is_projected_permutation() or len(out.results) != sum(parallel):
        return False
    if all(parallel):
        return True
    map_ = indexing_maps(reader)[use.index]
    once = map_.is_projected_permutation() and len(map_.results) == map_.num_dims
    return once and all(is_parallel(reader))


@dataclass(frozen=True)
class Element:
    """One element of a thread's tile: its indices, moved inside, and whether it lies inside."""

    indices: dict[int, SSAValue]
    inside: list[SSAValue]


@dataclass(frozen=True)
class _Thread:
    """What a thread is there for."""

    tile: SSAValue
    exists: SSAValue
    """Whether there is such a tile; with lanes also whether this thread writes it."""
    lane: tuple[SSAValue, SSAValue] | None
    """The thread's number among those of the tile, and how many these are."""


@dataclass
class KernelBuilder:
    """Builds one kernel: what it reads is found on the way."""

    sizes_of: SizesOf
    dim_of: Callable[[tensor.DimOp], Size]
    """The size that a `tensor.dim` of the host program asks for."""
    extents: Mapping[GenericOp, Sequence[Size]]
    """The loops of the generics that may be met."""
    inlined: Mapping[Operation, None]
    """The producers that are computed where they are read."""
    schedule: SizedSchedule
    tiles: Sequence[Size]
    """How many tiles there are along each parallel loop of the root."""
    lanes: Size
    """How many threads compute one tile together: all of a threadgroup, or 1."""

    def build(self, root: GenericOp | FillOp, extents: Sequence[Size], name: str) -> func.FuncOp:
        """The kernel that computes the results of `root`; `extents` are its loops' sizes."""
        body = Block()
        entry = Emitter.at_end(body, root.location)
        first = entry.add(arith.ConstantOp.from_int_and_width(0, IndexType()))
        self.arguments = KernelArguments(self.sizes_of, body, Emitter.before(first))
        parallel = is_parallel(root) if isinstance(root, GenericOp) else [True] * len(extents)
        loops = [i for i, p in enumerate(parallel) if p]
        counts = [self.arguments.size(entry, count) for count in self.tiles]
        thread = self._thread(entry, counts)
        if self.schedule.lanes:
            elements = self._elements(entry, loops, extents, thread.tile, counts)
            self._compute_and_store(entry, root, elements, thread)
        else:
            block = Block()
            inner = Emitter.at_end(block, root.location)
            elements = self._elements(inner, loops, extents, thread.tile, counts)
            self._compute_and_store(inner, root, elements, thread)
            inner.add(scf.YieldOp())
            entry.add(scf.IfOp(thread.exists, [], Region(block)))
        entry.add(func.ReturnOp())
        return self._function(name, root)

    def _thread(self, emit: Emitter, counts: Sequence[SSAValue]) -> _Thread:
        """The number of the thread's tile, whether there is one, and its lane in it."""

        def scaled(base: SSAValue, factor: int, offset: SSAValue) -> SSAValue:
            whole = emit.add(arith.MuliOp(base, emit.index(factor))).result
            return emit.add(arith.AddiOp(whole, offset)).result

        x = emit.add(gpu.BlockIdOp(gpu.Dimension.X)).results[0]
        y = emit.add(gpu.BlockIdOp(gpu.Dimension.Y)).results[0]
        thread = emit.add(gpu.ThreadIdOp(gpu.Dimension.X)).results[0]
        position = scaled(scaled(y, GROUPS_X, x), THREADS, thread)
        total = emit.index(1)
        for count in counts:
            total = emit.add(arith.MuliOp(total, count)).result
        if not self.schedule.lanes:
            exists = emit.add(arith.CmpiOp(position, total, "slt")).result
            return _Thread(position, exists, None)
        lanes = self.arguments.size(emit, self.lanes)
        lane = emit.add(arith.RemUIOp(position, lanes)).results[0]
        tile = emit.add(arith.DivUIOp(position, lanes)).results[0]
        is_first = emit.add(arith.CmpiOp(lane, emit.index(0), "eq")).result
        exists = emit.add(arith.CmpiOp(tile, total, "slt")).result
        # All threads of a threadgroup reduce, also those that have no tile.
        last = emit.add(arith.SubiOp(total, emit.index(1))).result
        tile = emit.add(arith.MinUIOp(tile, last)).result
        writes = emit.add(arith.AndIOp(exists, is_first)).result
        return _Thread(tile, writes, (lane, lanes))

    def _elements(
        self,
        emit: Emitter,
        loops: Sequence[int],
        extents: Sequence[Size],
        tile: SSAValue,
        counts: Sequence[SSAValue],
    ) -> list[Element]:
        """The elements of a tile."""
        first = self._delinearize(emit, tile, counts)
        along: list[list[tuple[SSAValue, SSAValue | None]]] = []
        for loop, start, count, factor in zip(
            loops, first, counts, self.schedule.factors, strict=True
        ):
            places: list[tuple[SSAValue, SSAValue | None]] = [(start, None)]
            index = start
            for _ in range(factor - 1):
                index = emit.add(arith.AddiOp(index, count)).result
                extent = extents[loop]
                if isinstance(extent, int) and extent % factor == 0:
                    places.append((index, None))
                    continue
                size = self.arguments.size(emit, extent)
                inside = emit.add(arith.CmpiOp(index, size, "slt")).result
                last = emit.add(arith.SubiOp(size, emit.index(1))).result
                places.append((emit.add(arith.MinSIOp(index, last)).result, inside))
            along.append(places)
        return [
            Element(
                {loop: index for loop, (index, _) in zip(loops, chosen, strict=True)},
                [inside for _, inside in chosen if inside is not None],
            )
            for chosen in product(*along)
        ]

    def _compute_and_store(
        self, emit: Emitter, root: GenericOp | FillOp, elements: Sequence[Element], thread: _Thread
    ) -> None:
        lanes = thread.lane
        compute = Computation(
            self.arguments, self.dim_of, self.extents, self.inlined, self.schedule, lanes
        )
        if isinstance(root, GenericOp):
            values = compute.compute(emit, root, [element.indices for element in elements])
            outs = indexing_maps(root)[len(root.inputs) :]
        else:
            values = [[compute.scalar(emit, root.inputs[0], {})] for _ in elements]
            outs = [AffineMap.identity(len(self.tiles))]
        self._results = [self.arguments.buffer(result) for result in root.results]
        for element, one in zip(elements, values, strict=True):
            conditions = [*([thread.exists] if lanes is not None else []), *element.inside]
            block = Block()
            place = Emitter.at_end(block, root.location) if conditions else emit
            loops = range(outs[0].num_dims)
            point = [element.indices.get(i, thread.tile) for i in loops]
            for value, result, buffer, map_ in zip(
                one, root.results, self._results, outs, strict=True
            ):
                indices = [materialize(place, expr, point) for expr in map_.results]
                at = self.arguments.linear(place, result, indices)
                place.add(memref.StoreOp.get(value, buffer, [at]))
            if conditions:
                place.add(scf.YieldOp())
                emit.add(scf.IfOp(all_of(emit, conditions), [], Region(block)))

    def _function(self, name: str, root: Operation) -> func.FuncOp:
        """Arguments in order: inputs, sizes, results."""
        arguments = self.arguments
        sizes = [arguments.sizes] if arguments.sizes is not None else []
        body = arguments.block
        old = list(body.args)
        for argument in [*arguments.inputs.values(), *sizes, *self._results]:
            new = body.insert_arg(argument.type, len(body.args))
            new.name_hint = argument.name_hint
            argument.replace_all_uses_with(new)
        for argument in old:
            body.erase_arg(argument)
        types = [argument.type for argument in body.args]
        kernel = func.FuncOp(name, (types, []), Region(body), "private")
        kernel.location = root.location
        return kernel

    def _delinearize(
        self, emit: Emitter, position: SSAValue, sizes: Sequence[SSAValue]
    ) -> list[SSAValue]:
        indices: list[SSAValue] = []
        for size in reversed(sizes[1:]):
            indices.append(emit.add(arith.RemUIOp(position, size)).results[0])
            position = emit.add(arith.DivUIOp(position, size)).results[0]
        if sizes:
            indices.append(position)
        return indices[::-1]
