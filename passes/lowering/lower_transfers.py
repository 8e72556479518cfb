"""The pass `lower-transfers`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import MemRefType, ModuleOp, VectorType
from xdsl.dialects.vector import (
    BroadcastOp,
    ExtractOp,
    LoadOp,
    StoreOp,
    TransferReadOp,
    TransferWriteOp,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import kernel_functions
from ingot.compiler.analysis.index_range import known_divisor
from ingot.compiler.dialects import vector
from ingot.passes.lowering.emitter import Emitter, Value, replace_op

Vector = VectorType[Attribute]


@dataclass(frozen=True)
class LowerTransfersPass(ModulePass):
    """Turns one-dimensional vector transfers into plain vector accesses, on L4 kernels.

    Where a vector may reach past the end of the last dimension, a whole vector inside is accessed
    as one; else lanes beyond the end read the padding and are not written. A pair that may straddle
    the end is two lanes: a test of the whole would save none of the lanes' two.

    ```mlir
    %v = vector.transfer_read %m[%i], %pad : memref<10xf32>, vector<4xf32>
    ```
    becomes
    ```mlir
    %v = scf.if %fits -> (vector<4xf32>) { vector.load ... } else { memref.load of each lane ... }
    ```
    """

    name = "lower-transfers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernel_functions(op):
            for inner in list(kernel.walk()):
                if isinstance(inner, TransferReadOp):
                    _lower_read(inner)
                elif isinstance(inner, TransferWriteOp):
                    _lower_write(inner)


@dataclass(frozen=True)
class _Transfer:
    """The place that a transfer touches: `width` elements of `buffer` from `indices` on."""

    buffer: SSAValue
    indices: Sequence[SSAValue]
    width: int
    in_bounds: bool
    extent: int
    """Elements of the last dimension."""

    @property
    def whole_or_nothing(self) -> bool:
        """Whether a vector that begins inside ends inside."""
        return self.extent % self.width == 0 and known_divisor(self.indices[-1]) % self.width == 0

    @property
    def by_lanes(self) -> bool:
        """Whether each lane is tested without a test of the whole."""
        return self.width <= 2 and not self.whole_or_nothing

    def lane(self, last: Value, offset: int) -> list[SSAValue]:
        """The indices of a lane, given the index of the first along the last dimension."""
        return [*self.indices[:-1], (last + offset if offset else last).ssa]


def _transfer(op: TransferReadOp | TransferWriteOp, type_: Vector) -> _Transfer:
    buffer = op.source.type
    if not isinstance(buffer, MemRefType):
        raise refuse(op, f"`{op.name}` on a tensor; it has to be bufferized first")
    if op.mask is not None or type_.get_num_dims() != 1 or not op.indices:
        raise refuse(op, f"`{op.name}` other than of a 1-D vector without a mask")
    in_bounds = bool(op.in_bounds.data[0].value.data)
    extent = buffer.get_shape()[-1]
    return _Transfer(op.source, op.indices, type_.get_shape()[0], in_bounds, extent)


def _lower_read(op: TransferReadOp) -> None:
    type_ = op.result.type
    transfer = _transfer(op, type_)
    e = Emitter.before_op(op)
    if op.has_broadcast_dim():
        scalar = e.op(memref.LoadOp.get(op.source, op.indices))
        replace_op(op, e.op(BroadcastOp(scalar.ssa, type_)))
        return
    _expect_last_dimension(op)
    if transfer.in_bounds:
        replace_op(op, e.op(LoadOp(op.source, op.indices, type_)))
        return
    if transfer.by_lanes:
        replace_op(op, _padded_lanes(transfer, e, op.padding, type_))
        return
    last = e.value(op.indices[-1])
    then, other = e.branch(), e.branch()
    then.insert(scf.YieldOp(then.op(LoadOp(op.source, op.indices, type_)).ssa))
    if transfer.whole_or_nothing:
        inside = last.lt(transfer.extent)
        other.insert(scf.YieldOp(other.op(vector.SplatOp(op.padding, type_)).ssa))
    else:
        inside = (last + transfer.width).le(transfer.extent)
        other.insert(scf.YieldOp(_padded_lanes(transfer, other, op.padding, type_).ssa))
    replace_op(op, e.value(e.if_else(inside, [type_], then, other)[0]))


def _padded_lanes(transfer: _Transfer, e: Emitter, padding: SSAValue, type_: Vector) -> Value:
    lanes = [_padded_lane(transfer, e, lane, padding) for lane in range(transfer.width)]
    return e.op(vector.FromElementsOp(lanes, type_))


def _padded_lane(transfer: _Transfer, e: Emitter, lane: int, padding: SSAValue) -> SSAValue:
    last = e.value(transfer.indices[-1])
    then, other = e.branch(), e.branch()
    indices = transfer.lane(then.value(last.ssa), lane)
    then.insert(scf.YieldOp(then.op(memref.LoadOp.get(transfer.buffer, indices)).ssa))
    other.insert(scf.YieldOp(padding))
    inside = _lane_inside(transfer, last, lane)
    return e.if_else(inside, [padding.type], then, other)[0]


def _lane_inside(transfer: _Transfer, last: Value, lane: int) -> Value:
    return last.lt(transfer.extent - lane)


def _lower_write(op: TransferWriteOp) -> None:
    type_ = cast(Vector, op.vector.type)
    transfer = _transfer(op, type_)
    _expect_last_dimension(op)
    e = Emitter.before_op(op)
    if transfer.in_bounds:
        e.insert(StoreOp(op.vector, op.source, op.indices))
    else:
        _write_inside(op, transfer, e)
    op.detach()
    op.erase()


def _write_inside(op: TransferWriteOp, transfer: _Transfer, e: Emitter) -> None:
    if transfer.by_lanes:
        _store_lanes(op, transfer, e)
        return
    last = e.value(op.indices[-1])
    then = e.branch()
    then.insert(StoreOp(op.vector, op.source, op.indices))
    then.insert(scf.YieldOp())
    if transfer.whole_or_nothing:
        e.if_else(last.lt(transfer.extent), [], then)
        return
    other = e.branch()
    _store_lanes(op, transfer, other)
    other.insert(scf.YieldOp())
    e.if_else((last + transfer.width).le(transfer.extent), [], then, other)


def _store_lanes(op: TransferWriteOp, transfer: _Transfer, e: Emitter, lane: int = 0) -> None:
    """Store the lanes from `lane` on; where one lies outside, so do those behind it."""
    last = e.value(transfer.indices[-1])
    inside = _lane_inside(transfer, last, lane)
    then = e.branch()
    element = cast(Vector, op.vector.type).element_type
    value = then.op(ExtractOp(op.vector, [lane], element))
    indices = transfer.lane(then.value(last.ssa), lane)
    then.insert(memref.StoreOp.get(value.ssa, transfer.buffer, indices))
    if lane + 1 < transfer.width:
        _store_lanes(op, transfer, then, lane + 1)
    then.insert(scf.YieldOp())
    e.if_else(inside, [], then)


def _expect_last_dimension(op: TransferReadOp | TransferWriteOp) -> None:
    if not op.permutation_map.data.is_minor_identity():
        raise refuse(op, f"`{op.name}` along another dimension than the last")
