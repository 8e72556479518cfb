"""What the lowering passes know about a kernel function: its mark, its grid, its threads."""

from __future__ import annotations

from math import prod
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, MemRefType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.dialects import gpu
from ingot.passes.lowering.emitter import Emitter, Value

WORKGROUP_SIZE = "ingot.workgroup_size"
GRID = "ingot.grid"


def buffer_type(value: SSAValue) -> MemRefType[Attribute]:
    """The type of a memref."""
    type_ = value.type
    assert isinstance(type_, MemRefType)
    return cast("MemRefType[Attribute]", type_)


def sizes(op: Operation, name: str) -> tuple[int, int, int] | None:
    """Three sizes in attribute `name` of a kernel (x, y, z), or None where it is absent."""
    attribute = op.attributes.get(name)
    if attribute is None:
        return None
    assert isinstance(attribute, DenseArrayBase)
    x, y, z = cast("tuple[int, int, int]", attribute.get_values())
    return x, y, z


def set_sizes(op: Operation, name: str, values: tuple[int, int, int]) -> None:
    """Set three sizes of a kernel."""
    op.attributes[name] = DenseArrayBase.from_list(i64, values)


def workgroup_size(kernel: Operation) -> tuple[int, int, int]:
    """Threads of a threadgroup along x, y and z; refuses a kernel that does not say."""
    size = sizes(kernel, WORKGROUP_SIZE)
    if size is None:
        raise refuse(kernel, f"the kernel has no `{WORKGROUP_SIZE}`")
    return size


def thread_count(kernel: Operation) -> int:
    """Threads of a threadgroup."""
    return prod(workgroup_size(kernel))


def linear_id(
    e: Emitter, op: type[gpu.ThreadIdOp] | type[gpu.BlockIdOp], size: tuple[int, int, int]
) -> Value:
    """The position among threads or threadgroups, x fastest; `size` gives their number."""
    result = e.op(op(gpu.Dimension.X))
    stride = size[0]
    for dimension, extent in zip((gpu.Dimension.Y, gpu.Dimension.Z), size[1:], strict=True):
        if extent > 1:
            result = result + e.op(op(dimension)) * stride
        stride *= extent
    return result
