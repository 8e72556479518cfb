"""From one SPIR-V kernel to the MSL that is shipped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .. import pyspirv
from ..pyspirv import BaseType, Compiler, MslResourceBinding, Option, Resource, SpirvCrossError
from .buffers import BufferVariable, simplify_buffers
from .header import header
from .legalize import legalize
from .math_mode import MathMode, apply_math_mode, pragmas
from .naming import KERNEL, MEMBER, PUSH_CONSTANTS, final_names, placeholder
from .native import use_native_functions
from .signature import tidy_signature
from .versions import settle_versions
from .words import read_words

Access = Literal["read", "write", "read_write"]


class MslError(Exception):
    """A kernel that cannot be expressed in MSL, in one sentence."""


@dataclass(frozen=True)
class MslOptions:
    """Every choice of the cross-compilation; nothing else influences the text."""

    msl_version: tuple[int, int] = (3, 1)
    max_buffers: int = 31
    """Buffer arguments of one kernel; with more, all move to an argument buffer at index 0."""
    math: MathMode = "safe"
    compiler: str = ""
    """What compiled the kernel, for the header: `Ingot 0.1.0`."""
    source: str = ""
    """Where the kernel comes from, for the header: `softmax.mlir:3:1`."""
    native: bool = True
    """Use the hardware's instructions for functions that have one; else their portable bodies."""
    buffer_types: tuple[str, ...] = ()
    """Types of the bindings in the source's words, for the header; MSL element types if empty."""
    line_directives: bool = False
    """Leave a `#line` before what an `OpLine` of the module is for; see `line_table`."""


@dataclass(frozen=True)
class MslBinding:
    """One buffer of a kernel."""

    binding: int
    """Its binding in the SPIR-V: `[[buffer(binding)]]`, `[[id(binding)]]` in an argument buffer."""
    name: str
    """Its name in the text."""
    access: Access
    element_type: str
    """MSL type of its elements: `float`, `half4`."""


@dataclass(frozen=True)
class MslSource:
    """A kernel's text and what a runtime must know to launch it."""

    text: str
    entry_point: str
    threadgroup_size: tuple[int, int, int]
    bindings: tuple[MslBinding, ...]
    """In the order of their binding numbers."""
    argument_buffer: bool
    """The bindings are pointers of 8 bytes each in one buffer at index 0, at 8 * binding."""
    push_constant_index: int | None
    """Buffer index of the push constants, None when the kernel has none."""
    spirv_cross_version: str


def cross_compile(
    spirv: bytes,
    *,
    kernel_name: str,
    options: MslOptions | None = None,
    library: pyspirv.Library | str | None = None,
) -> MslSource:
    """The MSL of the only compute entry point of `spirv`, named after `kernel_name`.

    `library` is the SPIRV-Cross to use, the one that is found by default. Raises `MslError` for a
    module that is not one compute kernel over storage buffers of set 0 or that SPIRV-Cross
    refuses, `pyspirv.LibraryNotFound` when there is no SPIRV-Cross.
    """
    options = options or MslOptions()
    try:
        module = legalize(read_words(spirv), contraction=options.math != "strict")
    except ValueError as error:
        raise MslError(f"kernel {kernel_name!r}: {error}") from None
    with pyspirv.Context(library) as context:
        try:
            compiler = context.compiler(module.words.tobytes(), pyspirv.Backend.MSL)
            return _compile(compiler, kernel_name, options, module.functions)
        except SpirvCrossError as error:
            raise MslError(f"kernel {kernel_name!r}: SPIRV-Cross refuses it: {error}") from error


def _compile(
    compiler: Compiler,
    kernel_name: str,
    options: MslOptions,
    functions: frozenset[int],
) -> MslSource:
    points = compiler.entry_points()
    if len(points) != 1 or points[0].model != pyspirv.ExecutionModel.GLCOMPUTE:
        raise MslError(f"kernel {kernel_name!r}: the module must have one compute entry point")
    compiler.rename_entry_point(points[0].name, KERNEL)
    size = compiler.workgroup_size()
    buffers = _storage_buffers(compiler, kernel_name)
    push = compiler.resources().push_constants
    argument_buffer = len(buffers) + len(push) > options.max_buffers
    push_index = (1 if argument_buffer else _after_last(buffers)) if push else None

    source_names = [buffer.name for buffer in buffers]
    variables = [_prepare_buffer(compiler, buffer) for buffer in buffers]
    if push:
        compiler.set_name(push[0].id, PUSH_CONSTANTS)
    _install(compiler, options, buffers, argument_buffer, push_index)
    text = settle_versions(compiler.compile())
    if compiler.msl_needs_buffer_sizes():
        raise MslError(
            f"kernel {kernel_name!r}: it asks for the length of a buffer, which MSL cannot tell"
        )

    elements = [_element_type(compiler, buffer) for buffer in buffers]
    text = simplify_buffers(text, variables)
    text = apply_math_mode(text, options.math, functions)
    named = final_names(text, kernel_name, source_names, variables)
    text = tidy_signature(named.text, named.kernel, size[0] * size[1] * size[2])
    if options.native:
        text = use_native_functions(text)
    bindings = tuple(
        MslBinding(_binding(buffer), name, _access(buffer), element)
        for buffer, name, element in zip(buffers, named.buffers, elements, strict=True)
    )
    version = str(compiler.context.library.version)
    result = MslSource(text, named.kernel, size, bindings, argument_buffer, push_index, version)
    return _with_header(result, kernel_name, options)


def _storage_buffers(compiler: Compiler, kernel_name: str) -> list[Resource]:
    resources = compiler.resources()
    buffers = sorted(resources.storage_buffers, key=_binding)
    if resources.uniform_buffers or any(x.descriptor_set != 0 for x in buffers):
        raise MslError(f"kernel {kernel_name!r}: only storage buffers of set 0 can be bound")
    numbers = [_binding(x) for x in buffers]
    if len(set(numbers)) != len(numbers):
        raise MslError(f"kernel {kernel_name!r}: two buffers share a binding")
    return buffers


def _binding(buffer: Resource) -> int:
    return buffer.binding or 0


def _after_last(buffers: Sequence[Resource]) -> int:
    return max((_binding(x) for x in buffers), default=-1) + 1


def _prepare_buffer(compiler: Compiler, buffer: Resource) -> BufferVariable:
    """Give a buffer, its struct and the struct's member names that survive SPIRV-Cross."""
    number = _binding(buffer)
    variable, block = placeholder(number, buffer.base_type_id)
    compiler.set_name(buffer.id, variable)
    compiler.set_name(buffer.base_type_id, block)
    compiler.set_member_name(buffer.base_type_id, 0, MEMBER)
    return BufferVariable(variable, block, MEMBER, read_only=not buffer.writable)


def _install(
    compiler: Compiler,
    options: MslOptions,
    buffers: Sequence[Resource],
    argument_buffer: bool,
    push_index: int | None,
) -> None:
    chosen: dict[Option, bool | int] = {
        Option.MSL_VERSION: pyspirv.msl_version(*options.msl_version),
        Option.MSL_PLATFORM: pyspirv.MslPlatform.MACOS,
        # Arrays in threadgroup memory stay arrays in every version.
        Option.MSL_FORCE_NATIVE_ARRAYS: True,
        Option.MSL_ARGUMENT_BUFFERS: argument_buffer,
        Option.EMIT_LINE_DIRECTIVES: options.line_directives,
    }
    if argument_buffer:
        chosen[Option.MSL_ARGUMENT_BUFFERS_TIER] = 1
        # Unused bindings keep their place, so that binding i lies at 8 * i.
        chosen[Option.MSL_FORCE_ACTIVE_ARGUMENT_BUFFER_RESOURCES] = True
        compiler.add_msl_resource_binding(
            MslResourceBinding(0, pyspirv.ARGUMENT_BUFFER_BINDING, msl_buffer=0)
        )
    compiler.install(chosen)
    for buffer in buffers:
        number = _binding(buffer)
        compiler.add_msl_resource_binding(MslResourceBinding(0, number, msl_buffer=number))
    if push_index is not None:
        compiler.add_msl_resource_binding(
            MslResourceBinding(
                pyspirv.PUSH_CONSTANT_DESCRIPTOR_SET,
                pyspirv.PUSH_CONSTANT_BINDING,
                msl_buffer=push_index,
            )
        )


def _access(buffer: Resource) -> Access:
    if not buffer.writable:
        return "read"
    return "read_write" if buffer.readable else "write"


_SCALARS: dict[BaseType, str] = {
    BaseType.INT8: "char",
    BaseType.UINT8: "uchar",
    BaseType.INT16: "short",
    BaseType.UINT16: "ushort",
    BaseType.INT32: "int",
    BaseType.UINT32: "uint",
    BaseType.INT64: "long",
    BaseType.UINT64: "ulong",
    BaseType.FP16: "half",
    BaseType.FP32: "float",
    BaseType.STRUCT: "struct",
}


def _element_type(compiler: Compiler, buffer: Resource) -> str:
    members = compiler.type(buffer.base_type_id).members
    if len(members) != 1 or not members[0].array:
        return "struct"
    scalar = _SCALARS.get(members[0].base, "unknown")
    return scalar if members[0].vector_size == 1 else f"{scalar}{members[0].vector_size}"


def _with_header(source: MslSource, kernel_name: str, options: MslOptions) -> MslSource:
    types = options.buffer_types or tuple(x.element_type for x in source.bindings)
    if len(types) != len(source.bindings):
        raise ValueError(f"{len(types)} buffer types were given for {len(source.bindings)} buffers")
    lines = header(
        kernel_name=kernel_name,
        compiler=options.compiler,
        spirv_cross_version=source.spirv_cross_version,
        source=options.source,
        math=options.math,
        threadgroup_size=source.threadgroup_size,
        argument_buffer=source.argument_buffer,
        buffers=[
            (x.binding, x.name, x.access, kind)
            for x, kind in zip(source.bindings, types, strict=True)
        ],
    )
    text = source.text
    for pragma in reversed(pragmas(options.math)):
        text = text.replace("using namespace metal;\n", f"using namespace metal;\n{pragma}\n", 1)
    return replace(source, text="".join(f"{x}\n" for x in lines) + text.rstrip("\n") + "\n")
