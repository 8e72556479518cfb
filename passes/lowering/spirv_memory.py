"""Buffers, threadgroup and private arrays and the accesses to them, for `convert-to-spirv`.

A memref becomes an array; its indices become one linear index, with constant strides. Where every
access is a vector of one width, aligned to it, the array is declared with vectors as elements, so
that one instruction moves a whole vector; else a vector is accessed one scalar at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import MemRefType, VectorType, i32
from xdsl.ir import Attribute, Operation, SSAValue

from ingot.compiler.analysis.index_range import constant_int, known_divisor
from ingot.compiler.dialects import spirv
from ingot.compiler.dialects.gpu import AddressSpace, AddressSpaceAttr
from ingot.passes.lowering.conversion import (
    Buffer,
    FunctionConversion,
    moved_index,
    width_of,
)
from ingot.passes.lowering.kernel import buffer_type

_LOADS = frozenset({"memref.load", "vector.load", "gpu.subgroup_mma_load_matrix"})
_STORES = frozenset({"memref.store", "vector.store", "gpu.subgroup_mma_store_matrix"})
_SCALARS = frozenset({"memref.load", "memref.store"})


def is_read(buffer: SSAValue) -> bool:
    """Whether any op loads from a memref."""
    return any(use.operation.name in _LOADS for use in buffer.uses)


def is_written(buffer: SSAValue) -> bool:
    """Whether any op stores to a memref."""
    return any(use.operation.name in _STORES for use in buffer.uses)


def _indices(op: Operation) -> Sequence[SSAValue]:
    return op.operands[1:] if op.name in _LOADS else op.operands[2:]


def keep_in_place(conversion: FunctionConversion, op: Operation, result: SSAValue) -> SSAValue:
    """Pass what `op` computes through a variable where SPIRV-Cross would compute it elsewhere.

    It prints a load, or a selection of loads, where the value is used, as often as it is used:
    after a loop or a call that was to hide the load's latency, or once for each of several calls.
    """
    if not _is_far_from_use(op):
        return result
    variable = conversion.emit(spirv.VariableOp(result.type))
    conversion.add(spirv.StoreOp(variable, result))
    return conversion.emit(spirv.LoadOp(variable))


_WORK = frozenset({"func.call", "scf.for", "scf.while", "gpu.barrier"})


def _is_far_from_use(op: Operation) -> bool:
    users = {use.operation for use in op.results[0].uses}
    if len(users) > 1 and any(user.name == "func.call" for user in users):
        return True
    following = op.next_op
    while following is not None and following not in users:
        if following.name in _WORK:
            return True
        following = following.next_op
    return False


def access_width(buffer: SSAValue) -> int:
    """The most elements, 1, 2, 4 or 8, that a part of every access to a memref moves at once.

    A vector is aligned to its own width, so a wider one moves several such parts. In threadgroup
    memory a scalar may be an element of such a vector.
    """
    type_ = buffer_type(buffer)
    shape = type_.get_shape()
    aligned: list[Operation] = []
    widths: list[int] = []
    for use in buffer.uses:
        op = use.operation
        if op.name in _SCALARS:
            if not _is_threadgroup(type_):
                return 1
            continue
        aligned.append(op)
        if op.name in ("vector.load", "vector.store"):
            vector = op.results[0].type if op.name == "vector.load" else op.operands[0].type
            widths.append(width_of(vector))
    if not widths or any(width not in (2, 4, 8) for width in widths):
        return 1
    width = min(widths)
    divisors = [shape[-1], *(known_divisor(_indices(op)[-1]) for op in aligned)]
    return width if all(n % width == 0 for n in divisors) else 1


def _is_threadgroup(type_: MemRefType[Attribute]) -> bool:
    space = type_.memory_space
    return isinstance(space, AddressSpaceAttr) and space.data is AddressSpace.WORKGROUP


def _array_element(element: Attribute, width: int) -> Attribute:
    if width == 8:
        return VectorType(i32, [4])
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
    """index / divisor, rounded down, for a divisor that is a power of two."""
    if divisor == 1:
        return conversion.value(value)
    number = constant_int(value)
    if number is not None:
        return conversion.index_constant(number // divisor)
    owner = value.owner
    if isinstance(owner, Operation):
        if owner.name == "arith.addi" and known_divisor(owner.operands[0]) % divisor == 0:
            a, b = (_quotient(conversion, operand, divisor) for operand in owner.operands)
            return add(conversion, a, b)
        if owner.name == "arith.muli":
            factor = constant_int(owner.operands[1])
            if factor is not None and factor % divisor == 0:
                a = conversion.value(owner.operands[0])
                return multiply(conversion, a, factor // divisor)
    shift = conversion.index_constant(divisor.bit_length() - 1)
    is_signed = not conversion.is_non_negative(value)
    kind = spirv.ShiftRightArithmeticOp if is_signed else spirv.ShiftRightLogicalOp
    return conversion.pure(kind, conversion.value(value), shift)


def _linear(
    conversion: FunctionConversion, buffer: Buffer, indices: Sequence[SSAValue]
) -> SSAValue:
    """The position in the array of the element at `indices`.

    Constants are added last, in one: elements a known distance apart share the rest.
    """
    result, distance = conversion.index_constant(0), 0
    if not indices:
        return result
    stride = prod(buffer.shape) // max(buffer.width, 1)
    for size, index in zip(buffer.shape[:-1], indices[:-1], strict=True):
        stride = stride // size if size else 0
        if (number := constant_int(index)) is not None:
            distance += number * stride
            continue
        base, moved = moved_index(index)
        result = add(conversion, result, multiply(conversion, conversion.value(base), stride))
        distance += moved * stride
    base, moved = moved_index(indices[-1])
    if buffer.width > 1 and known_divisor(base) % buffer.width:
        base, moved = indices[-1], 0
    result = add(conversion, result, _quotient(conversion, base, buffer.width))
    return add(conversion, result, conversion.index_constant(distance + moved // buffer.width))


def _component(conversion: FunctionConversion, value: SSAValue, width: int) -> SSAValue:
    """index % width for a width that is a power of two."""
    number, owner = constant_int(value), value.owner
    if number is None and isinstance(owner, Operation) and owner.name == "arith.addi":
        base, number = owner.operands[0], constant_int(owner.operands[1])
        if known_divisor(base) % width:
            number = None
    if number is not None:
        return conversion.index_constant(number % width)
    mask = conversion.index_constant(width - 1)
    return conversion.pure(spirv.BitwiseAndOp, conversion.value(value), mask)


def _pointer(
    conversion: FunctionConversion, buffer: Buffer, position: SSAValue, *component: SSAValue
) -> SSAValue:
    key = ("element", id(buffer.pointer), id(position), *map(id, component))
    indices = [position, *component]
    if buffer.in_struct:
        indices.insert(0, conversion.index_constant(0))
    return conversion.pure_keyed(key, lambda: spirv.AccessChainOp(buffer.pointer, indices))


def convert_load(conversion: FunctionConversion, op: Operation) -> SSAValue:
    """A load of a scalar or a vector."""
    buffer = conversion.buffers[op.operands[0]]
    count = width_of(op.results[0].type)
    type_ = conversion.result_type(op)
    parts = [
        load(conversion, pointer) for pointer in _parts(conversion, buffer, _indices(op), count)
    ]
    if len(parts) > 1 and count == 8:
        parts = _words(conversion, parts)
    result = parts[0]
    if len(parts) > 1:
        result = conversion.emit(spirv.CompositeConstructOp(parts, type_))
    return keep_in_place(conversion, op, result)


def _words(conversion: FunctionConversion, parts: list[SSAValue]) -> list[SSAValue]:
    """Eight elements of 16 bits, in one, two or four at a time, as words of 32 bits."""
    if len(parts) == 8:
        pair = VectorType(parts[0].type, [2])
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [conversion.emit(spirv.CompositeConstructOp(p, pair)) for p in pairs]
    type_ = i32 if len(parts) == 4 else VectorType(i32, [2])
    return [conversion.emit(spirv.BitcastOp(part, type_)) for part in parts]


def convert_store(conversion: FunctionConversion, op: Operation) -> None:
    """A store of a scalar or a vector."""
    buffer = conversion.buffers[op.operands[1]]
    value = conversion.value(op.operands[0])
    count = width_of(op.operands[0].type)
    pointers = _parts(conversion, buffer, _indices(op), count)
    for number, pointer in enumerate(pointers):
        part = value
        if len(pointers) > 1 and count == 8:
            part = _from_words(conversion, value, buffer, number)
        elif len(pointers) > 1:
            part = _lanes(conversion, value, number * buffer.width, buffer.width)
        store(conversion, pointer, part)


def _lanes(conversion: FunctionConversion, value: SSAValue, first: int, count: int) -> SSAValue:
    """`count` components of a vector."""
    if count == 1:
        return conversion.emit(spirv.CompositeExtractOp(value, [first]))
    return conversion.emit(spirv.VectorShuffleOp(value, value, list(range(first, first + count))))


def _from_words(
    conversion: FunctionConversion, value: SSAValue, buffer: Buffer, number: int
) -> SSAValue:
    """Part `number` of eight elements of 16 bits that are given as four words."""
    width = buffer.width
    words = _lanes(conversion, value, number * width // 2, max(1, width // 2))
    pair = VectorType(buffer.element, [max(2, width)])
    part = conversion.emit(spirv.BitcastOp(words, pair))
    return part if width > 1 else _lanes(conversion, part, number % 2, 1)


def load(conversion: FunctionConversion, pointer: SSAValue) -> SSAValue:
    """Load what a pointer points to."""
    return conversion.emit(spirv.LoadOp(pointer, shared_access(conversion, pointer)))


def store(conversion: FunctionConversion, pointer: SSAValue, value: SSAValue) -> None:
    """Store a value."""
    conversion.add(spirv.StoreOp(pointer, value, shared_access(conversion, pointer)))


def shared_access(conversion: FunctionConversion, pointer: SSAValue) -> spirv.MemoryAccess | None:
    """How Vulkan's memory model wants an access marked that other threads take part in."""
    type_ = pointer.type
    assert isinstance(type_, spirv.PointerType)
    if conversion.vulkan_memory and type_.storage_class is spirv.StorageClass.Workgroup:
        return spirv.MemoryAccess.NonPrivatePointer
    return None


def matrix_pointer(
    conversion: FunctionConversion, source: SSAValue, indices: Sequence[SSAValue], pitch: int
) -> tuple[SSAValue, SSAValue]:
    """Where a matrix begins, and how many elements of the array lie between its lines."""
    buffer = conversion.buffers[source]
    pointer = _pointer(conversion, buffer, _linear(conversion, buffer, indices))
    return pointer, conversion.constant(pitch // buffer.width, i32)


def _parts(
    conversion: FunctionConversion, buffer: Buffer, indices: Sequence[SSAValue], count: int
) -> list[SSAValue]:
    """Pointers to what an access of `count` elements touches, in elements of the array."""
    first = _linear(conversion, buffer, indices)
    if count < buffer.width:
        component = _component(conversion, indices[-1], buffer.width)
        return [_pointer(conversion, buffer, first, component)]
    return [
        _pointer(conversion, buffer, add(conversion, first, conversion.index_constant(k)))
        for k in range(count // buffer.width)
    ]


def fits_32_bits(buffers: Sequence[SSAValue]) -> bool:
    """Whether every byte of every memref has a signed 32-bit offset."""
    for buffer in buffers:
        type_ = cast("MemRefType[Attribute]", buffer.type)
        element = type_.element_type
        bits = getattr(element, "bitwidth", 64)
        if prod(type_.get_shape()) * max(bits // 8, 1) >= 1 << 31:
            return False
    return True
