"""Compute with i4 in i8; i4 is only how tensors are stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
    i8,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from ingot.compiler.analysis.constants import constant_array, dense_constant
from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.functions import host_functions
from ingot.compiler.analysis.generics import Emitter, empty, erase, make_generic
from ingot.compiler.analysis.tensor_types import as_tensor_type, tensor_type
from ingot.compiler.analysis.types import element_type
from ingot.compiler.dialects.arith import CmpiOp, ExtUIOp, IndexCastUIOp, SelectOp, TruncIOp
from ingot.compiler.dialects.dispatch import SIGNATURE
from ingot.compiler.dialects.linalg import IndexOp, IteratorTypeAttr, YieldOp

i4 = IntegerType(4)

_CLOSED = (
    arith.CmpiOp, arith.SelectOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp, arith.MaxSIOp,
    arith.MinSIOp, arith.MaxUIOp, arith.MinUIOp,
)  # fmt: skip
"""Ops that do to i4 in i8, its sign repeated, what they do to i4."""
_FROM_SIGNED = (arith.ExtSIOp, arith.SIToFPOp, arith.IndexCastOp, arith.TruncIOp)
_TO_SIGNED = (arith.ExtSIOp, ExtUIOp)
"""Ops that make an i4 of a narrower integer."""
_WRAPPING = (arith.AddiOp, arith.SubiOp, arith.MuliOp)
_UNSIGNED = (ExtUIOp, arith.UIToFPOp, IndexCastUIOp)


def _is_i4(type_: Attribute) -> bool:
    return element_type(type_) == i4


def _holds_i4(value: SSAValue) -> bool:
    return _is_i4(value.type)


def _computed_type(type_: Attribute) -> Attribute:
    """i8 in place of i4."""
    if not _is_i4(type_):
        return type_
    tensor_ = as_tensor_type(type_)
    return i8 if tensor_ is None else TensorType(i8, tensor_.get_shape())


def _stored_type(type_: Attribute) -> Attribute:
    """The bytes of a tensor of i4."""
    tensor_ = as_tensor_type(type_)
    if tensor_ is None or not _is_i4(type_):
        return type_
    return TensorType(i8, [_bytes(tensor_.get_shape())])


def _bytes(shape: tuple[int, ...]) -> int:
    return (prod(shape) + 1) // 2


def _retype(value: SSAValue) -> None:
    if _is_i4(value.type):
        _check(value)
        value._type = _computed_type(value.type)  # pyright: ignore[reportPrivateUsage]


def _check(value: SSAValue) -> None:
    tensor_ = as_tensor_type(value.type)
    if tensor_ is not None and DYNAMIC_INDEX in tensor_.get_shape():
        raise refuse(
            value,
            f"{value.type} packs an unknown number of elements two to a byte",
            "export the program with static shapes",
        )


def _constant(emit: Emitter, number: int) -> SSAValue:
    return emit.add(arith.ConstantOp(IntegerAttr(number, i8))).result


def _signed_nibble(emit: Emitter, value: SSAValue) -> SSAValue:
    """The low four bits of an i8 with the sign that they have."""
    four = _constant(emit, 4)
    high = emit.add(arith.ShLIOp(value, four)).result
    return emit.add(arith.ShRSIOp(high, four)).result


def _elementwise(
    emit: Emitter, type_: TensorType[Attribute], body: Callable[[Emitter], SSAValue]
) -> SSAValue:
    """A tensor whose elements `body` computes from `linalg.index` and captured tensors."""
    rank = type_.get_num_dims()
    block = Block(arg_types=[type_.element_type])
    inner = Emitter.at_end(block, emit.location)
    inner.add(YieldOp(body(inner)))
    parallel = [IteratorTypeAttr.parallel()] * rank
    maps = [AffineMap.identity(rank)]
    return make_generic(emit, [], [empty(emit, type_)], maps, parallel, Region(block)).results[0]


def _position(emit: Emitter, shape: tuple[int, ...]) -> SSAValue:
    """The number of the current element in row-major order."""
    position = emit.index(0)
    for dim, size in enumerate(shape):
        scaled = emit.add(arith.MuliOp(position, emit.index(size))).result
        position = emit.add(arith.AddiOp(scaled, emit.add(IndexOp(dim)).result)).result
    return position


def _unpacked(emit: Emitter, packed: SSAValue, shape: tuple[int, ...]) -> SSAValue:
    """The elements of a packed tensor as i8."""

    def body(inner: Emitter) -> SSAValue:
        position = _position(inner, shape)
        two = inner.index(2)
        byte = inner.add(arith.DivUIOp(position, two)).result
        half = inner.add(arith.RemUIOp(position, two)).result
        pair = inner.add(tensor.ExtractOp(packed, [byte], i8)).result
        four = _constant(inner, 4)
        low = inner.add(arith.ShLIOp(pair, four)).result
        is_low = inner.add(CmpiOp(half, inner.index(0), "eq")).result
        chosen = inner.add(SelectOp(is_low, low, pair)).result
        return inner.add(arith.ShRSIOp(chosen, four)).result

    return _elementwise(emit, TensorType(i8, shape), body)


def _packed(emit: Emitter, values: SSAValue) -> SSAValue:
    """The bytes of a tensor of i4 that is held as i8; a last half byte is 0."""
    shape = tensor_type(values).get_shape()
    count = prod(shape)

    def element(inner: Emitter, position: SSAValue) -> SSAValue:
        indices: list[SSAValue] = []
        for size in reversed(shape):
            index = inner.add(arith.RemUIOp(position, inner.index(size))).result
            indices.insert(0, index)
            position = inner.add(arith.DivUIOp(position, inner.index(size))).result
        return inner.add(tensor.ExtractOp(values, indices, i8)).result

    def body(inner: Emitter) -> SSAValue:
        first = inner.add(arith.MuliOp(inner.add(IndexOp(0)).result, inner.index(2))).result
        second = inner.add(arith.AddiOp(first, inner.index(1))).result
        last = inner.index(count - 1)
        inside = inner.add(CmpiOp(second, last, "ule")).result
        high = element(inner, inner.add(arith.MinSIOp(second, last)).result)
        high = inner.add(SelectOp(inside, high, _constant(inner, 0))).result
        high = inner.add(arith.ShLIOp(high, _constant(inner, 4))).result
        low = inner.add(arith.AndIOp(element(inner, first), _constant(inner, 15))).result
        return inner.add(arith.OrIOp(low, high)).result

    return _elementwise(emit, TensorType(i8, [_bytes(shape)]), body)


def _replace_constant(op: arith.ConstantOp) -> None:
    emit = Emitter.before(op)
    values = (constant_array(op.value).astype(np.int16) ^ 8) & 15
    values = (values - 8).astype(np.int8)
    if as_tensor_type(op.result.type) is None:
        new = _constant(emit, int(values[()]))
    elif values.size < 2 or (values == values.reshape(-1)[0]).all():
        new = emit.add(arith.ConstantOp(dense_constant(values, i8))).result
    else:
        flat: Any = np.append(values.reshape(-1).view(np.uint8) & 15, np.uint8(0))
        pairs = flat[: values.size + values.size % 2].reshape(-1, 2)
        packed = (pairs[:, 0] | pairs[:, 1] << 4).astype(np.uint8).view(np.int8)
        stored = emit.add(arith.ConstantOp(dense_constant(packed, i8))).result
        new = _unpacked(emit, stored, tuple(values.shape))
    op.result.replace_all_uses_with(new)
    erase(op)


def _rewrite(op: Operation, reads_i4: bool) -> None:
    """Rewrite a scalar op on i4, before the types change.

    `reads_i4` tells what its first operand was: i8 where that has been rewritten already.
    """
    if not op.name.startswith(("arith.", "math.")):
        return
    if isinstance(op, arith.ConstantOp):
        _replace_constant(op)
    elif isinstance(op, arith.TruncIOp) and not reads_i4:
        emit = Emitter.before(op)
        byte = op.input if op.input.type == i8 else emit.add(TruncIOp(op.input, i8)).result
        op.result.replace_all_uses_with(_signed_nibble(emit, byte))
        erase(op)
    elif isinstance(op, _UNSIGNED) and reads_i4:
        emit = Emitter.before(op)
        bits = emit.add(arith.AndIOp(op.operands[0], _constant(emit, 15))).result
        if op.results[0].type == i8:
            op.results[0].replace_all_uses_with(bits)
            erase(op)
        else:
            op.operands[0] = bits
    elif isinstance(op, _WRAPPING):
        emit = Emitter.before(op)
        wide = op.clone()
        emit.add(wide)
        op.result.replace_all_uses_with(_signed_nibble(emit, wide.result))
        erase(op)
    elif isinstance(op, arith.ExtSIOp) and op.result.type == i8:
        op.result.replace_all_uses_with(op.input)
        erase(op)
    elif not isinstance(op, _FROM_SIGNED if reads_i4 else _TO_SIGNED) and not isinstance(
        op, _CLOSED
    ):
        raise refuse(op, f"{op.name} on i4 is not supported", "extend the operands to i8 first")


def _uses_i4(op: Operation) -> bool:
    return any(map(_holds_i4, (*op.operands, *op.results)))


def _reads_i4(op: Operation) -> bool:
    return bool(op.operands) and _holds_i4(op.operands[0])


def _unpack(function: func.FuncOp) -> None:
    block = function.body.block
    type_ = function.function_type
    if any(map(_is_i4, (*type_.inputs, *type_.outputs))):
        function.attributes.setdefault(SIGNATURE, type_)
    for argument in filter(_holds_i4, block.args):
        _check(argument)
    users = [(op, _reads_i4(op)) for op in function.body.walk() if _uses_i4(op)]
    for op, reads_i4 in users:
        _rewrite(op, reads_i4)
    for op in function.body.walk():
        for result in op.results:
            _retype(result)
        for region in op.regions:
            for inner in region.blocks:
                for argument in inner.args:
                    _retype(argument)
    first, last = block.first_op, block.last_op
    assert first is not None
    assert last is not None
    for argument in block.args:
        shape = as_tensor_type(argument.type)
        if not _is_i4(argument.type) or shape is None:
            continue
        argument._type = _stored_type(argument.type)  # pyright: ignore[reportPrivateUsage]
        uses = list(argument.uses)
        values = _unpacked(Emitter.before(first), argument, shape.get_shape())
        for use in uses:
            use.operation.operands[use.index] = values
    emit = Emitter.before(last)
    last.operands = [
        _packed(emit, value) if _is_i4(declared) else value
        for value, declared in zip(last.operands, type_.outputs, strict=True)
    ]
    function.properties["function_type"] = FunctionType.from_lists(
        [_stored_type(t) for t in type_.inputs], [_stored_type(t) for t in type_.outputs]
    )


@dataclass(frozen=True)
class UnpackInt4Pass(ModulePass):
    """Compute with i4 in i8: buffers hold two to a byte, the first in the low bits (L1 to L1).

    `ingot.signature` keeps the types of the source for the bundle. Arithmetic other than addition,
    subtraction, multiplication, comparison and selection is refused: programs extend i4 first.

        %r = arith.extui %x : i4 to i32
    becomes
        %b = arith.andi %x, 15 : i8
        %r = arith.extui %b : i8 to i32
    """

    name = "unpack-int4"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the host functions; raises `Refusal`."""
        for function in host_functions(op):
            values = [*function.body.block.args]
            values += [result for inner in function.body.walk() for result in inner.results]
            if any(map(_holds_i4, values)):
                _unpack(function)
