"""What a binary declares before its functions, by id: names, types, constants, globals."""

from __future__ import annotations

import re
import struct
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    BFloat16Type,
    BoolAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    SymbolRefAttr,
    UnitAttr,
    VectorType,
    f16,
    f32,
    f64,
    i1,
)
from xdsl.ir import Attribute

from ingot.compiler.dialects import spirv
from ingot.targets.spirv import grammar
from ingot.targets.spirv.decoding import Raw, enumerant, read_string
from ingot.targets.spirv.grammar import GLSL_SET, UNIT_DECORATIONS, Op, snake_case

_IDENTIFIER = re.compile(r"[A-Za-z_][\w$.]*")
_FLOATS: dict[int, tuple[AnyFloat, str, str]] = {
    16: (f16, "<H", "<e"),
    32: (f32, "<I", "<f"),
    64: (f64, "<Q", "<d"),
}
_MAX_NULL_ELEMENTS = 1 << 16

Decorations = list[tuple[spirv.Decoration, tuple[int, ...]]]
FunctionSignature = tuple[list[Attribute], list[Attribute]]


class DeclarationReader:
    """Declarations by id, in the order in which `read` is given them.

    Every method raises MalformedSpirv, or one of IndexError, KeyError, ValueError and
    VerifyException for an instruction of a wrong shape, which the caller reports at its place.
    """

    def __init__(self, bound: int) -> None:
        self.bound = bound
        self.capabilities: list[spirv.Capability] = []
        self.extensions: list[str] = []
        self.models: tuple[spirv.AddressingModel, spirv.MemoryModel] | None = None
        self.names: dict[int, str] = {}
        self.types: dict[int, Attribute] = {}
        self.voids: set[int] = set()
        self.function_types: dict[int, FunctionSignature] = {}
        self.constants: dict[int, tuple[Attribute, Attribute]] = {}
        """Value and type."""
        self.undefined: dict[int, Attribute] = {}
        self.globals: dict[int, spirv.GlobalVariableOp] = {}
        self.spec_constants: dict[int, spirv.SpecConstantOp] = {}
        self.functions: dict[int, tuple[str, int]] = {}
        """Name, and the id of the function type."""
        self.glsl: int | None = None
        self.entry_points: list[Raw] = []
        self.modes: list[Raw] = []
        self.workgroup_sizes: list[tuple[Raw, int]] = []
        """Constants decorated as the built-in WorkgroupSize, as glslang writes them."""
        self._decorations: dict[int, Decorations] = defaultdict(list)
        self._member_offsets: dict[tuple[int, int], int] = {}
        self._member_decorations: dict[tuple[int, int], list[spirv.Decoration]] = defaultdict(list)
        self._defined: set[int] = set()
        self._symbols: dict[int, str] = {}
        self._used_symbols: set[str] = set()
        self._readers: dict[int, Callable[[Raw], None]] = {
            Op.Capability: self._capability,
            Op.Extension: self._extension,
            Op.ExtInstImport: self._import,
            Op.MemoryModel: self._memory_model,
            Op.Name: self._name,
            Op.EntryPoint: self._entry_point,
            Op.ExecutionMode: self.modes.append,
            Op.Decorate: self._decorate,
            Op.MemberDecorate: self._member_decorate,
            **dict.fromkeys(_TYPES, self._type),
            **dict.fromkeys(_CONSTANTS, self._constant),
            **dict.fromkeys(_SPEC_CONSTANTS, self._spec_constant),
            Op.Variable: self._variable,
        }

    def symbol(self, id: int) -> str:
        """The symbol of a function or global: its debug name, made unique."""
        name = self._symbols.get(id)
        if name is None:
            base = name = self.names.get(id) or f"id_{id}"
            counter = 0
            while name in self._used_symbols:
                name = f"{base}_{counter}"
                counter += 1
            self._symbols[id] = name
            self._used_symbols.add(name)
        return name

    def define(self, raw: Raw, id: int) -> int:
        """Note that `raw` defines `id`: a new one below the bound."""
        if id in self._defined:
            raise raw.error(f"id {id} is defined twice")
        if not 0 < id < self.bound:
            raise raw.error(f"id {id} is not below the bound {self.bound}")
        self._defined.add(id)
        return id

    def type(self, raw: Raw, id: int) -> Attribute:
        type = self.types.get(id)
        if type is None:
            raise raw.error(f"id {id} is not a type of a value")
        return type

    def read(self, raw: Raw) -> None:
        """Take one instruction from before the functions."""
        reader = self._readers.get(raw.opcode)
        if reader is None:
            raise raw.error("an instruction that is not known, or not before the functions")
        reader(raw)

    def _capability(self, raw: Raw) -> None:
        (number,) = raw.words
        self.capabilities.append(enumerant(raw, spirv.Capability, number))

    def _extension(self, raw: Raw) -> None:
        name, _ = read_string(raw, 0)
        if not _IDENTIFIER.fullmatch(name):
            raise raw.error(f"'{name}' is not the name of an extension")
        self.extensions.append(name)

    def _import(self, raw: Raw) -> None:
        name, _ = read_string(raw, 1)
        if name != GLSL_SET:
            raise raw.error(f"the instruction set '{name}' is not supported")
        self.glsl = self.define(raw, raw.words[0])

    def _memory_model(self, raw: Raw) -> None:
        addressing, memory = raw.words
        self.models = (
            enumerant(raw, spirv.AddressingModel, addressing),
            enumerant(raw, spirv.MemoryModel, memory),
        )

    def _name(self, raw: Raw) -> None:
        name, _ = read_string(raw, 1)
        if name:
            self.names[raw.words[0]] = name

    def _entry_point(self, raw: Raw) -> None:
        model, id = raw.words[:2]
        enumerant(raw, spirv.ExecutionModel, model)
        name, _ = read_string(raw, 2)
        if id in self._symbols or name in self._used_symbols:
            raise raw.error(f"'{name}' shares its function or its name with another entry point")
        self._symbols[id] = name
        self._used_symbols.add(name)
        self.entry_points.append(raw)

    def _decorate(self, raw: Raw) -> None:
        id, number, *literals = raw.words
        decoration = enumerant(raw, spirv.Decoration, number)
        self._decorations[id].append((decoration, tuple(literals)))

    def _member_decorate(self, raw: Raw) -> None:
        id, member, number, *literals = raw.words
        decoration = enumerant(raw, spirv.Decoration, number)
        if decoration is spirv.Decoration.Offset:
            (self._member_offsets[id, member],) = literals
        elif literals:
            raise raw.error(f"{decoration.name} on a member is not supported")
        else:
            self._member_decorations[id, member].append(decoration)

    def _literal(self, raw: Raw, id: int, decoration: spirv.Decoration) -> int | None:
        """The number that comes with a decoration, None where `id` does not have it."""
        found = [literals for d, literals in self._decorations.get(id, ()) if d is decoration]
        if not found:
            return None
        if len(found) > 1 or len(found[0]) != 1:
            raise raw.error(f"id {id} has a malformed decoration {decoration.name}")
        return found[0][0]

    def decoration_attributes(
        self, raw: Raw, id: int, read_elsewhere: Sequence[spirv.Decoration] = ()
    ) -> dict[str, Attribute]:
        """The unit attributes for the decorations of a value."""
        attributes: dict[str, Attribute] = {}
        for decoration, literals in self._decorations.get(id, ()):
            if decoration in read_elsewhere:
                continue
            name = snake_case(decoration.name)
            if literals or name not in UNIT_DECORATIONS:
                raise raw.error(f"the decoration {decoration.name} of id {id} is not supported")
            attributes[name] = UnitAttr()
        return attributes

    def _type(self, raw: Raw) -> None:
        id, *words = raw.words
        self.define(raw, id)
        allowed = _TYPE_DECORATIONS.get(raw.opcode, ())
        for decoration, _ in self._decorations.get(id, ()):
            if decoration not in allowed:
                raise raw.error(f"the decoration {decoration.name} of a type is not supported")
        match raw.opcode, words:
            case Op.TypeVoid, []:
                self.voids.add(id)
            case Op.TypeFunction, [result, *arguments]:
                results = [] if result in self.voids else [self.type(raw, result)]
                self.function_types[id] = ([self.type(raw, a) for a in arguments], results)
            case _:
                self.types[id] = self._value_type(raw, id, words)

    def _value_type(self, raw: Raw, id: int, words: list[int]) -> Attribute:
        match raw.opcode, words:
            case Op.TypeBool, []:
                return i1
            case Op.TypeInt, [8 | 16 | 32 | 64 as width, 0 | 1 as signed]:
                return IntegerType(width, Signedness.SIGNED if signed else Signedness.SIGNLESS)
            case Op.TypeFloat, [16 | 32 | 64 as width]:
                return _FLOATS[width][0]
            case Op.TypeFloat, [16, grammar.BFLOAT16_ENCODING]:
                return BFloat16Type()
            case Op.TypeVector, [element, 2 | 3 | 4 as count]:
                return VectorType(self.type(raw, element), [count])
            case Op.TypeArray, [element, count]:
                stride = self._literal(raw, id, spirv.Decoration.ArrayStride)
                size = self.integer(raw, count)
                return spirv.SpirvArrayType(self.type(raw, element), size, stride)
            case Op.TypeRuntimeArray, [element]:
                stride = self._literal(raw, id, spirv.Decoration.ArrayStride)
                return spirv.RuntimeArrayType(self.type(raw, element), stride)
            case Op.TypePointer, [storage, pointee]:
                storage_class = enumerant(raw, spirv.StorageClass, storage)
                return spirv.PointerType(self.type(raw, pointee), storage_class)
            case Op.TypeStruct, members:
                return self._struct(raw, id, members)
            case Op.TypeCooperativeMatrixKHR, [element, scope, rows, columns, use]:
                return spirv.CooperativeMatrixType.get(
                    self.integer(raw, rows),
                    self.integer(raw, columns),
                    self.type(raw, element),
                    enumerant(raw, spirv.CooperativeMatrixUse, self.integer(raw, use)),
                    enumerant(raw, spirv.Scope, self.integer(raw, scope)),
                )
            case _:
                raise raw.error("a type that the dialect does not have")

    def _struct(self, raw: Raw, id: int, members: list[int]) -> Attribute:
        offsets = [self._member_offsets.get((id, i)) for i in range(len(members))]
        known = [offset for offset in offsets if offset is not None]
        if known and len(known) != len(members):
            raise raw.error("some members have an offset and others have none")
        decorations = [self._member_decorations.get((id, i), []) for i in range(len(members))]
        name = self.names.get(id, "")
        return spirv.StructType.get(
            [self.type(raw, member) for member in members],
            known,
            decorations,
            name if _IDENTIFIER.fullmatch(name) else "",
        )

    def integer(self, raw: Raw, id: int) -> int:
        """The value of an integer constant, as an unsigned number."""
        value, type = self.constants.get(id, (None, None))
        number = None if value is None else spirv.number_of(value)
        if number is None or type is None or not spirv.is_integer(type):
            raise raw.error(f"id {id} is not an integer constant")
        return int(number[0]) & ((1 << spirv.bit_width(type)) - 1)

    def check_workgroup_sizes(self) -> None:
        """The decorated constants overrule every LocalSize; they may only repeat it."""
        for raw, id in self.workgroup_sizes:
            numbers = spirv.numbers_of(self.constants[id][0])
            size = [] if numbers is None else list(numbers[0])
            for mode in self.modes:
                if mode.words[1] == spirv.ExecutionMode.LocalSize and list(mode.words[2:]) != size:
                    raise raw.error("a WorkgroupSize that differs from LocalSize is not supported")

    def _constant(self, raw: Raw) -> None:
        type_id, id, *words = raw.words
        type = self.type(raw, type_id)
        self.define(raw, id)
        if self._literal(raw, id, spirv.Decoration.BuiltIn) == spirv.BuiltIn.WorkgroupSize:
            self.workgroup_sizes.append((raw, id))
        elif self._decorations.get(id):
            raise raw.error("a decorated constant is not supported")
        if raw.opcode == Op.Undef:
            self.undefined[id] = type
            return
        self.constants[id] = (self._constant_value(raw, type, words), type)

    def _constant_value(self, raw: Raw, type: Attribute, words: list[int]) -> Attribute:
        match raw.opcode, words:
            case Op.ConstantTrue | Op.ConstantFalse, [] if type == i1:
                return BoolAttr.from_bool(raw.opcode == Op.ConstantTrue)
            case Op.Constant, _:
                return self._number(raw, type, words)
            case Op.ConstantNull, []:
                return self._null(raw, type)
            case Op.ConstantComposite, elements:
                return self._composite(raw, type, elements)
            case _:
                raise raw.error("a constant of the wrong type")

    def _number(self, raw: Raw, type: Attribute, words: list[int]) -> Attribute:
        if not (spirv.is_integer(type) or spirv.is_float(type)):
            raise raw.error(f"a number cannot be a {type}")
        width = spirv.bit_width(type)
        if len(words) != (2 if width == 64 else 1):
            raise raw.error(f"{len(words)} words do not make a {type}")
        bits = words[0] | (words[1] << 32 if width == 64 else 0)
        bits &= (1 << width) - 1
        if isinstance(type, IntegerType):
            return IntegerAttr(bits - (bits >> (width - 1) << width), cast("IntegerType", type))
        float_type, as_integer, as_float = _FLOATS[width]
        (value,) = struct.unpack(as_float, struct.pack(as_integer, bits))
        return FloatAttr(value, float_type)

    def _null(self, raw: Raw, type: Attribute) -> Attribute:
        if isinstance(type, spirv.SpirvArrayType):
            if type.count > _MAX_NULL_ELEMENTS:
                raise raw.error(f"a zero array of {type.count} elements is too large")
            return ArrayAttr([self._null(raw, type.element_type)] * type.count)
        if not spirv.is_scalar(spirv.scalar_of(type)):
            raise raw.error(f"there is no zero constant of {type}")
        return spirv.constant_attribute(0, type)

    def _composite(self, raw: Raw, type: Attribute, ids: list[int]) -> Attribute:
        elements: list[Attribute] = []
        for id in ids:
            if id not in self.constants:
                raise raw.error(f"id {id} is not a constant")
            elements.append(self.constants[id][0])
        uniform = spirv.uniform_elements(type)
        expected = None if uniform is None else [uniform[0]] * uniform[1]
        if [self.constants[id][1] for id in ids] != expected:
            raise raw.error(f"these constants do not make a {type}")
        vector = spirv.as_vector(type)
        if vector is None:
            return ArrayAttr(elements)
        numbers = [number for number in map(spirv.number_of, elements) if number is not None]
        return spirv.vector_constant([number for number, _ in numbers], vector)

    def _spec_constant(self, raw: Raw) -> None:
        type_id, id, *words = raw.words
        type = self.type(raw, type_id)
        self.define(raw, id)
        if raw.opcode == Op.SpecConstant:
            default = self._number(raw, type, words)
        elif type == i1 and not words:
            default = BoolAttr.from_bool(raw.opcode == Op.SpecConstantTrue)
        else:
            raise raw.error("a Boolean of the wrong type")
        self.decoration_attributes(raw, id, (spirv.Decoration.SpecId,))
        spec_id = self._literal(raw, id, spirv.Decoration.SpecId)
        self.spec_constants[id] = spirv.SpecConstantOp(self.symbol(id), default, spec_id)

    def _variable(self, raw: Raw) -> None:
        type_id, id, storage, *initializer = raw.words
        type = self.type(raw, type_id)
        self.define(raw, id)
        if not isinstance(type, spirv.PointerType) or type.storage_class != storage:
            raise raw.error("the pointer type has another storage class")
        binding = self._literal(raw, id, spirv.Decoration.Binding)
        set_number = self._literal(raw, id, spirv.Decoration.DescriptorSet)
        if (binding is None) != (set_number is None):
            raise raw.error("a binding without a descriptor set, or the other way round")
        built_in = self._literal(raw, id, spirv.Decoration.BuiltIn)
        op = spirv.GlobalVariableOp(
            self.symbol(id),
            type,
            bind=None if binding is None or set_number is None else (set_number, binding),
            built_in=None if built_in is None else enumerant(raw, spirv.BuiltIn, built_in),
        )
        op.attributes |= self.decoration_attributes(raw, id, _VARIABLE_DECORATIONS)
        if initializer:
            (value,) = initializer
            if value not in self.globals and value not in self.spec_constants:
                raise raw.error("an initializer that is no global is not supported")
            op.properties["initializer"] = SymbolRefAttr(self.symbol(value))
        self.globals[id] = op

    def read_function_header(self, raw: Raw) -> None:
        """Take an OpFunction, so that calls may come before the function."""
        _, id, _, type = raw.words
        self.define(raw, id)
        if type not in self.function_types:
            raise raw.error(f"id {type} is not a function type")
        self.functions[id] = (self.symbol(id), type)


_VARIABLE_DECORATIONS = (
    spirv.Decoration.Binding,
    spirv.Decoration.DescriptorSet,
    spirv.Decoration.BuiltIn,
)
_TYPE_DECORATIONS: dict[int, tuple[spirv.Decoration, ...]] = {
    Op.TypeArray: (spirv.Decoration.ArrayStride,),
    Op.TypeRuntimeArray: (spirv.Decoration.ArrayStride,),
    # The writer puts Block on every struct that a buffer holds.
    Op.TypeStruct: (spirv.Decoration.Block,),
}
_TYPES = (
    Op.TypeVoid,
    Op.TypeBool,
    Op.TypeInt,
    Op.TypeFloat,
    Op.TypeVector,
    Op.TypeArray,
    Op.TypeRuntimeArray,
    Op.TypeStruct,
    Op.TypePointer,
    Op.TypeFunction,
    Op.TypeCooperativeMatrixKHR,
)
_CONSTANTS = (
    Op.Undef,
    Op.ConstantTrue,
    Op.ConstantFalse,
    Op.Constant,
    Op.ConstantComposite,
    Op.ConstantNull,
)
_SPEC_CONSTANTS = (Op.SpecConstantTrue, Op.SpecConstantFalse, Op.SpecConstant)
