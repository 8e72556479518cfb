"""How long a kernel may take under a schedule, before it is compiled: good enough to order them.

The roofline of `ingot inspect --cost` (`driver.cost.roofline`), fed with what the schedule makes a
device do: arithmetic with the work past the edges of tiles, instructions that load, barriers, and
how many of its threads have something to do. `ingot inspect --cost` counts in the code instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2, prod

from ingot.compiler.analysis.attention_schedule import AttentionShape
from ingot.compiler.analysis.schedule import ContractionShape, KernelShape, Schedule
from ingot.compiler.driver.cost import roofline
from ingot.targets.profiles import Peaks, TargetProfile

_TYPICAL = Peaks(bandwidth=100e9, flops=2e12, matrix_flops=4e12, source="nothing in particular")
"""For profiles without peak figures: only ratios count."""

_LOAD_CPU, _LOAD_GPU = 10, 4
"""Cost of a load in multiply-adds. Where a CPU runs the lanes each of them loads for itself."""
_FAR_GPU = 4
"""How many times more a load costs that does not come from threadgroup memory."""
_BARRIER_CPU, _BARRIER_GPU = 60, 30
"""Cost of a barrier for each thread."""
_REGISTERS = 160
"""Values that a thread of a GPU holds before fewer of them run at once."""
_ENOUGH_THREADS_GPU, _ENOUGH_GROUPS_CPU = 1 << 13, 16
_PASSES = 3
"""How often a row is read that does not stay in registers."""


@dataclass(frozen=True)
class _Work:
    """What one thread does."""

    multiplies: float
    loads: float
    far_loads: float
    """Those from memory of the device, if they come again and again."""
    barriers: float
    registers: float
    device_bytes: float
    """Of the whole threadgroup."""


def estimate(s: Schedule, shape: KernelShape, profile: TargetProfile) -> float:
    """Seconds, to be compared with those of other schedules of the same kernel and profile."""
    groups = prod(ceil(n / g) for n, g in zip(shape.parallel, s.threadgroup, strict=True))
    work = _work(s, shape, profile)
    if profile.is_cpu:
        load, far, barrier = _LOAD_CPU, _LOAD_CPU, _BARRIER_CPU
    else:
        load, far, barrier = _LOAD_GPU, _FAR_GPU * _LOAD_GPU, _BARRIER_GPU
    steps = work.multiplies + load * work.loads + far * work.far_loads + barrier * work.barriers
    _, least = roofline(
        2 * steps * groups * s.threads,
        groups * work.device_bytes,
        bool(s.unit),
        profile.peaks or _TYPICAL,
    )
    if profile.is_cpu:
        return least / min(1.0, groups / _ENOUGH_GROUPS_CPU)
    crowding = max(1.0, work.registers / _REGISTERS)
    return least * crowding / min(1.0, groups * s.threads / _ENOUGH_THREADS_GPU)


def _work(s: Schedule, shape: KernelShape, profile: TargetProfile) -> _Work:
    if shape.attention is not None:
        return _of_attention(s, shape.attention)
    if s.kind == "row":
        return _of_row(s, shape, profile)
    if s.kind == "contraction":
        assert shape.contraction is not None
        return _of_contraction(s, shape, shape.contraction)
    if shape.contraction is not None:
        return _of_product(s, shape, shape.contraction)
    elements = prod(s.thread)
    vectors = elements / s.vector
    staged = 1.0 if s.promote else 0.0
    # Lines that are walked across are read a cache line for each element.
    scattered = 4.0 if shape.transposed and not s.promote else 1.0
    traffic = 2.0 * shape.element_bytes * s.threads * elements * scattered
    return _Work(
        multiplies=elements,
        loads=vectors * (2 + scattered + staged),
        far_loads=0.0,
        barriers=staged,
        registers=elements,
        device_bytes=traffic,
    )


def _of_attention(s: Schedule, shape: AttentionShape) -> _Work:
    """Threads that go over all keys, or their part of them, for one or more rows."""
    width = shape.head + shape.dims[shape.value_dim]
    keys = ceil(shape.keys / s.splits)
    tiles = ceil(shape.keys / s.reduction)
    staged = tiles * s.reduction * shape.staged_bytes
    copied = staged / (16 * s.threads)
    return _Work(
        multiplies=float(s.rows * keys * width),
        loads=keys * width / 4 + copied,
        far_loads=copied,
        barriers=2.0 * tiles,
        registers=float(s.rows * width),
        device_bytes=float(staged),
    )


def _of_row(s: Schedule, shape: KernelShape, profile: TargetProfile) -> _Work:
    rows = prod(s.threadgroup)
    chunks = ceil(shape.inner / (s.threads * s.vector))
    elements = chunks * s.vector
    passes = 1 if chunks <= s.unroll else _PASSES
    exchange = log2(max(2, s.threads))
    # What is read and written for each row, and what is the same for all rows of a threadgroup.
    moved = rows * (passes + 1.0) + 1.0
    return _Work(
        multiplies=rows * (4.0 * elements + exchange),
        loads=chunks * moved + rows * exchange,
        far_loads=0.0,
        barriers=2.0 * rows if s.threads > profile.simd_width else 0.0,
        registers=rows * min(chunks, s.unroll) * s.vector,
        device_bytes=moved * shape.inner * shape.element_bytes,
    )


def _of_product(s: Schedule, shape: KernelShape, contraction: ContractionShape) -> _Work:
    """Threads that read their rows and columns from memory."""
    rows, columns = contraction.sides(s.thread)
    height, width = contraction.sides(s.threadgroup)
    return _Work(
        multiplies=float(contraction.k * rows * columns),
        loads=0.0,
        far_loads=contraction.k * (rows / s.unroll + columns / s.vector),
        barriers=0.0,
        registers=rows * columns + rows * s.unroll + columns,
        device_bytes=float(contraction.k * (height + width) * shape.element_bytes),
    )


def _of_contraction(s: Schedule, shape: KernelShape, contraction: ContractionShape) -> _Work:
    """Threads, or SIMD-groups on matrix units, that read their tiles from threadgroup memory."""
    height, width = contraction.sides(s.threadgroup)
    turns = ceil(contraction.k / s.reduction)
    depth = turns * s.reduction
    staged = depth * (height + width)
    copied = staged / (s.vector * s.threads)
    if s.unit:
        rows, columns = contraction.sides(s.subgroup)
        parts = height // rows * (width // columns)
        lanes = s.threads / parts
        multiplies = depth * rows * columns / lanes
        loads = depth * (rows + columns) / lanes / 2
        registers = rows * columns / lanes
    else:
        rows, columns = contraction.sides(s.thread)
        multiplies = float(depth * rows * columns)
        loads = depth * (rows + columns) / s.vector
        registers = rows * columns + s.vector * (rows + columns)
    # What is loaded ahead of its use hides behind it, for the price of registers.
    return _Work(
        multiplies=multiplies,
        loads=loads + copied,
        far_loads=copied,
        barriers=turns * (2.0 if s.stages == 1 else 1.0),
        registers=registers + s.stages * copied / turns,
        device_bytes=float(staged * shape.element_bytes),
    )
