"""The choice of a schedule is a pure function with limits that it never exceeds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ingot.compiler.analysis.schedule import (
    ColumnsShape,
    ContractionShape,
    KernelShape,
    Schedule,
    select_schedule,
)
from ingot.compiler.analysis.schedule_check import schedule_problem
from ingot.targets.profiles import PROFILES

sizes = st.one_of(st.integers(0, 70), st.sampled_from([127, 1000, 4096, 4097, 1 << 20]))
profiles = st.sampled_from(sorted(PROFILES)).map(PROFILES.__getitem__)


def product(values: tuple[int, ...]) -> int:
    count = 1
    for value in values:
        count *= value
    return count


@given(st.lists(sizes, max_size=5), st.booleans(), st.sampled_from([1, 2, 4, 8]), profiles)
def test_pointwise_tiles_are_what_the_threads_compute(parallel, reduces, element_bytes, profile):
    shape = KernelShape(
        "pointwise", tuple(parallel), has_reduction=reduces, element_bytes=element_bytes
    )
    schedule = select_schedule(shape, profile)
    per_loop = [g // t for g, t in zip(schedule.threadgroup, schedule.thread, strict=True)]
    assert product(tuple(per_loop)) == schedule.threads
    assert schedule.threads <= profile.max_threads_per_threadgroup
    assert schedule.vector * element_bytes <= 16
    if parallel:
        assert parallel[-1] % schedule.vector == 0


@given(sizes, sizes, sizes, st.sampled_from(["f32", "f16", "bf16"]), st.booleans(), profiles)
def test_staged_tiles_fit_threadgroup_memory(m, n, k, element, turned, profile):
    shape = KernelShape(
        "pointwise",
        (m, n),
        has_reduction=True,
        contraction=ContractionShape(m, n, k, element, "f32", (k, k if turned else n)),
        element_bytes=4,
    )
    schedule = select_schedule(shape, profile)
    assert schedule.threads <= profile.max_threads_per_threadgroup
    if schedule.kind == "contraction":
        assert threadgroup_bytes(schedule, element) <= profile.threadgroup_memory
        if schedule.unit:
            groups = product(schedule.threadgroup) // product(schedule.subgroup)
            assert groups * profile.simd_width == schedule.threads
        else:
            assert product(schedule.threadgroup) // product(schedule.thread) == schedule.threads


def threadgroup_bytes(schedule: Schedule, element: str) -> int:
    """At most what both tiles take, each with 16 bytes after its lines, and the exchange."""
    size = 4 if element == "f32" or not schedule.unit else 2
    rows, columns = schedule.threadgroup[-2:]
    depth = schedule.reduction
    lines = (rows, columns) if len(schedule.unit) and schedule.unit[0] == 16 else (depth, depth)
    if schedule.unit == (8, 8, 8):
        lines = (rows, depth)
    staged = (rows + columns) * depth * size + 16 * sum(lines)
    exchange = schedule.threads // 32 * 16 * 20 * 4 if schedule.unit[:1] == (16,) else 0
    return schedule.stages * staged + exchange


@given(sizes, sizes, sizes, profiles)
def test_row_kernels_have_a_power_of_two_of_threads(rows, inner, last, profile):
    schedule = select_schedule(KernelShape("row", (rows,), inner, last), profile)
    assert schedule.threads & (schedule.threads - 1) == 0
    assert 0 < schedule.threads <= profile.max_threads_per_threadgroup


@given(sizes, profiles)
def test_a_product_that_is_all_of_a_kernel_has_no_rows_to_share_out(inner, profile):
    shape = KernelShape("row", (), inner, inner, products=True)
    assert select_schedule(shape, profile).kind == "row"


@given(
    st.lists(sizes.filter(bool), min_size=1, max_size=4),
    sizes.filter(bool),
    st.sampled_from([4, 8, 12]),
    profiles,
)
def test_threads_that_share_columns_have_room_for_their_parts(parallel, longest, part, profile):
    columns = ColumnsShape(longest, part)
    shape = KernelShape("pointwise", tuple(parallel), has_reduction=True, columns=columns)
    schedule = select_schedule(shape, profile)
    assert schedule.threads <= profile.max_threads_per_threadgroup
    if schedule.kind == "column":
        assert not profile.is_cpu
        assert schedule.threads == schedule.splits * schedule.threadgroup[-1] // schedule.vector
        assert 2 <= schedule.splits <= longest // 8, "every thread has some rows"
        held = schedule.splits * schedule.threadgroup[-1] * part
        assert held <= profile.threadgroup_memory
    assert schedule_problem(schedule, shape, profile) is None


def test_columns_are_read_by_lines_and_shared_where_they_are_few():
    def chosen(target: str, rows: int, *parallel: int) -> Schedule:
        columns = ColumnsShape(rows, 4)
        shape = KernelShape("pointwise", parallel, has_reduction=True, columns=columns)
        return select_schedule(shape, PROFILES[target])

    square = chosen("vulkan:hopper", 8192, 8192)
    assert (square.kind, square.threadgroup, square.threads) == ("column", (32,), 512)
    assert chosen("vulkan:hopper", 64, 1 << 20).kind == "pointwise", "enough threads by themselves"
    assert chosen("metal:apple7", 8, 1024).kind == "pointwise", "too few rows for two"
    narrow = chosen("metal:apple7", 32, 8, 1000)
    assert narrow.threadgroup == (1, 64) and narrow.splits == 4
    for columns, thread in ((1024, 16), (2048, 32), (1000, 4), (300, 4)):
        on_cpu = chosen("vulkan:lavapipe", 1024, columns)
        assert (on_cpu.kind, on_cpu.threads, on_cpu.thread) == ("pointwise", 8, (thread,))


def test_attribute_carries_every_field():
    for optional in ((), (4, 2, (1, 32, 32), (8, 8, 8))):
        schedule = Schedule("contraction", (1, 64, 32), (1, 4, 4), 128, 4, 16, (0, 1), *optional)
        assert Schedule.from_attr(schedule.to_attr()) == schedule
