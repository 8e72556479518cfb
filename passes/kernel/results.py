"""The results of a kernel, in terms of the loops that it shares."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.shared_loops import Dims, shared_dims
from ingot.compiler.analysis.structured import shape_of
from ingot.passes.kernel.indices import dimension_sizes
from ingot.passes.kernel.tiling import Tile


def result_tiles(result: SSAValue, dims: Dims, tiles: list[Tile]) -> tuple[Tile, ...]:
    """The range of a result that a tile of the shared loops computes."""
    return tuple(
        Tile(0, size) if loop is None else tiles[loop]
        for loop, size in zip(dims, dimension_sizes(result), strict=True)
    )


def related_dims(ops: Sequence[Operation], results: Sequence[SSAValue], count: int) -> list[Dims]:
    """For each result the shared loops of its dimensions; the first result defines the loops."""
    known = shared_dims(ops, results[0], count)
    related: list[Dims] = []
    for result in results:
        if result not in known and shape_of(result) != shape_of(results[0]):
            raise refuse(result, "internal: a kernel's results share no loops")
        related.append(known.get(result, known[results[0]]))
    return related
