"""The compiler: reflection, names, decorations, bindings, and the text it writes."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_void_p
from dataclasses import dataclass

from . import abi
from .context import Context
from .enums import Backend, Decoration, ExecutionMode, ExecutionModel, Option
from .errors import InvalidArgument
from .options import Options
from .resources import Resources, Type


@dataclass(frozen=True)
class EntryPoint:
    """A name and what kind of shader it is."""

    name: str
    model: ExecutionModel | int


@dataclass(frozen=True)
class MslResourceBinding:
    """Where a resource of the SPIR-V goes in MSL: `[[buffer(msl_buffer)]]` and so on.

    `descriptor_set` `PUSH_CONSTANT_DESCRIPTOR_SET` with binding 0 stands for the push constants;
    `binding` `ARGUMENT_BUFFER_BINDING` for the argument buffer of a whole set.
    """

    descriptor_set: int
    binding: int
    msl_buffer: int = 0
    msl_texture: int = 0
    msl_sampler: int = 0
    count: int = 1
    """Length of an array of resources; above 1 it needs SPIRV-Cross's API 0.65 or later."""
    model: ExecutionModel = ExecutionModel.GLCOMPUTE


class Compiler:
    """Turns one module into text, or reflects on it. Made by `Context.compiler`."""

    def __init__(self, context: Context, handle: c_void_p, backend: Backend) -> None:
        self.context = context
        self.handle = handle
        self.backend = backend

    # Options and output.

    def options(self) -> Options:
        """A fresh set of options with the backend's defaults."""
        handle = c_void_p()
        self.context.check("spvc_compiler_create_compiler_options", self.handle, byref(handle))
        return Options(self.context, handle)

    def install(self, options: Options | Mapping[Option, bool | int]) -> None:
        """Make options count; a mapping starts from the defaults."""
        if not isinstance(options, Options):
            chosen = self.options()
            chosen.update(options)
            options = chosen
        self.context.check("spvc_compiler_install_compiler_options", self.handle, options.handle)

    def compile(self) -> str:
        """The text of the module in the backend's language.

        Raises `UnsupportedSpirv` with SPIRV-Cross's reason.
        """
        text = c_char_p()
        self.context.check("spvc_compiler_compile", self.handle, byref(text))
        return (text.value or b"").decode()

    def add_header_line(self, line: str) -> None:
        """Put a line before everything else in the text."""
        self.context.check("spvc_compiler_add_header_line", self.handle, line.encode())

    @property
    def id_bound(self) -> int:
        """All ids of the module are below this."""
        return int(self.context.call("spvc_compiler_get_current_id_bound", self.handle))

    # Entry points.

    def entry_points(self) -> tuple[EntryPoint, ...]:
        """Every entry point of the module."""
        values, count = POINTER(abi.EntryPointStruct)(), c_size_t()
        self.context.check(
            "spvc_compiler_get_entry_points", self.handle, byref(values), byref(count)
        )
        return tuple(
            EntryPoint((item.name or b"").decode(errors="replace"), _model(item.execution_model))
            for item in (values[i] for i in range(count.value))
        )

    def set_entry_point(self, name: str, model: ExecutionModel = ExecutionModel.GLCOMPUTE) -> None:
        """Choose the entry point that reflection and `compile` mean."""
        self.context.check("spvc_compiler_set_entry_point", self.handle, name.encode(), int(model))

    def rename_entry_point(
        self, old: str, new: str, model: ExecutionModel = ExecutionModel.GLCOMPUTE
    ) -> None:
        """Give an entry point another name."""
        self.context.check(
            "spvc_compiler_rename_entry_point",
            self.handle,
            old.encode(),
            new.encode(),
            int(model),
        )

    def cleansed_entry_point(
        self, name: str, model: ExecutionModel = ExecutionModel.GLCOMPUTE
    ) -> str:
        """The name that an entry point got in the text; meaningful after `compile`."""
        text = self.context.call(
            "spvc_compiler_get_cleansed_entry_point_name", self.handle, name.encode(), int(model)
        )
        if text is None:
            raise InvalidArgument(f"there is no entry point named {name!r}")
        return str(text.decode())

    def execution_modes(self) -> frozenset[int]:
        """Execution modes of the chosen entry point, by SPIR-V's numbers."""
        values, count = POINTER(c_int)(), c_size_t()
        self.context.check(
            "spvc_compiler_get_execution_modes", self.handle, byref(values), byref(count)
        )
        return frozenset(values[i] for i in range(count.value))

    def workgroup_size(self) -> tuple[int, int, int]:
        """Threads of a workgroup (threadgroup) in x, y and z.

        Sizes given by specialization constants are those constants' default values.
        """
        sizes = [
            int(
                self.context.call(
                    "spvc_compiler_get_execution_mode_argument_by_index",
                    self.handle,
                    int(ExecutionMode.LOCAL_SIZE),
                    index,
                )
            )
            for index in range(3)
        ]
        constants = [abi.SpecializationConstantStruct() for _ in range(3)]
        self.context.call(
            "spvc_compiler_get_work_group_size_specialization_constants",
            self.handle,
            *(byref(constant) for constant in constants),
        )
        for index, constant in enumerate(constants):
            if constant.id:
                sizes[index] = self.scalar_constant(constant.id)
        return sizes[0], sizes[1], sizes[2]

    def scalar_constant(self, constant_id: int) -> int:
        """Value of a 32-bit unsigned scalar constant."""
        handle = self.context.call("spvc_compiler_get_constant_handle", self.handle, constant_id)
        if not handle:
            raise InvalidArgument(f"id {constant_id} is not a constant")
        return int(self.context.call("spvc_constant_get_scalar_u32", c_void_p(handle), 0, 0))

    # Names and decorations.

    def name(self, target: int) -> str:
        """Name of an id, empty when it has none."""
        text = self.context.call("spvc_compiler_get_name", self.handle, target)
        return (text or b"").decode(errors="replace")

    def set_name(self, target: int, name: str) -> None:
        """Name an id; SPIRV-Cross may still change the name where the language reserves it."""
        self.context.call("spvc_compiler_set_name", self.handle, target, name.encode())

    def member_name(self, struct: int, index: int) -> str:
        """Name of a struct's member, empty when it has none."""
        text = self.context.call("spvc_compiler_get_member_name", self.handle, struct, index)
        return (text or b"").decode(errors="replace")

    def set_member_name(self, struct: int, index: int, name: str) -> None:
        """Name a struct's member."""
        self.context.call(
            "spvc_compiler_set_member_name", self.handle, struct, index, name.encode()
        )

    def decoration(self, target: int, decoration: Decoration) -> int | None:
        """A decoration's operand (0 when it has none), None when it is absent."""
        if not self.context.call(
            "spvc_compiler_has_decoration", self.handle, target, int(decoration)
        ):
            return None
        return int(
            self.context.call("spvc_compiler_get_decoration", self.handle, target, int(decoration))
        )

    def set_decoration(self, target: int, decoration: Decoration, operand: int = 0) -> None:
        """Decorate an id."""
        self.context.call(
            "spvc_compiler_set_decoration", self.handle, target, int(decoration), operand
        )

    def unset_decoration(self, target: int, decoration: Decoration) -> None:
        """Remove a decoration."""
        self.context.call("spvc_compiler_unset_decoration", self.handle, target, int(decoration))

    def member_decoration(self, struct: int, index: int, decoration: Decoration) -> int | None:
        """A decoration's operand of a struct's member, None when it is absent."""
        if not self.context.call(
            "spvc_compiler_has_member_decoration", self.handle, struct, index, int(decoration)
        ):
            return None
        return int(
            self.context.call(
                "spvc_compiler_get_member_decoration", self.handle, struct, index, int(decoration)
            )
        )

    # Resources and types.

    def resources(self, *, active_only: bool = False) -> Resources:
        """The module's resources; `active_only`: those that the entry point uses."""
        handle = c_void_p()
        if active_only:
            active = c_void_p()
            self.context.check(
                "spvc_compiler_get_active_interface_variables", self.handle, byref(active)
            )
            self.context.check(
                "spvc_compiler_create_shader_resources_for_active_variables",
                self.handle,
                byref(handle),
                active,
            )
        else:
            self.context.check("spvc_compiler_create_shader_resources", self.handle, byref(handle))
        return Resources(self, handle)

    def type(self, type_id: int) -> Type:
        """A type by its id."""
        return Type(self, type_id)

    # MSL.

    def add_msl_resource_binding(self, binding: MslResourceBinding) -> None:
        """Say where a resource goes in MSL.

        Raises `InvalidArgument` for arrays of resources where this SPIRV-Cross cannot bind them.
        """
        newer = self.context.library.has("spvc_compiler_msl_add_resource_binding_2")
        value: abi.MslBindingStruct2 | abi.MslBindingStruct
        if newer:
            value = abi.MslBindingStruct2()
            self.context.call("spvc_msl_resource_binding_init_2", byref(value))
            value.count = binding.count
        else:
            if binding.count != 1:
                raise InvalidArgument(
                    f"SPIRV-Cross API {self.context.library.version} cannot bind an array of "
                    f"{binding.count} resources"
                )
            value = abi.MslBindingStruct()
            self.context.call("spvc_msl_resource_binding_init", byref(value))
        value.stage = int(binding.model)
        value.desc_set = binding.descriptor_set
        value.binding = binding.binding
        value.msl_buffer = binding.msl_buffer
        value.msl_texture = binding.msl_texture
        value.msl_sampler = binding.msl_sampler
        name = "spvc_compiler_msl_add_resource_binding" + ("_2" if newer else "")
        self.context.check(name, self.handle, byref(value))

    def msl_resource_used(
        self,
        descriptor_set: int,
        binding: int,
        model: ExecutionModel = ExecutionModel.GLCOMPUTE,
    ) -> bool:
        """Whether the text uses a resource that was bound; meaningful after `compile`."""
        return bool(
            self.context.call(
                "spvc_compiler_msl_is_resource_used",
                self.handle,
                int(model),
                descriptor_set,
                binding,
            )
        )

    def msl_needs_buffer_sizes(self) -> bool:
        """Whether the text reads the lengths of buffers from a buffer of its own."""
        return bool(self.context.call("spvc_compiler_msl_needs_buffer_size_buffer", self.handle))

    def msl_automatic_binding(self, variable: int) -> int | None:
        """The index that SPIRV-Cross chose for a variable, None when it has none."""
        value = int(
            self.context.call(
                "spvc_compiler_msl_get_automatic_resource_binding", self.handle, variable
            )
        )
        return None if value == 0xFFFFFFFF else value

    def msl_discrete_set(self, descriptor_set: int) -> None:
        """Keep a descriptor set out of argument buffers."""
        self.context.check(
            "spvc_compiler_msl_add_discrete_descriptor_set", self.handle, descriptor_set
        )

    def msl_device_argument_buffer(self, descriptor_set: int, device: bool = True) -> None:
        """Put a set's argument buffer in the `device` (True) or `constant` address space."""
        self.context.check(
            "spvc_compiler_msl_set_argument_buffer_device_address_space",
            self.handle,
            descriptor_set,
            int(device),
        )


def _model(value: int) -> ExecutionModel | int:
    try:
        return ExecutionModel(value)
    except ValueError:
        return value
