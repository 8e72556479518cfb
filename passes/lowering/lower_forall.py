"""The pass `lower-forall`."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import kernel_functions
from ingot.compiler.dialects import gpu
from ingot.compiler.dialects.scf import ForallOp
from ingot.passes.lowering.emitter import Emitter, Value
from ingot.passes.lowering.kernel import (
    GRID,
    WORKGROUP_SIZE,
    linear_id,
    set_sizes,
    sizes,
)

_COOPERATIVE = frozenset({"gpu.barrier", "gpu.all_reduce"})
"""Ops that every thread of the threadgroup has to reach."""


@dataclass(frozen=True)
class LowerForallPass(ModulePass):
    """Maps `scf.forall` over threadgroups and threads to `gpu` ids, on L4 kernels.

    All loops of a nest become one linear id, which constants split into the loops' indices. Sets
    `ingot.grid`, and `ingot.workgroup_size` where it is absent. A grid of more than `max_grid`
    threadgroups along x goes on along y, then z.

    ```mlir
    scf.forall (%i, %j) in (8, 16) {
      ...
    } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
    ```
    becomes, with `ingot.grid = array<i64: 128, 1, 1>`,
    ```mlir
    %b = gpu.block_id x
    %i = arith.divui %b, %c16 : index
    %j = arith.remui %b, %c16 : index
    ```
    """

    name = "lower-forall"

    max_grid: int = 65535

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernel_functions(op):
            self._lower(kernel)

    def _lower(self, kernel: FuncOp) -> None:
        loops = [op for op in kernel.walk() if isinstance(op, ForallOp)]
        over_blocks = [loop for loop in loops if _maps_to(loop, gpu.BlockMappingAttr)]
        over_threads = [loop for loop in loops if _maps_to(loop, gpu.ThreadMappingAttr)]
        for loop in loops:
            if loop not in over_blocks and loop not in over_threads:
                raise refuse(loop, "`scf.forall` needs a mapping to threadgroups or to threads")
        if over_blocks or GRID not in kernel.attributes:
            blocks = max((_trip_count(loop) for loop in over_blocks), default=1)
            grid = split_grid(blocks, self.max_grid)
            set_sizes(kernel, GRID, grid)
            for loop in over_blocks:
                e = Emitter.before_op(loop)
                _replace(loop, linear_id(e, gpu.BlockIdOp, grid), prod(grid))
        size = sizes(kernel, WORKGROUP_SIZE)
        if size is None:
            threads = max((_trip_count(loop) for loop in over_threads), default=1)
            size = (max(threads, 1), 1, 1)
            set_sizes(kernel, WORKGROUP_SIZE, size)
        for loop in over_threads:
            e = Emitter.before_op(loop)
            _replace(loop, linear_id(e, gpu.ThreadIdOp, size), prod(size))


def split_grid(count: int, limit: int) -> tuple[int, int, int]:
    """At least `count` threadgroups as (x, y, z), none above `limit`, with few to spare.

    No threadgroup at all makes (0, 1, 1).
    """
    x, y, z = count, 1, 1
    if x > limit:
        y = -(-count // limit)
        if y > limit:
            z = -(-y // limit)
            y = -(-y // z)
        x = -(-count // (y * z))
    return x, y, z


def _maps_to(
    loop: ForallOp, kind: type[gpu.BlockMappingAttr] | type[gpu.ThreadMappingAttr]
) -> bool:
    return (
        loop.mapping is not None
        and bool(loop.mapping.data)
        and all(isinstance(attr, kind) for attr in loop.mapping)
    )


@dataclass(frozen=True)
class _Dimension:
    """One loop of a nest: its index is `lower + step * id`."""

    index: SSAValue
    lower: int
    step: int
    trips: int


def _dimensions(loop: ForallOp) -> list[_Dimension]:
    """The loops of a nest, the one with the fastest id first."""
    assert loop.mapping is not None
    dimensions: list[tuple[int, _Dimension]] = []
    bounds = zip(loop.lower_bounds, loop.upper_bounds, loop.steps, strict=True)
    for index, (lower, upper, step), attr in zip(
        loop.induction_vars, bounds, loop.mapping, strict=True
    ):
        if not (isinstance(lower, int) and isinstance(upper, int) and isinstance(step, int)):
            raise refuse(loop, "`scf.forall` with bounds known only when the program runs")
        assert isinstance(attr, gpu.BlockMappingAttr | gpu.ThreadMappingAttr)
        linear = attr.data.linear_dimension
        position = "xyz".index(attr.data.value) if linear is None else linear
        trips = max(0, -(-(upper - lower) // step))
        dimensions.append((position, _Dimension(index, lower, step, trips)))
    return [dimension for _, dimension in sorted(dimensions, key=lambda pair: pair[0])]


def _trip_count(loop: ForallOp) -> int:
    return prod(dimension.trips for dimension in _dimensions(loop))


def _replace(loop: ForallOp, linear: Value, available: int) -> None:
    """Let the ids that exist, `available` many, run a nest instead of the loop."""
    if loop.res:
        raise refuse(loop, "`scf.forall` on tensors; it has to be bufferized first")
    count = _trip_count(loop)
    terminator = loop.body.block.last_op
    assert terminator is not None
    terminator.detach()
    terminator.erase()
    if count == available > 0:
        _inline(loop, linear, loop)
    elif count:
        _refuse_divergence(loop, count, available)
        run = _guarded if count < available else _strided
        inside, number = run(linear, count, available)
        _inline(loop, Value(number, inside), inside.before)
    loop.detach()
    loop.erase()


def _refuse_divergence(loop: ForallOp, count: int, available: int) -> None:
    """Refuse a barrier that some thread of a threadgroup would not reach."""
    cooperative = any(op.name in _COOPERATIVE for op in loop.body.block.walk())
    even = count > available and count % available == 0
    if cooperative and not even and _maps_to(loop, gpu.ThreadMappingAttr):
        raise refuse(
            loop,
            f"a barrier in a loop of {count} iterations over {available} threads: "
            "not every thread would reach it",
        )


def _guarded(linear: Value, count: int, available: int) -> tuple[Emitter, SSAValue]:
    """`if linear < count`: an emitter inside it, and the id."""
    e = linear.emitter
    end = scf.YieldOp()
    then = e.branch()
    then.insert(end)
    e.if_else(linear.ult(count), [], then)
    return Emitter.before_op(end), linear.ssa


def _strided(linear: Value, count: int, available: int) -> tuple[Emitter, SSAValue]:
    """`for id = linear; id < count; id += available`: an emitter inside it, and the id."""
    e = linear.emitter
    end = scf.YieldOp()
    block = Block([end], arg_types=[IndexType()])
    upper, step = e.const(count, IndexType()), e.const(available, IndexType())
    e.insert(scf.ForOp(linear.ssa, upper.ssa, step.ssa, [], Region(block)))
    return Emitter.before_op(end), block.args[0]


def _inline(loop: ForallOp, linear: Value, before: Operation | None) -> None:
    """Move the body in front of `before`, with the loops' indices computed from the id."""
    assert before is not None and before.parent is not None
    rest = linear
    dimensions = _dimensions(loop)
    for position, dimension in enumerate(dimensions):
        last = all(other.trips == 1 for other in dimensions[position + 1 :])
        if dimension.trips == 1:
            index = rest.like(0)
        elif last:
            index = rest
        else:
            index = rest.remainder(dimension.trips, signed=False)
            rest = rest.divide(dimension.trips, signed=False)
        if dimension.step != 1:
            index = index * dimension.step
        if dimension.lower != 0:
            index = index + dimension.lower
        if index.ssa.name_hint is None:
            index.ssa.name_hint = dimension.index.name_hint
        dimension.index.replace_all_uses_with(index.ssa)
    for op in list(loop.body.block.ops):
        op.detach()
        before.parent.insert_op_before(op, before)
