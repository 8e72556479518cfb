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
    """The schedule of an attention kernel."""
    return tiled_attention(shape, attention_tiles(shape, profile))


def tiled_attention(shape: AttentionShape, tiles: AttentionTiles) -> Schedule:
    """The schedule that has these tiles: of the result, along its dimensions."""
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
    if shares_rows(columns, profile):
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


def attention_problem(
    schedule: Schedule, shape: AttentionShape, profile: TargetProfile
) -> str | None:
    """What keeps the passes from obeying a schedule of an attention, as a sentence."""
    s, columns = schedule, shape.dims[shape.value_dim]
    if s.splits not in (1, 2, 4, 8) or s.threads < s.splits or s.threads & (s.threads - 1):
        return "threads must be a power of two, and splits 1, 2, 4 or 8 of them"
    if s.splits > 1 and not shares_rows(columns, profile):
        return "splits must be 1 where SIMD-groups of 32 threads cannot shuffle vectors of columns"
    if s.splits > 1 and s.threads % profile.simd_width:
        return f"threads is {s.threads}; with splits it must be a multiple of {profile.simd_width}"
    if not 1 <= s.rows <= MOST_ROWS:
        return f"rows is {s.rows}; a thread computes 1 to {MOST_ROWS} rows"
    if s.reduction % 4 or not 4 <= s.reduction <= MOST_KEYS:
        return f"reduction is {s.reduction}; 4 to {MOST_KEYS} keys are staged, by fours"
    staged = s.reduction * shape.staged_bytes
    if staged > profile.threadgroup_memory:
        memory = profile.threadgroup_memory
        return f"its keys and values take {staged} bytes; {profile.name} has {memory}"
    tiles = AttentionTiles(s.threads // s.splits * s.rows, s.rows, s.splits, s.reduction)
    wanted = tiled_attention(shape, tiles)
    if s != wanted:
        group, thread = list(wanted.threadgroup), list(wanted.thread)
        return f"threadgroup must be {group}, thread {thread} and vector {wanted.vector}"
    return None


def shares_rows(columns: int, profile: TargetProfile) -> bool:
    """Whether several threads can share a row of so many columns."""
    return profile.subgroup_shuffle and profile.simd_width >= 32 and columns % 4 == 0
