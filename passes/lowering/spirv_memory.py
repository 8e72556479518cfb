"""Buffers, threadgroup and private arrays and the accesses to them, for `convert-to-spirv`.

A memref becomes an array; its indices become one linear index, with constant strides. Where every
access is a vector of one width, aligned to it, the array is declared with vectors as elements, so
that one instruction moves a whole vector; else a vector is accessed one scalar at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from ingot.compiler.analysis.index_range import constant_int, is_non_negative, known_divisor
from ingot.compiler.dialects import spirv
from ingot.passes.lowering.conversion import Buffer, FunctionConversion, width_of
from ingot.passes.lowering.kernel import buffer_type

_LOADS = frozenset({"memref.load", "vector.load"})
_STORES = frozenset({"memref.store", "vector.store"})


def is_read(buffer: SSAValue) -> bool:
    """Whether any op loads from a memref."""
    return any(use.operation.name in _LOADS for use in buffer.uses)


def is_written(buffer: SSAValue) -> bool:
    """Whether any op stores to a memref."""
    return any(use.operation.name in _STORES for use in buffer.uses)


def _indices(op: Operation) -> Sequence[SSAValue]:
    return op.operands[1:] if op.name in _LOADS else op.operands[2:]


def access_width(buffer: SSAValue) -> int:
    """Elements that every access to a memref moves at once, aligned to that many: 1, 2 or 4."""
    shape = buffer_type(buffer).get_shape()
    width = 0
    for use in buffer.uses:
        op = use.operation
        if op.name not in ("vector.load", "vector.store"):
            return 1
        vector = op.results[0].type if op.name == "vector.load" else op.operands[0].type
        count = width_of(vector)
        if count not in (2, 4) or width not in (0, count):
            return 1
        if shape[-1] % count or known_divisor(_indices(op)[-1]) % count:
            return 1
        width = count
    return width or 1


def _array_element(element: Attribute, width: int) -> Attribute:
    return element if width == 1 else VectorType(element, [width])


def byte_size(element: Attribute) -> int:
    """Bytes of a scalar in memory."""
    return spirv.bit_width(element) // 8


def bind_argument(
    conversion: FunctionConversion, argument: SSAValue, name: str, binding: int, op: Operation
) -> spirv.GlobalVariableOp:
    """Declare the buffer of a kernel's argument."""
    what = f"argument `{name}` of a kernel"
    element = conversion.type(buffer_type(argument).element_type, op, what)
    width = access_width(argument)
    array = spirv.RuntimeArrayType(
        _array_element(element, width), stride=byte_size(element) * width
    )
    struct = spirv.StructType.get([array], offsets=[0])
    pointer = spirv.PointerType(struct, spirv.StorageClass.StorageBuffer)
    variable = conversion.variables.add(name, pointer, bind=(0, binding))
    _remember(conversion, argument, conversion.address(variable), element, width, in_struct=True)
    return variable


def _remember(
    conversion: FunctionConversion,
    source: SSAValue,
    pointer: SSAValue,
    element: Attribute,
    width: int,
    *,
    in_struct: bool,
) -> None:
    shape = buffer_type(source).get_shape()
    conversion.buffers[source] = Buffer(pointer, element, width, tuple(shape), in_struct)


def _array(source: SSAValue, element: Attribute, width: int) -> spirv.SpirvArrayType:
    # an array has at least one element; of a memref without any, none is ever accessed
    count = max(prod(buffer_type(source).get_shape()) // width, 1)
    return spirv.SpirvArrayType(_array_element(element, width), count)


def convert_alloc(conversion: FunctionConversion, op: Operation) -> None:
    """Threadgroup memory: a global variable of the module."""
    source = op.results[0]
    element = conversion.type(buffer_type(source).element_type, op)
    width = access_width(source)
    pointer = spirv.PointerType(_array(source, element, width), spirv.StorageClass.Workgroup)
    variable = conversion.variables.add(source.name_hint or "tile", pointer)
    variable.location = op.location
    _remember(conversion, source, conversion.address(variable), element, width, in_struct=False)


def convert_alloca(conversion: FunctionConversion, op: Operation) -> None:
    """Private memory: a variable of the function."""
    source = op.results[0]
    element = conversion.type(buffer_type(source).element_type, op)
    width = access_width(source)
    pointer = conversion.emit(spirv.VariableOp(_array(source, element, width)))
    pointer.name_hint = source.name_hint
    _remember(conversion, source, pointer, element, width, in_struct=False)


def add(conversion: FunctionConversion, a: SSAValue, b: SSAValue) -> SSAValue:
    """The sum of two indices; zero is left out, constants are added now."""
    known_a, known_b = _known(a), _known(b)
    if known_a is not None and known_b is not None:
        return conversion.index_constant(known_a + known_b)
    if known_a == 0:
        return b
    if known_b == 0:
        return a
    return conversion.pure(spirv.IAddOp, a, b)


def multiply(conversion: FunctionConversion, a: SSAValue, factor: int) -> SSAValue:
    """The product of an index and a constant."""
    known = _known(a)
    if known is not None:
        return conversion.index_constant(known * factor)
    if factor == 1:
        return a
    if factor == 0:
        return conversion.index_constant(0)
    return conversion.pure(spirv.IMulOp, a, conversion.index_constant(factor))


def _known(value: SSAValue) -> int | None:
    op = value.owner
    if isinstance(op, spirv.ConstantOp):
        number = getattr(op.value, "value", None)
        return None if number is None else int(number.data)
    return None


def _quotient(conversion: FunctionConversion, value: SSAValue, divisor: int) -> SSAValue:
    """index / divisor for an index that a power of two divides."""
    if divisor == 1:
        return conversion.value(value)
    number = constant_int(value)
    if number is not None:
        return conversion.index_constant(number // divisor)
    owner = value.owner
    if isinstance(owner, Operation):
        if owner.name == "arith.addi" and all(
            known_divisor(operand) % divisor == 0 for operand in owner.operands
        ):
            a, b = (_quotient(conversion, operand, divisor) for operand in owner.operands)
            return add(conversion, a, b)
        if owner.name == "arith.muli":
            factor = constant_int(owner.operands[1])
            if factor is not None and factor % divisor == 0:
                a = conversion.value(owner.operands[0])
                return multiply(conversion, a, factor // divisor)
    shift = conversion.index_constant(divisor.bit_length() - 1)
    kind = spirv.ShiftRightLogicalOp if is_non_negative(value) else spirv.ShiftRightArithmeticOp
    return conversion.pure(kind, conversion.value(value), shift)


def _linear(
    conversion: FunctionConversion, buffer: Buffer, indices: Sequence[SSAValue]
) -> SSAValue:
    """The position in the array of the element at `indices`."""
    result = conversion.index_constant(0)
    if not indices:
        return result
    stride = prod(buffer.shape) // max(buffer.width, 1)
    for size, index in zip(buffer.shape[:-1], indices[:-1], strict=True):
        stride = stride // size if size else 0
        result = add(conversion, result, multiply(conversion, conversion.value(index), stride))
    return add(conversion, result, _quotient(conversion, indices[-1], buffer.width))


def _pointer(conversion: FunctionConversion, buffer: Buffer, position: SSAValue) -> SSAValue:
    key = ("element", buffer.pointer, position)
    indices = [position]
    if buffer.in_struct:
        indices.insert(0, conversion.index_constant(0))
    return conversion.pure_keyed(key, lambda: spirv.AccessChainOp(buffer.pointer, indices))


def convert_load(conversion: FunctionConversion, op: Operation) -> SSAValue:
    """A load of a scalar or a vector."""
    buffer = conversion.buffers[op.operands[0]]
    type_ = conversion.result_type(op)
    position = _linear(conversion, buffer, _indices(op))
    count = width_of(type_)
    if count == buffer.width:
        return conversion.emit(spirv.LoadOp(_pointer(conversion, buffer, position)))
    lanes = [
        conversion.emit(spirv.LoadOp(_pointer(conversion, buffer, lane)))
        for lane in _lanes(conversion, position, count)
    ]
    return conversion.emit(spirv.CompositeConstructOp(lanes, type_))


def convert_store(conversion: FunctionConversion, op: Operation) -> None:
    """A store of a scalar or a vector."""
    buffer = conversion.buffers[op.operands[1]]
    value = conversion.value(op.operands[0])
    position = _linear(conversion, buffer, _indices(op))
    count = width_of(value.type)
    if count == buffer.width:
        conversion.add(spirv.StoreOp(_pointer(conversion, buffer, position), value))
        return
    for number, lane in enumerate(_lanes(conversion, position, count)):
        element = conversion.emit(spirv.CompositeExtractOp(value, [number]))
        conversion.add(spirv.StoreOp(_pointer(conversion, buffer, lane), element))


def _lanes(conversion: FunctionConversion, first: SSAValue, count: int) -> list[SSAValue]:
    return [add(conversion, first, conversion.index_constant(k)) for k in range(count)]


def fits_32_bits(buffers: Sequence[SSAValue]) -> bool:
    """Whether every byte of every memref has a signed 32-bit offset."""
    for buffer in buffers:
        type_ = cast("MemRefType[Attribute]", buffer.type)
        element = type_.element_type
        bits = getattr(element, "bitwidth", 64)
        if prod(type_.get_shape()) * max(bits // 8, 1) >= 1 << 31:
            return False
    return True
