"""Sorts and scatters: merges vectorized over all lines, updates one after another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, Region

from ingot.compiler.dialects import ingot, tm_tensor
from ingot.compiler.interpreter.frame import Frame, handles
from ingot.compiler.interpreter.values import Array, EvaluationError


def stable_order(frame: Frame, body: Region, lines: Sequence[Array]) -> Array:
    """The sorted positions of lines along the last dimension, by merging runs of 1, 2, 4, ...

    The place of an element in a merge is its place in its own run, and how many elements of the
    other run come before it, found by bisection. Raises `EvaluationError` when the body is not a
    strict weak ordering.
    """
    length: int = lines[0].shape[-1]
    at: Array = np.arange(length, dtype=np.int64)
    order: Array = np.broadcast_to(at, lines[0].shape).copy()

    def before(a: Array, b: Array) -> Array:
        """Whether the elements at positions `a` of the lines come before those at `b`."""
        args = [np.take_along_axis(line, places, axis=-1) for line in lines for places in (a, b)]
        (result,) = frame.run_region(body, args)
        return np.broadcast_to(result, a.shape)

    run = 1
    while run < length:
        start: Array = at // (2 * run) * (2 * run)
        in_right: Array = at - start >= run
        other: Array = np.where(in_right, start, np.minimum(start + run, length))
        low: Array = np.broadcast_to(other, order.shape).copy()
        high: Array = np.broadcast_to(
            np.where(in_right, start + run, np.minimum(start + 2 * run, length)), order.shape
        ).copy()
        while (live := low < high).any():
            middle = np.minimum((low + high) // 2, length - 1)
            probe: Array = np.take_along_axis(order, middle, axis=-1)
            # Of equal elements those of the left run come first.
            goes_right = np.where(in_right, ~before(order, probe), before(probe, order))
            low = np.where(live & goes_right, middle + 1, low)
            high = np.where(live & ~goes_right, middle, high)
        own = at - np.where(in_right, start + run, start)
        target = start + own + low - other
        merged: Array = np.full_like(order, -1)
        np.put_along_axis(merged, target, order, axis=-1)
        if (merged < 0).any():
            raise EvaluationError("the body of a sort is not a strict weak ordering")
        order = merged
        run *= 2
    return order


@handles("ingot.sort")
def _sort(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, ingot.SortOp)
    axis = op.dimension.value.data
    lines = [np.moveaxis(value, axis, -1) for value in frame.operands(op)]
    if not lines[0].size:
        return frame.operands(op)
    order = stable_order(frame, op.body, lines)
    return [np.moveaxis(np.take_along_axis(line, order, axis=-1), -1, axis) for line in lines]


@handles("ingot.scatter")
def _scatter(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, ingot.ScatterOp)
    dimensions: Sequence[int] = op.dimensions.get_values()
    indices = frame.get(op.indices)
    batch = indices.shape[:-1]
    outputs = [frame.get(value).copy() for value in op.outputs]
    windows = [np.moveaxis(value, dimensions, range(len(dimensions))) for value in outputs]
    updates = [frame.get(value) for value in op.updates]
    extents = windows[0].shape[: len(dimensions)]
    for entry in np.ndindex(*batch):
        index = tuple(int(i) for i in indices[entry])
        if not all(0 <= i < extent for i, extent in zip(index, extents, strict=True)):
            continue
        old = [np.asarray(window[index]) for window in windows]
        new = frame.run_region(op.body, [*old, *(np.asarray(u[entry]) for u in updates)])
        for window, value in zip(windows, new, strict=True):
            window[index] = value
    return outputs


@handles("tm_tensor.sort", "iree_linalg_ext.sort")
def _tm_sort(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, tm_tensor.SortLike)
    axis = 0 if op.dimension is None else op.dimension.value.data
    lines = [np.moveaxis(frame.get(value), axis, -1) for value in op.outputs]
    order = stable_order(frame, op.body, lines)
    return [np.moveaxis(np.take_along_axis(line, order, axis=-1), -1, axis) for line in lines]


@handles("tm_tensor.topk", "iree_linalg_ext.topk")
def _tm_topk(frame: Frame, op: Operation) -> Sequence[Array]:
    """The outputs only say how many elements are kept, not what they start from."""
    assert isinstance(op, tm_tensor.TopkLike) and op.dimension is not None
    axis = op.dimension.value.data
    values = np.moveaxis(frame.get(op.inputs[0]), axis, -1)
    count = frame.get(op.outputs[0]).shape[axis]
    order = stable_order(frame, op.body, [values])[..., :count]
    if len(op.inputs) == 2:
        indices = np.take_along_axis(np.moveaxis(frame.get(op.inputs[1]), axis, -1), order, axis=-1)
    else:
        indices = order.astype(frame.get(op.outputs[1]).dtype)
    kept = np.take_along_axis(values, order, axis=-1)
    return [np.moveaxis(kept, -1, axis), np.moveaxis(indices, -1, axis)]


@handles("tm_tensor.scatter", "iree_linalg_ext.scatter")
def _tm_scatter(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, tm_tensor.ScatterLike)
    updates, indices = (frame.get(value) for value in op.inputs)
    output = frame.get(op.outputs[0]).copy()
    dims: Sequence[int] = (0,) if op.dimension_map is None else op.dimension_map.get_values()
    if indices.ndim + output.ndim - len(dims) == updates.ndim:
        indices = indices[..., np.newaxis]
    window = np.moveaxis(output, dims, range(len(dims)))
    for entry in np.ndindex(*indices.shape[:-1]):
        index = tuple(int(i) for i in indices[entry])
        if all(0 <= i < n for i, n in zip(index, window.shape, strict=False)):
            update = np.asarray(updates[entry])
            (window[index],) = frame.run_region(op.body, [update, np.asarray(window[index])])
    return [output]
