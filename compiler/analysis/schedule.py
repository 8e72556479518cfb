"""The schedule of a kernel: how it is tiled, as data, and the choice of it as a pure function.

`describe_kernel` reads the shape of a kernel off its IR, `select_schedule` chooses for a target
profile, and `Schedule.to_attr`/`from_attr` carry the choice on the kernel as `ingot.schedule`,
where the tiling, promotion and vectorization passes obey it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute

from ingot.targets.profiles import TargetProfile

if TYPE_CHECKING:
    from ingot.compiler.analysis.attention_schedule import AttentionShape

Kind = Literal["pointwise", "contraction", "row", "column", "attention"]


@dataclass(frozen=True)
class Schedule:
    """Tile sizes per shared parallel loop of a kernel, in elements."""

    kind: Kind
    threadgroup: tuple[int, ...]
    """Elements of each shared loop that one threadgroup computes."""
    thread: tuple[int, ...]
    """Elements of each shared loop that one thread computes; those of the threadgroup in a row
    kernel, whose threads compute every row together."""
    threads: int
    """Threads of a threadgroup."""
    vector: int = 1
    """Width of vectors along the innermost loop."""
    reduction: int = 0
    """Elements of a contraction's reduction loop, or keys of an attention, staged at once; 0 when
    it is not tiled."""
    promote: tuple[int, ...] = ()
    """Inputs of the contraction, or of the last op, that are staged in threadgroup memory."""
    unroll: int = 1
    """Steps of a contraction's or a column's reduction loop that are emitted together; the most
    vectors of a row that a thread takes without a loop."""
    stages: int = 1
    """Copies of each staged tile: with 2, one is filled while the other is read."""
    subgroup: tuple[int, ...] = ()
    """Elements of each shared loop that a SIMD-group computes on matrix units; () without them."""
    unit: tuple[int, ...] = ()
    """Rows, columns and depth of the matrix unit's multiply-accumulate; () without one."""
    swizzle: int = 1
    """Rows of a contraction's threadgroups that follow each other before the next column, so that
    those that run together share more of what they read."""
    splits: int = 1
    """Threads that share a row of an attention, each with its part of the keys, or the reductions
    of a column."""
    rows: int = 1
    """Rows of an attention that a thread computes."""

    def to_attr(self) -> DictionaryAttr:
        """The attribute that stands for this schedule in the IR."""
        return DictionaryAttr(
            {
                field.name: _attribute(getattr(self, field.name))
                for field in fields(self)
                if field.name not in _OPTIONAL or getattr(self, field.name) != field.default
            }
        )

    @staticmethod
    def from_attr(attr: Attribute) -> Schedule:
        """Read the attribute back; raises ValueError when a field is missing or of another type."""
        if not isinstance(attr, DictionaryAttr):
            raise ValueError("ingot.schedule must be a dictionary")
        return Schedule(
            kind=_kind(attr),
            threadgroup=_ints(attr, "threadgroup"),
            thread=_ints(attr, "thread"),
            threads=_int(attr, "threads"),
            vector=_int(attr, "vector"),
            reduction=_int(attr, "reduction"),
            promote=_ints(attr, "promote"),
            unroll=_int(attr, "unroll") if "unroll" in attr.data else 1,
            stages=_int(attr, "stages") if "stages" in attr.data else 1,
            subgroup=_ints(attr, "subgroup") if "subgroup" in attr.data else (),
            unit=_ints(attr, "unit") if "unit" in attr.data else (),
            swizzle=_int(attr, "swizzle") if "swizzle" in attr.data else 1,
            splits=_int(attr, "splits") if "splits" in attr.data else 1,
            rows=_int(attr, "rows") if "rows" in attr.data else 1,
        )


_OPTIONAL = ("stages", "subgroup", "unit", "swizzle", "splits", "rows")
"""Fields that the attribute leaves out at their defaults."""


def _attribute(value: str | int | tuple[int, ...]) -> Attribute:
    match value:
        case str():
            return StringAttr(value)
        case int():
            return IntegerAttr(value, i64)
        case _:
            return DenseArrayBase.from_list(i64, value)


def _kind(attr: DictionaryAttr) -> Kind:
    kind = attr.data.get("kind")
    match kind:
        case StringAttr(data="pointwise"):
            return "pointwise"
        case StringAttr(data="contraction"):
            return "contraction"
        case StringAttr(data="row"):
            return "row"
        case StringAttr(data="column"):
            return "column"
        case StringAttr(data="attention"):
            return "attention"
        case _:
            raise ValueError(f"unknown kind of schedule {kind}")


def _int(attr: DictionaryAttr, name: str) -> int:
    value = attr.data.get(name)
    if not isinstance(value, IntegerAttr):
        raise ValueError(f"the schedule lacks the integer '{name}'")
    return value.value.data


def _ints(attr: DictionaryAttr, name: str) -> tuple[int, ...]:
    value = attr.data.get(name)
    if not isinstance(value, DenseArrayBase):
        raise ValueError(f"the schedule lacks the array '{name}'")
    return tuple(int(v) for v in value.get_values())


@dataclass(frozen=True)
class KernelShape:
    """What the choice of a schedule depends on."""

    kind: Literal["pointwise", "row", "attention"]
    parallel: tuple[int, ...]
    """Extents of the shared parallel loops (of the rows, in a row kernel)."""
    inner: int = 1
    """Elements inside one row of a row kernel."""
    inner_last: int = 1
    """Extent of the innermost loop inside a row."""
    products: bool = False
    """The rows are reduced to products of two inputs, one element each."""
    vectorizable: bool = True
    """No body has control flow, and the innermost loop walks contiguous memory somewhere."""
    has_reduction: bool = False
    columns: ColumnsShape | None = None
    contraction: ContractionShape | None = None
    transposed: tuple[int, ...] = ()
    """Inputs of an elementwise kernel's last op that are contiguous along `transposed_loop`."""
    transposed_loop: int = 0
    """A shared loop other than the last one, along which the results are contiguous."""
    element_bytes: int = 4
    """The widest element that is read or written."""
    attention: AttentionShape | None = None


@dataclass(frozen=True)
class ColumnsShape:
    """Reductions with plain combiners, whose results lie side by side along the shared loops."""

    longest: int
    """Iterations of the longest loop that they run over."""
    bytes: int
    """What a thread's part of all of them takes in threadgroup memory, for one element."""


@dataclass(frozen=True)
class ContractionShape:
    """A contraction whose n is the last shared loop, and whose m is another one, in elements."""

    m: int
    n: int
    k: int
    element: str = "f32"
    """Type of both inputs; empty when they differ, or when more than casts happens to them."""
    accumulator: str = "f32"
    """Type of the result."""
    contiguous: tuple[int, ...] = ()
    """Extent of the last dimension of each input, along which it is contiguous."""
    row_loop: int = -2
    """The shared loop of m, counted from the last one, which is -1."""

    def sides(self, tile: tuple[int, ...]) -> tuple[int, int]:
        """Rows and columns of a tile that has a size for each shared loop."""
        return tile[self.row_loop], tile[-1]

    def others(self, tile: tuple[int, ...]) -> int:
        """The product of all sizes but those two."""
        rest = list(tile[:-1])
        del rest[self.row_loop + 1]
        return product(rest)

    def tile(self, loops: int, rows: int, columns: int) -> tuple[int, ...]:
        """The tile of these sides, 1 along all other of the shared loops."""
        sizes = [1] * loops
        sizes[self.row_loop], sizes[-1] = rows, columns
        return tuple(sizes)


def select_schedule(shape: KernelShape, profile: TargetProfile) -> Schedule:
    """Choose tile sizes that fit the profile; tiles of one element always do, so it never fails."""
    if shape.attention is not None:
        from ingot.compiler.analysis.attention_schedule import attention_schedule

        return attention_schedule(shape.attention, profile)
    # They choose by the types of this module.
    from ingot.compiler.analysis import memory_schedule
    from ingot.compiler.analysis.contraction_schedule import contraction_schedule, rows_on_cpu

    if shape.kind == "row" and (schedule := rows_on_cpu(shape, profile)) is not None:
        return schedule
    if shape.kind == "row":
        return memory_schedule.row_schedule(shape, profile)
    if shape.contraction is not None:
        schedule = contraction_schedule(shape, shape.contraction, profile)
        if schedule is not None:
            return schedule
    if shape.columns is not None:
        schedule = memory_schedule.column_schedule(shape, shape.columns, profile)
        if schedule is not None:
            return schedule
    if shape.transposed:
        schedule = memory_schedule.transpose_schedule(shape, profile)
        if schedule is not None:
            return schedule
    return memory_schedule.pointwise_schedule(shape, profile)


def pow2_at_least(n: int) -> int:
    """The smallest power of two that is no less than n."""
    return 1 << max(0, n - 1).bit_length()


def vector_width(shape: KernelShape, extent: int) -> int:
    """The widest vector of at most 16 bytes whose length divides the extent."""
    if not shape.vectorizable:
        return 1
    for width in (4, 2):
        if extent % width == 0 and extent > 0 and width * shape.element_bytes <= 16:
            return width
    return 1


def product(values: list[int] | tuple[int, ...]) -> int:
    """The product of all values; 1 of none."""
    product = 1
    for value in values:
        product *= value
    return product
