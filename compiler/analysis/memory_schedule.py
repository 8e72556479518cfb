"""Schedules of kernels whose time goes into moving memory: elementwise, transposing, by rows.

On a GPU many threads with one vector each keep the memory busy. Where a CPU runs the kernels, a
thread and a barrier cost more than an element: threads are fewer and do more.
"""

from __future__ import annotations

from ingot.compiler.analysis.schedule import (
    ColumnsShape,
    KernelShape,
    Schedule,
    pow2_at_least,
    product,
    vector_width,
)
from ingot.targets.profiles import TargetProfile

_DEFAULT_THREADS = 256
_ENOUGH_THREADGROUPS = 64
_CPU_VECTORS = 8
"""Vectors of an elementwise kernel that a thread handles on a CPU."""
_TRANSPOSE_TILE = 32
_TRANSPOSE_ROWS = 4
"""Rows of the tile that a thread of a GPU takes: so many loads are on their way at once."""
_ROW_THREADS, _CPU_ROW_THREADS = 32, 128
"""The fewest threads of a row, a SIMD-group where there are large ones; the most that pay on a CPU
for long rows."""
_GPU_CHUNKS, _CPU_CHUNKS = 8, 32
"""Vectors of a row that a thread holds in registers."""
_LINE = 128
"""Bytes of a row that neighbouring threads of column reductions read together: a cache's line."""
_MANY_THREADS = 1 << 17
"""Threads that keep the memory of a large GPU busy."""
_COLUMN_THREADS, _MOST_COLUMN_THREADS = 64, 512
"""The fewest threads of a threadgroup that shares column reductions, where there are so many, and
the most."""
_COLUMN_STEPS = 8
"""The fewest rows that pay for a thread of their own."""
_COLUMN_UNROLL = 4
_CPU_GROUPS, _CPU_LANES, _LONG_COLUMN = 8, 8, 64
"""Threadgroups that keep a CPU busy, threads of one where they never wait for each other, and rows
from which such a thread takes several vectors of columns."""


def pow2_at_most(n: int) -> int:
    """The largest power of two that is no more than n, at least 1."""
    return 1 << (max(1, n).bit_length() - 1)


def pointwise_schedule(shape: KernelShape, profile: TargetProfile) -> Schedule:
    """Threads along the innermost loops, each with vectors that lie side by side."""
    limit = min(_DEFAULT_THREADS, pow2_at_most(profile.max_threads_per_threadgroup))
    if shape.has_reduction:
        # Every thread loops over a reduction: smaller groups spread few outputs over more cores.
        limit = min(limit, _CPU_LANES if profile.is_cpu and _is_long(shape) else 64)
    thread = [1] * len(shape.parallel)
    vector = 1
    if thread:
        vector = vector_width(shape, shape.parallel[-1])
        thread[-1] = vector * _vectors_of_a_thread(shape, vector, profile)
    extents = [-(-p // t) for p, t in zip(shape.parallel, thread, strict=True)]
    spread = _spread_threads(extents, limit)
    return Schedule(
        kind="pointwise",
        threadgroup=tuple(s * t for s, t in zip(spread, thread, strict=True)),
        thread=tuple(thread),
        threads=product(spread),
        vector=vector,
    )


def column_schedule(
    shape: KernelShape, columns: ColumnsShape, profile: TargetProfile
) -> Schedule | None:
    """Threads that share each column; None where there are enough columns, or on a CPU."""
    vector = vector_width(shape, shape.parallel[-1])
    vectors = product(shape.parallel) // vector
    if profile.is_cpu or not vectors:
        return None
    along = -(-shape.parallel[-1] // vector)
    across = min(pow2_at_least(along), max(1, _LINE // (vector * shape.element_bytes)))
    limit = min(_MOST_COLUMN_THREADS, pow2_at_most(profile.max_threads_per_threadgroup))
    row = columns.bytes * vector
    splits = min(
        limit // across,
        pow2_at_most(columns.longest // _COLUMN_STEPS),
        pow2_at_least(-(-_MANY_THREADS // vectors)),
        pow2_at_most(profile.threadgroup_memory // (across * row)),
    )
    if splits < 2:
        return None
    while across * splits < _COLUMN_THREADS and across < along:
        across *= 2
    ones = (1,) * (len(shape.parallel) - 1)
    return Schedule(
        kind="column",
        threadgroup=(*ones, across * vector),
        thread=(*ones, vector),
        threads=across * splits,
        vector=vector,
        unroll=_COLUMN_UNROLL,
        splits=splits,
    )


def _vectors_of_a_thread(shape: KernelShape, vector: int, profile: TargetProfile) -> int:
    """Several only on a CPU, where they divide the loop and leave enough threadgroups."""
    if not profile.is_cpu or not shape.vectorizable:
        return 1
    threads, enough = _DEFAULT_THREADS, _ENOUGH_THREADGROUPS
    if shape.has_reduction:
        if not _is_long(shape):
            return 1
        threads, enough = _CPU_LANES, _CPU_GROUPS
    threadgroups = product(shape.parallel) // (vector * threads)
    vectors = shape.parallel[-1] // vector
    count = _CPU_VECTORS
    while count > 1 and (vectors % count or threadgroups < count * enough):
        count //= 2
    return count if count > 2 or not shape.has_reduction else 1


def _is_long(shape: KernelShape) -> bool:
    """Whether columns are so long that what a thread reads for all of its columns counts."""
    return shape.columns is not None and shape.columns.longest >= _LONG_COLUMN


def _spread_threads(extents: list[int], limit: int) -> list[int]:
    """Powers of two per loop with a product of at most `limit`, innermost loops first."""
    threads = [1] * len(extents)
    left = limit
    for i in reversed(range(len(extents))):
        threads[i] = min(pow2_at_least(extents[i]), left)
        left //= threads[i]
    return threads


def transpose_schedule(shape: KernelShape, profile: TargetProfile) -> Schedule | None:
    """Square tiles through threadgroup memory: both sides are walked along their rows."""
    tile, loop, last = _TRANSPOSE_TILE, shape.transposed_loop, len(shape.parallel) - 1
    staged = len(shape.transposed) * tile * (tile + 1) * shape.element_bytes
    if staged > profile.threadgroup_memory or not shape.vectorizable:
        return None
    if min(shape.parallel[loop], shape.parallel[last]) < tile:
        return None
    vector = vector_width(shape, shape.parallel[last])
    sizes = {loop: tile, last: tile}
    thread = {last: tile} if profile.is_cpu else {loop: _TRANSPOSE_ROWS, last: vector}
    return Schedule(
        kind="pointwise",
        threadgroup=tuple(sizes.get(i, 1) for i in range(last + 1)),
        thread=tuple(thread.get(i, 1) for i in range(last + 1)),
        threads=tile * tile // product(list(thread.values())),
        vector=vector,
        promote=shape.transposed,
    )


def row_schedule(shape: KernelShape, profile: TargetProfile) -> Schedule:
    """A threadgroup for each row, whose threads hold vectors of it in registers."""
    vector = vector_width(shape, shape.inner_last)
    vectors = -(-shape.inner // vector)
    if profile.is_cpu:
        unroll = _CPU_CHUNKS
        threads = pow2_at_most(vectors // 8)
        threads = max(_ROW_THREADS, min(threads, _CPU_ROW_THREADS), -(-vectors // unroll))
    else:
        unroll = _GPU_CHUNKS
        wanted = 2 * _DEFAULT_THREADS if vectors >= unroll * _DEFAULT_THREADS else _DEFAULT_THREADS
        threads = max(_ROW_THREADS, min(wanted, pow2_at_least(vectors)), -(-vectors // unroll))
    threads = pow2_at_least(threads)
    most = min(pow2_at_most(profile.max_threads_per_threadgroup), 1024)
    ones = (1,) * len(shape.parallel)
    return Schedule(
        kind="row",
        threadgroup=ones,
        thread=ones,
        threads=min(threads, most, max(_ROW_THREADS, pow2_at_least(vectors))),
        vector=vector,
        unroll=unroll,
    )
