"""Tile and fuse: compute a tile of a value, and of everything it is computed from.

Both tiling passes use this engine: `kernel-tile-threadgroups` on whole tensors, then
`kernel-tile-threads` on the tiles of a threadgroup. Sizes at the edges are `affine.min` of the tile
and what is left, so no tensor is ever padded and no tail is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.dialects import affine, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    I64,
    AffineMapAttr,
    DenseArrayBase,
    IndexType,
    TensorType,
)
from xdsl.dialects.scf import ForOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from ingot.compiler.analysis.building import after, at_end, before
from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.structured import indexing_maps, loop_extents, shape_of, tensor_type
from ingot.compiler.dialects.arith import ConstantOp
from ingot.compiler.dialects.ingot import ScanOp
from ingot.compiler.dialects.linalg import FillOp, GenericOp, IndexOp

Index = int | SSAValue
"""An index that is known, or computed."""


@dataclass(frozen=True)
class Tile:
    """A range of one dimension."""

    offset: Index
    size: Index


def apply_map(builder: Builder, expr: AffineExpr, operands: Sequence[Index]) -> Index:
    """The value of `expr` over dimensions d0.. = operands, folded when all of them are known."""
    dims: list[SSAValue] = []
    replacements: list[AffineExpr] = []
    for operand in operands:
        if isinstance(operand, int):
            replacements.append(AffineConstantExpr(operand))
        elif operand in dims:
            replacements.append(AffineDimExpr(dims.index(operand)))
        else:
            replacements.append(AffineDimExpr(len(dims)))
            dims.append(operand)
    folded = expr.replace_dims_and_symbols(replacements, [])
    if isinstance(folded, AffineConstantExpr):
        return folded.value
    if isinstance(folded, AffineDimExpr):
        return dims[folded.position]
    used = sorted(folded.used_dims())
    compact: list[AffineExpr] = [AffineConstantExpr(0)] * len(dims)
    for new, old in enumerate(used):
        compact[old] = AffineDimExpr(new)
    map_ = AffineMap(len(used), 0, (folded.replace_dims_and_symbols(compact, []),))
    return builder.insert(affine.ApplyOp([dims[i] for i in used], AffineMapAttr(map_))).result


def tile_size(builder: Builder, offset: Index, size: int, extent: Index, count: int) -> Index:
    """min(size, extent - offset), static when `count` tiles of this size make up the extent."""
    if isinstance(extent, int):
        if isinstance(offset, int):
            return max(0, min(size, extent - offset))
        if extent == size * count:
            return size
        exprs = (AffineConstantExpr(size), AffineDimExpr(0) * -1 + extent)
        map_ = AffineMap(1, 0, exprs)
        return builder.insert(affine.MinOp([offset], AffineMapAttr(map_))).result
    if isinstance(offset, int):
        exprs = (AffineConstantExpr(size), AffineDimExpr(0) - offset)
        return builder.insert(affine.MinOp([extent], AffineMapAttr(AffineMap(1, 0, exprs)))).result
    exprs = (AffineConstantExpr(size), AffineDimExpr(1) - AffineDimExpr(0))
    return builder.insert(
        affine.MinOp([offset, extent], AffineMapAttr(AffineMap(2, 0, exprs)))
    ).result


def linear_coefficients(expr: AffineExpr, num_dims: int) -> tuple[list[int], int] | None:
    """The coefficients and the constant of a linear expression; None for mod and divisions."""
    match expr:
        case AffineConstantExpr(value):
            return [0] * num_dims, value
        case AffineDimExpr(position):
            coefficients = [0] * num_dims
            coefficients[position] = 1
            return coefficients, 0
        case AffineBinaryOpExpr(kind, lhs, rhs):
            left = linear_coefficients(lhs, num_dims)
            right = linear_coefficients(rhs, num_dims)
            if left is None or right is None:
                return None
            if kind == AffineBinaryOpKind.Add:
                sums = [a + b for a, b in zip(left[0], right[0], strict=True)]
                return sums, left[1] + right[1]
            if kind == AffineBinaryOpKind.Mul:
                if any(left[0]) and any(right[0]):
                    return None
                factor, other = (left[1], right) if not any(left[0]) else (right[1], left)
                return [factor * c for c in other[0]], factor * other[1]
            return None
        case _:
            return None


def is_sliceable(expr: AffineExpr, num_dims: int, tiled: set[int]) -> bool:
    """Whether the elements that a tile reads along `expr` form a range that moves with the tile."""
    if not (expr.used_dims() & tiled):
        return True
    linear = linear_coefficients(expr, num_dims)
    return linear is not None and all(c >= 0 for c in linear[0])


def capture_operand(op: GenericOp, position: int, builder: Builder) -> GenericOp:
    """Read input `position` by `tensor.extract` in the body instead of through its indexing map.

    Used for maps that no slice expresses (reversed, mod). A loop whose extent only this operand
    gave keeps it through an unused `tensor.empty` input.
    """
    source = op.inputs[position]
    map_ = indexing_maps(op)[position]
    extents = loop_extents(op)
    inputs = [v for i, v in enumerate(op.inputs) if i != position]
    maps = [m for i, m in enumerate(indexing_maps(op)) if i != position]
    body = op.body.clone()
    block = body.block
    replaced = block.args[position]
    inner = before(first) if (first := block.first_op) else at_end(block)
    loops: list[SSAValue] = [inner.insert(IndexOp(i)).result for i in range(map_.num_dims)]
    indices: list[SSAValue] = []
    for expr in map_.results:
        index = apply_map(inner, expr, loops)
        indices.append(_as_value(inner, index))
    element = inner.insert(tensor.ExtractOp(source, indices, replaced.type)).result
    replaced.replace_all_uses_with(element)
    block.erase_arg(replaced)
    for loop in loops:
        if not loop.uses:
            owner = loop.owner
            assert isinstance(owner, Operation)
            owner.detach()
            owner.erase()
    defined = {e.position for m in maps for e in m.results if isinstance(e, AffineDimExpr)}
    for loop in range(map_.num_dims):
        if loop in defined:
            continue
        element_type = replaced.type
        shape = builder.insert(tensor.EmptyOp([], TensorType(element_type, [extents[loop]])))
        block.insert_arg(element_type, len(inputs))
        inputs.append(shape.tensor)
        maps.insert(len(inputs) - 1, AffineMap(map_.num_dims, 0, (AffineDimExpr(loop),)))
    new_op = GenericOp(
        inputs,
        list(op.outputs),
        body,
        [AffineMapAttr(m) for m in maps],
        op.iterator_types,
        list(op.result_types),
    )
    new_op.location = op.location
    builder.insert(new_op)
    return new_op


def _as_value(builder: Builder, index: Index) -> SSAValue:
    if isinstance(index, SSAValue):
        return index
    return builder.insert(ConstantOp.from_int_and_width(index, IndexType())).result


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
            if not isinstance(expr, AffineDimExpr):
                raise refuse(op, "a result map that is not a permutation of loops cannot be tiled")
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


def dimension_sizes(value: SSAValue) -> list[Index]:
    """The size of each dimension of a tile: an int, or the SSA value it was made with."""
    shape = shape_of(value)
    if DYNAMIC_INDEX not in shape:
        return list(shape)
    owner = value.owner
    match owner:
        case tensor.ExtractSliceOp():
            dynamic = list(owner.sizes)
        case tensor.EmptyOp():
            dynamic = list(owner.dynamic_sizes)
        case GenericOp():
            result = result_index(value)
            return dimension_sizes(owner.outputs[result])
        case FillOp():
            return dimension_sizes(owner.outputs[0])
        case ScanOp():
            source = owner.output if value is owner.results[0] else owner.init
            return dimension_sizes(source)
        case ForOp():
            return dimension_sizes(owner.iter_args[result_index(value)])
        case Block() if isinstance(loop := owner.parent_op(), ForOp):
            return dimension_sizes(loop.iter_args[argument_index(value) - 1])
        case _:
            raise refuse(value, "the size of a dimension is not known where it is tiled")
    return [dynamic.pop(0) if size == DYNAMIC_INDEX else size for size in shape]


def mixed_offsets(op: tensor.ExtractSliceOp) -> list[Index]:
    """The offsets of a slice, known or computed."""
    return _mixed(op.static_offsets, op.offsets)


def mixed_sizes(op: tensor.ExtractSliceOp) -> list[Index]:
    """The sizes of a slice, known or computed."""
    return _mixed(op.static_sizes, op.sizes)


def result_index(value: SSAValue) -> int:
    """Which result of its op a value is."""
    assert isinstance(value, OpResult)
    return value.index


def argument_index(value: SSAValue) -> int:
    """Which argument of its block a value is."""
    assert isinstance(value, BlockArgument)
    return value.index


def _mixed(static: DenseArrayBase[I64], dynamic: Sequence[SSAValue]) -> list[Index]:
    values: Sequence[int] = static.get_values()
    remaining = iter(dynamic)
    return [next(remaining) if v == DYNAMIC_INDEX else v for v in values]


def upper_bound(size: Index) -> int | None:
    """The most that a tile's size can be: the constant of the `affine.min` that computes it."""
    if isinstance(size, int):
        return size
    if not isinstance(size.owner, affine.MinOp):
        return None
    constants = [e.value for e in size.owner.map.data.results if isinstance(e, AffineConstantExpr)]
    return min(constants) if constants else None


def erase_unused(ops: Sequence[Operation]) -> None:
    """Erase, last first, the ops whose results are all unused."""
    for op in reversed(ops):
        if all(not r.uses for r in op.results):
            op.detach()
            op.erase()
