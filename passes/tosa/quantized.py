"""Ops of quantized networks: rescale, apply_scale, table. All bit-exact."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    IndexType,
    IntegerType,
    Signedness,
    TensorType,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.analysis.generics import Emitter, elementwise
from ingot.compiler.analysis.structured import shape_of
from ingot.compiler.analysis.tensor_types import tensor_type
from ingot.compiler.analysis.types import element_type
from ingot.compiler.dialects import arith
from ingot.compiler.dialects.tensor import BitcastOp
from ingot.compiler.dialects.tosa import TosaOp
from ingot.passes.tosa.builders import (
    broadcast_elementwise,
    dims_map,
    element,
    is_integer,
    map_of,
    not_defined,
)
from ingot.passes.tosa.constants import constant_ints, zero_point
from ingot.passes.tosa.scalars import (
    add,
    apply_scale,
    bits,
    clip,
    constant,
    extend,
    mul,
    one,
    resize_integer,
    saturate,
    sub,
)


def lower_rescale(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """`clip(apply_scale(x - input_zp, multiplier, shift) + output_zp)`, computed in i64."""
    source, multiplier, shift = op.ins[:3]
    source, in_unsigned = _signless(emit, source, op.flag("input_unsigned"))
    wanted = tensor_type(op.results[0])
    types = [*(element(value) for value in op.ins), wanted.element_type]
    if not all(map(is_integer, types)) or bits(types[-1]) > 32:
        raise not_defined(op)
    result = TensorType(IntegerType(bits(wanted.element_type)), wanted.get_shape())
    out_unsigned = op.flag("output_unsigned") or _is_unsigned(wanted.element_type)
    rank, per_channel = result.get_num_dims(), op.flag("per_channel")
    _check_scales(op, multiplier, shift)
    zero_in = zero_point(op, op.ins[3], "the input zero point", in_unsigned)
    zero_out = zero_point(op, op.ins[4], "the output zero point", out_unsigned)
    double_round = op.word("rounding_mode") == "DOUBLE_ROUND"

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        value = extend(inner, args[0], i64, in_unsigned)
        if zero_in:
            value = sub(inner, value, constant(inner, zero_in, i64))
        factor, amount = (extend(inner, arg, i64) for arg in args[1:])
        scaled = apply_scale(inner, value, factor, amount, double_round)
        if zero_out:
            scaled = add(inner, scaled, constant(inner, zero_out, i64))
        return [saturate(inner, scaled, result.element_type, out_unsigned)]

    channel = AffineDimExpr(rank - 1) if per_channel and rank else AffineConstantExpr(0)
    maps = [dims_map(rank, range(rank)), *([map_of(rank, [channel])] * 2)]
    scaled = elementwise(emit, result, [source, multiplier, shift], maps, body)
    return [scaled if result == wanted else emit.add(BitcastOp(scaled, wanted)).dest]


def _is_unsigned(type_: Attribute) -> bool:
    match type_:
        case IntegerType(signedness=sign):
            return sign.data is Signedness.UNSIGNED
        case _:
            return False


def _signless(emit: Emitter, value: SSAValue, unsigned: bool) -> tuple[SSAValue, bool]:
    """A tensor without a sign in its type, and whether it is unsigned by type or by flag."""
    if not _is_unsigned(element(value)):
        return value, unsigned
    plain = TensorType(IntegerType(bits(element(value))), shape_of(value))
    return emit.add(BitcastOp(value, plain)).dest, True


def _check_scales(op: TosaOp, multiplier: SSAValue, shift: SSAValue) -> None:
    result = tensor_type(op.results[0])
    channels = result.get_shape()[-1] if op.flag("per_channel") and result.get_num_dims() else 1
    for value, what in ((multiplier, "multipliers"), (shift, "shifts")):
        if shape_of(value) != (channels,):
            raise refuse(op, f"tosa.rescale needs {channels} {what}, not {value.type}")
    wide = bits(element(op.ins[0])) > 32
    if op.flag("scale32") and wide:
        raise refuse(op, "tosa.rescale of i48 needs scale32 = false: 80 bits hold the product")
    if op.word("rounding_mode") == "DOUBLE_ROUND" and not op.flag("scale32"):
        raise refuse(op, "tosa.rescale rounds twice with scale32 = true alone")
    known = constant_ints(shift) or ()
    outside = next((s for s in known if not 1 <= s <= 62), None)
    if outside is not None:
        raise refuse(op, f"tosa.rescale by a shift of {outside} is not defined: it is from 2 to 62")


def lower_apply_scale(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """`value * multiplier / 2**shift` of tensors, or of scalars inside a linalg.generic."""
    double_round = op.word("rounding_mode") == "DOUBLE_ROUND"
    to = element_type(op.result_types[0])
    if not all(is_integer(element_type(type_)) for type_ in (*op.operand_types, to)):
        raise not_defined(op)

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        value, multiplier, shift = (resize_integer(inner, arg, i64) for arg in args)
        scaled = apply_scale(inner, value, multiplier, shift, double_round)
        return [resize_integer(inner, scaled, to)]

    if not isinstance(op.result_types[0], TensorType):
        return body(emit, op.ins)
    return [broadcast_elementwise(op, emit, tensor_type(op.results[0]), op.ins, body)]


_TABLE_ENTRIES: dict[Attribute, int] = {i8: 256, i16: 513}


def lower_table(op: TosaOp, emit: Emitter) -> Sequence[SSAValue]:
    """A look-up: of 256 entries for i8; of 513, interpolated, for i16."""
    source, table = op.ins
    type_, entry = element(source), element(table)
    result = tensor_type(op.results[0])
    entries = _TABLE_ENTRIES.get(type_)
    if entries is None or shape_of(table) != (entries,):
        raise refuse(
            op,
            f"tosa.table of {type_} with {table.type} is not defined: i8 takes 256 entries, "
            "i16 takes 513",
        )
    if entry != type_ or result.element_type != (i8 if type_ == i8 else i32):
        raise not_defined(op)

    def read(inner: Emitter, position: SSAValue) -> SSAValue:
        index = one(inner, arith.IndexCastOp(position, IndexType()))
        return one(inner, tensor.ExtractOp(table, [index], entry))

    def body(inner: Emitter, args: Sequence[SSAValue]) -> list[SSAValue]:
        value = extend(inner, args[0], i32)
        if type_ == i8:
            position = add(inner, value, constant(inner, 128, i32))
            return [resize_integer(inner, read(inner, position), result.element_type)]
        seven = constant(inner, 7, i32)
        high = one(inner, arith.ShRSIOp(value, seven))
        position = clip(inner, add(inner, high, constant(inner, 256, i32)), 0, 511)
        fraction = one(inner, arith.AndIOp(value, constant(inner, 127, i32)))
        base = extend(inner, read(inner, position), i32)
        after = extend(inner, read(inner, add(inner, position, constant(inner, 1, i32))), i32)
        start = one(inner, arith.ShLIOp(base, seven))
        total = add(inner, start, mul(inner, sub(inner, after, base), fraction))
        return [resize_integer(inner, total, result.element_type)]

    return [broadcast_elementwise(op, emit, result, [source], body)]
