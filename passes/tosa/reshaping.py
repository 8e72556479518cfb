"""Reshapes, also of tensors with sizes that a call decides."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, reshape
from ingot.compiler.analysis.reshapes import Groups, common_shape, reassociation
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.expand_shape import ExpandShapeOp

_UNKNOWN = (1_000_003, 1_000_033, 1_000_037, 1_000_039)
"""Primes that stand for the sizes that a call decides, in their order: no product of others."""


def reshape_to(
    op: Operation, emit: Emitter, value: SSAValue, type_: TensorType[Attribute]
) -> SSAValue:
    """`value` with the shape of `type_`; sizes that a call decides keep their order."""
    source, target = shape_of(value), type_.get_shape()
    unknown = source.count(DYNAMIC_INDEX)
    if unknown == 0 and DYNAMIC_INDEX not in target:
        return reshape(emit, value, target)
    named = _named(source), _named(target)
    fits = unknown == target.count(DYNAMIC_INDEX) and prod(named[0]) == prod(named[1]) > 0
    result = _reshape(emit, value, *named) if fits else None
    if result is None:
        raise _unsupported(op, value, type_)
    return result


def _unsupported(op: Operation, value: SSAValue, type_: TensorType[Attribute]) -> Exception:
    return refuse(
        op,
        f"{op.name} from {value.type} to {type_} mixes sizes that a call decides with others, "
        "which is not supported",
        "export the program with static shapes",
    )


def _named(shape: Sequence[int]) -> list[int]:
    unknown = iter(_UNKNOWN)
    return [next(unknown, 0) if size == DYNAMIC_INDEX else size for size in shape]


def _reshape(
    emit: Emitter, value: SSAValue, source: Sequence[int], target: Sequence[int]
) -> SSAValue | None:
    """At most a collapse and an expansion; None where the unknown sizes are in the way."""
    if list(source) == list(target):
        return value
    if (groups := reassociation(source, target)) is not None:
        type_ = TensorType(tensor_type(value).element_type, _shape(target))
        properties = {"reassociation": _attribute(groups)}
        collapse = tensor.CollapseShapeOp(
            operands=[value], result_types=[type_], properties=properties
        )
        return emit.add(collapse).result
    if (groups := reassociation(target, source)) is not None:
        return _expand(emit, value, groups, target)
    middle = common_shape(source, target)
    if not set(_UNKNOWN).intersection(source) <= set(middle):
        return None
    collapsed = _reshape(emit, value, source, middle)
    return None if collapsed is None else _reshape(emit, collapsed, middle, target)


def _shape(named: Sequence[int]) -> list[int]:
    return [DYNAMIC_INDEX if size in _UNKNOWN else size for size in named]


def _expand(emit: Emitter, value: SSAValue, groups: Groups, target: Sequence[int]) -> SSAValue:
    sizes: list[SSAValue] = []
    for dim, group in enumerate(groups):
        if any(target[d] in _UNKNOWN for d in group):
            sizes.append(emit.add(tensor.DimOp(value, emit.index(dim))).result)
    shape = _shape(target)
    type_ = TensorType(tensor_type(value).element_type, shape)
    return emit.add(ExpandShapeOp(value, sizes, _attribute(groups), shape, type_)).result


def _attribute(groups: Groups) -> ArrayAttr[ArrayAttr[IntegerAttr]]:
    return ArrayAttr([ArrayAttr([IntegerAttr(dim, i64) for dim in group]) for group in groups])
