"""Gathers and scatters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DYNAMIC_INDEX

from ingot.compiler.dialects.stablehlo.attributes import GatherAttr, ScatterAttr
from ingot.compiler.dialects.stablehlo.shapes.common import (
    Rule,
    agree,
    alike,
    different,
    first,
    line,
    ordered,
    result_is,
    shape,
    takes_scalars,
    text,
)

if TYPE_CHECKING:
    from ingot.compiler.dialects.stablehlo.base import StableHLOOp


@dataclass(frozen=True)
class _Numbers:
    """The dimension numbers of a gather or a scatter, by the names of their parts.

    `names` are those of the fields in their order: the window, the dimensions that it leaves out,
    the batch of the operand and of the indices, and what each component of an index is along.
    """

    names: tuple[str, ...]
    lists: tuple[tuple[int, ...], ...]
    vector: int

    @classmethod
    def of(cls, numbers: GatherAttr | ScatterAttr) -> _Numbers:
        lists = tuple(numbers.list_of(name) for name in numbers.LISTS)
        return cls(numbers.LISTS, lists, numbers.single("index_vector_dim"))

    def kept(self, rank: int) -> list[int]:
        """The dimensions of the operand that windows have."""
        return [dim for dim in range(rank) if dim not in (*self.lists[1], *self.lists[2])]

    def entries(self, indices: Sequence[int]) -> list[int]:
        """The sizes of the indices without their components."""
        return [size for dim, size in enumerate(indices) if dim != self.vector]

    def broken(self, operand: Sequence[int], indices: Sequence[int], moved_rank: int) -> str | None:
        """`moved_rank` dimensions has what is gathered or scattered."""
        window, left_out, batch, batch_indices, along = self.lists
        rank = len(operand)
        if not 0 <= self.vector <= len(indices):
            return f"needs index_vector_dim of 0 to {len(indices)}, but has {self.vector}"
        broken = first(
            (
                ordered(self.names[0], window, moved_rank),
                ordered(self.names[1], left_out, rank),
                ordered(self.names[2], batch, rank),
                different(self.names[3], batch_indices, len(indices)),
                different(self.names[4], along, rank),
            )
        )
        return broken or self._apart() or self._counts(operand, indices, moved_rank)

    def _apart(self) -> str | None:
        _, left_out, batch, batch_indices, along = self.lists
        for i, numbers in ((1, left_out), (4, along)):
            if not set(numbers).isdisjoint(batch):
                return f"needs {self.names[i]} that are not {self.names[2]}, but both have some"
        if self.vector in batch_indices:
            return f"needs {self.names[3]} without index_vector_dim, but has {list(batch_indices)}"
        return None

    def _counts(
        self, operand: Sequence[int], indices: Sequence[int], moved_rank: int
    ) -> str | None:
        window, _, batch, batch_indices, along = self.lists
        if not agree([operand[dim] for dim in batch], [indices[dim] for dim in batch_indices]):
            return f"needs {self.names[2]} and {self.names[3]} of the same sizes"
        parts = indices[self.vector] if self.vector < len(indices) else 1
        if not agree([len(along)], [parts]):
            return f"needs {parts} dimensions in {self.names[4]}, but has {list(along)}"
        kept = len(self.kept(len(operand)))
        if len(window) != kept:
            return f"needs {kept} {self.names[0]}, but has {list(window)}"
        rank = len(self.entries(indices)) + kept
        if moved_rank != rank:
            what = "result" if self.names is GatherAttr.LISTS else "updates"
            return f"needs {what} of {rank} dimensions, but has {moved_rank}"
        return None

    def moved(self, indices: Sequence[int], sizes: Sequence[int]) -> list[int]:
        """The shape of what is gathered or scattered, by windows of `sizes`."""
        window = self.lists[0]
        entries = iter(self.entries(indices))
        of_window = dict(zip(window, sizes, strict=True))
        rank = len(self.entries(indices)) + len(window)
        return [of_window[dim] if dim in of_window else next(entries) for dim in range(rank)]


def _gather(op: StableHLOOp) -> str | None:
    found = op.properties.get("dimension_numbers")
    if not isinstance(found, GatherAttr):
        return None
    numbers = _Numbers.of(found)
    operand, indices, *given = (shape(value) for value in op.ins)
    if (broken := numbers.broken(operand, indices, len(shape(op.outs[0])))) is not None:
        return broken
    if given:
        if (broken := line("slice_sizes", op.ins[2], len(operand))) is not None:
            return broken
        sizes: Sequence[int] = [DYNAMIC_INDEX] * len(operand)
    else:
        sizes = op.ints("slice_sizes") or ()
        reads = 0 not in shape(op.outs[0])
        if (broken := _slices(numbers, operand, sizes, reads)) is not None:
            return broken
    kept = [sizes[dim] for dim in numbers.kept(len(operand))]
    return result_is(op, numbers.moved(indices, kept))


def _slices(
    numbers: _Numbers, operand: Sequence[int], sizes: Sequence[int], reads: bool
) -> str | None:
    """The sizes of slices of a known size; whether there is an element that they are read for.

    Of no elements along a dimension that is left out, nothing could be read.
    """
    fits = len(sizes) == len(operand) and all(
        size >= 0 and (size <= extent or extent == DYNAMIC_INDEX)
        for size, extent in zip(sizes, operand, strict=True)
    )
    if not fits:
        return f"needs slice_sizes that fit into {text(operand)}, but has {list(sizes)}"
    if any(
        sizes[dim] > 1 or (reads and not sizes[dim])
        for dim in (*numbers.lists[1], *numbers.lists[2])
    ):
        return f"needs slice_sizes of 1 along what it leaves out, but has {list(sizes)}"
    return None


def _torch_index_select(op: StableHLOOp) -> str | None:
    operand, indices = (shape(value) for value in op.ins)
    dim, batch = op.int("dim"), op.int("batch_dims")
    if not 0 <= dim < len(operand):
        return f"needs dim of 0 to {len(operand) - 1}, but has {dim}"
    if not 0 <= batch <= min(dim, len(indices)):
        return f"needs batch_dims of 0 to {min(dim, len(indices))}, but has {batch}"
    if not agree(operand[:batch], indices[:batch]):
        return f"needs {batch} first dimensions of the same sizes"
    return result_is(op, [*operand[:dim], *indices[batch:], *operand[dim + 1 :]])


def _scatter(op: StableHLOOp) -> str | None:
    found = op.properties.get("scatter_dimension_numbers")
    if not isinstance(found, ScatterAttr):
        return None
    count = len(op.outs)
    if len(op.ins) != 2 * count + 1:
        return "takes an input and updates for each result, and indices"
    inputs, updates = op.ins[:count], op.ins[count + 1 :]
    operand, indices, update = (shape(v) for v in (inputs[0], op.ins[count], updates[0]))
    numbers = _Numbers.of(found)
    broken = (
        alike("inputs", inputs)
        or alike("updates", updates)
        or numbers.broken(operand, indices, len(update))
        or takes_scalars(op, 0, 2 * count, count)
    )
    if broken is not None:
        return broken
    extents = [operand[dim] for dim in numbers.kept(len(operand))]
    sizes = [update[dim] for dim in numbers.lists[0]]
    for size, extent in zip(sizes, extents, strict=True):
        if DYNAMIC_INDEX not in (size, extent) and size > extent:
            return f"cannot scatter windows of {text(sizes)} into {text(extents)}"
    wanted = numbers.moved(indices, sizes)
    if not agree(update, wanted):
        return f"needs updates of {text(wanted)}, but has {text(update)}"
    return first(result_is(op, operand, i) for i in range(count))


RULES: dict[str, Rule] = {
    "stablehlo.gather": _gather,
    "stablehlo.dynamic_gather": _gather,
    "stablehlo.torch_index_select": _torch_index_select,
    "stablehlo.scatter": _scatter,
}
