"""Reflection: what a module binds, and the types behind it."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_size_t, c_uint, c_void_p
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from . import abi
from .enums import BaseType, Decoration, ResourceType, StorageClass

if TYPE_CHECKING:
    from .compiler import Compiler


class Type:
    """A type of a module; sizes in bytes, widths in bits."""

    def __init__(self, compiler: Compiler, type_id: int) -> None:
        self.compiler = compiler
        self.id = type_id
        context = compiler.context
        self._handle = c_void_p(
            context.call("spvc_compiler_get_type_handle", compiler.handle, type_id)
        )

    def _query(self, name: str, *arguments: int) -> int:
        return int(self.compiler.context.call(f"spvc_type_get_{name}", self._handle, *arguments))

    @property
    def base_id(self) -> int:
        """The id of this type without arrays and pointers; names and decorations hang on it."""
        return self._query("base_type_id")

    @property
    def base(self) -> BaseType:
        """The element type."""
        return BaseType(self._query("basetype"))

    @property
    def bits(self) -> int:
        """Width of the element type in bits."""
        return self._query("bit_width")

    @property
    def vector_size(self) -> int:
        """Components of a vector; 1 for scalars."""
        return self._query("vector_size")

    @property
    def columns(self) -> int:
        """Columns of a matrix; 1 for vectors and scalars."""
        return self._query("columns")

    @property
    def array(self) -> tuple[int, ...]:
        """Array extents, innermost first; 0 for a runtime array."""
        count = self._query("num_array_dimensions")
        return tuple(self._query("array_dimension", i) for i in range(count))

    @property
    def storage(self) -> StorageClass | int:
        """The storage class of a pointer type."""
        value = self._query("storage_class")
        try:
            return StorageClass(value)
        except ValueError:
            return value

    @property
    def members(self) -> tuple[Type, ...]:
        """Member types of a struct, empty for other types."""
        count = self._query("num_member_types")
        return tuple(Type(self.compiler, self._query("member_type", i)) for i in range(count))

    def member_name(self, index: int) -> str:
        """Name of a struct's member, empty when it has none."""
        return self.compiler.member_name(self.base_id, index)

    def member_offset(self, index: int) -> int:
        """Byte offset of a member of a block."""
        value = c_uint()
        self.compiler.context.check(
            "spvc_compiler_type_struct_member_offset",
            self.compiler.handle,
            self._handle,
            index,
            byref(value),
        )
        return value.value

    def member_array_stride(self, index: int) -> int:
        """Bytes from one element of an array member to the next."""
        value = c_uint()
        self.compiler.context.check(
            "spvc_compiler_type_struct_member_array_stride",
            self.compiler.handle,
            self._handle,
            index,
            byref(value),
        )
        return value.value

    @property
    def size(self) -> int:
        """Declared size of a struct in bytes; a runtime array at its end counts as nothing."""
        value = c_size_t()
        self.compiler.context.check(
            "spvc_compiler_get_declared_struct_size",
            self.compiler.handle,
            self._handle,
            byref(value),
        )
        return value.value


@dataclass(frozen=True)
class Resource:
    """One buffer, image or block that a module declares."""

    compiler: Compiler
    id: int
    type_id: int
    """The declared type with arrays; `base_type_id` is without."""
    base_type_id: int
    name: str
    """Block resources without a name of their own carry their type's."""

    @cached_property
    def type(self) -> Type:
        """The declared type."""
        return Type(self.compiler, self.type_id)

    def decoration(self, decoration: Decoration) -> int | None:
        """A decoration's operand (0 when it has none), None when it is absent."""
        return self.compiler.decoration(self.id, decoration)

    @property
    def binding(self) -> int | None:
        """Its `Binding`."""
        return self.decoration(Decoration.BINDING)

    @property
    def descriptor_set(self) -> int | None:
        """Its `DescriptorSet`."""
        return self.decoration(Decoration.DESCRIPTOR_SET)

    @cached_property
    def block_decorations(self) -> frozenset[int]:
        """Decorations of the variable together with those that all members of its block share."""
        context = self.compiler.context
        values, count = POINTER(ctypes.c_int)(), c_size_t()
        context.check(
            "spvc_compiler_get_buffer_block_decorations",
            self.compiler.handle,
            self.id,
            byref(values),
            byref(count),
        )
        return frozenset(values[i] for i in range(count.value))

    @property
    def readable(self) -> bool:
        """Whether a kernel may read it (it is not `NonReadable`)."""
        return Decoration.NON_READABLE not in self.block_decorations

    @property
    def writable(self) -> bool:
        """Whether a kernel may write it (it is not `NonWritable`)."""
        return Decoration.NON_WRITABLE not in self.block_decorations


@dataclass(frozen=True)
class Builtin:
    """A builtin variable that the entry point reads; `builtin` is SPIR-V's `BuiltIn` number."""

    builtin: int
    variable_id: int


class Resources:
    """The resources of a module, listed by kind."""

    def __init__(self, compiler: Compiler, handle: c_void_p) -> None:
        self.compiler = compiler
        self._handle = handle

    def list(self, kind: ResourceType) -> tuple[Resource, ...]:
        """Resources of one kind, in the order of their declaration."""
        values, count = POINTER(abi.ReflectedResource)(), c_size_t()
        self.compiler.context.check(
            "spvc_resources_get_resource_list_for_type",
            self._handle,
            int(kind),
            byref(values),
            byref(count),
        )
        return tuple(
            Resource(
                self.compiler,
                item.id,
                item.type_id,
                item.base_type_id,
                (item.name or b"").decode(errors="replace"),
            )
            for item in (values[i] for i in range(count.value))
        )

    @property
    def storage_buffers(self) -> tuple[Resource, ...]:
        """Storage buffers, whatever their descriptor set."""
        return self.list(ResourceType.STORAGE_BUFFER)

    @property
    def uniform_buffers(self) -> tuple[Resource, ...]:
        """Uniform buffers."""
        return self.list(ResourceType.UNIFORM_BUFFER)

    @property
    def push_constants(self) -> tuple[Resource, ...]:
        """Push constant blocks; SPIR-V allows one for an entry point."""
        return self.list(ResourceType.PUSH_CONSTANT)

    @property
    def builtin_inputs(self) -> tuple[Builtin, ...]:
        """Builtin variables of the input storage class."""
        values, count = POINTER(abi.ReflectedBuiltin)(), c_size_t()
        self.compiler.context.check(
            "spvc_resources_get_builtin_resource_list_for_type",
            self._handle,
            1,
            byref(values),
            byref(count),
        )
        return tuple(Builtin(values[i].builtin, values[i].resource.id) for i in range(count.value))
