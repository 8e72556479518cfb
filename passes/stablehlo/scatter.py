"""Scatters of every form of dimension numbers and any body, as `ingot.scatter`.

That op writes whole slices of the dimensions that no index names. What StableHLO's windows do
beyond this becomes indices: a window that is smaller than its dimension is one entry for each of
its positions, so that each position is checked against the bounds by itself, as the spec says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType, i32, i64
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, elementwise, fill, loop_indices, reshape
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import integer_width, tensor_type
from ingot.compiler.dialects import ingot
from ingot.compiler.dialects.stablehlo.attributes import ScatterAttr
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.lowering import Lower, Lowering, is_unsigned
from ingot.passes.stablehlo.scalar import Scalar, literal
from ingot.passes.stablehlo.shapes import transpose


@dataclass(frozen=True)
class _Layout:
    """Which dimension of an operand is found how."""

    indexed: tuple[int, ...]
    """Dimensions of the operand that have an index, in order."""
    start: dict[int, int]
    """Of such a dimension, the component of the start index."""
    batch: dict[int, int]
    """Of such a dimension, the dimension of the indices (without components) that it follows."""
    window: dict[int, int]
    """Of a dimension, the dimension of the updates that walks along it."""
    update_batch: tuple[int, ...]
    """Dimensions of the updates that follow those of the indices."""

    @property
    def walked(self) -> tuple[int, ...]:
        """Dimensions with an index that the updates walk along."""
        return tuple(dim for dim in self.indexed if dim in self.window)

    @property
    def whole(self) -> tuple[int, ...]:
        """Dimensions without an index."""
        return tuple(dim for dim in sorted(self.window) if dim not in self.indexed)


def _layout(numbers: ScatterAttr, shape: Sequence[int], update: Sequence[int]) -> _Layout:
    inserted = numbers.list_of("inserted_window_dims")
    batching = numbers.list_of("input_batching_dims")
    window_dims = numbers.list_of("update_window_dims")
    start_map = numbers.list_of("scatter_dims_to_operand_dims")
    vector_dim = numbers.single("index_vector_dim")
    walked = [dim for dim in range(len(shape)) if dim not in (*inserted, *batching)]
    window = dict(zip(walked, window_dims, strict=True))
    indexed = {*inserted, *batching, *start_map}
    indexed |= {dim for dim in walked if update[window[dim]] != shape[dim]}
    # Every scatter has an index: at least that of the first dimension.
    indexed = indexed or {0}
    of_indices = numbers.list_of("scatter_indices_batching_dims")
    batch = {dim: of_indices[i] - (of_indices[i] > vector_dim) for i, dim in enumerate(batching)}
    return _Layout(
        tuple(sorted(indexed)),
        {dim: i for i, dim in enumerate(start_map)},
        batch,
        window,
        tuple(dim for dim in range(len(update)) if dim not in window_dims),
    )


def lower_scatter(low: Lowering, op: StableHLOOp) -> Sequence[SSAValue]:
    """Compute every entry's indices, bring the updates into the same order, scatter."""
    numbers = op.properties.get("scatter_dimension_numbers")
    if not isinstance(numbers, ScatterAttr):
        raise refuse(op, "stablehlo.scatter without dimension numbers")
    count = len(op.outs)
    operands = low.operands(op)
    inputs, indices, updates = operands[:count], operands[count], operands[count + 1 :]
    shape, update_shape = shape_of(inputs[0]), shape_of(updates[0])
    if 0 in update_shape or 0 in shape:
        return inputs
    if not shape:
        return _scatter_into_scalar(low, op, inputs, updates)
    layout = _layout(numbers, shape, update_shape)
    order = [*layout.update_batch, *(layout.window[dim] for dim in (*layout.walked, *layout.whole))]
    if order != sorted(order):
        updates = [transpose(low.emit, update, order) for update in updates]
    unsigned = is_unsigned(op.ins[count].type)
    places = _places(
        low.emit, layout, indices, unsigned, numbers.single("index_vector_dim"), update_shape
    )
    return _scatter(low, op, inputs, places, updates, layout.indexed)


def _scatter(
    low: Lowering,
    op: StableHLOOp,
    inputs: Sequence[SSAValue],
    places: SSAValue,
    updates: Sequence[SSAValue],
    dimensions: Sequence[int],
) -> Sequence[SSAValue]:
    elements = [tensor_type(value).element_type for value in (*inputs, *updates)]
    block = Block(arg_types=elements)
    inner = Emitter.at_end(block, low.emit.location)
    inner.add(ingot.YieldOp(*low.inline(inner, op.bodies[0], block.args)))
    unique = op.flag("unique_indices")
    scatter = ingot.ScatterOp(places, updates, inputs, dimensions, Region(block), unique)
    return low.emit.add(scatter).results


def _scatter_into_scalar(
    low: Lowering, op: StableHLOOp, inputs: Sequence[SSAValue], updates: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """All updates go to the one element of a line."""
    emit = low.emit
    lines = [reshape(emit, value, [1]) for value in inputs]
    place: TensorType[Attribute] = TensorType(i32, [*shape_of(updates[0]), 1])
    zeros = fill(emit, literal(emit, 0, i32).ssa, place)
    results = _scatter(low, op, lines, zeros, updates, [0])
    return [reshape(emit, value, []) for value in results]


def _places(
    emit: Emitter,
    layout: _Layout,
    indices: SSAValue,
    unsigned: bool,
    vector_dim: int,
    update: Sequence[int],
) -> SSAValue:
    """A tensor of the indices of each entry: batch dimensions, walked dimensions, components."""
    index_shape = shape_of(indices)
    batch_dims = [dim for dim in range(len(index_shape)) if dim != vector_dim]
    entries = [index_shape[dim] for dim in batch_dims]
    entries += [update[layout.window[dim]] for dim in layout.walked]
    rank = len(entries) + 1
    width = integer_width(tensor_type(indices).element_type) or 64
    wide = i64 if width > 32 or (width == 32 and unsigned) else i32
    type_: TensorType[Attribute] = TensorType(wide, [*entries, len(layout.indexed)])

    def component_map(component: int) -> AffineMap:
        exprs = [
            AffineConstantExpr(component)
            if dim == vector_dim
            else AffineExpr.dimension(batch_dims.index(dim))
            for dim in range(len(index_shape))
        ]
        return AffineMap(rank, 0, tuple(exprs))

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        loops = loop_indices(inner, rank)
        component = Scalar(inner, loops[-1])
        result: Scalar | None = None
        for i, dim in enumerate(layout.indexed):
            value = _component(inner, layout, dim, args, loops, len(batch_dims), unsigned, wide)
            result = value if result is None else component.eq(i).select(value, result)
        assert result is not None
        return [result.ssa]

    maps = [component_map(i) for i in range(len(layout.start))]
    return elementwise(emit, type_, [indices] * len(maps), maps, body)


def _component(
    emit: Emitter,
    layout: _Layout,
    dim: int,
    args: Sequence[SSAValue],
    loops: Sequence[SSAValue],
    batch_rank: int,
    unsigned: bool,
    wide: Attribute,
) -> Scalar:
    """The index along one dimension: the start, the batch and the position in the window."""
    terms: list[Scalar] = []
    if dim in layout.start:
        terms.append(Scalar(emit, args[layout.start[dim]], unsigned).to(wide))
    if dim in layout.batch:
        terms.append(Scalar(emit, loops[layout.batch[dim]]).to(wide))
    if dim in layout.window:
        terms.append(Scalar(emit, loops[batch_rank + layout.walked.index(dim)]).to(wide))
    if not terms:
        terms.append(Scalar(emit, emit.index(0)).to(wide))
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


LOWERINGS: dict[str, Lower] = {"stablehlo.scatter": lower_scatter}
