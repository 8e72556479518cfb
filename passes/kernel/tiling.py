"""Tile and fuse: compute a tile of a value, and of everything it is computed from.

Both tiling passes use this engine: `kernel-tile-threadgroups` on whole tensors, then
`kernel-tile-threads` on the tiles of a threadgroup. Sizes at the edges are `affine.min` of the tile
and what is left, so no tensor is ever padded and no tail is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir.affine import (
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from ingot.compiler.analysis.building import after
from ingot.compiler.analysis.structured import indexing_maps, loop_extents, shape_of, tensor_type
from ingot.compiler.dialects.ingot import ScanOp
from ingot.compiler.dialects.linalg import FillOp, GenericOp, IndexOp
from ingot.passes.kernel.capture import capture_operand, is_sliceable
from ingot.passes.kernel.indices import Index, apply_map, linear_coefficients, result_index


@dataclass(frozen=True)
class Tile:
    """A range of one dimension."""

    offset: Index
    size: Index


@dataclass
class Tiler:
    """Computes tiles of the values of one block at the insertion point of `builder`."""

    builder: Builder
    _values: dict[tuple[SSAValue, tuple[Tile, ...]], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, tuple[Tile, ...]], SSAValue]
    )
    _ops: dict[tuple[Operation, tuple[Tile, ...]], Operation] = field(
        default_factory=dict[tuple[Operation, tuple[Tile, ...]], Operation]
    )

    def tile_value(self, value: SSAValue, tiles: tuple[Tile, ...]) -> SSAValue:
        """A value that holds the given range of each dimension of the tensor `value`."""
        key = (value, tiles)
        if key not in self._values:
            self._values[key] = self._tile(value, tiles)
        return self._values[key]

    def _tile(self, value: SSAValue, tiles: tuple[Tile, ...]) -> SSAValue:
        owner = value.owner
        match owner:
            case GenericOp():
                result = result_index(value)
                map_ = indexing_maps(owner)[len(owner.inputs) + result]
                return self._tile_op(owner, self._loops(owner, map_, tiles)).results[result]
            case FillOp():
                init = self.tile_value(owner.outputs[0], tiles)
                fill = FillOp(list(owner.inputs), [init], [init.type])
                fill.location = owner.location
                return self.builder.insert(fill).results[0]
            case tensor.EmptyOp():
                return self._empty(value, tiles)
            case ScanOp():
                return self._tile_scan(owner, result_index(value), tiles)
            case _:
                return self.slice(value, tiles)

    def _empty(self, value: SSAValue, tiles: tuple[Tile, ...]) -> SSAValue:
        type_ = tile_type(tensor_type(value), tiles)
        dynamic = [t.size for t in tiles if isinstance(t.size, SSAValue)]
        return self.builder.insert(tensor.EmptyOp(dynamic, type_)).tensor

    def slice(self, value: SSAValue, tiles: tuple[Tile, ...]) -> SSAValue:
        """`tensor.extract_slice` of the range, or the value itself when the range is all of it."""
        if all(
            t.offset == 0 and t.size == size for t, size in zip(tiles, shape_of(value), strict=True)
        ):
            return value
        slice_op = tensor.ExtractSliceOp(
            value,
            [t.offset for t in tiles],
            [t.size for t in tiles],
            [1] * len(tiles),
            tile_type(tensor_type(value), tiles),
        )
        return self.builder.insert(slice_op).result

    def _loops(
        self, op: GenericOp, out_map: AffineMap, tiles: tuple[Tile, ...]
    ) -> tuple[Tile, ...]:
        loops = [Tile(0, extent) for extent in loop_extents(op)]
        for expr, tile in zip(out_map.results, tiles, strict=True):
            assert isinstance(expr, AffineDimExpr), "outputs have been compacted"
            loops[expr.position] = tile
        return tuple(loops)

    def _tile_op(self, op: GenericOp, loops: tuple[Tile, ...]) -> Operation:
        key = (op, loops)
        if key not in self._ops:
            self._ops[key] = self._tile_generic(op, loops)
        return self._ops[key]

    def _tile_generic(self, op: GenericOp, loops: tuple[Tile, ...]) -> GenericOp:
        extents = loop_extents(op)
        tiled = {
            i
            for i, (tile, extent) in enumerate(zip(loops, extents, strict=True))
            if not (tile.offset == 0 and tile.size == extent)
        }
        num_dims = len(loops)
        source = op
        position = 0
        while position < len(source.inputs):
            map_ = indexing_maps(source)[position]
            if all(is_sliceable(e, num_dims, tiled) for e in map_.results):
                position += 1
                continue
            captured = capture_operand(source, position, self.builder)
            if source is not op:
                source.detach()
                source.erase()
            source = captured
        maps: list[AffineMap] = []
        operands: list[SSAValue] = []
        for operand, map_ in zip(source.operands, indexing_maps(source), strict=True):
            tiles: list[Tile] = []
            exprs: list[AffineExpr] = []
            for size, expr in zip(shape_of(operand), map_.results, strict=True):
                tile, local = self._operand_tile(expr, size, loops, tiled)
                tiles.append(tile)
                exprs.append(local)
            operands.append(self.tile_value(operand, tuple(tiles)))
            maps.append(AffineMap(num_dims, 0, tuple(exprs)))
        body = source.body.clone()
        shift_indices(body, loops)
        inputs, outputs = operands[: len(source.inputs)], operands[len(source.inputs) :]
        new_op = GenericOp(
            inputs,
            outputs,
            body,
            [AffineMapAttr(m) for m in maps],
            source.iterator_types,
            [v.type for v in outputs],
        )
        new_op.location = op.location
        for old, new in zip(op.results, new_op.results, strict=True):
            new.name_hint = old.name_hint
        self.builder.insert(new_op)
        if source is not op:
            source.detach()
            source.erase()
        return new_op

    def _operand_tile(
        self, expr: AffineExpr, size: int, loops: tuple[Tile, ...], tiled: set[int]
    ) -> tuple[Tile, AffineExpr]:
        """The range of an operand's dimension that a tile reads, and its index inside the range."""
        if isinstance(expr, AffineDimExpr):
            return loops[expr.position], expr
        if not expr.used_dims() & tiled:
            return Tile(0, size), expr
        linear = linear_coefficients(expr, len(loops))
        assert linear is not None, "is_sliceable was checked"
        coefficients = linear[0]
        offset = apply_map(self.builder, expr, [t.offset for t in loops])
        span: AffineExpr = AffineConstantExpr(1 - sum(coefficients))
        local: AffineExpr = AffineConstantExpr(0)
        for i, c in enumerate(coefficients):
            span = span + AffineDimExpr(i) * c
            local = local + AffineDimExpr(i) * c
        return Tile(offset, apply_map(self.builder, span, [t.size for t in loops])), local

    def _tile_scan(self, op: ScanOp, result: int, tiles: tuple[Tile, ...]) -> SSAValue:
        """Tile a scan over the dimensions that it does not scan."""
        dimension = op.dimension.value.data
        kept = list(tiles)
        if result == 0:
            kept.pop(dimension)
        full = Tile(0, shape_of(op.input)[dimension])
        whole = (*kept[:dimension], full, *kept[dimension:])
        key = (op, whole)
        if key not in self._ops:
            source = self.tile_value(op.input, whole)
            accumulator = self.tile_value(op.init, tuple(kept))
            destination = self.tile_value(op.output, whole)
            scan = ScanOp(
                source,
                destination,
                accumulator,
                dimension,
                op.inclusive is not None,
                op.body.clone(),
            )
            scan.location = op.location
            self._ops[key] = self.builder.insert(scan)
        return self._ops[key].results[result]


def tile_type(type_: TensorType[Attribute], tiles: Sequence[Tile]) -> TensorType[Attribute]:
    """The type of a tile: static where its size is known."""
    shape = [t.size if isinstance(t.size, int) else DYNAMIC_INDEX for t in tiles]
    return TensorType(type_.get_element_type(), shape)


def shift_indices(body: Region, loops: Sequence[Tile]) -> None:
    """Add the tile's offsets to `linalg.index`, which counts from the start of the tile."""
    for op in list(body.walk()):
        if not isinstance(op, IndexOp):
            continue
        offset = loops[op.dim.value.data].offset
        if offset == 0:
            continue
        builder = after(op)
        uses = list(op.result.uses)
        shifted = apply_map(builder, AffineDimExpr(0) + AffineDimExpr(1), [op.result, offset])
        assert isinstance(shifted, SSAValue)
        for use in uses:
            use.operation.operands[use.index] = shifted
