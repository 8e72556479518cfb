"""Turn `pack` and `unpack` into generics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import (
    Emitter,
    all_of,
    clamp,
    elementwise,
    erase,
    loop_indices,
    materialize,
    open_sizes,
    size_of,
)
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.packing import PackLike, UnpackLike


@dataclass(frozen=True)
class Tiling:
    """How dimensions of the plain tensor lie in the packed one."""

    outer: tuple[int, ...]
    """The plain dimension of each of the first dimensions of the packed tensor."""
    tiles: dict[int, int]
    """The tile size of each tiled dimension, in the order of the last dimensions."""

    def packed_shape(self, shape: Sequence[int]) -> list[int]:
        """The packed shape of a plain tensor."""
        outer = [
            DYNAMIC_INDEX if shape[dim] < 0 else -(-shape[dim] // self.tiles.get(dim, 1))
            for dim in self.outer
        ]
        return [*outer, *self.tiles.values()]


def _tiling(op: PackLike | UnpackLike, shape: Sequence[int], packed: Sequence[int]) -> Tiling:
    """The tiling; raises `Refusal` when the shapes do not follow from it."""
    sizes = [size for size in op.mixed_tiles if isinstance(size, int)]
    if len(sizes) != len(op.mixed_tiles):
        raise refuse(op, f"{op.name} by tiles that are computed at run time is not supported")
    positions: Sequence[int] = op.inner_dims_pos.get_values()
    perm: Sequence[int] = () if op.outer_dims_perm is None else op.outer_dims_perm.get_values()
    outer = tuple(perm or range(len(shape)))
    tiling = Tiling(outer, dict(zip(positions, sizes, strict=True)))
    dims = set(range(len(shape)))
    valid = set(outer) == dims and len(outer) == len(dims) and set(positions) <= dims
    if not valid or len(tiling.tiles) != len(positions) or min(sizes, default=1) < 1:
        raise refuse(op, f"{op.name} has dimensions or tiles that its tensor does not have")
    expected_shape = tiling.packed_shape(shape)
    fits = [DYNAMIC_INDEX in (a, b) or a == b for a, b in zip(expected_shape, packed, strict=True)]
    if not all(fits):
        expected = "x".join("?" if size < 0 else str(size) for size in expected_shape)
        raise refuse(op, f"{op.name} needs a packed tensor of the shape {expected}")
    return tiling


def pack(op: PackLike, emit: Emitter) -> SSAValue:
    """Each element is one of the source, or the padding where the last tile reaches past it."""
    shape, type_ = shape_of(op.source), tensor_type(op.result)
    tiling = _tiling(op, shape, type_.get_shape())
    rank = type_.get_num_dims()
    inner = {dim: len(shape) + i for i, dim in enumerate(tiling.tiles)}
    exprs: list[AffineExpr] = []
    for dim in range(len(shape)):
        expr: AffineExpr = AffineDimExpr(tiling.outer.index(dim))
        if dim in tiling.tiles:
            expr = expr * tiling.tiles[dim] + AffineDimExpr(inner[dim])
        exprs.append(expr)
    padding = op.padding_value
    sizes = open_sizes(emit, op.dest)
    # Whether tiles fill an open size shows at run time: without padding they must.
    partial = [
        dim
        for dim, tile in tiling.tiles.items()
        if (padding is not None if shape[dim] < 0 else shape[dim] % tile)
    ]
    if not partial:
        map_ = AffineMap(rank, 0, tuple(exprs))
        return elementwise(emit, type_, [op.source], [map_], lambda _, args: args, sizes)
    if padding is None:
        raise refuse(
            op,
            f"{op.name} cuts a dimension into tiles that do not fill it",
            "give it a padding_value",
        )

    ends = {dim: size_of(emit, op.source, dim) for dim in partial}

    def body(inside: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        loops = loop_indices(inside, rank)
        indices = [materialize(inside, expr, loops) for expr in exprs]
        conditions: list[SSAValue] = []
        for dim in partial:
            size = ends[dim]
            end = inside.index(size) if isinstance(size, int) else size
            conditions.append(inside.add(arith.CmpiOp(indices[dim], end, "slt")).result)
            if isinstance(size, int):
                indices[dim] = clamp(inside, indices[dim], None, size - 1)
        value = inside.add(tensor.ExtractOp(op.source, indices, type_.element_type)).result
        return [inside.add(arith.SelectOp(all_of(inside, conditions), value, padding)).result]

    return elementwise(emit, type_, [], [], body, sizes)


def unpack(op: UnpackLike, emit: Emitter) -> SSAValue:
    """Each element of the result lies in a tile, at its remainder."""
    type_ = tensor_type(op.result)
    shape = type_.get_shape()
    tiling = _tiling(op, shape, shape_of(op.source))
    exprs: list[AffineExpr] = []
    for dim in tiling.outer:
        loop = AffineDimExpr(dim)
        exprs.append(loop // tiling.tiles[dim] if dim in tiling.tiles else loop)
    exprs += [AffineDimExpr(dim) % tile for dim, tile in tiling.tiles.items()]
    map_ = AffineMap(len(shape), 0, tuple(exprs))
    sizes = open_sizes(emit, op.dest)
    return elementwise(emit, type_, [op.source], [map_], lambda _, args: args, sizes)


@dataclass(frozen=True)
class PackToGenericPass(ModulePass):
    """Turn `linalg.pack` and `linalg.unpack` into generics (L1 to L1).

        %p = linalg.pack %x inner_dims_pos = [0] inner_tiles = [4] into ... tensor<8xf32> -> tensor<2x4xf32>
    becomes
        %p = linalg.generic {(d0, d1) -> (d0 * 4 + d1), ...} ins(%x) { yield %in }
    """  # noqa: E501

    name = "pack-to-generic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions; raises `Refusal` for shapes that do not fit."""
        for function in host_functions(op):
            for inner in list(function.body.walk()):
                match inner:
                    case PackLike():
                        result = pack(inner, Emitter.before(inner))
                    case UnpackLike():
                        result = unpack(inner, Emitter.before(inner))
                    case _:
                        continue
                result.name_hint = inner.result.name_hint
                inner.result.replace_all_uses_with(result)
                erase(inner)
