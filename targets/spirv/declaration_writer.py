"""The part of a module before its functions: types, constants, names and decorations, each once.

Ids are given out on demand, in the order in which the writer meets things, so the same module
always gets the same ids.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FunctionType,
    IntegerAttr,
    IntegerType,
    Signedness,
    SymbolRefAttr,
    UnitAttr,
    VectorType,
    i1,
    i32,
)
from xdsl.ir import Attribute, Operation

from ingot.compiler.analysis.diagnostics import refuse
from ingot.compiler.dialects import spirv
from ingot.compiler.dialects.spirv import Decoration, StorageClass
from ingot.targets.spirv.grammar import BFLOAT16_ENCODING, UNIT_DECORATIONS, Op, string_words

_NUMBERED = re.compile(r"(_\d+)+$")
_BLOCK_STORAGE = (StorageClass.StorageBuffer, StorageClass.Uniform, StorageClass.PushConstant)
_AGGREGATES = (Op.TypeArray, Op.TypeRuntimeArray, Op.TypeStruct)
"""Types that may be declared several times, for their decorations differ."""
_FLOAT_FORMATS = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}


class Declarations:
    """Ids of types and constants, and the instructions that declare them.

    `here` is the op that the writer is at, for the location of a refusal.
    """

    def __init__(self, here: Operation) -> None:
        self.here = here
        self.bound = 1
        self.names: dict[int, str] = {}
        self.annotations: list[list[int]] = []
        self.code: list[list[int]] = []
        self._types: dict[Attribute, int] = {}
        self._declared: dict[tuple[int, ...], int] = {}
        self._constants: dict[tuple[int, ...], int] = {}
        self._blocks: set[int] = set()

    def new_id(self) -> int:
        self.bound += 1
        return self.bound - 1

    def name(self, id: int, name: str | None) -> None:
        """Give `id` a debug name unless it has one."""
        if name and id not in self.names:
            self.names[id] = name

    def name_value(self, id: int, hint: str | None) -> None:
        """Name a value by its SSA name, without the numbers that xDSL strips on reading too."""
        if hint:
            self.name(id, _NUMBERED.sub("", hint))

    def decorate(self, id: int, decoration: Decoration, *literals: int) -> None:
        self.annotations.append([Op.Decorate, id, decoration, *literals])

    def decorate_op(self, op: Operation, id: int) -> None:
        """Decorate `id` with the unit attributes of `op` that stand for decorations."""
        for name, attribute in op.attributes.items():
            decoration = UNIT_DECORATIONS.get(name)
            if decoration is not None and isinstance(attribute, UnitAttr):
                self.decorate(id, decoration)

    def void(self) -> int:
        return self._declare(Op.TypeVoid)

    def type(self, type: Attribute) -> int:
        """The id of a type; raises Refusal for one that SPIR-V does not have."""
        id = self._types.get(type)
        if id is None:
            id = self._types[type] = self._new_type(type)
        return id

    def _declare(self, opcode: Op, *operands: int) -> int:
        """Declare a type; two of the dialect that are one in SPIR-V (`i32`, `ui32`) share it."""
        key = (opcode, *operands)
        id = None if opcode in _AGGREGATES else self._declared.get(key)
        if id is None:
            id = self._declared[key] = self.new_id()
            self.code.append([opcode, id, *operands])
        return id

    def _new_type(self, type: Attribute) -> int:
        match type:
            case IntegerType():
                return self._integer(type)
            case Float16Type() | Float32Type() | Float64Type():
                return self._declare(Op.TypeFloat, type.bitwidth)
            case BFloat16Type():
                return self._declare(Op.TypeFloat, 16, BFLOAT16_ENCODING)
            case VectorType():
                element = self.type(type.element_type)
                return self._declare(Op.TypeVector, element, type.get_shape()[0])
            case spirv.PointerType():
                return self._pointer(type)
            case spirv.SpirvArrayType():
                element = self.type(type.element_type)
                count = self.integer(type.count)
                return self._strided(self._declare(Op.TypeArray, element, count), type.stride)
            case spirv.RuntimeArrayType():
                element = self.type(type.element_type)
                return self._strided(self._declare(Op.TypeRuntimeArray, element), type.stride)
            case spirv.StructType():
                return self._struct(type)
            case FunctionType():
                results = type.outputs.data
                result = self.type(results[0]) if results else self.void()
                arguments = [self.type(argument) for argument in type.inputs]
                return self._declare(Op.TypeFunction, result, *arguments)
            case spirv.CooperativeMatrixType():
                words = [self.type(type.element_type)]
                words += map(self.integer, (type.scope, type.rows, type.columns, type.use))
                return self._declare(Op.TypeCooperativeMatrixKHR, *words)
            case _:
                raise refuse(self.here, f"SPIR-V has no type for {type}")

    def _integer(self, type: IntegerType) -> int:
        width = type.width.data
        if width == 1:
            return self._declare(Op.TypeBool)
        if width not in (8, 16, 32, 64):
            raise refuse(self.here, f"SPIR-V has no integers of {width} bits")
        signed = type.signedness.data is Signedness.SIGNED
        return self._declare(Op.TypeInt, width, int(signed))

    def _pointer(self, type: spirv.PointerType) -> int:
        pointee = self.type(type.pointee)
        if (
            type.storage_class in _BLOCK_STORAGE
            and isinstance(type.pointee, spirv.StructType)
            and pointee not in self._blocks
        ):
            self._blocks.add(pointee)
            self.decorate(pointee, Decoration.Block)
        return self._declare(Op.TypePointer, type.storage_class, pointee)

    def _strided(self, id: int, stride: int | None) -> int:
        if stride is not None:
            self.decorate(id, Decoration.ArrayStride, stride)
        return id

    def _struct(self, type: spirv.StructType) -> int:
        members = [self.type(member) for member in type.members]
        id = self._declare(Op.TypeStruct, *members)
        self.name(id, type.identifier.data)
        for i, decorations in enumerate(type.decorations):
            if type.offsets:
                offset = [Decoration.Offset, type.offsets[i]]
                self.annotations.append([Op.MemberDecorate, id, i, *offset])
            self.annotations += [[Op.MemberDecorate, id, i, d] for d in decorations]
        return id

    def integer(self, value: int) -> int:
        """The id of the i32 constant `value`."""
        return self._constant(Op.Constant, self.type(i32), value & 0xFFFFFFFF)

    def _constant(self, opcode: Op, type: int, *words: int) -> int:
        key = (opcode, type, *words)
        id = self._constants.get(key)
        if id is None:
            id = self._constants[key] = self.new_id()
            self.code.append([opcode, type, id, *words])
        return id

    def constant(self, value: Attribute, type: Attribute) -> int:
        """The id of a constant; equal constants of one type share it."""
        if isinstance(value, ArrayAttr):
            elements = cast("ArrayAttr[Attribute]", value)
            ids = [self.constant(element, spirv.element_at(type, 0)) for element in elements]
            return self._constant(Op.ConstantComposite, self.type(type), *ids)
        if (number := spirv.number_of(value)) is not None:
            return self._scalar(number[0], type)
        dense = spirv.numbers_of(value)
        assert dense is not None, "verified"
        return self._dense(type, iter(dense[0]))

    def _dense(self, type: Attribute, values: Iterator[int | float]) -> int:
        uniform = spirv.uniform_elements(type)
        if uniform is None:
            return self._scalar(next(values), type)
        element, count = uniform
        ids = [self._dense(element, values) for _ in range(count)]
        return self._constant(Op.ConstantComposite, self.type(type), *ids)

    def _scalar(self, value: int | float, type: Attribute) -> int:
        id = self.type(type)
        if type == i1:
            return self._constant(Op.ConstantTrue if value else Op.ConstantFalse, id)
        return self._constant(Op.Constant, id, *scalar_words(value, type))

    def undefined(self, type: Attribute) -> int:
        return self._constant(Op.Undef, self.type(type))

    def debug_code(self) -> list[list[int]]:
        """`OpName` for every id that has a name, in the order of ids."""
        return [[Op.Name, id, *string_words(name)] for id, name in sorted(self.names.items())]


def literal_word(number: IntegerAttr) -> int:
    """An i32 attribute as an unsigned word."""
    return number.value.data & 0xFFFFFFFF


def scalar_words(value: int | float, type: Attribute) -> Sequence[int]:
    """The literal words of a number: low word first; narrow signless integers are zero-extended
    and narrow signed ones sign-extended (SPIR-V specification, 2.2.1)."""
    width = spirv.bit_width(type)
    integer = spirv.as_integer(type)
    if integer is None:
        bits = float_bits(float(value), width)
    else:
        bits = int(value) & ((1 << width) - 1)
        if integer.signedness.data is Signedness.SIGNED and width < 32 and bits >> (width - 1):
            bits |= 0xFFFFFFFF & ~((1 << width) - 1)
    return (bits & 0xFFFFFFFF, bits >> 32) if width == 64 else (bits,)


def float_bits(value: float, width: int) -> int:
    """The IEEE 754 bits of `value` rounded to `width` bits; too large a value is an infinity."""
    as_float, as_integer = _FLOAT_FORMATS[width]
    try:
        data = struct.pack(as_float, value)
    except OverflowError:
        data = struct.pack(as_float, math.copysign(math.inf, value))
    return struct.unpack(as_integer, data)[0]


class Symbols:
    """Ids of functions and globals by name."""

    def __init__(self, declarations: Declarations) -> None:
        self._declarations = declarations
        self._ids: dict[str, int] = {}

    def id(self, symbol: str) -> int:
        """The id of a symbol, which may be defined later."""
        id = self._ids.get(symbol)
        if id is None:
            id = self._ids[symbol] = self._declarations.new_id()
            self._declarations.name(id, symbol)
        return id

    def referenced(self, reference: SymbolRefAttr, op: Operation) -> int:
        """The id of a symbol that is already defined; raises Refusal where there is none."""
        name = reference.root_reference.data
        if name not in self._ids:
            raise refuse(op, f"there is no @{name} in the module before its use")
        return self._ids[name]
