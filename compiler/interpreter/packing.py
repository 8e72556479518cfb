"""`pack`, `unpack`, `tensor.gather` and `tensor.scatter` on whole arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation

from ingot.compiler.dialects.packing import PackLike, UnpackLike
from ingot.compiler.dialects.tensor import GatherOp, ScatterOp
from ingot.compiler.interpreter.frame import Frame, handles, index_of
from ingot.compiler.interpreter.values import Array, EvaluationError


def _tiles(frame: Frame, op: PackLike | UnpackLike) -> dict[int, int]:
    """The tile size of each tiled dimension, in the order of the inner dimensions."""
    sizes = [s if isinstance(s, int) else index_of(frame.get(s)) for s in op.mixed_tiles]
    positions: Sequence[int] = op.inner_dims_pos.get_values()
    return dict(zip(positions, sizes, strict=True))


def _order(op: PackLike | UnpackLike, rank: int, tiles: dict[int, int]) -> list[int]:
    """Where the packed dimensions lie in a tensor whose tiled dimensions are split in two."""
    split: list[tuple[int, bool]] = []
    for dim in range(rank):
        split += [(dim, False), (dim, True)] if dim in tiles else [(dim, False)]
    perm: Sequence[int] = () if op.outer_dims_perm is None else op.outer_dims_perm.get_values()
    packed = [(dim, False) for dim in (perm or range(rank))] + [(dim, True) for dim in tiles]
    return [split.index(place) for place in packed]


@handles("linalg.pack", "tensor.pack")
def _pack(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, PackLike)
    source, tiles = frame.get(op.source), _tiles(frame, op)
    widths = [(0, -size % tiles.get(dim, 1)) for dim, size in enumerate(source.shape)]
    padding = frame.get(op.padding_value).item() if op.padding_value is not None else 0
    padded = np.pad(source, widths, constant_values=padding)
    shape: list[int] = []
    for dim, size in enumerate(padded.shape):
        shape += [size // tiles[dim], tiles[dim]] if dim in tiles else [size]
    return [padded.reshape(shape).transpose(_order(op, source.ndim, tiles))]


@handles("linalg.unpack", "tensor.unpack")
def _unpack(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, UnpackLike)
    packed, tiles = frame.get(op.source), _tiles(frame, op)
    shape = frame.get(op.dest).shape
    split = packed.transpose(np.argsort(_order(op, len(shape), tiles)))
    whole = [-(-size // tiles.get(dim, 1)) * tiles.get(dim, 1) for dim, size in enumerate(shape)]
    return [split.reshape(whole)[tuple(slice(size) for size in shape)]]


def _coordinates(indices: Array, dims: Sequence[int], shape: Sequence[int]) -> list[Array]:
    for column, dim in enumerate(dims):
        values = indices[..., column]
        if ((values < 0) | (values >= shape[dim])).any():
            raise EvaluationError(f"an index is outside of a dimension of {shape[dim]}")
    return [indices[..., column] for column in range(len(dims))]


@handles("tensor.gather")
def _gather(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, GatherOp)
    dims: Sequence[int] = op.gather_dims.get_values()
    source = frame.get(op.source)
    columns = _coordinates(frame.get(op.indices), dims, source.shape)
    gathered = np.moveaxis(source, dims, range(len(dims)))[tuple(columns)]
    batch, rank = frame.get(op.indices).ndim - 1, len(op.result.type.get_shape())
    if rank == gathered.ndim:
        return [gathered]
    kept = iter(gathered.shape[batch:])
    window = [1 if dim in dims else next(kept) for dim in range(source.ndim)]
    return [gathered.reshape(*gathered.shape[:batch], *window)]


@handles("tensor.scatter")
def _scatter(frame: Frame, op: Operation) -> Sequence[Array]:
    assert isinstance(op, ScatterOp)
    dims: Sequence[int] = op.scatter_dims.get_values()
    result = frame.get(op.dest).copy()
    columns = _coordinates(frame.get(op.indices), dims, result.shape)
    window = np.moveaxis(result, dims, range(len(dims)))
    batch = columns[0].shape
    slices = frame.get(op.source).reshape(*batch, *window.shape[len(dims) :])
    for entry in np.ndindex(*batch):
        window[tuple(int(column[entry]) for column in columns)] = slices[entry]
    return [result]
