"""Sizes that a call decides: what the host computes of them, and which of them are equal.

Programs compute with sizes as tensors of few integers. Their elements are kept beside them as
scalars of the host program, so that they can be the sizes of other tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ingot.compiler.analysis.generics import Emitter, size_of
from ingot.compiler.analysis.scalar_folding import fold as fold_scalar
from ingot.compiler.analysis.scalar_folding import int_of
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import as_tensor_type
from ingot.compiler.analysis.types import as_integer
from ingot.compiler.dialects import arith, shape
from ingot.compiler.dialects.linalg import FillOp, GenericOp
from ingot.compiler.dialects.stablehlo.base import StableHLOOp
from ingot.passes.stablehlo.folding import MOST_ELEMENTS, MOVES
from ingot.passes.stablehlo.scalar import Scalar, literal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ingot.passes.stablehlo.lowering import Lowering

    Numbers = npt.NDArray[np.object_]
    """The elements of a tensor, each a scalar of the host program, or None."""

Index = int | SSAValue
_CASTS = (arith.IndexCastOp, arith.IndexCastUIOp, arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp)


def as_value(emit: Emitter, size: Index) -> SSAValue:
    """A size as a value."""
    return emit.index(size) if isinstance(size, int) else size


def as_index(emit: Emitter, number: SSAValue) -> Index:
    """An integer that the host computes as a size: every size fits the type it is computed in."""
    known = int_of(number)
    if known is not None:
        return known
    inner = number
    while isinstance(inner.owner, _CASTS):
        inner = inner.owner.operands[0]
    if isinstance(inner.type, IndexType):
        return inner
    return emit.add(arith.IndexCastOp(number, IndexType())).result


def scalar(emit: Emitter, size: Index) -> Scalar:
    """A size to compute with."""
    return Scalar(emit, as_value(emit, size))


def computed(value: Scalar) -> Index:
    """What was computed of sizes, known if it is."""
    number = int_of(value.ssa)
    return value.ssa if number is None else number


def origin(size: Index) -> object:
    """What a size is: a number, a dimension of a tensor, or else its value."""
    if isinstance(size, int):
        return size
    known = int_of(size)
    if known is not None:
        return known
    owner = size.owner
    if isinstance(owner, _CASTS):
        return origin(owner.operands[0])
    if not isinstance(owner, tensor.DimOp) or (dim := int_of(owner.index)) is None:
        return size
    source = owner.source
    while True:
        extent = shape_of(source)[dim]
        if extent >= 0:
            return extent
        made = source.owner
        match made:
            case GenericOp():
                number = list(made.results).index(source)  # pyright: ignore[reportArgumentType]
                source = made.outputs[number]
            case FillOp():
                source = made.outputs[0]
            case tensor.CastOp():
                source = made.source
            case tensor.EmptyOp():
                before = sum(s < 0 for s in shape_of(source)[:dim])
                return origin(made.dynamic_sizes[before])
            case _:
                return source, dim


def same(a: Index, b: Index) -> bool:
    """Whether two sizes are known to be equal."""
    return origin(a) == origin(b)


def sizes_of(emit: Emitter, value: SSAValue) -> list[Index]:
    """All sizes of a new value."""
    return [size_of(emit, value, dim) for dim in range(len(shape_of(value)))]


def open_only(
    emit: Emitter, type_: TensorType[Attribute], sizes: Sequence[Index]
) -> list[SSAValue]:
    """Those of `sizes` that a type does not say."""
    pairs = zip(sizes, type_.get_shape(), strict=True)
    return [as_value(emit, size) for size, known in pairs if known == DYNAMIC_INDEX]


def broadcast_size(emit: Emitter, a: Index, b: Index) -> Index:
    """The size of a dimension that is `a` in one operand and `b` in the other: 1 is repeated."""
    if same(a, b) or b == 1:
        return a
    if a == 1 or (isinstance(b, int) and not isinstance(a, int)):
        return b
    if isinstance(a, int):
        return a
    first, second = scalar(emit, a), scalar(emit, b)
    return computed(first.eq(1).select(second, first))


def room(emit: Emitter, extent: Index, size: Index) -> Index:
    """How far a slice of a size can move along a dimension."""
    if isinstance(extent, int) and isinstance(size, int):
        return extent - size
    return 0 if same(extent, size) else (scalar(emit, extent) - scalar(emit, size)).ssa


# Numbers


def compute(low: Lowering, op: Operation) -> Numbers | None:
    """The elements of an op's only result that the host can compute from sizes, remembered."""
    type_ = as_tensor_type(op.results[0].type) if len(op.results) == 1 else None
    if not low.has_sizes or type_ is None or not _is_small(type_):
        return None
    found = _of_shapes(low, op)
    if found is None and isinstance(op, StableHLOOp) and op.ins:
        integers = as_integer(type_.element_type) is not None
        if any(v in low.numbers or (integers and v in low.known) for v in op.ins):
            found = _elementwise(low, op) if op.name in low.scalar_rules else _moved(low, op)
    if found is None or all(number is None for number in found.reshape(-1)):
        return None
    found = low.numbers[op.results[0]] = found.reshape(tuple(type_.get_shape()))
    return found


def _is_small(type_: TensorType[Attribute]) -> bool:
    shape = type_.get_shape()
    return DYNAMIC_INDEX not in shape and prod(shape) <= MOST_ELEMENTS


def is_complete(numbers: Numbers) -> bool:
    """Whether the host computes every element."""
    return all(number is not None for number in numbers.reshape(-1))


def _array(values: Sequence[SSAValue | None]) -> Numbers:
    import numpy as np

    result = np.empty(len(values), dtype=object)
    result[:] = list(values)
    return result


def _of_shapes(low: Lowering, op: Operation) -> Numbers | None:
    """The ops that ask for sizes, and those that put scalars of the host together."""
    emit = low.emit
    match op:
        case StableHLOOp(name="stablehlo.get_dimension_size"):
            size = size_of(emit, low.value(op.ins[0]), op.int("dimension"))
            element = low.result_type(op).element_type
            return _array([scalar(emit, size).to(element).ssa])
        case shape.ShapeOfOp():
            sizes = sizes_of(emit, low.value(op.arg))
            return _array([as_value(emit, size) for size in sizes])
        case shape.ConstShapeOp():
            return _array([emit.index(int(size)) for size in op.shape.get_values()])
        case shape.BroadcastOp():
            return _broadcast(low, op)
        case tensor.FromElementsOp():
            return _array([low.values.get(value, value) for value in op.elements])
        case _:
            return None


def _broadcast(low: Lowering, op: shape.BroadcastOp) -> Numbers | None:
    rows = [elements(low, value) for value in op.shapes]
    if any(row is None or not is_complete(row) for row in rows):
        return None
    sizes: list[Index] = []
    for row in rows:
        assert row is not None
        more: list[Index] = [as_index(low.emit, number) for number in row.reshape(-1)]
        if len(more) < len(sizes):
            more, sizes = sizes, more
        first = len(more) - len(sizes)
        sizes = [
            *more[:first],
            *(broadcast_size(low.emit, a, b) for a, b in zip(sizes, more[first:], strict=True)),
        ]
    return _array([as_value(low.emit, size) for size in sizes])


def elements(low: Lowering, old: SSAValue) -> Numbers | None:
    """The elements of an old value as scalars of the host."""
    if old in low.numbers:
        return low.numbers[old]
    array = low.known.get(old)
    if array is None:
        return None
    element = low.signless_element(old)
    flat: list[Any] = array.reshape(-1).tolist()
    constants = [literal(low.emit, number, element).ssa for number in flat]
    return _array(constants).reshape(array.shape)


def _operands(low: Lowering, op: StableHLOOp) -> list[Numbers] | None:
    """The elements of all operands, None where only the device knows them."""
    arrays: list[Numbers] = []
    for operand in op.ins:
        array = elements(low, operand)
        if array is None:
            type_ = as_tensor_type(operand.type)
            if type_ is None or not _is_small(type_):
                return None
            array = _array([None] * prod(type_.get_shape())).reshape(tuple(type_.get_shape()))
        arrays.append(array)
    return arrays


def _moved(low: Lowering, op: StableHLOOp) -> Numbers | None:
    rule = MOVES.get(op.name)
    arrays = _operands(low, op) if rule is not None else None
    if rule is None or arrays is None:
        return None
    type_ = low.result_type(op)
    return rule(op, arrays, (tuple(type_.get_shape()), arrays[0].dtype))


def _elementwise(low: Lowering, op: StableHLOOp) -> Numbers | None:
    arrays = _operands(low, op)
    if arrays is None:
        return None
    import numpy as np

    from ingot.passes.stablehlo.lowering import is_unsigned

    rule = low.scalar_rules[op.name]
    unsigned = [is_unsigned(operand.type) for operand in op.ins]
    wide = np.broadcast_arrays(*arrays)
    results: list[SSAValue | None] = []
    for values in zip(*(array.reshape(-1) for array in wide), strict=True):
        if any(value is None for value in values):
            results.append(None)
            continue
        scalars = [Scalar(low.emit, v, u) for v, u in zip(values, unsigned, strict=True)]
        results.append(_folded(low.emit, rule(op, scalars).ssa))
    return _array(results).reshape(wide[0].shape)


def _folded(emit: Emitter, value: SSAValue) -> SSAValue:
    """A scalar, or the constant or other scalar that it is known to be."""
    assert isinstance(value.owner, Operation)
    found = fold_scalar(value.owner)
    if isinstance(found, SSAValue):
        return found
    return value if found is None else emit.add(arith.ConstantOp(found)).result
