"""Hold tensors of index as tensors of i64."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FunctionType,
    IndexType,
    ModuleOp,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import as_tensor_type
from ingot.compiler.dialects.arith import IndexCastOp
from ingot.compiler.dialects.linalg import FillOp, GenericOp, YieldOp
from ingot.compiler.dialects.tensor import GenerateOp, PadOp

_TAKES_ELEMENTS = (FillOp, tensor.InsertOp, tensor.SplatOp, tensor.FromElementsOp)
"""Ops whose scalar operands of index may become elements; the rest of them are positions."""


def _stored(type_: Attribute) -> Attribute:
    """A tensor of i64 in place of one of index."""
    tensor_ = as_tensor_type(type_)
    if tensor_ is None or not isinstance(tensor_.element_type, IndexType):
        return type_
    return TensorType(i64, tensor_.get_shape(), tensor_.encoding)


def _holds_index(value: SSAValue) -> bool:
    return _stored(value.type) != value.type


def _cast_operand(op: Operation, position: int) -> None:
    """Make one operand of index the i64 that is stored."""
    value = op.operands[position]
    if isinstance(value.type, IndexType):
        op.operands[position] = Emitter.before(op).add(IndexCastOp(value, i64)).result


def _cast_value(value: SSAValue, place: InsertPoint, at: Operation) -> None:
    """Make a value of index an i64 that is an index again for those that use it."""
    uses = list(value.uses)
    value._type = i64  # pyright: ignore[reportPrivateUsage]
    emit = Emitter.before(at)
    emit.builder.insertion_point = place
    index = emit.add(IndexCastOp(value, IndexType())).result
    for use in uses:
        use.operation.operands[use.index] = index


def _cast_body(op: GenericOp) -> None:
    block = op.body.block
    first, last = block.first_op, block.last_op
    assert first is not None
    assert isinstance(last, YieldOp)
    for argument in block.args:
        if isinstance(argument.type, IndexType):
            _cast_value(argument, InsertPoint.before(first), first)
    for position in range(len(last.operands)):
        _cast_operand(last, position)


def _cast_elements(op: Operation) -> None:
    """Convert where an op takes elements out of tensors of index, or puts them in."""
    if isinstance(op, GenericOp):
        _cast_body(op)
    elif isinstance(op, tensor.ExtractOp) and _holds_index(op.tensor):
        _cast_value(op.result, InsertPoint.after(op), op)
    elif isinstance(op, _TAKES_ELEMENTS) and _holds_index(op.results[0]):
        # of an insertion only the first operand is an element
        count = 1 if isinstance(op, tensor.InsertOp) else len(op.operands)
        for position in range(count):
            _cast_operand(op, position)
    elif isinstance(op, PadOp | GenerateOp) and _holds_index(op.results[0]):
        last = op.regions[0].block.last_op
        assert last is not None
        _cast_operand(last, 0)


def _retype(values: list[SSAValue]) -> None:
    for value in values:
        new = _stored(value.type)
        if new != value.type:
            value._type = new  # pyright: ignore[reportPrivateUsage]


def _blocks(op: Operation) -> list[Block]:
    return [block for region in op.regions for block in region.blocks]


def _rewrite(function: func.FuncOp) -> None:
    ops = list(function.body.walk())
    for op in ops:
        _cast_elements(op)
    for op in ops:
        if isinstance(op, arith.ConstantOp) and _holds_index(op.result):
            assert isinstance(op.value, DenseIntOrFPElementsAttr)
            values: DenseIntOrFPElementsAttr[Any] = op.value
            stored: TensorType[Any] = TensorType(i64, shape_of(op.result))
            op.properties["value"] = DenseIntOrFPElementsAttr(stored, values.data)
    for op in (function, *ops):
        _retype([*op.results, *(argument for block in _blocks(op) for argument in block.args)])
    type_ = function.function_type
    function.properties["function_type"] = FunctionType.from_lists(
        [_stored(t) for t in type_.inputs], [_stored(t) for t in type_.outputs]
    )


@dataclass(frozen=True)
class StoreIndexPass(ModulePass):
    """Hold tensors of index as tensors of i64 (L1 to L1).

        %s = arith.addi %a, %b : index            // in a generic on tensor<8xindex>
    becomes
        %i = arith.index_cast %a : i64 to index   // in a generic on tensor<8xi64>
        %j = arith.index_cast %b : i64 to index
        %s = arith.addi %i, %j : index
        %r = arith.index_cast %s : index to i64
    """

    name = "store-index"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions."""
        for function in host_functions(op):
            values = [*function.body.block.args]
            values += [result for inner in function.body.walk() for result in inner.results]
            if any(map(_holds_index, values)):
                _rewrite(function)
