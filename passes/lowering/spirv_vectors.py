"""What building, taking apart and rearranging vectors becomes in SPIR-V.

SPIR-V has vectors of two to four components; a vector of one element is a scalar here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, VectorType, i32
from xdsl.ir import Attribute, Operation, SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.index_range import constant_number
from ingot.compiler.dialects import spirv
from ingot.passes.lowering.conversion import FunctionConversion, Handler, is_copied, width_of


def splat(c: FunctionConversion, scalar: SSAValue, type_: Attribute) -> SSAValue:
    """`scalar` in each component of a vector type."""
    count = width_of(type_)
    if scalar.type == type_ or count == 1:
        return scalar
    owner = scalar.owner
    if isinstance(owner, spirv.ConstantOp):
        number = cast("IntegerAttr | FloatAttr", owner.value).value.data
        vector = cast("VectorType[Attribute]", type_)
        return c.constant_attribute(
            DenseIntOrFPElementsAttr.from_list(vector, [number])  # pyright: ignore
        )
    return c.emit(spirv.CompositeConstructOp([scalar] * count, type_))


def _broadcast(c: FunctionConversion, op: Operation) -> SSAValue:
    if is_copied(op.results[0].type):
        if constant_number(op.operands[0]) != 0:
            raise refuse(op, "a vector of eight equal elements other than zero")
        return splat(c, c.constant(0, i32), c.result_type(op))
    return splat(c, c.value(op.operands[0]), c.result_type(op))


def _from_elements(c: FunctionConversion, op: Operation) -> SSAValue:
    elements, type_ = c.operands(op), c.result_type(op)
    if width_of(type_) == 1:
        return elements[0]
    return c.emit(spirv.CompositeConstructOp(elements, type_))


def _position(op: Operation) -> int | None:
    """The constant position of an extraction or insertion; None for one known at run time."""
    static = cast("Sequence[int]", op.properties["static_position"].get_values())  # pyright: ignore
    assert len(static) == 1, "kernels compute with no other vectors"
    return static[0] if static[0] >= 0 else None


def _extract(c: FunctionConversion, op: Operation) -> SSAValue:
    vector, position = c.value(op.operands[0]), _position(op)
    if width_of(vector.type) == 1:
        return vector
    if position is None:
        return c.emit(spirv.VectorExtractDynamicOp(vector, c.value(op.operands[1])))
    return c.emit(spirv.CompositeExtractOp(vector, [position]))


def _insert(c: FunctionConversion, op: Operation) -> SSAValue:
    scalar, vector, position = c.value(op.operands[0]), c.value(op.operands[1]), _position(op)
    if width_of(vector.type) == 1:
        return scalar
    if position is None:
        return c.emit(spirv.VectorInsertDynamicOp(scalar, vector, c.value(op.operands[2])))
    return c.emit(spirv.CompositeInsertOp(scalar, vector, [position]))


def _shuffle_vector(c: FunctionConversion, op: Operation) -> SSAValue:
    mask = cast("Sequence[int]", op.properties["mask"].get_values())  # pyright: ignore
    a, b = c.operands(op)
    c.result_type(op)
    if width_of(a.type) == 1 or width_of(b.type) == 1 or len(mask) == 1:
        raise refuse(op, "`vector.shuffle` from or to a vector of one element")
    return c.emit(spirv.VectorShuffleOp(a, b, mask))


HANDLERS: dict[str, Handler] = {
    "vector.broadcast": _broadcast,
    "vector.splat": _broadcast,
    "vector.from_elements": _from_elements,
    "vector.extract": _extract,
    "vector.insert": _insert,
    "vector.shuffle": _shuffle_vector,
}
"""Handlers by op name."""
