"""`scf`: branches and loops, for one lane or for many at once; `host`: those between kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import scf
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation, SSAValue

from ingot.compiler.dialects import host
from ingot.compiler.dialects.scf import ForallOp, InParallelOp
from ingot.compiler.dialects.tensor import ParallelInsertSliceOp
from ingot.compiler.interpreter.frame import Frame, call, handles, index_of
from ingot.compiler.interpreter.values import Array


def _merge(mask: Array, new: Array, old: Array) -> Array:
    """`new` in the active lanes."""
    return new if mask.ndim == 0 and mask else np.where(mask, new, old)


@handles("scf.if")
def _if(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, scf.IfOp)
    condition = frame.get(op.cond)
    if condition.ndim == 0:
        return frame.run_region(op.true_region if condition else op.false_region, [])
    taken = frame.run_under(condition, op.true_region, [])
    other = frame.run_under(~condition, op.false_region, [])
    return [np.where(condition, a, b) for a, b in zip(taken, other, strict=True)]


@handles("scf.for")
def _for(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, scf.ForOp)
    index, upper, step = (frame.get(value) for value in (op.lb, op.ub, op.step))
    carried = [frame.get(value) for value in op.iter_args]
    if index.ndim == upper.ndim == step.ndim == 0:
        for i in range(index_of(index), index_of(upper), index_of(step)):
            carried = frame.run_region(op.body, [np.asarray(i, index.dtype), *carried])
        return carried
    while frame.is_active(live := np.asarray(index < upper)):
        new = frame.run_under(live, op.body, [index, *carried])
        carried = [_merge(live, a, b) for a, b in zip(new, carried, strict=True)]
        index = index + step
    return carried


@handles("scf.while")
def _while(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, scf.WhileOp)
    carried = [frame.get(value) for value in op.arguments]
    live = np.asarray(True)
    results: list[Array] | None = None
    while True:
        condition, *passed = frame.run_under(live, op.before_region, carried)
        results = (
            passed
            if results is None
            else [_merge(live, a, b) for a, b in zip(passed, results, strict=True)]
        )
        live = np.asarray(live & condition)
        if not frame.is_active(live):
            return results
        new = frame.run_under(live, op.after_region, results)
        carried = [
            _merge(live, a, b) if len(new) == len(carried) else a
            for a, b in zip(new, carried, strict=True)
        ]


@handles("scf.index_switch")
def _index_switch(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, scf.IndexSwitchOp)
    selected = index_of(frame.get(op.arg))
    for case, region in zip(op.cases.iter_values(), op.case_regions, strict=True):
        if case == selected:
            return frame.run_region(region, [])
    return frame.run_region(op.default_region, [])


@handles("scf.execute_region")
def _execute_region(frame: Frame, op: Operation) -> Sequence[Array]:
    return frame.run_region(op.regions[0], [])


@handles("scf.forall")
def _forall(frame: Frame, op: Operation) -> Sequence[Array]:
    """Iterations one after another; each sees the shared outputs as they were before the loop."""
    assert isinstance(op, ForallOp)

    def bounds(mixed: Sequence[SSAValue | int]) -> list[int]:
        return [v if isinstance(v, int) else index_of(frame.get(v)) for v in mixed]

    ranges = [
        range(lower, upper, step)
        for lower, upper, step in zip(
            bounds(op.lower_bounds), bounds(op.upper_bounds), bounds(op.steps), strict=True
        )
    ]
    initial = [frame.get(value) for value in op.shared_outs]
    results = [value.copy() for value in initial]
    block = op.body.block
    shared: list[SSAValue] = list(block.args[op.rank :])
    for point in np.ndindex(*(len(r) for r in ranges)):
        indices = [np.asarray(r[i], np.int64) for r, i in zip(ranges, point, strict=True)]
        terminator = frame.run_block(block, [*indices, *initial])
        assert isinstance(terminator, InParallelOp)
        for insert in terminator.region.block.ops:
            if isinstance(insert, ParallelInsertSliceOp):
                _insert(frame, insert, results[shared.index(insert.dest)])
            else:
                frame.run(insert)
    return results


def _insert(frame: Frame, op: ParallelInsertSliceOp, target: Array) -> None:
    from ingot.compiler.interpreter.tensors import slice_window

    window = slice_window(frame, op, target.shape)
    source = frame.get(op.source)
    target[window] = source.reshape(target[window].shape)


def _call(frame: Frame, callee: SymbolRefAttr, args: Sequence[Array]) -> list[Array]:
    return call(frame.module, callee.root_reference.data, args, frame.types)


@handles("host.loop")
def _host_loop(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, host.LoopOp)
    carried = [frame.get(value) for value in op.carried]
    captured = [frame.get(value) for value in op.captured]
    if op.count is not None:
        count = index_of(frame.get(op.count))
        times = count % (1 << 8 * frame.get(op.count).itemsize)
    else:
        assert op.times is not None
        times = op.times.value.data
    for _ in range(times):
        carried = _call(frame, op.body, [*carried, *captured])
    return carried


@handles("host.while")
def _host_while(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, host.WhileOp)
    carried = [frame.get(value) for value in op.carried]
    captured = [frame.get(value) for value in op.captured]
    while True:
        proceed, *passed = _call(frame, op.condition, [*carried, *captured])
        if not proceed:
            return passed
        carried = _call(frame, op.body, [*passed, *captured])


@handles("host.if")
def _host_if(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, host.IfOp)
    taken = op.then if frame.get(op.condition) else op.otherwise
    return _call(frame, taken, [frame.get(value) for value in op.captured])
