"""Schedules of kernels whose time goes into moving memory: elementwise, transposing, by rows.

On a GPU many threads with one vector each keep the memory busy. Where a CPU runs the kernels, a
thread and a barrier cost more than an element: threads are fewer and do more.
"""

from __future__ import annotations

from ingot.compiler.analysis.schedule import (
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


def pow2_at_most(n: int) -> int:
    """The largest power of two that is no more than n, at least 1."""
    return 1 << (max(1, n).bit_length() - 1)


def pointwise_schedule(shape: KernelShape, profile: TargetProfile) -> Schedule:
    """Threads along the innermost loops, each with vectors that lie side by side."""
    limit = min(_DEFAULT_THREADS, pow2_at_most(profile.max_threads_per_threadgroup))
    if shape.has_reduction:
        # Every thread loops over a reduction: smaller groups spread few outputs over more cores.
        limit = min(limit, 64)
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


def _vectors_of_a_thread(shape: KernelShape, vector: int, profile: TargetProfile) -> int:
    """Several only on a CPU, where they divide the loop and leave enough threadgroups."""
    if not profile.is_cpu or shape.has_reduction or not shape.vectorizable:
        return 1
    threadgroups = product(shape.parallel) // (vector * _DEFAULT_THREADS)
    vectors = shape.parallel[-1] // vector
    count = _CPU_VECTORS
    while count > 1 and (vectors % count or threadgroups < count * _ENOUGH_THREADGROUPS):
        count //= 2
    return count


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
