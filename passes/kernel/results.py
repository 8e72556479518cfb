"""The results of a kernel, in terms of the loops that it shares."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.shared_loops import Dims, shared_dims
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.dialects.tensor import ParallelInsertSliceOp
from ingot.passes.kernel.indices import dimension_sizes
from ingot.passes.kernel.tiling import Tile, Tiler


def insert_tile(
    tiler: Tiler, value: SSAValue, dest: SSAValue, dims: Dims, tiles: list[Tile], place: Operation
) -> ParallelInsertSliceOp:
    """What puts the part of a value that a tile of the shared loops computes into `dest`.

    `dims` are the shared loops of its dimensions; the op has the location of `place`.
    """
    ranges = tuple(
        Tile(0, size) if loop is None else tiles[loop]
        for loop, size in zip(dims, dimension_sizes(value), strict=True)
    )
    insert = ParallelInsertSliceOp(
        tiler.tile_value(value, ranges),
        dest,
        [t.offset for t in ranges],
        [t.size for t in ranges],
        [1] * len(ranges),
    )
    insert.location = place.location
    return insert


def related_dims(ops: Sequence[Operation], results: Sequence[SSAValue], count: int) -> list[Dims]:
    """For each result the shared loops of its dimensions; the first result defines the loops.

    What no op connects to the first result, as a constant that a loop was folded into, may be split
    among the loops in any way, and is along its leading dimensions.
    """
    known = shared_dims(ops, results[0], count)
    first = known[results[0]]
    sizes = {loop: size for loop, size in zip(first, shape_of(results[0]), strict=True)}
    related: list[Dims] = []
    for result in results:
        if result in known:
            related.append(known[result])
        elif shape_of(result) == shape_of(results[0]):
            related.append(first)
        elif shape_of(result)[:count] == tuple(sizes.get(loop) for loop in range(count)):
            related.append(tuple(d if d < count else None for d in range(len(shape_of(result)))))
        else:
            raise refuse(result, "internal: a kernel's results share no loops")
    return related
