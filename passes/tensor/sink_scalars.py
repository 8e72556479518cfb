"""Compute on the device what the host would have to wait for."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, elementwise, erase
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.dialects.linalg import FillOp, GenericOp


def _is_host_scalar(value: SSAValue, block: Block) -> bool:
    """Whether the host computes `value`: a scalar of its block that is no constant."""
    owner = value.owner
    return (
        isinstance(owner, Operation)
        and owner.parent_block() is block
        and not isinstance(value.type, TensorType)
        and not isinstance(owner, arith.ConstantOp)
    )


def _sink_into(op: GenericOp, block: Block) -> None:
    first = op.body.block.first_op
    assert first is not None
    cloned: dict[SSAValue, SSAValue] = {}

    def clone(value: SSAValue) -> None:
        if value in cloned or not _is_host_scalar(value, block):
            return
        owner = value.owner
        assert isinstance(owner, Operation)
        for operand in owner.operands:
            clone(operand)
        op.body.block.insert_op_before(owner.clone(cloned), first)

    inside = list(op.body.walk())
    for inner in inside:
        for operand in inner.operands:
            clone(operand)
    for inner in inside:
        for i, operand in enumerate(inner.operands):
            if operand in cloned:
                inner.operands[i] = cloned[operand]


def _fill_on_device(op: FillOp) -> None:
    """The host does not know the scalar: the device computes it for each element."""
    scalar = op.inputs[0]
    type_ = tensor_type(op.results[0])
    filled = elementwise(Emitter.before(op), type_, [], [], lambda _, __: [scalar])
    op.results[0].replace_all_uses_with(filled)
    erase(op)


def _sink_in_block(block: Block) -> None:
    for op in list(block.ops):
        if isinstance(op, FillOp) and _is_host_scalar(op.inputs[0], block):
            _fill_on_device(op)
    for op in list(block.ops):
        if isinstance(op, GenericOp):
            _sink_into(op, block)
    for op in reversed(list(block.ops)):
        scalar = len(op.results) == 1 and _is_host_scalar(op.results[0], block)
        if scalar and not op.results[0].uses:
            erase(op)


@dataclass(frozen=True)
class SinkScalarsPass(ModulePass):
    """Clone scalars that the host would compute into the generics that use them (L1 to L1).

    The host then never waits for the device: an offset of a slice is read where it is needed.

        %i = tensor.extract %t[] : tensor<i32>
        %j = arith.index_cast %i : i32 to index
        linalg.generic ... { tensor.extract %x[%j] }
    becomes
        linalg.generic ... { tensor.extract %t[]; arith.index_cast; tensor.extract %x[%j] }
    """

    name = "sink-scalars"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions."""
        for function in host_functions(op):
            _sink_in_block(function.body.block)
