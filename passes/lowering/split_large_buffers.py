"""The pass `split-large-buffers`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod
from typing import cast

from xdsl.context import Context
from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    VectorType,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.vector import ExtractOp, LoadOp, StoreOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.functions import kernel_functions
from ingot.compiler.analysis.tensor_types import element_bytes
from ingot.compiler.dialects import plan, vector
from ingot.compiler.dialects.dispatch import NAMES
from ingot.passes.lowering.emitter import Emitter, replace_op
from ingot.passes.lowering.kernel import buffer_type

PARTS = "ingot.parts"
"""Attribute of a kernel: how many bindings each of its arguments has become."""
_ALIGNMENT = 256
"""Bytes at whose multiples a binding may begin on every Vulkan device."""
_LISTS = (NAMES, "ingot.access")
"""Attributes of a kernel with an entry for each argument."""

Vector = VectorType[Attribute]
Access = memref.LoadOp | memref.StoreOp | LoadOp | StoreOp


@dataclass(frozen=True)
class SplitLargeBuffersPass(ModulePass):
    """Binds a buffer that is larger than a binding may be in parts, on L4 kernels and their plan.

    A part is some of the rows; each access asks which part its row is in.

        func.func @k(%m: memref<50257x768xf32>) { ... memref.load %m[%i, %j] ... }
        plan.dispatch @k [#plan.range<constant 0, 0 : 154389504>] reads 1
    becomes
        func.func @k(%m: memref<43520x768xf32>, %m_1: memref<6737x768xf32>) {
          ... scf.if %in_first { memref.load %m[%i, %j] } else { memref.load %m_1[%k, %j] } ...
        }
        plan.dispatch @k [#plan.range<constant 0, 0 : 133693440>,
                          #plan.range<constant 0, 133693440 : 20696064>] reads 2
    """

    name = "split-large-buffers"

    max_binding: int = 1 << 27
    max_buffers: int = 32

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the kernels whose arguments are too large, and the dispatches of them."""
        divisions: dict[str, list[list[tuple[int, int]]]] = {}
        for kernel in kernel_functions(op):
            splits = [_split(argument, self.max_binding) for argument in kernel.body.block.args]
            count = sum(len(split.rows) if split is not None else 1 for split in splits)
            if any(splits) and count <= self.max_buffers:
                divisions[kernel.sym_name.data] = _split_kernel(kernel, splits)
        if divisions:
            for inner in list(op.walk()):
                if isinstance(inner, plan.DispatchOp) and inner.kernel_name in divisions:
                    _split_bindings(inner, divisions[inner.kernel_name])


@dataclass(frozen=True)
class _Split:
    """How an argument falls into parts along its first dimension of more than one element."""

    dim: int
    rows: tuple[int, ...]
    """Of each part."""
    row_bytes: int

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """Offset and length in bytes of each part."""
        lengths = [rows * self.row_bytes for rows in self.rows]
        return [(sum(lengths[:i]), length) for i, length in enumerate(lengths)]


def _split(argument: BlockArgument, most: int) -> _Split | None:
    """The parts of an argument of more than `most` bytes; None where it fits or cannot be split."""
    if not isinstance(argument.type, MemRefType):
        return None
    shape = buffer_type(argument).get_shape()
    element = element_bytes(buffer_type(argument).element_type)
    if -1 in shape or prod(shape) * element <= most:
        return None
    if not all(isinstance(use.operation, Access) for use in argument.uses):
        return None
    dim = next(i for i, size in enumerate(shape) if size > 1)
    row_bytes = prod(shape[dim + 1 :]) * element
    step = _ALIGNMENT // gcd(_ALIGNMENT, row_bytes)
    full = most // row_bytes // step * step
    if full == 0:
        return None
    whole, rest = divmod(shape[dim], full)
    return _Split(dim, (full,) * whole + ((rest,) if rest else ()), row_bytes)


def _split_kernel(kernel: FuncOp, splits: Sequence[_Split | None]) -> list[list[tuple[int, int]]]:
    """Give the kernel an argument for each part; returns the bytes of the parts of each."""
    block = kernel.body.block
    counts: list[int] = []
    for argument, split in zip(list(block.args), splits, strict=True):
        counts.append(len(split.rows) if split is not None else 1)
        if split is None:
            continue
        type_ = buffer_type(argument)
        shape = type_.get_shape()
        parts: list[SSAValue] = []
        for position, rows in enumerate(split.rows):
            part_shape = [*shape[: split.dim], rows, *shape[split.dim + 1 :]]
            part = block.insert_arg(
                MemRefType(type_.element_type, part_shape), argument.index, argument.location
            )
            suffix = f"_{position}" if position else ""
            part.name_hint = f"{argument.name_hint}{suffix}" if argument.name_hint else None
            parts.append(part)
        for use in list(argument.uses):
            _split_access(use.operation, split, parts)
        block.erase_arg(argument)
    kernel.update_function_type()
    for name in _LISTS:
        _repeat(kernel, name, counts)
    kernel.attributes[PARTS] = DenseArrayBase.from_list(i64, counts)
    return [split.ranges if split is not None else [] for split in splits]


def _repeat(kernel: FuncOp, name: str, counts: Sequence[int]) -> None:
    """Repeat the entries of an attribute for the parts: names get a number."""
    if name not in kernel.attributes:
        return
    entries = cast("ArrayAttr[StringAttr]", kernel.attributes[name])
    repeated: list[StringAttr] = []
    for entry, count in zip(entries, counts, strict=True):
        numbers = [f"_{i}" if i and name == NAMES else "" for i in range(count)]
        repeated += [StringAttr(entry.data + number) for number in numbers]
    kernel.attributes[name] = ArrayAttr(repeated)


def _split_access(op: Operation, split: _Split, parts: Sequence[SSAValue]) -> None:
    """Replace an access of the whole by one of the part that its row is in."""
    assert isinstance(op, Access)
    if isinstance(op, LoadOp | StoreOp) and split.dim == len(op.indices) - 1:
        _split_lanes(op, split, parts)
        return
    e = Emitter.before_op(op)
    results = _access(e, op, split, parts, list(op.indices))
    if results:
        replace_op(op, e.value(results[0]))
    else:
        op.detach()
        op.erase()


def _access(
    e: Emitter, op: Access, split: _Split, parts: Sequence[SSAValue], indices: list[SSAValue]
) -> Sequence[SSAValue]:
    """The access at `indices`, which count from the first of `parts`."""
    first, *others = parts
    if not others:
        return _clone(e, op, first, indices)
    row = e.value(indices[split.dim])
    size = buffer_type(first).get_shape()[split.dim]
    then, other = e.branch(), e.branch()
    then.insert(scf.YieldOp(*_clone(then, op, first, indices)))
    shifted = list(indices)
    shifted[split.dim] = (other.value(row.ssa) - size).ssa
    other.insert(scf.YieldOp(*_access(other, op, split, others, shifted)))
    return e.if_else(row.lt(size), [r.type for r in op.results], then, other)


def _clone(
    e: Emitter, op: Access, buffer: SSAValue, indices: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    match op:
        case memref.LoadOp():
            return [e.op(memref.LoadOp.get(buffer, indices)).ssa]
        case LoadOp():
            return [e.op(LoadOp(buffer, indices, op.result.type)).ssa]
        case memref.StoreOp():
            e.insert(memref.StoreOp.get(op.value, buffer, indices))
        case StoreOp():
            e.insert(StoreOp(op.vector, buffer, indices))
    return []


def _split_lanes(op: LoadOp | StoreOp, split: _Split, parts: Sequence[SSAValue]) -> None:
    """A vector may reach from one part into the next where rows are elements: lane by lane."""
    e = Emitter.before_op(op)
    last = e.value(op.indices[-1])
    type_ = cast("Vector", op.result.type if isinstance(op, LoadOp) else op.vector.type)
    lanes: list[SSAValue] = []
    for lane in range(type_.get_shape()[0]):
        indices = [*op.indices[:-1], (last + lane).ssa]
        if isinstance(op, LoadOp):
            scalar = e.op(memref.LoadOp.get(op.base, indices)).ssa.owner
        else:
            element = e.op(ExtractOp(op.vector, [lane], type_.element_type))
            scalar = e.insert(memref.StoreOp.get(element.ssa, op.base, indices))
        assert isinstance(scalar, memref.LoadOp | memref.StoreOp)
        inner = Emitter.before_op(scalar)
        results = _access(inner, scalar, split, parts, indices)
        if results:
            lanes.append(results[0])
        scalar.detach()
        scalar.erase()
    if isinstance(op, LoadOp):
        replace_op(op, e.op(vector.FromElementsOp(lanes, type_)))
    else:
        op.detach()
        op.erase()


def _split_bindings(op: plan.DispatchOp, divisions: Sequence[list[tuple[int, int]]]) -> None:
    """Bind the parts in place of the whole."""
    reads = op.input_count.value.data
    new_reads: list[plan.RangeAttr] = []
    new_writes: list[plan.RangeAttr] = []
    for position, (range_, parts) in enumerate(zip(op.bindings, divisions, strict=True)):
        side = new_reads if position < reads else new_writes
        if not parts:
            side.append(range_)
            continue
        storage, index = range_.place
        assert isinstance(range_.offset, IntAttr), "a buffer of known size lies at a known place"
        start = range_.offset.data
        side += [plan.RangeAttr.of(storage, index, start + at, length) for at, length in parts]
    split = plan.DispatchOp(op.kernel, new_reads, new_writes, op.groups)
    split.location = op.location
    block = op.parent_block()
    assert block is not None
    block.insert_op_before(split, op)
    op.detach()
    op.erase()
