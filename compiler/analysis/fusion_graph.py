"""Structured ops as a small graph, for deciding which of them run in one kernel (`fusion.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from xdsl.ir.affine import AffineMap

from ingot.compiler.analysis.affine_maps import rename_dims

GroupKind = Literal["pointwise", "row", "scan", "attention"]


class Role(Enum):
    """What an op is to a group."""

    ELEMENTWISE = "elementwise"
    """All loops are parallel."""
    REDUCTION = "reduction"
    """Some loops are reductions: over few elements, or over leading dimensions."""
    ROW_REDUCTION = "row_reduction"
    """A long reduction over trailing dimensions: a threadgroup shares a row."""
    CONTRACTION = "contraction"
    """A matrix product or a convolution: the root of its group."""
    SCAN = "scan"
    """Runs alone."""


@dataclass(frozen=True)
class Read:
    """A node reads a value of another node.

    `loops` has, for each dimension of the value, the reader's loop that indexes it; None where the
    index is anything else (a constant, a sum, computed). `direct` is false when the reader sees the
    value through a reshape or by computed indices, so that both must not share a kernel.
    """

    value: int
    loops: tuple[int | None, ...] = ()
    direct: bool = True
    map: AffineMap | None = None
    """From the reader's loops to the index; None where that is computed."""


@dataclass(frozen=True)
class Node:
    """One structured op. Values are numbered over the whole graph, those from outside included."""

    role: Role
    extents: tuple[int, ...]
    parallel: tuple[bool, ...]
    results: tuple[int, ...]
    writes: tuple[tuple[int, ...], ...]
    """For each result and each of its dimensions the parallel loop that indexes it."""
    reads: tuple[Read, ...]
    leading: tuple[int, ...] = ()
    """Loops of a contraction that must stay the first of the shared loops, in this order: its
    batch. The others are the rows and columns of its tiles, and may only be exchanged as blocks."""
    blocks: tuple[tuple[int, ...], ...] = ()
    """The rows, then the columns of a contraction, as loops."""
    in_rows: bool = False
    """A short reduction over trailing dimensions, which is one of rows where that fuses more."""
    cheap: bool = False
    """Moves data and computes next to nothing: it may be computed again where it is read."""
    takes_inputs: bool = False
    """Its kernel computes cheap inputs where it reads them."""
    branches: bool = False
    """Its body has control flow, which the lanes of a vector cannot follow."""

    @property
    def parallel_loops(self) -> tuple[int, ...]:
        """Positions of the parallel loops."""
        return tuple(i for i, p in enumerate(self.parallel) if p)

    def inner_loops(self, shared: Sequence[int]) -> list[int]:
        """Positions of the loops that are not among the shared ones."""
        return [i for i in range(len(self.extents)) if i not in shared]

    def walks(self, shared: Sequence[int]) -> set[tuple[int, AffineMap]]:
        """The values of which it reads another element in each iteration, and how: in maps over the
        shared loops, then the others. Nodes with a walk in common read the same."""
        order = [*shared, *self.inner_loops(shared)]
        places = [order.index(loop) for loop in range(len(order))]
        return {
            (read.value, rename_dims(read.map, places))
            for read in self.reads
            if read.map is not None and len(read.map.used_dims()) == len(order)
        }


@dataclass(frozen=True)
class Limits:
    """What a group may need at most."""

    max_operands: int = 24
    """Buffers of one kernel: inputs and results."""
    max_row_elements: int = 16384
    """Elements inside a row when there are fewer rows than `min_rows`."""
    min_rows: int = 32


@dataclass(frozen=True)
class Group:
    """Nodes of one kernel, in program order."""

    nodes: tuple[int, ...]
    kind: GroupKind
    shared: dict[int, tuple[int, ...]]
    """For each node its loops that are the shared loops, in the order common to the group."""
