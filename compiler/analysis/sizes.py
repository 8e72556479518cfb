"""Sizes that a call decides, and scalars of the host program that are computed from them."""

from __future__ import annotations

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from ingot.compiler.analysis.tensor_types import as_tensor_type

_SCALAR_DIALECTS = ("arith", "math", "affine")


def is_dynamic(value: SSAValue) -> bool:
    """Whether a tensor has a size that a call decides."""
    type_ = as_tensor_type(value.type)
    return type_ is not None and DYNAMIC_INDEX in type_.get_shape()


def is_sized(op: Operation) -> bool:
    """Whether an op takes or makes a tensor with a size that a call decides."""
    return any(map(is_dynamic, (*op.operands, *op.results)))


def is_size(value: SSAValue) -> bool:
    """Whether a scalar is computed from sizes and constants alone, at least from one size."""
    leaves = _leaves(value)
    return leaves is not None and any(isinstance(leaf, tensor.DimOp) for leaf in leaves)


def _leaves(value: SSAValue) -> list[Operation] | None:
    """The sizes and constants that a scalar is computed from; None if it is from something else."""
    found: list[Operation] = []
    seen: set[SSAValue] = set()
    work = [value]
    while work:
        value = work.pop()
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        if not isinstance(owner, Operation) or as_tensor_type(value.type) is not None:
            return None
        if isinstance(owner, tensor.DimOp):
            found.append(owner)
        elif owner.name.partition(".")[0] in _SCALAR_DIALECTS and not owner.regions:
            if not owner.operands:
                found.append(owner)
            work.extend(owner.operands)
        else:
            return None
    return found
