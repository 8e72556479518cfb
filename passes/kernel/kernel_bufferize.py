"""The pass `kernel-bufferize`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    FunctionType,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StridedLayoutAttr,
    StringAttr,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ingot.compiler.analysis.building import at_start, before
from ingot.compiler.analysis.kernel_shape import is_kernel
from ingot.compiler.analysis.schedule import Schedule
from ingot.compiler.analysis.structured import (
    element_type,
    memref_type,
    shape_of,
    tensor_type,
)
from ingot.compiler.dialects.bufferization import MaterializeInDestinationOp, ToTensorOp
from ingot.compiler.dialects.scf import ForallOp, InParallelOp
from ingot.compiler.dialects.tensor import ParallelInsertSliceOp
from ingot.passes.kernel.indices import (
    Index,
    argument_index,
    erase_unused,
)
from ingot.passes.kernel.mapping import is_over_blocks


@dataclass(frozen=True)
class KernelBufferizePass(ModulePass):
    """Make arguments and results of kernels (L3) buffers, and write the results in place.

    before:  func.func private @k(%x: tensor<64xf32>) -> tensor<64xf32> {
               ... tensor.parallel_insert_slice %t into %o[%i] [4] [1]
    after:   func.func private @k(%x: memref<64xf32>, %out: memref<64xf32>) {
               ... bufferization.materialize_in_destination %t in writable %out[%i] [4] [1]

    Tiles inside a threadgroup stay values: `kernel-vectorize` keeps them in registers.
    """

    name = "kernel-bufferize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp) and is_kernel(func):
                bufferize(func)


def bufferize(func: FuncOp) -> None:
    """Rewrite one kernel; its results follow its arguments."""
    body = func.body.block
    terminator = body.last_op
    assert isinstance(terminator, ReturnOp)
    foralls = [op for op in body.ops if is_over_blocks(op)]
    names = _argument_names(func)
    start = at_start(body)
    for arg in body.args:
        type_ = tensor_type(arg)
        buffer = Rewriter.replace_value_with_new_type(
            arg, MemRefType(type_.get_element_type(), type_.get_shape())
        )
        uses = list(buffer.uses)
        to_tensor = start.insert(ToTensorOp(buffer, restrict=True))
        for use in uses:
            use.operation.operands[use.index] = to_tensor.tensor
    destinations: dict[SSAValue, BlockArgument] = {}
    for i, value in enumerate(terminator.arguments):
        type_ = MemRefType(element_type(value), shape_of(value))
        destinations[value] = body.insert_arg(type_, len(body.args))
        if len(names) < len(body.args):
            names.append("out" if len(terminator.arguments) == 1 else f"out{i}")
    terminator.operands = []
    func.properties["function_type"] = FunctionType.from_lists([a.type for a in body.args], [])
    func.properties.pop("res_attrs", None)
    func.properties.pop("arg_attrs", None)
    reads = len(body.args) - len(destinations)
    access = ["read"] * reads + ["write"] * len(destinations)
    func.attributes["ingot.access"] = ArrayAttr([StringAttr(a) for a in access])
    func.attributes["ingot.names"] = ArrayAttr([StringAttr(n) for n in names])
    schedule = Schedule.from_attr(func.attributes["ingot.schedule"])
    func.attributes["ingot.workgroup_size"] = DenseArrayBase.from_list(
        i64, [schedule.threads, 1, 1]
    )
    for arg, name in zip(body.args, names, strict=True):
        arg.name_hint = name
    for forall in foralls:
        assert isinstance(forall, ForallOp)
        _write_in_place(forall, [destinations[result] for result in forall.res])
    for op in list(body.ops):
        if isinstance(op, tensor.EmptyOp) and not op.tensor.uses:
            op.detach()
            op.erase()


def _argument_names(func: FuncOp) -> list[str]:
    attr = func.attributes.get("ingot.names")
    if isinstance(attr, ArrayAttr):
        return [a.data for a in cast("ArrayAttr[Attribute]", attr) if isinstance(a, StringAttr)]
    return [a.name_hint or f"arg{i}" for i, a in enumerate(func.body.block.args)]


def _write_in_place(forall: ForallOp, destinations: Sequence[SSAValue]) -> None:
    """Replace the shared outputs of a forall, and of one inside it, by stores to `destinations`."""
    body = forall.body.block
    in_parallel = body.last_op
    assert isinstance(in_parallel, InParallelOp)
    shared = list(body.args[forall.rank :])
    views: dict[SSAValue, SSAValue] = {}
    nested: ForallOp | None = None
    for insert in list(in_parallel.region.block.ops):
        assert isinstance(insert, ParallelInsertSliceOp)
        source = insert.source
        inner = source.owner
        anchor = inner if isinstance(inner, ForallOp) else in_parallel
        builder = before(anchor)
        destination = destinations[argument_index(insert.dest) - forall.rank]
        view = subview(builder, destination, insert.mixed_offsets, insert.mixed_sizes)
        insert.detach()
        insert.erase()
        if isinstance(inner, ForallOp):
            nested = inner
            views[source] = view
            continue
        store = MaterializeInDestinationOp(source, view)
        store.location = forall.location
        builder.insert(store)
    if nested is not None:
        _write_in_place(nested, [views[result] for result in nested.res])
    for arg in shared:
        erase_unused([use.operation for use in list(arg.uses)])
        body.erase_arg(arg)
    new_forall = ForallOp(
        forall.upper_bounds, [], forall.detach_region(forall.body), forall.mapping
    )
    new_forall.location = forall.location
    before(forall).insert(new_forall)
    forall.detach()
    forall.erase(safe_erase=False)


def subview(
    builder: Builder, source: SSAValue, offsets: Sequence[Index], sizes: Sequence[Index]
) -> SSAValue:
    """The range of a buffer that a tile is written to, or the buffer when it is all of it."""
    type_ = memref_type(source)
    shape = type_.get_shape()
    if all(o == 0 and s == n for o, s, n in zip(offsets, sizes, shape, strict=True)):
        return source
    strides, start = _layout(type_)
    known = [o * s for o, s in zip(offsets, strides, strict=True) if isinstance(o, int)]
    offset = start + sum(known) if start is not None and len(known) == len(offsets) else None
    result = MemRefType(
        type_.get_element_type(),
        [s if isinstance(s, int) else DYNAMIC_INDEX for s in sizes],
        StridedLayoutAttr(strides, offset),
    )
    op = memref.SubviewOp(
        source,
        [o for o in offsets if isinstance(o, SSAValue)],
        [s for s in sizes if isinstance(s, SSAValue)],
        [],
        [o if isinstance(o, int) else DYNAMIC_INDEX for o in offsets],
        [s if isinstance(s, int) else DYNAMIC_INDEX for s in sizes],
        [1] * len(sizes),
        result,
    )
    return builder.insert(op).result


def _layout(type_: MemRefType[Attribute]) -> tuple[list[int], int | None]:
    """Strides and offset of a buffer, in elements; the offset is None where it is computed."""
    if isinstance(type_.layout, StridedLayoutAttr):
        strides = [s.data for s in type_.layout.strides.data if not isinstance(s, NoneAttr)]
        offset = type_.layout.offset
        return strides, None if isinstance(offset, NoneAttr) else offset.data
    strides = [1] * len(type_.get_shape())
    for i in reversed(range(len(strides) - 1)):
        strides[i] = strides[i + 1] * type_.get_shape()[i + 1]
    return strides, 0
