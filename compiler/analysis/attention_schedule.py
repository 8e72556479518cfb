"""The schedule of attention: rows of queries and tiles of keys, chosen for a target profile."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ingot.compiler.analysis.schedule import Schedule
from ingot.targets.profiles import TargetProfile

LARGEST_HEAD = 128
"""Elements of a query, and of a weighted sum, that a thread may hold in registers."""

FEWEST_ROWS, MOST_KEYS = 8, 256
"""Fewer queries over more keys leave most threads without work: the scores are stored then, so
that every key has threads of its own."""

MOST_WORK = 1 << 21
"""Operations of two matrix products in a row that are worth a kernel less: tiles of their own would
use what they load more often."""

STAGED_BYTES = 16384
"""Threadgroup memory for a tile of keys and values: two threadgroups fit where 32 KiB are."""

GPU_FLOATS = 128
CPU_FLOATS = 1024
"""Elements of queries and of weighted sums that a thread may hold with more than one row."""

MOST_ROWS = 8
"""Rows of one thread."""

FEWEST_GROUPS = 4
"""Threadgroups that are not given up for more rows in a thread."""

ENOUGH_THREADS = 1 << 14
"""Threads below which a device that shuffles has several of them share a row."""


@dataclass(frozen=True)
class AttentionShape:
    """Sizes of an attention, in elements."""

    dims: tuple[int, ...]
    """The shape of the result."""
    row_dim: int
    """The dimension of the result that a threadgroup's rows run along."""
    value_dim: int
    """The dimension of the result that holds a weighted sum of values."""
    keys: int
    head: int
    """Elements of a query and of a key."""
    staged_bytes: int
    """Bytes of one key with its value in threadgroup memory."""


@dataclass(frozen=True)
class AttentionTiles:
    """The choice for one attention."""

    rows: int
    """Rows of a threadgroup."""
    thread_rows: int
    """Rows of a thread, which read a key and a value only once."""
    splits: int
    """Threads that share a row."""
    keys: int
    """Keys of a tile."""


def attention_schedule(shape: AttentionShape, profile: TargetProfile) -> Schedule:
    """The schedule of an attention kernel: tiles of the result, along its dimensions."""
    tiles = attention_tiles(shape, profile)
    columns = shape.dims[shape.value_dim]
    sizes = {shape.row_dim: tiles.rows, shape.value_dim: columns}
    thread = {shape.row_dim: tiles.thread_rows, shape.value_dim: columns}
    return Schedule(
        kind="attention",
        threadgroup=tuple(sizes.get(i, 1) for i in range(len(shape.dims))),
        thread=tuple(thread.get(i, 1) for i in range(len(shape.dims))),
        threads=tiles.rows // tiles.thread_rows * tiles.splits,
        vector=4,
        reduction=tiles.keys,
        splits=tiles.splits,
        rows=tiles.thread_rows,
    )


def attention_tiles(shape: AttentionShape, profile: TargetProfile) -> AttentionTiles:
    """Rows and keys of a threadgroup's tile.

    Several rows of a thread share each key and value that it loads, as far as registers go: those
    of a CPU are memory anyway, and loads cost it most.
    """
    rows = prod(n for i, n in enumerate(shape.dims) if i != shape.value_dim)
    extent, columns = shape.dims[shape.row_dim], shape.dims[shape.value_dim]
    splits = 1
    if profile.subgroup_shuffle and profile.simd_width >= 32 and columns % 4 == 0:
        while splits < 8 and rows * splits < ENOUGH_THREADS and shape.keys >= 8 * splits:
            splits *= 2
    fewest = profile.simd_width if profile.is_cpu else 32
    registers = CPU_FLOATS if profile.is_cpu else GPU_FLOATS
    thread_rows = 1
    while (
        thread_rows < MOST_ROWS
        and 2 * thread_rows * (shape.head + columns) <= registers
        and 2 * thread_rows * fewest <= extent * splits
        and 2 * thread_rows * fewest * FEWEST_GROUPS <= rows * splits
    ):
        thread_rows *= 2
    threads = fewest
    while not profile.is_cpu and threads < 64 and threads // splits * thread_rows < extent:
        threads *= 2
    memory = min(STAGED_BYTES, profile.threadgroup_memory)
    keys = 64
    while keys > 4 and (keys * shape.staged_bytes > memory or keys >= 2 * shape.keys):
        keys //= 2
    return AttentionTiles(threads // splits * thread_rows, thread_rows, splits, keys)
